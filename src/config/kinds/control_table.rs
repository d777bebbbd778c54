//! Control tables: one row a notification.

use crate::config::mapping::mapping;

mapping! {
    /// A control table: one row a notification, its event key unique.
    pub struct ControlTable as ControlTableForm {
        /// An ascending, unique integer column, the primary key.
        maps required id: ColumnName = "name the ascending id column";
        /// The column that names the kind of notification.
        maps required kind: ColumnName = "name the column that names the kind of notification";
        /// Kinds that are exported from the start, at 0.
        keeps optional kinds: Vec<String>;
        /// When the notification was written.
        maps optional at: TimeColumn;
        /// How many rows a sample looks at, at most.
        keeps default batch_size: BatchSize = BatchSize::DEFAULT;
        /// How long a missing id is asked for again.
        keeps default late_window: LateWindow = LateWindow::DEFAULT;
    }
}

fn cross_check(_: &mut Draft, _: &Locations, _: &mut Checker<'_>, _: &Scope, _: Option<&Target>) {}
