//! Enqueue logs: tables that keep a row for every enqueued job.

use crate::config::mapping::mapping;

mapping! {
    /// A table that keeps a row for every enqueued job, read as a log. A lease queue that keeps its finished
    /// jobs for a while is one.
    pub struct EnqueueLog as EnqueueLogForm {
        /// An ascending, unique integer column, the primary key.
        maps required id: ColumnName = "name the ascending id column";
        /// The column whose value becomes the label `queue`; without it the label is the target's name.
        maps optional queue_label: ColumnName;
        /// When the job was put into its queue. It distinguishes a truncated table from a quiet one.
        maps optional enqueued_at: TimeColumn;
        /// The most rows that one sample examines.
        keeps default batch_size: BatchSize = BatchSize::DEFAULT;
        /// How long samples keep asking for a missing id.
        keeps default late_window: LateWindow = LateWindow::DEFAULT;
    }
}

fn cross_check(_: &mut Draft, _: &Locations, _: &mut Checker<'_>, _: &Scope, _: Option<&Target>) {}
