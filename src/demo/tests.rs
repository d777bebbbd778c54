//! The demo on a real database file. What its statements promise together with the T-SQL procedures is
//! tested in tests/it/reference.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

pub(super) mod clock;
mod incidents;
mod notifications;
mod pause;
mod setup;
pub(super) mod simulation;

use std::time::Duration;

use rusqlite::Connection;
use tempfile::TempDir;

use super::{DemoDatabase, DemoOptions, prepare};

/// A prepared database in a folder of its own.
pub(super) struct Lab {
    pub(super) database: DemoDatabase,
    pub(super) options: DemoOptions,
    _folder: TempDir,
}

impl Lab {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let options = DemoOptions { folder: folder.path().join("demo"), seed: 7, speed: 1.0, episode: None };
        let database = prepare(&options).expect("a demo database");
        Self { database, options, _folder: folder }
    }

    /// A connection that waits for another writer for as long as it takes on a busy machine.
    pub(super) fn connect(&self) -> Connection {
        let connection = self.database.connect().expect("a connection");
        connection.busy_timeout(PATIENCE).expect("a timeout");
        connection
    }
}

/// How many rows each table has, and who holds the lock.
pub(super) fn counts(connection: &Connection) -> Counts {
    connection
        .query_one(include_str!("tests/counts.sql"), [], |row| {
            Ok(Counts {
                jobs: row.get(0)?,
                work: row.get(1)?,
                comments: row.get(2)?,
                orders: row.get(3)?,
                control: row.get(4)?,
                messages: row.get(5)?,
                log: row.get(6)?,
                lock_holder: row.get(7)?,
            })
        })
        .unwrap()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) jobs: u32,
    pub(super) work: u32,
    pub(super) comments: u32,
    pub(super) orders: u32,
    pub(super) control: u32,
    pub(super) messages: u32,
    pub(super) log: u32,
    pub(super) lock_holder: Option<String>,
}

/// One row of the run log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LogRow {
    pub(super) step: String,
    pub(super) outcome: String,
    pub(super) duration_ms: i64,
    pub(super) candidates: Option<u32>,
    pub(super) message: Option<String>,
}

pub(super) fn run_log(connection: &Connection) -> Vec<LogRow> {
    connection
        .prepare(include_str!("tests/run_log.sql"))
        .unwrap()
        .query_map([], |row| {
            Ok(LogRow {
                step: row.get(0)?,
                outcome: row.get(1)?,
                duration_ms: row.get(2)?,
                candidates: row.get(3)?,
                message: row.get(4)?,
            })
        })
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap()
}

/// The outcome of each attempt in the history, oldest first.
pub(super) fn outcomes(connection: &Connection) -> Vec<String> {
    let mut statement = connection.prepare(include_str!("tests/attempts.sql")).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

/// Nothing here takes nearly as long; a machine may be busy with something else.
pub(super) const PATIENCE: Duration = Duration::from_secs(300);

/// Long enough that it cannot end within a test.
const LONG: Duration = Duration::from_secs(3600);

/// Lets the database's clock, which counts milliseconds, move on.
fn tick() {
    std::thread::sleep(Duration::from_millis(5));
}
