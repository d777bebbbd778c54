//! The statements: templates in `sql/`, rendered for a dialect and a mapping.

use serde::Serialize;

use crate::source::Value;

/// A SQL dialect: which macros of `sql/dialect/` a statement is rendered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// Transact-SQL of SQL Server 2016 SP1 or newer, and Azure SQL.
    Mssql,
    /// The embedded database.
    Sqlite,
}

/// One statement, ready to send: text plus the values of its parameters.
///
/// The text refers to the parameters as `@P1`, `@P2`, … in both dialects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The SQL text.
    pub text: String,
    /// The parameters, in order.
    pub parameters: Vec<Parameter>,
}

/// A value that changes from sample to sample and therefore travels beside the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// What the value means; shown as a comment by the sub-command `sql`.
    pub meaning: &'static str,
    /// The value.
    pub value: Value,
}
