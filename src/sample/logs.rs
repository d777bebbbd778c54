//! Log samples: the rows of each kind of log.

use serde::{Deserialize, Serialize};

use super::LogTable;
use super::rows::Row;
use crate::config::{AttemptLog, AttemptOutcome, ControlTable, EnqueueLog, Outcome, RunLog};
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

/// One row of an enqueue log: one enqueued job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnqueuedJob {
    /// The row's id.
    pub id: i64,
    /// The queue.
    pub queue: String,
}

impl LogTable for EnqueueLog {
    type Row = EnqueuedJob;

    fn decode(&self, id: i64, row: Row<'_>) -> Result<EnqueuedJob, SourceError> {
        Ok(EnqueuedJob { id, queue: row.queue(self.queue_label.as_ref(), &self.target)? })
    }
}

/// One row of a run log: one step of a run, or a whole run. Times are in milliseconds since
/// 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepEntry {
    /// The row's id.
    pub id: i64,
    /// The step.
    pub step: String,
    /// How it ended.
    pub outcome: Outcome,
    /// When it began.
    pub start_ms: Option<i64>,
    /// When it ended.
    pub end_ms: Option<i64>,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// How many candidates it found.
    pub candidates: Option<u64>,
    /// The step is still running, so the row will change.
    pub open: bool,
}

impl LogTable for RunLog {
    type Row = StepEntry;

    fn decode(&self, id: i64, row: Row<'_>) -> Result<StepEntry, SourceError> {
        let end_ms = row.int("end_ms")?;
        Ok(StepEntry {
            id,
            step: row.label("step")?.unwrap_or_default(),
            outcome: row.outcome()?,
            start_ms: row.int("start_ms")?,
            end_ms,
            duration_ms: match &self.duration {
                Some(_) => row.measured("duration_ms")?,
                None => row.span("duration_ms", self.start.as_ref())?,
            },
            candidates: row.measured("candidates")?,
            open: self.mutable && end_ms.is_none(),
        })
    }

    fn lock_held(&self, first: Row<'_>) -> Result<Option<bool>, SourceError> {
        Ok(first.int("lock_held")?.map(|held| held != 0))
    }
}

/// One row of a control table: one notification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notification {
    /// The row's id.
    pub id: i64,
    /// The kind of notification.
    pub kind: String,
    /// When it was written, in milliseconds since 1970-01-01T00:00:00Z.
    pub at_ms: Option<i64>,
}

impl LogTable for ControlTable {
    type Row = Notification;

    fn decode(&self, id: i64, row: Row<'_>) -> Result<Notification, SourceError> {
        Ok(Notification { id, kind: row.label("kind")?.unwrap_or_default(), at_ms: row.int("at_ms")? })
    }
}
