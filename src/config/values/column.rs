//! Column names, and which key of a target names which column.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;

use serde::{Serialize, Serializer};

use super::{Value, identifier};
use crate::config::scope::Scope;
use crate::yaml::{Checker, Field, Located, Location, ScalarOr, Spanned};

/// The name of a column, unquoted. It serializes as the configuration writes it, in brackets where needed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ColumnName(String);

/// A column that a key of a target names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MappedColumn<'a> {
    /// The key within the target, such as `lease.column`; its short form (`enqueued_at: CreatedAt`) when it
    /// names only this column.
    pub key: &'static str,
    /// The column, unquoted.
    pub column: &'a str,
    /// The table that has the column.
    pub owner: ColumnOwner,
}

/// The tables that a target reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnOwner {
    /// The target's own table.
    Target,
    /// The related table of a queue, its `lookup`.
    Lookup,
    /// The table behind a view, which a `probe` reads.
    Probe,
}

impl ColumnName {
    /// The name, unquoted.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Adds the column as one of the target's own table.
    pub(crate) fn map<'a>(&'a self, key: &'static str, columns: &mut Vec<MappedColumn<'a>>) {
        self.map_in(ColumnOwner::Target, key, columns);
    }

    /// Adds the column of a table.
    pub(crate) fn map_in<'a>(
        &'a self,
        owner: ColumnOwner,
        key: &'static str,
        columns: &mut Vec<MappedColumn<'a>>,
    ) {
        columns.push(MappedColumn { key, column: self, owner });
    }
}

impl Value for ColumnName {
    type Yaml = String;

    fn check(checker: &mut Checker<'_>, yaml: Spanned<String>, _: &Scope) -> Option<Self> {
        checker.column(&yaml)
    }

    fn columns<'a>(&'a self, key: &'static str, columns: &mut Vec<MappedColumn<'a>>) {
        self.map(key, columns);
    }
}

impl Checker<'_> {
    /// A column name.
    pub(crate) fn column(&mut self, value: &Spanned<String>) -> Option<ColumnName> {
        match identifier::column(&value.value) {
            Ok(name) => Some(name.into()),
            Err(message) => {
                self.report(value.location(), message);
                None
            }
        }
    }

    /// A column name that the mapping at `parent` must have under `key`.
    pub(crate) fn required_column(
        &mut self,
        field: Field<String>,
        parent: Location,
        key: &str,
        remedy: &str,
    ) -> Option<ColumnName> {
        let value = self.required(field, parent, key, remedy)?;
        self.column(&value)
    }

    /// A value whose short form is a column name: the name, or the long form.
    pub(crate) fn column_or<T>(
        &mut self,
        setting: Spanned<ScalarOr<T>>,
        keys: &str,
    ) -> Option<Result<ColumnName, (T, Location)>> {
        let at = setting.location();
        match setting.value {
            ScalarOr::Text(name) => self.column(&at.with(name)).map(Ok),
            ScalarOr::Mapping(mapping) => Some(Err((mapping, at))),
            other => {
                let found = other.found();
                self.report(at, format!("expected a column name or a mapping of {keys}, found {found}"));
                None
            }
        }
    }
}

impl<T: Into<String>> From<T> for ColumnName {
    fn from(name: T) -> Self {
        Self(name.into())
    }
}

impl Deref for ColumnName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for ColumnName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ColumnName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for ColumnName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&identifier::written(&self.0))
    }
}
