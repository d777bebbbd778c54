//! Lookups: a related table that holds times of a queue's jobs.

use serde::Serialize;

use super::{ColumnName, ColumnOwner, MappedColumn, TableName, Value};
use crate::config::scope::Scope;
use crate::yaml::{Checker, Field, Located, Spanned, form};

/// A table with at most one row for each job, whose columns a time can name with `lookup: true`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lookup {
    /// The table.
    pub table: TableName,
    /// Its unique key.
    pub key: ColumnName,
    /// The column of the queue that holds that key.
    pub column: ColumnName,
}

form! {
    pub struct LookupForm {
        /// The table that holds the times.
        table: Field<String>,
        /// Its unique key, which needs an index.
        key: Field<String>,
        /// The queue's column that holds that key.
        column: Field<String>,
    }
}

impl Value for Lookup {
    type Yaml = LookupForm;

    fn check(checker: &mut Checker<'_>, yaml: Spanned<LookupForm>, scope: &Scope) -> Option<Self> {
        let (at, form) = (yaml.location(), yaml.value);
        let remedy = "name the table that holds the times";
        let table = checker.required_value(form.table, at, "table", remedy, scope);
        let key = checker.required_value(form.key, at, "key", "name its unique key", scope);
        let remedy = "name the queue's column that holds that key";
        let column = checker.required_value(form.column, at, "column", remedy, scope);
        Some(Self { table: table?, key: key?, column: column? })
    }

    fn columns<'a>(&'a self, _: &'static str, columns: &mut Vec<MappedColumn<'a>>) {
        self.key.map_in(ColumnOwner::Lookup, "lookup.key", columns);
        self.column.columns("lookup.column", columns);
    }
}
