//! Attempts: the column that counts them, and the bound on them.

use serde::{Deserialize, Serialize};

use super::{ColumnName, MappedColumn, Value};
use crate::config::scope::Scope;
use crate::yaml::{Checker, Field, Located, ScalarOr, Spanned, form};

/// More attempts than this are a typo.
const MOST_ATTEMPTS: i128 = 1_000_000;

/// An attempts column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Attempts {
    /// Column name.
    pub column: ColumnName,
    /// What the column counts.
    pub counts: AttemptsCount,
}

/// What an attempts column counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AttemptsCount {
    /// Claims: a job that runs for the first time has 1.
    #[default]
    Claims,
    /// Failures: a job that runs for the first time has 0.
    Failures,
}

/// The bound on attempts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum MaxAttempts {
    /// The same for every row.
    Constant(u32),
    /// A column of the row.
    Column {
        /// Column name.
        column: ColumnName,
    },
}

form! {
    pub struct AttemptsForm {
        /// The column.
        column: Field<String>,
        /// `claims`, or `failures` of a column that is 0 while the job runs for the first time.
        counts: Field<AttemptsCount>,
    }
}

form! {
    pub struct MaxAttemptsForm {
        /// The column.
        column: Field<String>,
    }
}

impl Value for Attempts {
    type Yaml = ScalarOr<AttemptsForm>;

    fn check(checker: &mut Checker<'_>, yaml: Spanned<Self::Yaml>, scope: &Scope) -> Option<Self> {
        let of_column = |column| AttemptsForm { column, ..AttemptsForm::default() };
        let (at, form) = checker.long_form(yaml, "`column` and `counts`", of_column)?;
        let remedy = "name the column that counts attempts";
        let column = checker.required_value(form.column, at, "column", remedy, scope)?;
        Some(Self { column, counts: form.counts.value_or_default() })
    }

    fn columns<'a>(&'a self, key: &'static str, columns: &mut Vec<MappedColumn<'a>>) {
        self.column.columns(key, columns);
    }
}

impl Value for MaxAttempts {
    type Yaml = ScalarOr<MaxAttemptsForm>;

    fn check(checker: &mut Checker<'_>, yaml: Spanned<Self::Yaml>, scope: &Scope) -> Option<Self> {
        let at = yaml.location();
        let message = match yaml.value {
            ScalarOr::Integer(number) if (1..=MOST_ATTEMPTS).contains(&number) => {
                return u32::try_from(number).ok().map(Self::Constant);
            }
            ScalarOr::Integer(number) => format!("{number} is not between 1 and {MOST_ATTEMPTS}"),
            ScalarOr::Mapping(form) => {
                let remedy = "name the column that holds the bound";
                let column = checker.required_value(form.column, at, "column", remedy, scope)?;
                return Some(Self::Column { column });
            }
            ScalarOr::Text(name) => {
                format!("expected a whole number; for a column write {{ column: {name} }}")
            }
            other => format!("expected a whole number or {{ column: NAME }}, found {}", other.found()),
        };
        checker.refuse(at, message)
    }

    fn columns<'a>(&'a self, _: &'static str, columns: &mut Vec<MappedColumn<'a>>) {
        if let Self::Column { column } = self {
            column.columns("max_attempts.column", columns);
        }
    }
}
