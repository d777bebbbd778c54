//! Quoting: the one place where names and constants of a configuration become SQL text.
//!
//! Constants are literals rather than parameters for the sake of the plan: SQL Server does not use
//! a filtered index for a predicate with a parameter, and an NVARCHAR parameter compared with a
//! VARCHAR column turns a seek into a scan.

use super::Dialect;
use crate::config::TableName;

/// A name as an identifier of the dialect; it cannot leave its quotes.
pub(crate) fn identifier(dialect: Dialect, name: &str) -> String {
    match dialect {
        Dialect::Mssql => format!("[{}]", name.replace(']', "]]")),
        Dialect::Sqlite => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

/// A column of the row source, which every statement calls `t`.
pub(crate) fn column(dialect: Dialect, name: &str) -> String {
    format!("t.{}", identifier(dialect, name))
}

/// A column of the table that a queue looks times up in, which the statement calls `l`.
pub(crate) fn lookup_column(dialect: Dialect, name: &str) -> String {
    format!("l.{}", identifier(dialect, name))
}

/// A table name of one or more parts.
pub(crate) fn table(dialect: Dialect, name: &TableName) -> String {
    name.0.iter().map(|part| identifier(dialect, part)).collect::<Vec<_>>().join(".")
}

/// A string constant. On SQL Server it is NVARCHAR only where it has to be, because a VARCHAR
/// literal is converted to the type of any column it meets, while an NVARCHAR literal converts a
/// VARCHAR column and hides its index.
pub(crate) fn literal(dialect: Dialect, text: &str) -> String {
    let quoted = format!("'{}'", text.replace('\'', "''"));
    match dialect {
        Dialect::Mssql if !text.is_ascii() => format!("N{quoted}"),
        Dialect::Mssql | Dialect::Sqlite => quoted,
    }
}
