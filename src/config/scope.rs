//! Scopes: what a target takes from its source and from the global settings.

use super::{Database, Global, Mssql, ReadMode, TargetKind};
use crate::yaml::Resolved;

/// The kind of database that a target is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backend {
    Mssql,
    Sqlite,
}

/// What a target takes from its source and from the global settings.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    pub(crate) backend: Backend,
    /// The database that the source logs in to; `None` in a file, or when it is wrong itself.
    pub(crate) database: Option<String>,
    /// Whether the source asks for a readable secondary.
    pub(crate) reads_secondary: bool,
    /// Whether a time may be looked up in a related table.
    pub(crate) takes_lookup: bool,
    pub(crate) global: Global,
    /// The target's own, where it has one.
    pub(crate) read_mode: ReadMode,
    /// `None` when it is wrong itself.
    pub(crate) stale_after: Option<Resolved>,
}

impl Scope {
    /// The scope of a source. `stale_after` is `None` when it is wrong itself.
    pub(super) fn new(
        backend: Backend,
        database: Option<&Database>,
        global: &Global,
        stale_after: Option<Resolved>,
    ) -> Self {
        let mssql = match database {
            Some(Database::Mssql(mssql)) => Some(mssql),
            Some(Database::Sqlite(_)) | None => None,
        };
        Self {
            backend,
            database: mssql.map(|mssql| mssql.database.clone()),
            reads_secondary: mssql.is_some_and(Mssql::reads_secondary),
            takes_lookup: false,
            global: global.clone(),
            read_mode: global.read_mode,
            stale_after,
        }
    }

    /// The scope of a target, which may have a read mode of its own.
    pub(crate) fn of_target(&self, read_mode: Option<ReadMode>, kind: TargetKind) -> Self {
        Self {
            read_mode: read_mode.unwrap_or(self.read_mode),
            takes_lookup: kind == TargetKind::Queue,
            ..self.clone()
        }
    }
}

/// Why a setting that looks at locks is refused where a readable secondary is asked for.
pub(crate) fn invisible_locks(setting: &str, consequence: &str) -> String {
    format!(
        "`{setting}` contradicts `application_intent: read_only`: on a readable secondary the locks of the \
         primary cannot be seen, so {consequence}; watch it through a source with `application_intent: \
         read_write`"
    )
}
