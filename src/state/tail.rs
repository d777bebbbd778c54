//! Which rows of a growing log were read, so that each is counted exactly once.
//!
//! Ids are handed out in one order and committed in another, so the highest id read says nothing
//! about the lower ones: an id that was missing when the watermark passed it stays *pending* for
//! the late window and is asked for again. Pending ids are kept as ranges, so that an identity
//! jump of a thousand is one entry. After the window a range is abandoned: those ids belonged to
//! transactions that were rolled back, to rows of another filter, or to rows that came too late.
//!
//! A row that was read while its step still ran is pending too, until it ends.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::config::Target;
use crate::sample::Bounds;
use crate::statement::{GAPS_PER_SAMPLE, TailRequest};

/// The most ranges that are kept pending; beyond it the oldest are abandoned early.
const MAX_PENDING: usize = 512;

/// How far below the oldest row a new reader looks for rows that are on their way.
const START_REACH: i64 = 1_000;

/// How far a log was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tail {
    /// The highest id read; `None` before the first sample.
    watermark: Option<i64>,
    /// Ids at or below the watermark that have not been counted yet, ascending and disjoint.
    pending: Vec<Pending>,
    /// Where the next request starts in `pending`, so that each range gets its turn.
    turn: usize,
    /// What the table held at the last sample.
    bounds: Bounds,
}

/// A range of ids to ask for again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Pending {
    first: i64,
    last: i64,
    why: Why,
}

/// Why ids are pending. Times are the database's clock, in milliseconds since the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Why {
    /// They were missing when the watermark passed them, found so at this time.
    Missing { since_ms: i64 },
    /// A single row that was read while its step still ran, first at this time. It may be gone
    /// since then: asked for, and not there.
    Open { since_ms: i64, gone_ms: Option<i64> },
}

/// One row of a sample, as far as the tail cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TailRow {
    /// Its id.
    pub id: i64,
    /// Whether what it tells of is still going on.
    pub open: bool,
}

/// How long pending ids are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Windows {
    /// An id that is missing, or an open row that is gone.
    pub late: Duration,
    /// A row that is there and does not end.
    pub open: Duration,
    /// For a log that is read through a predicate, how many rows a sample reads at most. Ids of
    /// other rows are then passed over as soon as a sample has read all there is: otherwise every
    /// sample would look through all rows since the last one that fits.
    pub filtered_batch: Option<usize>,
}

impl Windows {
    /// The windows of a target.
    pub(super) fn of(target: &Target, late: Duration, open: Duration, batch_size: u32) -> Self {
        let batch = usize::try_from(batch_size).unwrap_or(usize::MAX);
        Self { late, open, filtered_batch: (!target.filter.is_empty()).then_some(batch) }
    }
}

/// What a sample means for the tail.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    /// Which of the sample's rows, by position, are to be counted: read for the first time in
    /// their final form.
    pub count: Vec<usize>,
    /// Which of them, by position, are open.
    pub open: Vec<usize>,
    /// How many of the counted ones were late.
    pub late: u64,
    /// How many missing ids were given up.
    pub abandoned: u64,
    /// Open rows that were given up: they never ended, or vanished.
    pub stale: Vec<i64>,
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
                let gaps = self.asked().iter().map(|range| (range.first, range.last)).collect();
                TailRequest::After { watermark, gaps }
            }
        }
    }

    /// The ranges that one sample asks for: the next in turn.
    fn asked(&self) -> Vec<Pending> {
        let in_turn = self.pending.iter().cycle().skip(self.turn).take(self.pending.len());
        in_turn.take(GAPS_PER_SAMPLE).copied().collect()
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

    /// Takes the rows, ascending by id, of a sample that answered [`Tail::request`].
    pub fn accept(&mut self, rows: &[TailRow], bounds: Bounds, now_ms: i64, windows: Windows) -> Progress {
        let Some(watermark) = self.watermark else {
            return self.start(rows, bounds, now_ms, windows);
        };
        if self.started_over(watermark, bounds) {
            // Everything the table holds now is new. It is read from its lowest id by the next
            // sample; what this one returned was asked with the old watermark.
            let mut progress = Progress { reset: true, ..Progress::default() };
            self.pending.drain(..).for_each(|range| range.report(&mut progress));
            self.turn = 0;
            self.watermark = Some(bounds.oldest_id.unwrap_or(1).saturating_sub(1));
            self.bounds = bounds;
            return progress;
        }
        let mut progress = Progress::default();
        let asked = self.asked();
        for (position, row) in rows.iter().enumerate() {
            self.take(position, *row, now_ms, &mut progress);
        }
        self.mark_gone(&asked, rows, now_ms);
        let fresh = rows.iter().filter(|row| row.id > watermark).count();
        if windows.filtered_batch.is_some_and(|batch| fresh < batch) {
            self.pass_over(bounds, now_ms);
        }
        self.bounds = bounds;
        self.turn += asked.len();
        self.give_up(now_ms, windows, &mut progress);
        progress
    }

    /// Begins at the end of the log: the rows of the head sample are known, and not counted. Ids
    /// missing among them are pending, because a row can be on its way while the exporter starts.
    fn start(&mut self, rows: &[TailRow], bounds: Bounds, now_ms: i64, windows: Windows) -> Progress {
        let mut progress = Progress::default();
        // Where the sample reaches down to the oldest row, the ids below it are missing as well.
        let reaches_down = rows.first().is_some_and(|row| Some(row.id) == bounds.oldest_id);
        let mut before = rows.first().filter(|_| reaches_down).map(|row| row.id.saturating_sub(START_REACH));
        for (position, row) in rows.iter().enumerate() {
            if let Some(before) = before {
                self.miss(before, row.id, now_ms);
            }
            if row.open {
                self.pending.push(Pending::open(row.id, now_ms));
                progress.open.push(position);
            }
            before = Some(row.id);
        }
        self.watermark = Some(before.or(bounds.newest_id).unwrap_or(0));
        if windows.filtered_batch.is_some() {
            self.pass_over(bounds, now_ms);
        }
        self.bounds = bounds;
        self.limit(&mut progress);
        progress
    }

    /// One row: new above the watermark, awaited below it, or read before.
    fn take(&mut self, position: usize, row: TailRow, now_ms: i64, progress: &mut Progress) {
        let watermark = self.watermark.unwrap_or(i64::MIN);
        let was = if row.id > watermark {
            self.miss(watermark, row.id, now_ms);
            self.watermark = Some(row.id);
            None
        } else {
            match self.remove(row.id) {
                Some(range) => Some(range),
                None => return,
            }
        };
        if row.open {
            let since_ms = match was.map(|range| range.why) {
                Some(Why::Open { since_ms, .. }) => since_ms,
                Some(Why::Missing { .. }) | None => now_ms,
            };
            self.insert(Pending::open(row.id, since_ms));
            progress.open.push(position);
        } else {
            progress.count.push(position);
            progress.late += u64::from(was.is_some_and(|range| matches!(range.why, Why::Missing { .. })));
        }
    }

    /// Ids went backwards: the newest row is older than the watermark, and it is not one that was
    /// awaited, and either nothing of what the table held is left, or its oldest row is younger than
    /// the oldest one before although its id is not. A log whose newest rows were deleted keeps its
    /// oldest row and is not started over; without times the last case is not told.
    fn started_over(&self, watermark: i64, bounds: Bounds) -> bool {
        let Some(newest) = bounds.newest_id else {
            return false; // an empty table says nothing about the ids to come
        };
        let awaited = self.pending.iter().any(|range| range.first <= newest && newest <= range.last);
        if newest >= watermark || awaited {
            return false;
        }
        match (self.bounds.oldest_id, bounds.oldest_id) {
            (None, _) => true,
            (Some(before), _) if newest < before => true,
            (Some(before), Some(now)) => now <= before && self.bounds.oldest_ms < bounds.oldest_ms,
            (Some(_), None) => false,
        }
    }

    /// The ids between two rows that follow each other are missing.
    fn miss(&mut self, before: i64, after: i64, now_ms: i64) {
        let (first, last) = (before.saturating_add(1), after.saturating_sub(1));
        if first <= last {
            self.pending.push(Pending { first, last, why: Why::Missing { since_ms: now_ms } });
        }
    }

    /// Moves the watermark to the newest row, whether or not it fits the predicate.
    fn pass_over(&mut self, bounds: Bounds, now_ms: i64) {
        if let (Some(watermark), Some(newest)) = (self.watermark, bounds.newest_id)
            && newest > watermark
        {
            self.miss(watermark, newest.saturating_add(1), now_ms);
            self.watermark = Some(newest);
        }
    }

    /// Takes one id out of the range that holds it; returns what that range was.
    fn remove(&mut self, id: i64) -> Option<Pending> {
        let index = self.pending.iter().position(|range| range.first <= id && id <= range.last)?;
        let range = self.pending.remove(index);
        let below = Pending { last: id.saturating_sub(1), ..range };
        let above = Pending { first: id.saturating_add(1), ..range };
        let rest = [below, above].into_iter().filter(|range| range.first <= range.last);
        self.pending.splice(index..index, rest);
        Some(range)
    }

    fn insert(&mut self, range: Pending) {
        let index = self.pending.partition_point(|other| other.first < range.first);
        self.pending.insert(index, range);
    }

    /// Open rows that were asked for and did not come: deleted, or locked for a moment.
    fn mark_gone(&mut self, asked: &[Pending], rows: &[TailRow], now_ms: i64) {
        for range in &mut self.pending {
            if let Why::Open { gone_ms, .. } = &mut range.why
                && asked.iter().any(|asked| asked.first == range.first)
                && !rows.iter().any(|row| row.id == range.first)
            {
                gone_ms.get_or_insert(now_ms);
            }
        }
    }

    fn give_up(&mut self, now_ms: i64, windows: Windows, progress: &mut Progress) {
        self.pending.retain(|range| {
            let expired = match range.why {
                Why::Missing { since_ms } => elapsed(since_ms, now_ms) > windows.late,
                Why::Open { since_ms, gone_ms } => {
                    elapsed(since_ms, now_ms) > windows.open
                        || gone_ms.is_some_and(|gone_ms| elapsed(gone_ms, now_ms) > windows.late)
                }
            };
            if expired {
                range.report(progress);
            }
            !expired
        });
        self.limit(progress);
    }

    fn limit(&mut self, progress: &mut Progress) {
        let excess = self.pending.len().saturating_sub(MAX_PENDING);
        for range in self.pending.drain(..excess) {
            range.report(progress);
        }
        self.turn = if self.pending.is_empty() { 0 } else { self.turn % self.pending.len() };
    }
}

impl Pending {
    const fn open(id: i64, since_ms: i64) -> Self {
        Self { first: id, last: id, why: Why::Open { since_ms, gone_ms: None } }
    }

    fn report(&self, progress: &mut Progress) {
        match self.why {
            Why::Open { .. } => progress.stale.push(self.first),
            Why::Missing { .. } => {
                let size = u64::try_from(self.last.saturating_sub(self.first)).unwrap_or(0).saturating_add(1);
                progress.abandoned = progress.abandoned.saturating_add(size);
            }
        }
    }
}

/// Time between two readings of the database's clock; none when it went backwards.
fn elapsed(since_ms: i64, now_ms: i64) -> Duration {
    Duration::from_millis(u64::try_from(now_ms.saturating_sub(since_ms)).unwrap_or(0))
}
