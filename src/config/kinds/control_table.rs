//! Control tables: one row per notification.

use crate::config::mapping::mapping;

mapping! {
    /// A control table: one row per notification, with a unique event key.
    pub struct ControlTable as ControlTableForm {
        /// An ascending, unique integer column, the primary key.
        maps required id: ColumnName = "name the ascending id column";
        /// The column that names the kind of notification.
        maps required kind: ColumnName = "name the column that names the kind of notification";
        /// Kinds that are exported from the start, at 0.
        keeps optional kinds: Vec<String>;
        /// When the notification was written.
        maps optional at: TimeColumn;
        /// The most rows that one sample examines.
        keeps default batch_size: BatchSize = BatchSize::DEFAULT;
        /// How long samples keep asking for a missing id.
        keeps default late_window: LateWindow = LateWindow::DEFAULT;
    }
}

fn cross_check(_: &mut Draft, _: &Locations, _: &mut Checker<'_>, _: &Scope, _: Option<&Target>) {}
