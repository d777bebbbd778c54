//! Samples: the answer to the statement of one target, as plain data.
//!
//! Rows are read by column name. An answer of another shape is an error of the sample, never a guess.

mod logs;
mod queue;
mod rows;

pub use logs::{Attempt, EnqueuedJob, Notification, StepEntry};
pub use queue::{Claim, JobState, QueueFacts, QueueSample};
pub use rows::Row;

use serde::{Deserialize, Serialize};

use crate::config::{
    AttemptLog, ControlTable, EnqueueLog, LogConfig, RunLog, TargetConfig, for_each_log_kind,
};
use crate::source::{Rows, SourceError};

/// The bounds of a log, by its ascending id, including rows that do not fit the target's predicate. Times are
/// in milliseconds since 1970-01-01T00:00:00Z.
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

/// One sample of a log that grows by id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSample<R> {
    /// The database's clock, in milliseconds since 1970-01-01T00:00:00Z.
    pub now_ms: i64,
    /// The bounds of the table.
    pub bounds: Bounds,
    /// The rows, ascending by id.
    pub rows: Vec<R>,
    /// The ids of the rows that do not fit the target's predicate, ascending.
    pub foreign: Vec<i64>,
    /// Whether the application lock of the runs is held; `None` when none is configured.
    pub lock_held: Option<bool>,
}

/// How a kind of log is read.
pub trait LogTable: LogConfig {
    /// One row.
    type Row;

    /// Reads the row with this id.
    ///
    /// # Errors
    /// Reason `decode`, when a column is missing or holds a value of another type.
    fn decode(&self, id: i64, row: Row<'_>) -> Result<Self::Row, SourceError>;

    /// Whether the application lock is held, according to any row of the answer.
    ///
    /// # Errors
    /// As [`Self::decode`].
    fn lock_held(&self, _first: Row<'_>) -> Result<Option<bool>, SourceError> {
        Ok(None)
    }
}

macro_rules! samples {
    ($($(#[$doc:meta])* $Kind:ident in $list:ident, label $label:literal, preset $preset:literal;)+) => {
        /// One sample of a target.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Sample {
            /// A queue table.
            Queue(QueueSample),
            $($(#[$doc])* $Kind(LogSample<<$Kind as LogTable>::Row>),)+
        }

        impl Sample {
            /// Reads the answer to the statement of a target.
            ///
            /// # Errors
            /// Reason `decode`, when the answer does not have the statement's shape; `permission`, when the
            /// target's probe reports that rows are hidden from the login.
            pub fn decode(target: TargetConfig<'_>, rows: &Rows) -> Result<Self, SourceError> {
                rows::check_probe(target.target(), rows)?;
                Ok(match target {
                    TargetConfig::Queue(queue) => Self::Queue(queue::decode(queue, rows)?),
                    $(TargetConfig::$Kind(log) => Self::$Kind(rows::Reader::new(rows)?.log(log)?),)+
                })
            }

            /// The bounds of a log; `None` for a queue.
            #[must_use]
            pub const fn bounds(&self) -> Option<Bounds> {
                match self {
                    Self::Queue(_) => None,
                    $(Self::$Kind(log) => Some(log.bounds),)+
                }
            }

            /// The database's clock, in milliseconds since 1970-01-01T00:00:00Z.
            #[must_use]
            pub const fn now_ms(&self) -> i64 {
                match self {
                    Self::Queue(queue) => queue.now_ms,
                    $(Self::$Kind(log) => log.now_ms,)+
                }
            }
        }
    };
}
for_each_log_kind!(samples);

impl Sample {
    /// Reads the result of the statement of a target.
    ///
    /// # Errors
    /// That of the database, worded for the target, or as [`Self::decode`].
    pub fn read(target: TargetConfig<'_>, answer: Result<Rows, SourceError>) -> Result<Self, SourceError> {
        let rows = answer.map_err(|error| {
            if let TargetConfig::Queue(queue) = target { queue::explained(queue, error) } else { error }
        })?;
        Self::decode(target, &rows)
    }
}
