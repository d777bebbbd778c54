//! Answers of the simulated server: errors, scripted rows, and a good answer to any statement.

use sqlqueue_exporter::sample::QueueFacts;
use sqlqueue_exporter::source::{Rows, Value};

use super::wire::{
    DONE_ERROR, DONE_FINAL, Kind, columns, done, error, fixed, in_chunks, nvarchar, row, utf16,
};
use crate::support::NOW_MS;

/// The columns that hold text.
const TEXTS: [&str; 5] = ["queue", "state", "step", "outcome", "kind"];

/// An error of SQL Server instead of an answer, with SQL Server's own text.
pub fn failure(number: u32) -> Vec<u8> {
    let (class, text) = match number {
        207 => (16, "Invalid column name 'State'."),
        208 => (16, "Invalid object name 'dbo.Broken'."),
        229 => (14, "The SELECT permission was denied on the object 'Broken'."),
        1205 => (13, "Transaction (Process ID 52) was deadlocked on lock resources with another process."),
        1222 => (16, "Lock request time out period exceeded."),
        4060 => (11, "Cannot open database \"Orders\" requested by the login. The login failed."),
        8134 => (16, "Divide by zero error encountered."),
        10794 => (16, "The table option 'readpast' is not supported with memory optimized tables."),
        18456 => (14, "Login failed for user 'watcher'."),
        _ => (16, "Something else."),
    };
    [error(number, class, text), done(DONE_ERROR)].concat()
}

/// These rows, in the types that a statement promises: BIGINT, and NVARCHAR for text columns.
pub fn rows(rows: &Rows) -> Vec<u8> {
    let kind = |name: &str| if TEXTS.contains(&name) { Kind::NVarCharMax } else { Kind::Integer(8) };
    let head: Vec<_> = rows.columns.iter().map(|name| (name.as_str(), kind(name))).collect();
    let value = |(value, (name, kind)): (&Value, &(&str, Kind))| match (value, kind) {
        (Value::Int(number), Kind::Integer(_)) => fixed(&number.to_le_bytes()),
        (Value::Null, Kind::Integer(_)) => fixed(&[]),
        (Value::Text(text), Kind::NVarCharMax) => in_chunks(Some(&utf16(text))),
        (Value::Null, _) => in_chunks(None),
        (value, _) => panic!("{value:?} in the column {name}"),
    };
    let body = rows.rows.iter().map(|cells| row(&cells.iter().zip(&head).map(value).collect::<Vec<_>>()));
    [columns(&head), body.collect::<Vec<_>>().concat(), done(DONE_FINAL)].concat()
}

/// The columns of the answer to the statement of a queue.
pub fn queue_columns() -> Vec<&'static str> {
    let gauges = QueueFacts::default().gauges().map(|(name, _)| name);
    ["now_ms", "committed_rows", "queue", "state", "jobs"].into_iter().chain(gauges).collect()
}

/// A good answer to a statement of this text: a queue with three ready jobs, or a log without rows.
pub fn canned(contains: &impl Fn(&str) -> bool) -> Vec<u8> {
    let names = if contains("oldest_ready_age_ms") {
        queue_columns()
    } else if contains("lock_held") {
        vec![
            "now_ms",
            "oldest_id",
            "oldest_ms",
            "newest_id",
            "newest_ms",
            "id",
            "time_ms",
            "lock_held",
            "step",
            "outcome",
            "start_ms",
            "end_ms",
            "duration_ms",
            "candidates",
        ]
    } else {
        vec!["now_ms", "oldest_id", "oldest_ms", "newest_id", "newest_ms", "id", "time_ms", "kind", "at_ms"]
    };
    let kind = |name: &str| if TEXTS.contains(&name) { Kind::NVarChar } else { Kind::Integer(8) };
    let head: Vec<(&str, Kind)> = names.iter().map(|name| (*name, kind(name))).collect();
    let values: Vec<Vec<u8>> = names
        .iter()
        .map(|name| match *name {
            "now_ms" => fixed(&NOW_MS.to_le_bytes()),
            "state" => nvarchar(Some("ready")),
            "jobs" => fixed(&3_i64.to_le_bytes()),
            text if TEXTS.contains(&text) => nvarchar(None),
            _ => fixed(&[]),
        })
        .collect();
    [columns(&head), row(&values), done(DONE_FINAL)].concat()
}
