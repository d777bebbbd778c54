//! Enqueue logs: enqueued jobs by queue.

use super::log::{LogKind, LogState};
use crate::config::EnqueueLog;
use crate::sample::EnqueuedJob;

/// The state of an enqueue-log target: jobs enqueued, by queue.
pub type EnqueueLogState = LogState<EnqueueLog>;

impl LogKind for EnqueueLog {
    type Series = u64;
    type Overall = ();

    fn has_queue_label(&self) -> bool {
        self.queue_label.is_some()
    }

    fn count(enqueued: &mut u64, _: &EnqueuedJob) {
        *enqueued += 1;
    }
}
