//! The history of a table: distinguishes a table that started over from one that shows only some of its rows.
//! READPAST skips locked rows, which can be any of them, or all.

use serde::{Deserialize, Serialize};

use super::row::TailRow;
use crate::sample::Bounds;

/// What all samples together saw of a table; `None` before a row was seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct History {
    /// The lowest id that a sample saw, or that was awaited.
    lowest_id: Option<i64>,
    /// How many samples in a row saw rows, but none as new as the newest that was read.
    #[serde(default, rename = "short")]
    samples_without_end: u32,
    /// The latest time of a row that was read, or seen while the newest rows were there, in milliseconds
    /// since the epoch.
    latest_ms: Option<i64>,
    /// The table was empty after the newest rows were last seen.
    #[serde(default)]
    emptied: bool,
    /// Awaited rows came after the newest rows were last seen. The table must count as the same from then on:
    /// in another one those rows would be counted again.
    #[serde(default, rename = "went_on")]
    late_rows_came: bool,
}

/// What a sample shows of the rows that were read before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Evidence {
    /// The newest of them, or a newer one.
    pub(super) shows_end: bool,
    /// An awaited row as the newest one, or [`Self::shows_end`].
    pub(super) shows_table: bool,
    /// Awaited rows.
    pub(super) has_late_rows: bool,
    /// Only some of the table's rows, possibly.
    pub(super) is_partial: bool,
}

impl History {
    /// The history of a reader that remembers the last sample only. If that had no rows, any id may have been
    /// seen.
    pub(super) fn of_last_sample(bounds: Bounds) -> Self {
        Self {
            lowest_id: Some(bounds.oldest_id.unwrap_or(i64::MIN)),
            samples_without_end: 0,
            latest_ms: bounds.oldest_ms,
            emptied: false,
            late_rows_came: false,
        }
    }

    /// Takes what a sample saw at `now_ms`, by the database's clock; `awaited` is the lowest awaited id.
    pub(super) fn note(
        &mut self,
        rows: &[TailRow],
        awaited: Option<i64>,
        bounds: Bounds,
        now_ms: i64,
        evidence: Evidence,
    ) {
        // A row can be locked while the oldest one is looked up, and free when the new ones are read.
        let oldest_id = bounds.oldest_id.into_iter().chain(rows.first().map(|row| row.id)).min();
        // A row that nothing awaits any more can still come.
        let lowest_id = oldest_id.map(|oldest| awaited.map_or(oldest, |awaited| awaited.min(oldest)));
        self.lowest_id = self.lowest_id.into_iter().chain(lowest_id).min();
        if evidence.shows_end {
            self.samples_without_end = 0;
        } else if bounds.newest_id.is_some() {
            self.samples_without_end = self.samples_without_end.saturating_add(1);
        }
        self.emptied |= bounds.newest_id.is_none() && !evidence.is_partial;
        self.emptied &= !evidence.shows_table;
        self.late_rows_came |= evidence.has_late_rows;
        self.late_rows_came &= !evidence.shows_end;
        // Rows that were read belong to the table in any case.
        let of_the_ends =
            [bounds.oldest_ms, bounds.newest_ms].into_iter().flatten().filter(|_| evidence.shows_table);
        let times = of_the_ends.chain(bounds.latest_ms);
        // A time in the future is cut: the rows of today would look older for a long time.
        self.latest_ms = self.latest_ms.max(times.map(|ms| ms.min(now_ms)).max());
    }

    /// Whether it is time to report that the newest rows are gone: at once, or, where a worker's lock may have
    /// hidden them, in the third sample in a row without them.
    pub(super) const fn has_lost_its_end(&self, is_partial: bool) -> bool {
        self.samples_without_end == if is_partial { 3 } else { 1 }
    }

    /// Whether the rows that the table holds now, none of which is newer than what was read, are not the rows
    /// that were seen before. When in doubt they are the same: counting a row twice is worse than reporting
    /// one as lost.
    ///
    /// They are other rows when all their ids are below all ids ever seen. Unless awaited rows have come since,
    /// they are also others when the table was empty in between, or when both the oldest and the newest row
    /// are younger than every row before. The time of a single row could have been updated; then the next one
    /// decides.
    pub(super) fn is_another(&self, bounds: Bounds) -> bool {
        let (Some(oldest), Some(newest)) = (bounds.oldest_id, bounds.newest_id) else {
            return false; // an empty table says nothing about the ids to come
        };
        let is_below = self.lowest_id.is_none_or(|lowest| newest < lowest);
        let is_younger = |time_ms: Option<i64>| {
            self.latest_ms.zip(time_ms).is_some_and(|(latest_ms, time_ms)| latest_ms < time_ms)
        };
        let all_younger = oldest < newest && is_younger(bounds.oldest_ms) && is_younger(bounds.newest_ms);
        is_below || (!self.late_rows_came && (self.emptied || all_younger))
    }
}
