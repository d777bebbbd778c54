//! The sample of an attempt log: its new rows.

use serde::{Deserialize, Serialize};

use super::Bounds;
use super::rows::Reader;
use crate::config::{AttemptLog, AttemptOutcome};
use crate::source::{Rows, SourceError};

/// What one statement said about an attempt log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptLogSample {
    /// The database's clock, in milliseconds since 1970-01-01T00:00:00Z.
    pub now_ms: i64,
    /// What the table holds.
    pub bounds: Bounds,
    /// Rows, ascending by id.
    pub attempts: Vec<Attempt>,
}

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

pub(super) fn decode(log: &AttemptLog, rows: &Rows) -> Result<AttemptLogSample, SourceError> {
    let reader = Reader::new(rows)?;
    let first = reader.first()?;
    let attempts = reader.entries(|id, row| {
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
    })?;
    Ok(AttemptLogSample { now_ms: first.required_int("now_ms")?, bounds: first.bounds()?, attempts })
}
