//! Enqueue-log samples: one enqueued job a row.

use serde::{Deserialize, Serialize};

use super::LogTable;
use super::rows::Row;
use crate::config::EnqueueLog;
use crate::source::SourceError;

/// One job that was put into its queue.
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
