//! Enqueue-log samples: one row per enqueued job.

use serde::{Deserialize, Serialize};

use super::LogTable;
use super::rows::Row;
use crate::config::EnqueueLog;
use crate::source::SourceError;

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
