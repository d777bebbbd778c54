//! Run-log samples: one row per step or per run.

use serde::{Deserialize, Serialize};

use super::LogTable;
use super::rows::Row;
use crate::config::{Outcome, RunLog};
use crate::source::SourceError;

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
