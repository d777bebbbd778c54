//! What is remembered of a table to tell one that started over from one that shows few of its rows:
//! READPAST leaves out what somebody has locked, and that can be any row, and all of them.

use serde::{Deserialize, Serialize};

use super::TailRow;
use crate::sample::Bounds;

/// What was seen of a table, all samples together; `None` before a row was seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Known {
    /// The lowest id that a sample saw, or that was awaited.
    lowest_id: Option<i64>,
    /// How many samples in a row saw rows, and none as new as the newest that was read.
    #[serde(default)]
    short: u32,
    /// The latest time of a row that was read, or seen while the newest rows were there, in milliseconds
    /// since the epoch.
    latest_ms: Option<i64>,
    /// The table was empty since the newest rows were there.
    #[serde(default)]
    emptied: bool,
    /// Rows that were awaited came since the newest rows were there: the table is the same for good, since
    /// they would be counted again in another one.
    #[serde(default)]
    went_on: bool,
}

/// What a sample says of the rows that were read before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sight {
    /// The newest of them is there, or one that is newer.
    pub(super) of_the_end: bool,
    /// The newest row that is there was awaited, or [`Self::of_the_end`].
    pub(super) of_the_table: bool,
    /// Rows that were awaited came.
    pub(super) of_late_rows: bool,
    /// Rows can be there that the sample did not see.
    pub(super) is_partial: bool,
}

impl Known {
    /// What a reader has to believe that remembers the last sample only. Without a row in that, no id is
    /// surely one that was never seen.
    pub(super) fn of_last_sample(bounds: Bounds) -> Self {
        Self {
            lowest_id: Some(bounds.oldest_id.unwrap_or(i64::MIN)),
            short: 0,
            latest_ms: bounds.oldest_ms,
            emptied: false,
            went_on: false,
        }
    }

    /// Takes what a sample saw at `now_ms`, by the database's clock; `awaited` is the lowest id that is
    /// awaited now.
    pub(super) fn note(
        &mut self,
        rows: &[TailRow],
        awaited: Option<i64>,
        bounds: Bounds,
        now_ms: i64,
        sight: Sight,
    ) {
        // A row can be locked when the oldest one is looked for, and free when the new ones are read.
        let oldest_id = bounds.oldest_id.into_iter().chain(rows.first().map(|row| row.id)).min();
        // A row that nothing awaits any more can still come.
        let lowest_id = oldest_id.map(|oldest| awaited.map_or(oldest, |awaited| awaited.min(oldest)));
        self.lowest_id = self.lowest_id.into_iter().chain(lowest_id).min();
        if sight.of_the_end {
            self.short = 0;
        } else if bounds.newest_id.is_some() {
            self.short = self.short.saturating_add(1);
        }
        self.emptied |= bounds.newest_id.is_none() && !sight.is_partial;
        self.emptied &= !sight.of_the_table;
        self.went_on |= sight.of_late_rows;
        self.went_on &= !sight.of_the_end;
        // What was read belongs to the table in any case.
        let of_the_ends =
            [bounds.oldest_ms, bounds.newest_ms].into_iter().flatten().filter(|_| sight.of_the_table);
        let times = of_the_ends.chain(bounds.latest_ms);
        // A time to come says nothing: rows of today would look older than it for long.
        self.latest_ms = self.latest_ms.max(times.map(|ms| ms.min(now_ms)).max());
    }

    /// Whether it is time to say that the newest rows are gone: at once, or, where a worker's lock could
    /// have hidden them, when they are not there for the third time in a row.
    pub(super) const fn has_lost_its_end(&self, is_partial: bool) -> bool {
        self.short == if is_partial { 3 } else { 1 }
    }

    /// Whether the rows that the table holds now, none of which is newer than what was read, are other
    /// rows than those that were seen. When in doubt they are the same: a row that is counted twice is
    /// worse than one that is reported as lost.
    ///
    /// They are others when all ids are below all that were ever seen. And, unless awaited rows have come
    /// since, when the table was empty in between, and when the oldest and the newest row are both younger
    /// than every row before. Of a single row the time could have been written anew; the next one decides.
    pub(super) fn is_another(&self, bounds: Bounds) -> bool {
        let (Some(oldest), Some(newest)) = (bounds.oldest_id, bounds.newest_id) else {
            return false; // an empty table says nothing about the ids to come
        };
        let is_below = self.lowest_id.is_none_or(|lowest| newest < lowest);
        let is_younger = |time_ms: Option<i64>| {
            self.latest_ms.zip(time_ms).is_some_and(|(latest_ms, time_ms)| latest_ms < time_ms)
        };
        let all_younger = oldest < newest && is_younger(bounds.oldest_ms) && is_younger(bounds.newest_ms);
        is_below || (!self.went_on && (self.emptied || all_younger))
    }
}
