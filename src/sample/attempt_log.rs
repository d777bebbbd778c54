//! Attempt-log samples: one row per attempt.

use serde::{Deserialize, Serialize};

use super::LogTable;
use super::rows::Row;
use crate::config::{AttemptLog, AttemptOutcome};
use crate::source::SourceError;

/// One row of an attempt log: one finished attempt at a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The row's id.
    pub id: i64,
    /// The queue of the job.
    pub queue: String,
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// Its number among the attempts at the job, 1 for the first.
    pub number: Option<u64>,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// The time from the job's enqueuing to the end of the attempt.
    pub delay_ms: Option<u64>,
}

impl LogTable for AttemptLog {
    type Row = Attempt;

    fn decode(&self, id: i64, row: Row<'_>) -> Result<Attempt, SourceError> {
        Ok(Attempt {
            id,
            queue: row.queue(self.queue_label.as_ref(), &self.target)?,
            outcome: row.outcome()?,
            number: row.measured("attempt")?,
            duration_ms: match &self.duration {
                Some(_) => row.measured("duration_ms")?,
                None => row.span("duration_ms", self.started_at.as_ref())?,
            },
            delay_ms: row.span("delay_ms", self.enqueued_at.as_ref())?,
        })
    }
}
