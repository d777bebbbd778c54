//! Column names, and which key of a target names which column.

use std::fmt;
use std::ops::Deref;

use serde::{Serialize, Serializer};

use super::{Value, identifier};
use crate::config::scope::Scope;
use crate::yaml::{Checker, Field, Located, Location, ScalarOr, Spanned};

/// The name of a column, unquoted. It serializes as the configuration writes it, in brackets where it
/// needs them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ColumnName(String);

/// A column that a key of a target names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MappedColumn<'a> {
    /// The key within the target, such as `lease.column`; the short form of one (`enqueued_at: CreatedAt`)
    /// where there is no other column under it.
    pub key: &'static str,
    /// The column.
    pub column: &'a ColumnName,
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
        self.map_in(ColumnOwner::Target, key, columns);
    }
}

impl Checker<'_> {
    /// A column name.
    pub(crate) fn column(&mut self, value: &Spanned<String>) -> Option<ColumnName> {
        self.accept(value.location(), identifier::column(&value.value)).map(Into::into)
    }

    /// The long form of a value whose short form is a column name: that of the name alone is `of_column`.
    pub(crate) fn long_form<T>(
        &mut self,
        yaml: Spanned<ScalarOr<T>>,
        keys: &str,
        of_column: impl FnOnce(Field<String>) -> T,
    ) -> Option<(Location, T)> {
        let at = yaml.location();
        match yaml.value {
            ScalarOr::Text(name) => Some((at, of_column(Field::Set(at.with(name))))),
            ScalarOr::Mapping(form) => Some((at, form)),
            other => {
                let found = other.found();
                self.refuse(at, format!("expected a column name or a mapping of {keys}, found {found}"))
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
