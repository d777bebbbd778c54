//! Which rows of a growing log were read, so that each is counted exactly once.
//!
//! Ids are handed out in one order and committed in another, so the highest id read says nothing
//! about the lower ones: an id that was missing when the watermark passed it stays *pending* for
//! the late window and is asked for again. Pending ids are kept as ranges, so that an identity
//! jump of a thousand is one entry. After the window a range is abandoned: those ids belonged to
//! transactions that were rolled back, to rows of another filter, or to rows that came too late.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::sample::Bounds;
use crate::statement::{GAPS_PER_SAMPLE, TailRequest};

/// The most ranges that are kept pending; beyond it the oldest are abandoned early.
const MAX_PENDING: usize = 256;

/// How far a log was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tail {
    /// The highest id read; `None` before the first sample.
    watermark: Option<i64>,
    /// Missing ids below the watermark, ascending and disjoint.
    pending: Vec<Gap>,
    /// Where the next request starts in `pending`, so that each range gets its turn.
    turn: usize,
    /// What the table held at the last sample.
    bounds: Bounds,
}

/// A range of ids that were missing when the watermark passed them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Gap {
    first: i64,
    last: i64,
    /// The database's clock when the range was found missing, ms since the epoch.
    since_ms: i64,
}

/// What a sample means for the tail.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    /// Which of the sample's ids, by position, are read for the first time.
    pub new: Vec<usize>,
    /// How many of those were late.
    pub late: u64,
    /// How many ids were given up.
    pub abandoned: u64,
    /// The ids started over: the table was truncated or its identity reseeded.
    pub reset: bool,
}

impl Tail {
    /// What the next sample has to ask for.
    #[must_use]
    pub fn request(&self) -> TailRequest {
        match self.watermark {
            None => TailRequest::Head,
            Some(watermark) => {
                let waiting = self.pending.iter().cycle().skip(self.turn).take(self.pending.len());
                let gaps = waiting.take(GAPS_PER_SAMPLE).map(|gap| (gap.first, gap.last)).collect();
                TailRequest::After { watermark, gaps }
            }
        }
    }

    /// Whether a sample was taken.
    #[must_use]
    pub const fn has_started(&self) -> bool {
        self.watermark.is_some()
    }

    /// What the table held at the last sample.
    #[must_use]
    pub const fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Begins at the end of the log: the rows of the head sample are known but not new. Ids missing
    /// among them are pending, because a row can be on its way while the exporter starts.
    fn start(&mut self, ids: &[i64], bounds: Bounds, now_ms: i64) {
        let newest = ids.iter().copied().max().or(bounds.newest_id).unwrap_or(0);
        self.pending.clear();
        for pair in ids.windows(2) {
            if let [before, after] = pair {
                self.add_gap(before.saturating_add(1), after.saturating_sub(1), now_ms);
            }
        }
        self.watermark = Some(newest);
        self.bounds = bounds;
        self.limit_pending();
    }

    /// Takes the ascending ids of a sample that answered [`Tail::request`].
    pub fn accept(&mut self, ids: &[i64], bounds: Bounds, now_ms: i64, late_window: Duration) -> Progress {
        let mut progress = Progress::default();
        let Some(mut watermark) = self.watermark else {
            self.start(ids, bounds, now_ms);
            return progress;
        };
        if self.started_over(watermark, bounds) {
            // Everything the table holds now is new. It is read from its lowest id by the next
            // sample; what this one returned was asked with the old watermark.
            self.pending.clear();
            self.watermark = Some(bounds.oldest_id.unwrap_or(1).saturating_sub(1));
            self.bounds = bounds;
            progress.reset = true;
            return progress;
        }
        for (position, id) in ids.iter().copied().enumerate() {
            if id > watermark {
                self.add_gap(watermark.saturating_add(1), id.saturating_sub(1), now_ms);
                watermark = id;
                progress.new.push(position);
            } else if self.take_pending(id) {
                progress.new.push(position);
                progress.late += 1;
            }
        }
        self.watermark = Some(watermark);
        self.bounds = bounds;
        self.turn =
            if self.pending.is_empty() { 0 } else { (self.turn + GAPS_PER_SAMPLE) % self.pending.len() };
        progress.abandoned = self.abandon(now_ms, late_window) + self.limit_pending();
        progress
    }

    /// Ids went backwards: the newest row is older than the watermark and either nothing of what
    /// the table held is left, or its oldest id now belongs to another row. (A log whose newest
    /// rows were deleted keeps its oldest row and is not started over.)
    fn started_over(&self, watermark: i64, bounds: Bounds) -> bool {
        let Some(newest) = bounds.newest_id else {
            return false;
        };
        if newest >= watermark {
            return false;
        }
        match (self.bounds.oldest_id, bounds.oldest_id) {
            (None, _) => true,
            (Some(before), Some(now)) => {
                newest < before
                    || now < before
                    || (now == before && self.bounds.oldest_ms != bounds.oldest_ms)
            }
            (Some(_), None) => false,
        }
    }

    fn add_gap(&mut self, first: i64, last: i64, since_ms: i64) {
        if first <= last {
            self.pending.push(Gap { first, last, since_ms });
        }
    }

    /// Removes one id from the pending ranges; whether it was in one.
    fn take_pending(&mut self, id: i64) -> bool {
        let Some(index) = self.pending.iter().position(|gap| gap.first <= id && id <= gap.last) else {
            return false;
        };
        let gap = self.pending.remove(index);
        let below = Gap { last: id.saturating_sub(1), ..gap };
        let above = Gap { first: id.saturating_add(1), ..gap };
        let rest = [below, above].into_iter().filter(|gap| gap.first <= gap.last);
        self.pending.splice(index..index, rest);
        true
    }

    fn abandon(&mut self, now_ms: i64, late_window: Duration) -> u64 {
        let window = i64::try_from(late_window.as_millis()).unwrap_or(i64::MAX);
        let mut abandoned = 0;
        self.pending.retain(|gap| {
            let keep = now_ms.saturating_sub(gap.since_ms) <= window;
            if !keep {
                abandoned += gap.size();
            }
            keep
        });
        abandoned
    }

    fn limit_pending(&mut self) -> u64 {
        let excess = self.pending.len().saturating_sub(MAX_PENDING);
        let dropped: u64 = self.pending.drain(..excess).map(|gap| gap.size()).sum();
        if self.turn >= self.pending.len() {
            self.turn = 0;
        }
        dropped
    }
}

impl Gap {
    fn size(&self) -> u64 {
        u64::try_from(self.last.saturating_sub(self.first)).unwrap_or(0).saturating_add(1)
    }
}
