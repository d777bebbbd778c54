//! Enqueue logs: enqueued jobs by queue.

use super::log::{Cell, CountTable, LogKind, LogState, Presentation};
use crate::config::EnqueueLog;
use crate::sample::EnqueuedJob;

impl LogKind for EnqueueLog {
    type Series = u64;
    type Overall = ();

    fn presentation(log: &LogState<Self>) -> Presentation<'_> {
        let series = log.log.series.iter();
        Presentation::Counts(CountTable {
            title: "Enqueued",
            caption: "Jobs put into their queues",
            columns: &["Queue", "Jobs"],
            rows: series.map(|(queue, jobs)| (queue.as_str(), vec![Cell::Count(Some(*jobs))])).collect(),
        })
    }

    fn has_queue_label(&self) -> bool {
        self.queue_label.is_some()
    }

    fn count(enqueued: &mut u64, _: &EnqueuedJob) {
        *enqueued += 1;
    }
}
