//! Enqueue logs: how many jobs were put into each queue.

use super::log::{Cell, CountTable, LogKind, LogRow, LogState, Presentation};
use crate::config::EnqueueLog;
use crate::sample::EnqueuedJob;

/// The state of an enqueue-log target: jobs enqueued, by queue.
pub type EnqueueLogState = LogState<EnqueueLog>;

impl LogRow for EnqueuedJob {
    fn id(&self) -> i64 {
        self.id
    }

    fn label(&mut self) -> &mut String {
        &mut self.queue
    }
}

impl LogKind for EnqueueLog {
    type Series = u64;
    type Overall = ();

    fn overall(&self) {}

    fn presentation(log: &LogState<Self>) -> Presentation<'_> {
        let series = log.log.series.iter();
        Presentation::Counts(CountTable {
            title: "Enqueued",
            caption: "Jobs put into their queues",
            columns: &["Queue", "Jobs"],
            rows: series.map(|(queue, jobs)| (queue.as_str(), vec![Cell::Count(Some(*jobs))])).collect(),
        })
    }

    /// The target's own name, unless the names of the queues come from the table.
    fn declared(&self) -> Vec<&String> {
        if self.queue_label.is_none() { vec![&self.target.name] } else { Vec::new() }
    }

    fn has_queue_label(&self) -> bool {
        self.queue_label.is_some()
    }

    fn count(enqueued: &mut u64, _: &EnqueuedJob) {
        *enqueued += 1;
    }
}
