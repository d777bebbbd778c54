//! Control tables: notifications by kind.

use serde::{Deserialize, Serialize};

use super::log::{Cell, CountTable, LogKind, LogState, Presentation};
use crate::config::ControlTable;
use crate::sample::Notification;

/// The state of a control-table target, by kind of notification.
pub type ControlTableState = LogState<ControlTable>;

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

impl LogKind for ControlTable {
    type Series = KindState;
    type Overall = ();

    fn presentation(log: &LogState<Self>) -> Presentation<'_> {
        let cells = |kind: &KindState| vec![Cell::Count(Some(kind.notifications)), Cell::Time(kind.last_ms)];
        Presentation::Counts(CountTable {
            title: "Notifications",
            caption: "Notifications by kind",
            columns: &["Kind", "Written", "Last"],
            rows: log.log.series.iter().map(|(name, kind)| (name.as_str(), cells(kind))).collect(),
        })
    }

    fn declared(&self) -> Vec<&String> {
        self.kinds.iter().flatten().collect()
    }

    fn remember(&self, (): &mut (), kind: &mut KindState, notification: &Notification) {
        if kind.newest_id <= Some(notification.id) {
            kind.newest_id = Some(notification.id);
            kind.last_ms = notification.at_ms.or(kind.last_ms);
        }
    }

    fn count(kind: &mut KindState, _: &Notification) {
        kind.notifications += 1;
    }

    fn start_over(state: &mut ControlTableState) {
        state.log.series.values_mut().for_each(|kind| kind.newest_id = None);
    }
}
