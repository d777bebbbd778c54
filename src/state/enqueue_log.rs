//! What is exported about an enqueue log: how many jobs were put into each queue.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::log::{Limits, Log, LogRow};
use super::tail::{Progress, Reading};
use crate::config::EnqueueLog;
use crate::sample::{EnqueuedJob, LogSample};

/// The state of an enqueue-log target.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnqueueLogState {
    /// Jobs enqueued, by queue.
    pub log: Log<EnqueuedJob, u64>,
    /// Whether the table names the queues; as configured.
    #[serde(skip)]
    pub labelled: bool,
}

impl LogRow for EnqueuedJob {
    fn id(&self) -> i64 {
        self.id
    }

    fn label(&mut self) -> &mut String {
        &mut self.queue
    }
}

impl EnqueueLogState {
    /// The state before the first sample. The target's own name is there, at 0, unless the names of
    /// the queues come from the table.
    #[must_use]
    pub fn new(log: &EnqueueLog, max_label_values: usize) -> Self {
        let labelled = log.queue_label.is_some();
        let declared = (!labelled).then_some(&log.target.name);
        Self { log: Log::new(declared, max_label_values), labelled }
    }

    pub(super) fn apply(
        &mut self,
        log: &EnqueueLog,
        sample: LogSample<EnqueuedJob>,
        max_label_values: usize,
    ) -> Progress {
        let reading = Reading::of(&log.target, log.late_window.0, Duration::ZERO, log.batch_size.0);
        let limits = Limits { reading, max_label_values };
        self.log.apply(sample, limits, |_, _| {}, |enqueued, _| *enqueued += 1)
    }
}
