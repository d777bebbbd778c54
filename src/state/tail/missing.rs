//! Missing ids: those without a row when the watermark passed them.

use serde::{Deserialize, Serialize};

/// The most ranges that are kept, a megabyte of the state file. Beyond it the oldest are given up. Two ranges
/// cannot be merged, because the rows between them would be counted again.
pub(super) const MOST_RANGES: usize = 16_384;

/// Missing ids in ranges, ascending and disjoint.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct MissingIds(Vec<MissingRange>);

/// A range of ids that were missing when the watermark passed them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MissingRange {
    pub(super) first: i64,
    pub(super) last: i64,
    /// Since when, by the database's clock, in milliseconds since the epoch.
    pub(super) since_ms: i64,
}

impl MissingIds {
    pub(super) fn iter(&self) -> impl Iterator<Item = &MissingRange> {
        self.0.iter()
    }

    /// Adds the ids between two consecutive rows, above all ids that are missing so far.
    pub(super) fn add_between(&mut self, before: i64, after: i64, now_ms: i64) {
        let (first, last) = (before.saturating_add(1), after.saturating_sub(1));
        if first <= last {
            self.0.push(MissingRange { first, last, since_ms: now_ms });
        }
    }

    pub(super) fn contains(&self, id: i64) -> bool {
        self.find(id).is_some()
    }

    /// The position of the range that holds an id.
    fn find(&self, id: i64) -> Option<usize> {
        let index = self.0.partition_point(|range| range.last < id);
        self.0.get(index).filter(|range| range.first <= id).map(|_| index)
    }

    /// Removes one id; whether it was there.
    pub(super) fn remove(&mut self, id: i64) -> bool {
        let Some(index) = self.find(id) else {
            return false;
        };
        let range = self.0.remove(index);
        let below = MissingRange { last: id.saturating_sub(1), ..range };
        let above = MissingRange { first: id.saturating_add(1), ..range };
        let rest = [below, above].into_iter().filter(|range| range.first <= range.last);
        self.0.splice(index..index, rest);
        true
    }

    /// Gives up the ranges that `is_over` holds for, and returns them, first id and last.
    pub(super) fn give_up(&mut self, is_over: impl Fn(&MissingRange) -> bool) -> Vec<(i64, i64)> {
        let mut given_up = Vec::new();
        self.0.retain(|range| {
            let over = is_over(range);
            if over {
                given_up.push((range.first, range.last));
            }
            !over
        });
        given_up
    }

    /// Gives up the lowest ranges beyond the bound, and returns them.
    pub(super) fn limit(&mut self) -> Vec<(i64, i64)> {
        let excess = self.0.len().saturating_sub(MOST_RANGES);
        self.0.drain(..excess).map(|range| (range.first, range.last)).collect()
    }
}
