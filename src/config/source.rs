//! Sources: a database, and what is watched in it.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use super::kinds::for_each_log_kind;
use super::mssql::{Mssql, MssqlForm};
use super::objectives::{ObjectiveSet, SourceObjectives, SourceObjectivesForm};
use super::{Global, Queue, TargetKind};
use crate::config::mapping::Mapping;
use crate::config::scope::{Backend, Scope};
use crate::yaml::{Checker, Field, List, Located, Location, Names, Resolved, Spanned, form};

/// How to reach a database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Database {
    /// SQL Server or Azure SQL, over TDS.
    Mssql(Mssql),
    /// A SQLite file.
    Sqlite(Sqlite),
}

/// A SQLite file, opened read-only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sqlite {
    /// The database file.
    #[serde(serialize_with = "super::path_text")]
    pub file: PathBuf,
}

form! {
    pub struct SqliteForm {
        /// The database file.
        file: Field<String>,
    }
}

macro_rules! source {
    ($($(#[$doc:meta])* $Kind:ident in $list:ident, label $label:literal, preset $preset:literal;)+) => {
        /// One database and what is watched in it. The names of targets are unique within their list.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize)]
        pub struct Source {
            /// The value of the label `source`.
            pub name: String,
            /// How to reach the database.
            #[serde(flatten)]
            pub database: Database,
            /// The objectives of the source.
            pub objectives: SourceObjectives,
            /// Queue tables, in the order of the file.
            #[serde(skip_serializing_if = "Vec::is_empty")]
            pub queues: Vec<Queue>,
            $($(#[$doc])* #[serde(skip_serializing_if = "Vec::is_empty")] pub $list: Vec<super::$Kind>,)+
        }

        form! {
            pub struct SourceForm {
                /// The value of the label `source`.
                name: Field<String>,
                /// How to reach a SQL Server.
                mssql: Field<MssqlForm>,
                /// How to reach a SQLite file.
                sqlite: Field<SqliteForm>,
                /// The objectives of the source.
                objectives: Field<SourceObjectivesForm>,
                /// Queue tables.
                queues: Field<List<<Queue as Mapping>::Form>>,
                $($(#[$doc])* $list: Field<List<<super::$Kind as Mapping>::Form>>,)+
            }
        }

        impl SourceForm {
            /// Whether no list has a target.
            fn watches_nothing(&self) -> bool {
                List::is_empty(&self.queues) $(&& List::is_empty(&self.$list))+
            }
        }

        impl Source {
            pub(super) fn check(
                checker: &mut Checker<'_>,
                yaml: Spanned<SourceForm>,
                global: &Global,
                stale_after: Option<Resolved>,
                names: &mut Names,
            ) -> Option<Self> {
                let (at, mut form) = (yaml.location(), yaml.value);
                if form.watches_nothing() {
                    checker.report(at, format!("watches nothing; add {}", TargetKind::alternatives()));
                }
                let name = checker.name(std::mem::take(&mut form.name), at, names);
                let is_mssql = form.mssql.location().is_some() || form.sqlite.location().is_none();
                let backend = if is_mssql { Backend::Mssql } else { Backend::Sqlite };
                let database = database(checker, at, form.mssql, form.sqlite);
                let (own, inherited) = (form.objectives.value_or_default(), global.objectives.sources);
                let objectives = SourceObjectives::check(checker, own, inherited, &|_| true);
                let scope = Scope::new(backend, database.as_ref(), global, stale_after);
                let queues = checker.targets(form.queues, &scope);
                $(let $list = checker.targets(form.$list, &scope);)+
                Some(Self { name: name?, database: database?, objectives, queues, $($list,)+ })
            }
        }
    };
}
for_each_log_kind!(source);

fn database(
    checker: &mut Checker<'_>,
    parent: Location,
    mssql: Field<MssqlForm>,
    sqlite: Field<SqliteForm>,
) -> Option<Database> {
    let keys = [("mssql", mssql.location()), ("sqlite", sqlite.location())];
    checker.only_one(&keys, "a source is one database; remove one of them")?;
    if let Some(sqlite) = sqlite.given() {
        let at = sqlite.location();
        let file = checker.required(sqlite.value.file, at, "file", "name the database file")?;
        return Some(Database::Sqlite(Sqlite { file: checker.path(file)? }));
    }
    let remedy = "say how to reach the database with `mssql` or `sqlite`";
    let mssql = checker.required(mssql, parent, "mssql", remedy)?;
    Mssql::check(checker, mssql).map(Database::Mssql)
}

/// The database's name in messages and in saved state, without secrets.
impl fmt::Display for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mssql(mssql) => mssql.fmt(f),
            Self::Sqlite(sqlite) => sqlite.fmt(f),
        }
    }
}

impl fmt::Display for Sqlite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.file.display().fmt(f)
    }
}
