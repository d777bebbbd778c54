//! Which rows of a growing log were read, so that each is counted exactly once.
//!
//! Ids are handed out in one order and committed in another, so the highest id read says nothing
//! about the lower ones: an id that was missing when the watermark passed it stays *missing* for
//! the late window and is asked for again. Missing ids are kept as ranges, so that an identity
//! jump of a thousand is one entry. After the window a range is abandoned: those ids belonged to
//! transactions that were rolled back, to rows of another predicate, or to rows that came too late.
//!
//! A row that was read while its step still ran stays *open*, and is asked for until it ends.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::config::Target;
use crate::sample::Bounds;
use crate::statement::{GAPS_PER_SAMPLE, TailRequest};

/// The most missing ranges that are kept; beyond it the oldest are abandoned early.
const MAX_MISSING: usize = 2_048;

/// The most open rows that are followed; beyond it the oldest are given up.
const MAX_OPEN: usize = 1_024;

/// How far below the oldest row a new reader looks for rows that are on their way.
const START_REACH: i64 = 1_000;

/// How far a log was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tail {
    /// The highest id read; `None` before the first sample.
    watermark: Option<i64>,
    /// Ids at or below the watermark that were not seen, ascending and disjoint.
    missing: Vec<Missing>,
    /// Rows at or below the watermark that were seen open, ascending by id.
    open: Vec<OpenRow>,
    /// Where the next request starts, when one sample cannot ask for everything. Not saved: a new
    /// process starts with the first range.
    #[serde(skip)]
    turn: usize,
    /// What the table held at the last sample.
    bounds: Bounds,
}

/// A range of ids that were missing when the watermark passed them. Times are the database's clock,
/// in milliseconds since the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Missing {
    first: i64,
    last: i64,
    since_ms: i64,
}

/// A row that was read while its step still ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct OpenRow {
    id: i64,
    /// When it was first seen.
    since_ms: i64,
    /// Since when it has been asked for and was not there.
    gone_ms: Option<i64>,
}

/// One row of a sample, as far as the tail cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TailRow {
    /// Its id.
    pub id: i64,
    /// Whether what it tells of is still going on.
    pub open: bool,
}

/// How a log is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// How long an id that is missing, or an open row that is gone, is asked for.
    pub late_window: Duration,
    /// How long a row that is there and does not end is believed to be open.
    pub open_window: Duration,
    /// How many new rows, and how many awaited ones, a sample reads at most.
    pub batch_size: usize,
    /// The log is read through a predicate. Ids of other rows are then passed over as soon as a
    /// sample has read all there is: otherwise every sample would look through all rows since the
    /// last one that fits.
    pub filtered: bool,
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
    /// Ranges of missing ids that were given up, first and last.
    pub abandoned: Vec<(i64, i64)>,
    /// Open rows that were given up: they never ended, or vanished.
    pub stale: Vec<i64>,
    /// The ids started over: the table was truncated or its identity reseeded.
    pub reset: bool,
    /// The newest rows that were read are gone; should their ids be given out again, as after the
    /// restore of a backup, the rows that get them are not counted.
    pub lost_end: bool,
    /// The sample was full of new rows: there may be more to read.
    pub more: bool,
}

impl Reading {
    /// How a target is read.
    pub(super) fn of(target: &Target, late_window: Duration, open_window: Duration, batch_size: u32) -> Self {
        let batch_size = usize::try_from(batch_size).unwrap_or(usize::MAX);
        Self { late_window, open_window, batch_size, filtered: !target.filter.is_empty() }
    }
}

impl Tail {
    /// What the next sample has to ask for, when it may read this many rows.
    #[must_use]
    pub fn request(&self, batch_size: u32) -> TailRequest {
        match self.watermark {
            None => TailRequest::Head,
            Some(watermark) => TailRequest::After { watermark, gaps: self.asked(i64::from(batch_size)) },
        }
    }

    /// The ranges that one sample asks for. Awaited ids that lie near each other are asked for as one
    /// range; what was read before and lies between them is passed over. Together such ranges hold no
    /// more rows than a sample may read, so that none of them is starved.
    fn asked(&self, batch_size: i64) -> Vec<(i64, i64)> {
        let slots = i64::try_from(GAPS_PER_SAMPLE).unwrap_or(1);
        let reach = (batch_size / slots).max(1);
        let missing = self.missing.iter().map(|range| (range.first, range.last));
        let mut awaited: Vec<(i64, i64)> =
            missing.chain(self.open.iter().map(|row| (row.id, row.id))).collect();
        awaited.sort_unstable();
        let mut ranges: Vec<(i64, i64)> = Vec::new();
        for (first, last) in awaited {
            match ranges.last_mut() {
                Some(range) if last.saturating_sub(range.0) < reach => range.1 = last,
                _ => ranges.push((first, last)),
            }
        }
        let start = self.turn.checked_rem(ranges.len()).unwrap_or(0);
        ranges.rotate_left(start);
        ranges.truncate(GAPS_PER_SAMPLE);
        ranges
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
    pub fn accept(&mut self, rows: &[TailRow], bounds: Bounds, now_ms: i64, reading: Reading) -> Progress {
        let Some(watermark) = self.watermark else {
            return self.start(rows, bounds, now_ms, reading);
        };
        if self.started_over(watermark, bounds) {
            return self.start_over(bounds);
        }
        let mut progress = Progress { lost_end: self.lost_its_end(watermark, bounds), ..Progress::default() };
        let asked = self.asked(i64::try_from(reading.batch_size).unwrap_or(i64::MAX));
        for (position, row) in rows.iter().enumerate() {
            self.take(position, *row, now_ms, &mut progress);
        }
        let fresh = rows.iter().filter(|row| row.id > watermark).count();
        progress.more = fresh >= reading.batch_size;
        if reading.filtered && !progress.more {
            self.pass_over(bounds, now_ms);
        }
        self.bounds = bounds;
        self.turn = self.turn.wrapping_add(asked.len());
        // What the sample had no room for was not looked at, and is not given up.
        if rows.len() - fresh < reading.batch_size {
            self.give_up(&asked, rows, now_ms, reading, &mut progress);
        }
        self.limit(&mut progress);
        progress
    }

    /// Begins at the end of the log: the rows of the head sample are known, and not counted. Ids
    /// missing among them are awaited, because a row can be on its way while the exporter starts.
    fn start(&mut self, rows: &[TailRow], bounds: Bounds, now_ms: i64, reading: Reading) -> Progress {
        let mut progress = Progress::default();
        // Where the sample reaches down to the oldest row, the ids below it are missing as well.
        let reaches_down = rows.first().is_some_and(|row| Some(row.id) == bounds.oldest_id);
        let mut before = rows.first().filter(|_| reaches_down).map(|row| row.id.saturating_sub(START_REACH));
        for (position, row) in rows.iter().enumerate() {
            if let Some(before) = before {
                self.miss(before, row.id, now_ms);
            }
            if row.open {
                self.open.push(OpenRow { id: row.id, since_ms: now_ms, gone_ms: None });
                progress.open.push(position);
            }
            before = Some(row.id);
        }
        self.watermark = Some(before.or(bounds.newest_id).unwrap_or(0));
        if reading.filtered {
            self.pass_over(bounds, now_ms);
        }
        self.bounds = bounds;
        self.limit(&mut progress);
        progress
    }

    /// One row: new above the watermark, awaited below it, or read before.
    fn take(&mut self, position: usize, row: TailRow, now_ms: i64, progress: &mut Progress) {
        let watermark = self.watermark.unwrap_or(i64::MIN);
        let mut since_ms = now_ms;
        if row.id > watermark {
            self.miss(watermark, row.id, now_ms);
            self.watermark = Some(row.id);
        } else if self.remove_missing(row.id) {
            progress.late += u64::from(!row.open);
        } else if let Ok(index) = self.open.binary_search_by_key(&row.id, |open| open.id) {
            since_ms = self.open.remove(index).since_ms;
        } else {
            return; // read before
        }
        if row.open {
            let index = self.open.partition_point(|open| open.id < row.id);
            self.open.insert(index, OpenRow { id: row.id, since_ms, gone_ms: None });
            progress.open.push(position);
        } else {
            progress.count.push(position);
        }
    }

    /// Ids went backwards: the newest row is older than the watermark, and it is not one that was
    /// awaited, and either nothing of what the table held is left, or its oldest row is younger than
    /// the oldest one before although its id is not. When in doubt it is not started over: a row that
    /// is counted twice is worse than one that is reported as lost.
    fn started_over(&self, watermark: i64, bounds: Bounds) -> bool {
        let (Some(oldest), Some(newest)) = (bounds.oldest_id, bounds.newest_id) else {
            return false; // an empty table says nothing about the ids to come
        };
        if newest >= watermark || self.is_missing(newest) {
            return false;
        }
        let Some(before) = self.bounds.oldest_id else {
            return true;
        };
        let younger =
            matches!((self.bounds.oldest_ms, bounds.oldest_ms), (Some(before), Some(now)) if before < now);
        newest < before || (oldest <= before && younger)
    }

    /// Whether rows that were read are gone from the end of the log with this sample.
    fn lost_its_end(&self, watermark: i64, bounds: Bounds) -> bool {
        let reached = |newest: Option<i64>| newest.is_some_and(|newest| newest >= watermark);
        reached(self.bounds.newest_id) && bounds.newest_id.is_some() && !reached(bounds.newest_id)
    }

    /// Everything the table holds now is new. It is read from its lowest id by the next sample; what
    /// this one returned was asked with the old watermark.
    fn start_over(&mut self, bounds: Bounds) -> Progress {
        let mut progress = Progress { reset: true, more: true, ..Progress::default() };
        self.missing.drain(..).for_each(|range| progress.abandoned.push((range.first, range.last)));
        self.open.drain(..).for_each(|row| progress.stale.push(row.id));
        self.watermark = Some(bounds.oldest_id.unwrap_or(1).saturating_sub(1));
        self.bounds = bounds;
        progress
    }

    /// The ids between two rows that follow each other are missing.
    fn miss(&mut self, before: i64, after: i64, now_ms: i64) {
        let (first, last) = (before.saturating_add(1), after.saturating_sub(1));
        if first <= last {
            self.missing.push(Missing { first, last, since_ms: now_ms });
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

    /// The position of the missing range that holds an id.
    fn find_missing(&self, id: i64) -> Option<usize> {
        let index = self.missing.partition_point(|range| range.last < id);
        self.missing.get(index).filter(|range| range.first <= id).map(|_| index)
    }

    fn is_missing(&self, id: i64) -> bool {
        self.find_missing(id).is_some()
    }

    /// Takes one id out of the range that holds it; whether it was in one.
    fn remove_missing(&mut self, id: i64) -> bool {
        let Some(index) = self.find_missing(id) else {
            return false;
        };
        let range = self.missing.remove(index);
        let below = Missing { last: id.saturating_sub(1), ..range };
        let above = Missing { first: id.saturating_add(1), ..range };
        let rest = [below, above].into_iter().filter(|range| range.first <= range.last);
        self.missing.splice(index..index, rest);
        true
    }

    /// Gives up what was asked for, did not come, and has had its time.
    fn give_up(
        &mut self,
        asked: &[(i64, i64)],
        rows: &[TailRow],
        now_ms: i64,
        reading: Reading,
        progress: &mut Progress,
    ) {
        let was_asked = |id: i64| asked.iter().any(|(first, last)| *first <= id && id <= *last);
        self.missing.retain(|range| {
            let expired = was_asked(range.first) && elapsed(range.since_ms, now_ms) > reading.late_window;
            if expired {
                progress.abandoned.push((range.first, range.last));
            }
            !expired
        });
        self.open.retain_mut(|row| {
            if !was_asked(row.id) {
                return true;
            }
            if rows.binary_search_by_key(&row.id, |seen| seen.id).is_err() {
                row.gone_ms.get_or_insert(now_ms);
            }
            let expired = elapsed(row.since_ms, now_ms) > reading.open_window
                || row.gone_ms.is_some_and(|gone_ms| elapsed(gone_ms, now_ms) > reading.late_window);
            if expired {
                progress.stale.push(row.id);
            }
            !expired
        });
    }

    fn limit(&mut self, progress: &mut Progress) {
        let excess = self.missing.len().saturating_sub(MAX_MISSING);
        progress.abandoned.extend(self.missing.drain(..excess).map(|range| (range.first, range.last)));
        let excess = self.open.len().saturating_sub(MAX_OPEN);
        progress.stale.extend(self.open.drain(..excess).map(|row| row.id));
    }
}

/// Time between two readings of the database's clock; none when it went backwards.
fn elapsed(since_ms: i64, now_ms: i64) -> Duration {
    Duration::from_millis(u64::try_from(now_ms.saturating_sub(since_ms)).unwrap_or(0))
}
