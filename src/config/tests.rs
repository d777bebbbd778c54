//! Tests of the configuration, one file per subject.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod attempt_log;
mod column;
mod effective;
mod file;
mod files;
mod global;
mod objectives;
mod presets;
mod queue;
mod reference;
mod run_log;
mod secrets;
mod source;
mod target;
mod values;

use std::path::Path;

use super::{AttemptLog, Config, ConfigError, ControlTable, Environment, Queue, RunLog, parse};

/// The password of the SQL Server login in these tests; no error may show it.
const PASSWORD: &str = "hunter2";

fn environment() -> Environment {
    Environment::empty()
        .with_variable("DB_PASSWORD", PASSWORD)
        .with_file("/run/secrets/db", format!("{PASSWORD}\n"))
}

fn result(yaml: &str) -> Result<Config, ConfigError> {
    parse(yaml, Path::new("config.yaml"), &environment())
}

fn config(yaml: &str) -> Config {
    result(yaml).unwrap_or_else(|error| panic!("{error}\n---\n{yaml}"))
}

/// The text of the errors in a file.
fn errors(yaml: &str) -> String {
    let text = match result(yaml) {
        Ok(config) => panic!("no error in:\n{yaml}\n{config:#?}"),
        Err(error) => error.to_string(),
    };
    assert!(!text.contains(PASSWORD), "a secret in an error: {text}");
    text
}

/// A file with one target in a database, its keys given one per line.
fn with_target(database: &str, list: &str, keys: &str) -> String {
    let keys: String = keys.trim().lines().map(|line| format!("\n        {line}")).collect();
    format!("sources:\n  - name: db\n    {database}\n    {list}:\n      - name: target{keys}\n")
}

const SQLITE: &str = "sqlite: { file: /queue.db }";
const MSSQL: &str = "mssql: { host: db1, database: Orders, user: sqlqueue, password_env: DB_PASSWORD }";

/// A queue in SQLite; its first key is on line 6, column 9.
fn queue_file(keys: &str) -> String {
    with_target(SQLITE, "queues", keys)
}

fn queue(keys: &str) -> Queue {
    config(&queue_file(keys)).sources.remove(0).queues.remove(0)
}

fn queue_errors(keys: &str) -> String {
    errors(&queue_file(keys))
}

fn attempt_log(keys: &str) -> AttemptLog {
    config(&with_target(SQLITE, "attempt_logs", keys)).sources.remove(0).attempt_logs.remove(0)
}

fn run_log(keys: &str) -> RunLog {
    config(&with_target(SQLITE, "run_logs", keys)).sources.remove(0).run_logs.remove(0)
}

fn run_log_errors(keys: &str) -> String {
    errors(&with_target(SQLITE, "run_logs", keys))
}

fn control_table(keys: &str) -> ControlTable {
    config(&with_target(SQLITE, "control_tables", keys)).sources.remove(0).control_tables.remove(0)
}

/// A file whose source is a SQL Server with these keys, one per line from line 4, column 7.
fn mssql_file(keys: &str) -> String {
    let keys: String = keys.trim().lines().map(|line| format!("\n      {line}")).collect();
    format!("sources:\n  - name: db\n    mssql:{keys}\n    queues: [ {{ name: q, preset: lease }} ]\n")
}

/// The keys of a login, except the password.
const LOGIN: &str = "host: db1\ndatabase: Orders\nuser: sqlqueue\n";

/// Fails unless a file of the project has the expected text. With UPDATE_GOLDEN=1 it writes the file.
#[track_caller]
fn assert_current(file: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        std::fs::write(&path, expected).unwrap();
    }
    let current = std::fs::read_to_string(&path).unwrap_or_default();
    let remedy = "update it with `UPDATE_GOLDEN=1 cargo test --lib config`";
    assert!(current == expected, "{file} is not what the code says; {remedy}");
}
