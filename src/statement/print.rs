//! A statement as text that can be pasted into a query window and run as it is.

use std::fmt::Write as _;

use super::{Dialect, Statement, quote};
use crate::statement::Value;

/// The statement with its parameters declared in front of it: `DECLARE` for SQL Server,
/// `.parameter set` for the `sqlite3` shell.
#[must_use]
pub fn runnable(dialect: Dialect, statement: &Statement) -> String {
    let mut text = String::new();
    for (index, parameter) in statement.parameters.iter().enumerate() {
        let name = format!("@P{}", index + 1);
        let value = match &parameter.value {
            Value::Null => "NULL".to_owned(),
            Value::Int(value) => value.to_string(),
            Value::Text(value) => quote::literal(dialect, value),
        };
        // Writing to a String cannot fail.
        let _ = match dialect {
            Dialect::Mssql => {
                let kind =
                    if matches!(parameter.value, Value::Text(_)) { "NVARCHAR(4000)" } else { "BIGINT" };
                writeln!(text, "DECLARE {name} {kind} = {value}; -- {}", parameter.meaning)
            }
            Dialect::Sqlite => {
                writeln!(text, "-- {name}: {}\n.parameter set {name} {value}", parameter.meaning)
            }
        };
    }
    text.push_str(statement.text.trim_end());
    text.push('\n');
    text
}
