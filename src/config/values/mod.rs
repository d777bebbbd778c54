//! Value types: what a key of a mapping can hold. Each knows its YAML form, its check, and the columns
//! that it names.

mod app_lock;
mod attempts;
mod column;
mod constant;
mod declared;
mod duration_column;
mod filter;
pub(crate) mod identifier;
mod lease;
mod lookup;
mod outcome;
mod probe;
mod row_state;
mod table_name;
mod time_column;
pub(crate) mod time_zone;

pub use app_lock::AppLock;
pub use attempts::{Attempts, AttemptsCount, MaxAttempts};
pub use column::{ColumnName, ColumnOwner, MappedColumn};
pub use duration_column::{DurationColumn, DurationUnit};
pub use filter::Filter;
pub use lease::Lease;
pub use lookup::Lookup;
pub use outcome::{AttemptOutcome, Outcome, OutcomeRule, OutcomeRules, OutcomeTest};
pub use probe::Probe;
pub use row_state::{MappedState, RowState};
pub use table_name::TableName;
pub use time_column::{TimeColumn, TimeEncoding, TimeZone};

use serde::de::DeserializeOwned;

use crate::config::scope::Scope;
use crate::yaml::{Checker, Field, Location, Spanned};

/// A value of a mapping.
pub(crate) trait Value: Sized {
    /// The value as written in the file.
    type Yaml: DeserializeOwned;

    /// Checks the value as written, and reports what is wrong with it.
    fn check(checker: &mut Checker<'_>, yaml: Spanned<Self::Yaml>, scope: &Scope) -> Option<Self>;

    /// Adds the columns that the value names; `key` is the key that holds the value.
    fn columns<'a>(&'a self, _key: &'static str, _columns: &mut Vec<MappedColumn<'a>>) {}
}

impl Checker<'_> {
    /// The value of a key that a mapping can have.
    pub(crate) fn optional_value<V: Value>(&mut self, field: Field<V::Yaml>, scope: &Scope) -> Option<V> {
        V::check(self, field.given()?, scope)
    }

    /// The value of a key that the mapping at `parent` must have.
    pub(crate) fn required_value<V: Value>(
        &mut self,
        field: Field<V::Yaml>,
        parent: Location,
        key: &str,
        remedy: &str,
        scope: &Scope,
    ) -> Option<V> {
        let yaml = self.required(field, parent, key, remedy)?;
        V::check(self, yaml, scope)
    }
}

impl Value for bool {
    type Yaml = Self;

    fn check(_: &mut Checker<'_>, yaml: Spanned<Self>, _: &Scope) -> Option<Self> {
        Some(yaml.value)
    }
}

/// Text: not empty, and without control characters.
impl Value for String {
    type Yaml = Self;

    fn check(checker: &mut Checker<'_>, yaml: Spanned<Self>, _: &Scope) -> Option<Self> {
        checker.text(yaml)
    }
}
