//! The demo: a small business on one SQLite file, for the exporter to watch.
//!
//! Three systems run on it: a lease queue ([`queue`]), a transactional queue ([`transactional`])
//! and notification runs ([`notifications`]). [`run_workload`] brings them to life with simulated
//! workers, consumers and schedulers, some of which fail, crash or get in each other's way, as real
//! ones do. One of many things can go wrong on purpose, for a while: an [`incident`].
//!
//! # What a seed repeats
//!
//! Every actor draws its decisions from a generator of its own, derived from the seed and the
//! actor's name, and draws the same number of values for each decision. So the same seed gives each
//! actor the same stream of decisions: the third job of `worker-1` crashes in every run. It does
//! not repeat the run: which worker gets which job, and in which order the actors reach the
//! database, is up to the scheduler of the machine. Claim tokens come from the database and are
//! different each time.

mod banner;
mod clock;
mod configuration;
mod database;
mod error;
pub mod incident;
pub mod notifications;
pub mod pause;
pub mod queue;
mod schema;
#[cfg(test)]
mod tests;
pub mod transactional;
mod workload;

use std::path::PathBuf;
use std::time::Duration;

pub use banner::banner;
pub use clock::HostClock;
pub use database::{DemoDatabase, prepare};
pub use error::DemoError;
pub use incident::{Episode, Incident};
pub use schema::now;
pub use workload::{DemoSummary, run_notifications, run_workload};

/// How many times as fast as in a real business things happen at speed 1: a minute there is a second
/// here. The objectives in the demo's configuration go with it; whoever holds it against alert rules
/// divides their durations by it, and by the speed.
pub const TEMPO: f64 = 60.0;

/// How the demo runs.
#[derive(Debug, Clone, PartialEq)]
pub struct DemoOptions {
    /// Where its files are; created if missing. A database found there is continued.
    pub folder: PathBuf,
    /// Where all its decisions come from.
    pub seed: u64,
    /// 1.0 is normal; 2.0 halves every pause, duration, lease and objective. Between 0.1 and 100.
    pub speed: f64,
    /// What goes wrong, if anything.
    pub episode: Option<Episode>,
}

/// Whether a speed makes sense.
///
/// # Errors
///
/// [`DemoError::Speed`].
pub fn check_speed(speed: f64) -> Result<(), DemoError> {
    if (0.1..=100.0).contains(&speed) { Ok(()) } else { Err(DemoError::Speed(speed)) }
}

/// A duration as the statements take it.
fn ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
