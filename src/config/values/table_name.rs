//! Table names of one to three parts.

use std::fmt;

use serde::{Serialize, Serializer};

use super::{Value, identifier};
use crate::config::scope::{Backend, Scope};
use crate::yaml::{Checker, Located, Spanned};

/// A table name of one to three parts, unquoted. It serializes as the configuration writes it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TableName(pub Vec<String>);

impl Value for TableName {
    type Yaml = String;

    fn check(checker: &mut Checker<'_>, yaml: Spanned<String>, scope: &Scope) -> Option<Self> {
        let table = checker.accept(yaml.location(), identifier::table(&yaml.value))?;
        if scope.backend == Backend::Sqlite && table.0.len() > 2 {
            let message =
                format!("`{}` has three parts; in sqlite a table is `table` or `schema.table`", yaml.value);
            return checker.refuse(yaml.location(), message);
        }
        Some(table)
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("."))
    }
}

impl Serialize for TableName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parts: Vec<String> = self.0.iter().map(|part| identifier::written(part)).collect();
        serializer.serialize_str(&parts.join("."))
    }
}
