//! The sample of an enqueue log: its new rows.

use serde::{Deserialize, Serialize};

use super::Bounds;
use super::rows::Reader;
use crate::config::EnqueueLog;
use crate::source::{Rows, SourceError};

/// What one statement said about an enqueue log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnqueueLogSample {
    /// The database's clock, in milliseconds since 1970-01-01T00:00:00Z.
    pub now_ms: i64,
    /// What the table holds.
    pub bounds: Bounds,
    /// Rows, ascending by id.
    pub jobs: Vec<EnqueuedJob>,
}

/// One job that was put into its queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnqueuedJob {
    /// The row's id.
    pub id: i64,
    /// The queue.
    pub queue: String,
}

pub(super) fn decode(log: &EnqueueLog, rows: &Rows) -> Result<EnqueueLogSample, SourceError> {
    let reader = Reader::new(rows)?;
    let first = reader.first()?;
    let jobs = reader.entries(|id, row| {
        Ok(EnqueuedJob { id, queue: row.queue(log.queue_label.as_ref(), &log.target)? })
    })?;
    Ok(EnqueueLogSample { now_ms: first.required_int("now_ms")?, bounds: first.bounds()?, jobs })
}
