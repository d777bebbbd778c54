//! A sample: what one statement said about one target, as plain data.
//!
//! Rows are read by column name; an answer of another shape is an error of the sample, never a
//! guess.

mod attempt_log;
mod control_table;
mod enqueue_log;
mod queue;
mod rows;
mod run_log;

pub use attempt_log::Attempt;
pub use control_table::Notification;
pub use enqueue_log::EnqueuedJob;
pub use queue::{Claim, JobState, QueueFacts, QueueSample};
pub use run_log::{RunLogSample, StepEntry};

use serde::{Deserialize, Serialize};

use crate::config::TargetConfig;
use crate::source::{Rows, SourceError};

/// The bounds of a log, by its ascending id. Times are in milliseconds since 1970-01-01T00:00:00Z, and
/// those of rows that do not fit the target's predicate, too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// The lowest id that the table holds.
    pub oldest_id: Option<i64>,
    /// The time of that row.
    pub oldest_ms: Option<i64>,
    /// The highest id that the table holds.
    pub newest_id: Option<i64>,
    /// The time of that row.
    #[serde(default)]
    pub newest_ms: Option<i64>,
    /// The latest time of the rows that the sample read.
    #[serde(default)]
    pub latest_ms: Option<i64>,
}

/// What one sample read of a log that grows by id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogSample<R> {
    /// The database's clock, in milliseconds since 1970-01-01T00:00:00Z.
    pub now_ms: i64,
    /// What the table holds.
    pub bounds: Bounds,
    /// The rows, ascending by id.
    pub rows: Vec<R>,
    /// The ids of the rows that were looked at and do not fit the target's predicate, ascending.
    pub foreign: Vec<i64>,
}

/// One sample of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sample {
    /// Of a queue.
    Queue(QueueSample),
    /// Of an attempt log.
    AttemptLog(LogSample<Attempt>),
    /// Of an enqueue log.
    EnqueueLog(LogSample<EnqueuedJob>),
    /// Of a run log.
    RunLog(RunLogSample),
    /// Of a control table.
    ControlTable(LogSample<Notification>),
}

impl Sample {
    /// Reads what came of the statement of a target.
    ///
    /// # Errors
    /// That of the database, in words that fit the target, or as [`Self::decode`].
    pub fn read(target: TargetConfig<'_>, answer: Result<Rows, SourceError>) -> Result<Self, SourceError> {
        let rows = answer.map_err(|error| match target {
            TargetConfig::Queue(queue) => queue::explained(queue, error),
            _ => error,
        })?;
        Self::decode(target, &rows)
    }

    /// Reads the answer to the statement of a target.
    ///
    /// # Errors
    /// Reason `decode`, when the answer is not of the statement's shape; `permission`, when the
    /// target's probe says that rows are hidden from the login.
    pub fn decode(target: TargetConfig<'_>, rows: &Rows) -> Result<Self, SourceError> {
        rows::check_probe(target.target(), rows)?;
        Ok(match target {
            TargetConfig::Queue(queue) => Self::Queue(queue::decode(queue, rows)?),
            TargetConfig::AttemptLog(log) => Self::AttemptLog(attempt_log::decode(log, rows)?),
            TargetConfig::EnqueueLog(log) => Self::EnqueueLog(enqueue_log::decode(log, rows)?),
            TargetConfig::RunLog(log) => Self::RunLog(run_log::decode(log, rows)?),
            TargetConfig::ControlTable(control) => Self::ControlTable(control_table::decode(control, rows)?),
        })
    }

    /// What a log holds; a queue has no such bounds.
    #[must_use]
    pub const fn bounds(&self) -> Option<Bounds> {
        match self {
            Self::Queue(_) => None,
            Self::AttemptLog(LogSample { bounds, .. })
            | Self::EnqueueLog(LogSample { bounds, .. })
            | Self::RunLog(RunLogSample { log: LogSample { bounds, .. }, .. })
            | Self::ControlTable(LogSample { bounds, .. }) => Some(*bounds),
        }
    }

    /// The database's clock, in milliseconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub const fn now_ms(&self) -> i64 {
        match self {
            Self::Queue(QueueSample { now_ms, .. })
            | Self::AttemptLog(LogSample { now_ms, .. })
            | Self::EnqueueLog(LogSample { now_ms, .. })
            | Self::RunLog(RunLogSample { log: LogSample { now_ms, .. }, .. })
            | Self::ControlTable(LogSample { now_ms, .. }) => *now_ms,
        }
    }
}
