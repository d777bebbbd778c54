//! The sample of an enqueue log: its new rows.

use serde::{Deserialize, Serialize};

use super::LogSample;
use super::rows::Reader;
use crate::config::EnqueueLog;
use crate::source::{Rows, SourceError};

/// One job that was put into its queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnqueuedJob {
    /// The row's id.
    pub id: i64,
    /// The queue.
    pub queue: String,
}

pub(super) fn decode(log: &EnqueueLog, rows: &Rows) -> Result<LogSample<EnqueuedJob>, SourceError> {
    Reader::new(rows)?.log(&log.target, |id, row| {
        Ok(EnqueuedJob { id, queue: row.queue(log.queue_label.as_ref(), &log.target)? })
    })
}
