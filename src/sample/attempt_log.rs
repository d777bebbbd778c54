//! The sample of an attempt log: its new rows.

use serde::{Deserialize, Serialize};

use super::LogSample;
use super::rows::Reader;
use crate::config::{AttemptLog, AttemptOutcome};
use crate::source::{Rows, SourceError};

/// One row of an attempt log: one attempt at a job that ended.
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

pub(super) fn decode(log: &AttemptLog, rows: &Rows) -> Result<LogSample<Attempt>, SourceError> {
    Reader::new(rows)?.log(&log.target, |id, row| {
        Ok(Attempt {
            id,
            queue: row.queue(log.queue_label.as_ref(), &log.target)?,
            outcome: row.outcome()?,
            number: row.measured("attempt")?,
            duration_ms: match &log.duration {
                Some(_) => row.measured("duration_ms")?,
                None => row.span("duration_ms", log.started_at.as_ref())?,
            },
            delay_ms: row.span("delay_ms", log.enqueued_at.as_ref())?,
        })
    })
}
