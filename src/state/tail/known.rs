//! What is remembered of a table to tell one that started over from one that shows few of its rows:
//! READPAST leaves out what somebody has locked, and that can be any row, and all of them.

use serde::{Deserialize, Serialize};

use super::TailRow;
use crate::sample::Bounds;

/// What was seen of a table, all samples together; `None` before a row was seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Known {
    /// The lowest id that a sample saw.
    lowest_id: Option<i64>,
    /// The lowest and the highest id that the last sample saw, of those that saw any.
    oldest_id: Option<i64>,
    newest_id: Option<i64>,
    /// The latest time that an oldest row had, in milliseconds since the epoch.
    latest_ms: Option<i64>,
}

impl Known {
    /// Takes what a sample saw.
    pub(super) fn note(&mut self, rows: &[TailRow], bounds: Bounds) {
        // A row can be locked when the oldest one is looked for, and free when the new ones are read.
        let oldest_id = bounds.oldest_id.into_iter().chain(rows.first().map(|row| row.id)).min();
        self.lowest_id = self.lowest_id.into_iter().chain(oldest_id).min();
        self.oldest_id = oldest_id.or(self.oldest_id);
        self.newest_id = bounds.newest_id.or(self.newest_id);
        self.latest_ms = self.latest_ms.max(bounds.oldest_ms);
    }

    /// The highest id that the last sample saw, of those that saw any.
    pub(super) const fn newest_id(&self) -> Option<i64> {
        self.newest_id
    }

    /// Whether the rows that the table holds now, none of which is newer than what was read, are other
    /// rows than those that were seen. When in doubt they are the same: a row that is counted twice is
    /// worse than one that is reported as lost.
    ///
    /// Where rows have times, other rows are younger: the oldest one is younger than any oldest row
    /// before, although its id is not higher. Where they have none, only ids below all that were ever
    /// seen are surely other rows.
    pub(super) fn is_another(&self, bounds: Bounds) -> bool {
        let (Some(oldest), Some(newest)) = (bounds.oldest_id, bounds.newest_id) else {
            return false; // an empty table says nothing about the ids to come
        };
        let (Some(oldest_before), Some(lowest)) = (self.oldest_id, self.lowest_id) else {
            return true; // nothing was ever seen, so nothing was counted
        };
        match (self.latest_ms, bounds.oldest_ms) {
            (Some(latest_ms), Some(now_ms)) => oldest <= oldest_before && latest_ms < now_ms,
            _ => newest < lowest,
        }
    }
}
