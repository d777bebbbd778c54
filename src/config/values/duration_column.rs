//! Columns that hold a duration.

use serde::{Deserialize, Serialize};

use super::{ColumnName, MappedColumn, Value};
use crate::config::scope::Scope;
use crate::yaml::{Checker, Field, ScalarOr, Spanned, form};

/// A column that holds a duration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DurationColumn {
    /// Column name.
    pub column: ColumnName,
    /// Its unit.
    pub unit: DurationUnit,
}

/// The unit of a duration column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum DurationUnit {
    /// Milliseconds.
    #[default]
    Ms,
    /// Seconds.
    S,
    /// The digits HHMMSS as one number, hours unbounded (SQL Server Agent).
    Hhmmss,
}

form! {
    pub struct DurationForm {
        /// The column.
        column: Field<String>,
        /// `ms`, `s` or `hhmmss`.
        unit: Field<DurationUnit>,
    }
}

impl Value for DurationColumn {
    type Yaml = ScalarOr<DurationForm>;

    fn check(checker: &mut Checker<'_>, yaml: Spanned<Self::Yaml>, scope: &Scope) -> Option<Self> {
        let of_column = |column| DurationForm { column, ..DurationForm::default() };
        let (at, form) = checker.long_form(yaml, "`column` and `unit`", of_column)?;
        let remedy = "name the column that holds the duration";
        let column = checker.required_value(form.column, at, "column", remedy, scope)?;
        Some(Self { column, unit: form.unit.value_or_default() })
    }

    fn columns<'a>(&'a self, key: &'static str, columns: &mut Vec<MappedColumn<'a>>) {
        self.column.columns(key, columns);
    }
}
