//! What is exported about a control table: notifications by kind.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::log::{Limits, Log, LogRow};
use super::tail::{Progress, Reading};
use crate::config::ControlTable;
use crate::sample::{LogSample, Notification};

/// The state of a control-table target.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlTableState {
    /// Counters by kind.
    pub log: Log<Notification, KindState>,
}

/// Counters of one kind of notification.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindState {
    /// Notifications written.
    pub notifications: u64,
    /// When the newest was written, ms since the epoch.
    pub last_ms: Option<i64>,
    /// The id of that row, the highest one of the kind.
    pub(crate) newest_id: Option<i64>,
}

impl LogRow for Notification {
    fn id(&self) -> i64 {
        self.id
    }

    fn label(&mut self) -> &mut String {
        &mut self.kind
    }
}

impl ControlTableState {
    /// The state before the first sample: declared kinds are there, at 0.
    #[must_use]
    pub fn new(control: &ControlTable, max_label_values: usize) -> Self {
        Self { log: Log::new(control.kinds.iter().flatten(), max_label_values) }
    }

    pub(super) fn apply(
        &mut self,
        control: &ControlTable,
        sample: LogSample<Notification>,
        max_label_values: usize,
    ) -> Progress {
        let reading =
            Reading::of(&control.target, control.late_window.0, Duration::ZERO, control.batch_size.0);
        let limits = Limits { reading, max_label_values };
        let progress = self.log.apply(
            sample,
            limits,
            |kind, notification| {
                if kind.newest_id <= Some(notification.id) {
                    kind.newest_id = Some(notification.id);
                    kind.last_ms = notification.at_ms.or(kind.last_ms);
                }
            },
            |kind, _| kind.notifications += 1,
        );
        if progress.reset {
            // What is remembered by id starts over with the ids.
            self.log.series.values_mut().for_each(|kind| kind.newest_id = None);
        }
        progress
    }
}
