//! Quoting: the one place where names and constants of a configuration become SQL text.
//!
//! Constants are literals rather than parameters for the sake of the plan: SQL Server does not use
//! a filtered index for a predicate with a parameter, and an NVARCHAR parameter compared with a
//! VARCHAR column turns a seek into a scan.

use super::Dialect;

/// A name as an identifier of the dialect; it cannot leave its quotes.
pub(crate) fn identifier(dialect: Dialect, name: &str) -> String {
    match dialect {
        Dialect::Mssql => format!("[{}]", name.replace(']', "]]")),
        Dialect::Sqlite => format!("\"{}\"", name.replace('"', "\"\"")),
    }
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
