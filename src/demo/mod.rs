//! The demo: a small business on one SQLite file, for the exporter to watch.
//!
//! Three systems run on it: a lease queue ([`queue`]), a transactional queue ([`transactional`]) and
//! notification runs ([`notifications`]). [`run_workload`] brings them to life with simulated workers,
//! consumers and schedulers, some of which fail, crash or get in each other's way, as real ones do.
//! Something can go wrong on purpose, for a while: an [`incident`].
//!
//! # What a seed repeats
//!
//! Every actor draws its decisions from its own generator, which is derived from the seed and the
//! actor's name, and draws the same number of values for each decision. So the same seed gives each
//! actor the same stream of decisions: the third job of `worker-1` crashes in every run. It does not
//! repeat the run: which worker gets which job, and in which order the actors reach the database, is up
//! to the machine's scheduler. Claim tokens come from the database and differ each time.

mod banner;
mod clock;
mod database;
mod error;
pub mod incident;
pub mod notifications;
pub mod pause;
pub mod queue;
#[cfg(test)]
mod tests;
pub mod transactional;
mod workload;

use std::path::PathBuf;
use std::time::Duration;

use rusqlite::{Connection, Params};

pub use banner::banner;
pub use clock::HostClock;
pub use database::{DemoDatabase, prepare};
pub use error::DemoError;
pub use incident::{Episode, Incident};
pub use workload::{DemoSummary, run_notifications, run_workload};

/// How much faster than in a real business things happen at speed 1: a minute there is a second here.
/// The objectives in the demo's configuration match it. To hold the demo against alert rules, divide
/// their durations by this and by the speed.
pub const TEMPO: f64 = 60.0;

/// The options of the demo.
#[derive(Debug, Clone, PartialEq)]
pub struct DemoOptions {
    /// The folder of its files; created if missing. A database found there is continued.
    pub folder: PathBuf,
    /// The seed of all its decisions.
    pub seed: u64,
    /// 1.0 is normal; 2.0 halves every pause, duration, lease and objective. Between 0.1 and 100.
    pub speed: f64,
    /// What goes wrong, if anything.
    pub episode: Option<Episode>,
}

/// Checks that a speed is in range.
///
/// # Errors
/// [`DemoError::Speed`].
pub fn check_speed(speed: f64) -> Result<(), DemoError> {
    if (0.1..=100.0).contains(&speed) { Ok(()) } else { Err(DemoError::Speed(speed)) }
}

/// The text of a statement in `sql/sqlite`, named by its path there without the ending.
macro_rules! sql {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/sql/sqlite/", $name, ".sql"))
    };
}
use sql;

/// Runs a statement and returns how many rows it changed.
fn execute(connection: &Connection, statement: &str, parameters: impl Params) -> rusqlite::Result<usize> {
    connection.prepare_cached(statement)?.execute(parameters)
}

/// Runs a statement that inserts one row, and returns the row's id.
fn insert(connection: &Connection, statement: &str, parameters: impl Params) -> rusqlite::Result<i64> {
    connection.prepare_cached(statement)?.insert(parameters)
}

/// A duration in milliseconds, as the statements take it.
fn ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// The database's clock, in the format of every time column.
pub fn now(connection: &Connection) -> rusqlite::Result<String> {
    connection.prepare_cached(sql!("now"))?.query_one([], |row| row.get(0))
}
