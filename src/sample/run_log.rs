//! The sample of a run log: its new rows.

use serde::{Deserialize, Serialize};

use super::LogSample;
use super::rows::Reader;
use crate::config::{Outcome, RunLog};
use crate::source::{Rows, SourceError};

/// What one statement said about a run log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunLogSample {
    /// Whether somebody holds the application lock; `None` when none is configured.
    pub lock_held: Option<bool>,
    /// What was read of the log.
    pub log: LogSample<StepEntry>,
}

/// One row of a run log: one step of one run, or a whole run. Times are in milliseconds since
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
    /// The step still runs: the row will change.
    pub open: bool,
}

pub(super) fn decode(log: &RunLog, rows: &Rows) -> Result<RunLogSample, SourceError> {
    let reader = Reader::new(rows)?;
    let sample = reader.log(&log.target, |id, row| {
        let end_ms = row.int("end_ms")?;
        Ok(StepEntry {
            id,
            step: row.label("step")?.unwrap_or_default(),
            outcome: row.outcome()?,
            start_ms: row.int("start_ms")?,
            end_ms,
            duration_ms: match &log.duration {
                Some(_) => row.measured("duration_ms")?,
                None => row.span("duration_ms", log.start.as_ref())?,
            },
            candidates: row.measured("candidates")?,
            open: log.mutable && end_ms.is_none(),
        })
    })?;
    Ok(RunLogSample { lock_held: reader.first()?.int("lock_held")?.map(|held| held != 0), log: sample })
}
