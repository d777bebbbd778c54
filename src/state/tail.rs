//! Tails: which rows of a growing log were read, so that each is counted exactly once.
//!
//! Ids are assigned in one order and committed in another, so the highest id read says nothing about lower
//! ones. An id that was missing when the watermark passed it stays *missing* for the late window and is asked
//! for again. Missing ids are kept as ranges, so that an identity jump of a thousand is one entry. After the
//! window a range is abandoned: its ids belonged to transactions that were rolled back, or to rows that came
//! too late.
//!
//! A row that was read before its step ended stays *open*, and is asked for until it ends.
//!
//! In a log that is read through a predicate, a *foreign* row does not fit the predicate and is never counted.
//! It takes room in a sample like any other row, so that no sample looks through more rows than its bound.

mod history;
mod missing;
mod row;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use self::history::{Evidence, History};
use self::missing::MissingIds;
pub use self::row::{Stage, TailRow};
use crate::config::Target;
use crate::limits::GAPS_PER_SAMPLE;
use crate::sample::Bounds;
use crate::statement::TailRequest;

/// The most open rows that are followed; beyond it the oldest are given up.
const MAX_OPEN: usize = 1_024;

/// The watermark of a reader that began with an empty table.
const NOTHING_READ: i64 = 0;

/// How far below the oldest row a new reader looks for rows that are not committed yet.
const START_REACH: i64 = 1_000;

/// The progress through a log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tail {
    /// The highest id read; `None` before the first sample.
    watermark: Option<i64>,
    /// Ids at or below the watermark that were not seen.
    missing: MissingIds,
    /// Rows at or below the watermark that were seen open, ascending by id.
    open: Vec<OpenRow>,
    /// Where the next request starts, when one sample cannot ask for everything. Not saved: a new
    /// process starts with the first range.
    #[serde(skip)]
    turn: usize,
    /// What the table held at the last sample.
    bounds: Bounds,
    /// What was seen of the table in all samples.
    #[serde(default, rename = "known")]
    history: History,
}

/// A row that was read while its step still ran. Times are the database's clock, in milliseconds since
/// the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct OpenRow {
    id: i64,
    /// When it was first seen.
    since_ms: i64,
    /// Since when it has been missing.
    gone_ms: Option<i64>,
}

/// How a log is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// How long a missing id, or an open row that is gone, is asked for.
    pub late_window: Duration,
    /// How long a row without an end is believed to be open.
    pub open_window: Duration,
    /// The most new rows, and the most awaited rows, that a sample looks at, foreign ones included.
    pub batch_size: usize,
    /// Whether a sample can miss rows that are there.
    pub misses_rows: bool,
}

/// What a sample means for the tail.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    /// Positions of the sample's rows that are to be counted: read in their final form for the first time.
    pub count: Vec<usize>,
    /// Positions of the rows that are open.
    pub open: Vec<usize>,
    /// How many of the counted rows were late.
    pub late: u64,
    /// Ranges of missing ids that were given up after the late window, first and last.
    pub abandoned: Vec<(i64, i64)>,
    /// Ranges that were given up before the late window was over, because there were too many.
    pub crowded_out: Vec<(i64, i64)>,
    /// Ids of open rows that were given up: they never ended, or vanished.
    pub stale: Vec<i64>,
    /// The ids started over: the table was truncated or its identity reseeded.
    pub reset: bool,
    /// The newest rows that were read are gone. If their ids are assigned again, as after the restore of a
    /// backup, the rows that get them are not counted.
    pub lost_end: bool,
    /// The sample was full: there may be more to read.
    pub more: bool,
    /// Series are shown for the first time, at 0, and the next sample counts the rows that wait for that. It
    /// must not come sooner than usual.
    pub waits: bool,
}

impl Reading {
    /// How this target is read.
    pub(super) fn of(target: &Target, late_window: Duration, open_window: Duration, batch_size: u32) -> Self {
        let batch_size = usize::try_from(batch_size).unwrap_or(usize::MAX);
        Self { late_window, open_window, batch_size, misses_rows: target.misses_locked_rows }
    }
}

impl Tail {
    /// What the next sample has to ask for if it may read this many rows.
    #[must_use]
    pub fn request(&self, batch_size: u32) -> TailRequest {
        match self.watermark {
            None => TailRequest::Head,
            Some(watermark) => TailRequest::After { watermark, gaps: self.asked(i64::from(batch_size)) },
        }
    }

    /// The ranges that one sample asks for. Awaited ids with few rows between them are asked for as one range,
    /// and the rows between them, which were read before, are ignored. All ranges together hold fewer such
    /// rows than a sample may look at, so that there is always room for late rows.
    fn asked(&self, batch_size: i64) -> Vec<(i64, i64)> {
        let slots = i64::try_from(GAPS_PER_SAMPLE).unwrap_or(1);
        let share = (batch_size / slots).max(1);
        let missing =
            self.missing.iter().map(|range| Asked { first: range.first, last: range.last, rows: 0 });
        let open = self.open.iter().map(|row| Asked { first: row.id, last: row.id, rows: 1 });
        let mut awaited: Vec<Asked> = missing.chain(open).collect();
        awaited.sort_unstable_by_key(|asked| asked.first);
        let mut ranges: Vec<Asked> = Vec::new();
        for next in awaited {
            match ranges.last_mut() {
                Some(range) if range.rows_up_to(next) < share => {
                    *range = Asked { last: next.last, rows: range.rows_up_to(next), ..*range };
                }
                _ => ranges.push(next),
            }
        }
        let start = self.turn.checked_rem(ranges.len()).unwrap_or(0);
        ranges.rotate_left(start);
        let mut rows = 0;
        let has_room = |range: &Asked| {
            rows += range.rows;
            rows < batch_size
        };
        ranges
            .into_iter()
            .take(GAPS_PER_SAMPLE)
            .take_while(has_room)
            .map(|range| (range.first, range.last))
            .collect()
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
        if self.history == History::default() && watermark != NOTHING_READ {
            self.history = History::of_last_sample(self.bounds); // the state file is of a version that did not save it
        }
        if self.started_over(bounds) {
            return self.start_over(bounds, now_ms, reading);
        }
        let mut progress = Progress::default();
        let was_of_the_table = self.shows_this_table(bounds);
        let asked = self.asked(i64::try_from(reading.batch_size).unwrap_or(i64::MAX));
        for (position, row) in rows.iter().enumerate() {
            self.take(position, *row, now_ms, &mut progress);
        }
        let fresh = rows.iter().filter(|row| row.id > watermark).count();
        let had_room = rows.len() - fresh < reading.batch_size;
        progress.more = fresh >= reading.batch_size || !had_room;
        let is_late = |position: &usize| rows.get(*position).is_some_and(|row| row.id <= watermark);
        let took = |positions: &[usize]| positions.iter().any(is_late);
        let evidence = Evidence {
            has_late_rows: took(&progress.count) || took(&progress.open),
            // An awaited row belongs to this table, even after it came and nothing awaits it any more.
            shows_table: was_of_the_table || self.shows_this_table(bounds),
            ..self.evidence(bounds, reading)
        };
        self.note(rows, bounds, now_ms, evidence);
        let saw_rows = bounds.newest_id.is_some();
        progress.lost_end = saw_rows && self.history.has_lost_its_end(reading.misses_rows);
        self.turn = self.turn.wrapping_add(asked.len());
        // Ids that the sample had no room for were not looked at, so they are not given up.
        if had_room {
            self.give_up(&asked, rows, now_ms, reading, &mut progress);
        }
        self.limit(&mut progress);
        progress
    }

    /// Begins at the end of the log: the rows of the head sample are not counted. Ids missing among them are
    /// awaited, because their rows may be committed while the exporter starts.
    fn start(&mut self, rows: &[TailRow], bounds: Bounds, now_ms: i64, reading: Reading) -> Progress {
        let mut progress = Progress::default();
        // Where the sample reaches down to the oldest row, the ids below it are missing as well.
        let reaches_down = rows.first().is_some_and(|row| Some(row.id) == bounds.oldest_id);
        let mut before = rows.first().filter(|_| reaches_down).map(|row| row.id.saturating_sub(START_REACH));
        for (position, row) in rows.iter().enumerate() {
            if let Some(before) = before {
                self.missing.add_between(before, row.id, now_ms);
            }
            if row.stage == Stage::Open {
                self.open.push(OpenRow { id: row.id, since_ms: now_ms, gone_ms: None });
                progress.open.push(position);
            }
            before = Some(row.id);
        }
        self.watermark = Some(before.or(bounds.newest_id).unwrap_or(NOTHING_READ));
        self.note(rows, bounds, now_ms, self.evidence(bounds, reading));
        self.limit(&mut progress);
        progress
    }

    fn note(&mut self, rows: &[TailRow], bounds: Bounds, now_ms: i64, evidence: Evidence) {
        self.bounds = bounds;
        let awaited = self.missing.iter().next().map(|range| range.first);
        self.history.note(rows, awaited, bounds, now_ms, evidence);
    }

    /// The evidence of a sample without late rows.
    fn evidence(&self, bounds: Bounds, reading: Reading) -> Evidence {
        Evidence {
            shows_end: bounds.newest_id.is_some() && bounds.newest_id >= self.watermark,
            shows_table: self.shows_this_table(bounds),
            has_late_rows: false,
            is_partial: reading.misses_rows,
        }
    }

    /// Whether the newest row belongs to the table that was read.
    fn shows_this_table(&self, bounds: Bounds) -> bool {
        bounds.newest_id.is_some_and(|newest| !self.is_behind(newest))
    }

    /// Whether the newest row is older than one that was read, and was not awaited.
    fn is_behind(&self, newest: i64) -> bool {
        self.watermark.is_some_and(|watermark| newest < watermark) && !self.missing.contains(newest)
    }

    /// One row: new above the watermark, awaited below it, or read before.
    fn take(&mut self, position: usize, row: TailRow, now_ms: i64, progress: &mut Progress) {
        let watermark = self.watermark.unwrap_or(i64::MIN);
        let mut since_ms = now_ms;
        if row.id > watermark {
            self.missing.add_between(watermark, row.id, now_ms);
            self.watermark = Some(row.id);
        } else if self.missing.remove(row.id) {
            progress.late += u64::from(row.stage == Stage::Over);
        } else if row.stage == Stage::Foreign {
            return; // even if it was open and fit the predicate: then it is gone
        } else if let Ok(index) = self.open.binary_search_by_key(&row.id, |open| open.id) {
            since_ms = self.open.remove(index).since_ms;
        } else {
            return; // read before
        }
        match row.stage {
            Stage::Over => progress.count.push(position),
            Stage::Open => {
                let index = self.open.partition_point(|open| open.id < row.id);
                self.open.insert(index, OpenRow { id: row.id, since_ms, gone_ms: None });
                progress.open.push(position);
            }
            Stage::Foreign => {}
        }
    }

    /// Ids went backwards, and the table holds other rows than before.
    fn started_over(&self, bounds: Bounds) -> bool {
        bounds.newest_id.is_some_and(|newest| self.is_behind(newest)) && self.history.is_another(bounds)
    }

    /// Everything the table holds now is new. The next sample reads it from its lowest id, because this one
    /// asked with the old watermark. Rows with lower ids may still be committed.
    fn start_over(&mut self, bounds: Bounds, now_ms: i64, reading: Reading) -> Progress {
        let before = std::mem::take(self);
        let oldest = bounds.oldest_id.unwrap_or(1);
        self.watermark = Some(oldest.saturating_sub(1));
        self.missing.add_between(oldest.saturating_sub(START_REACH), oldest, now_ms);
        self.note(&[], bounds, now_ms, self.evidence(bounds, reading));
        Progress {
            reset: true,
            more: true,
            abandoned: before.missing.iter().map(|range| (range.first, range.last)).collect(),
            stale: before.open.iter().map(|row| row.id).collect(),
            ..Progress::default()
        }
    }

    /// Gives up what was asked for in vain for too long.
    fn give_up(
        &mut self,
        asked: &[(i64, i64)],
        rows: &[TailRow],
        now_ms: i64,
        reading: Reading,
        progress: &mut Progress,
    ) {
        let was_asked = |id: i64| asked.iter().any(|(first, last)| *first <= id && id <= *last);
        progress.abandoned = self
            .missing
            .give_up(|range| was_asked(range.first) && elapsed(range.since_ms, now_ms) > reading.late_window);
        self.open.retain_mut(|row| {
            if !was_asked(row.id) {
                return true;
            }
            let seen =
                rows.binary_search_by_key(&row.id, |seen| seen.id).ok().and_then(|index| rows.get(index));
            if seen.is_none_or(|seen| seen.stage == Stage::Foreign) {
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
        progress.crowded_out = self.missing.limit();
        let excess = self.open.len().saturating_sub(MAX_OPEN);
        progress.stale.extend(self.open.drain(..excess).map(|row| row.id));
    }
}

/// What a sample asks for: a range of ids, and how many rows in it may have been read before.
#[derive(Debug, Clone, Copy)]
struct Asked {
    first: i64,
    last: i64,
    rows: i64,
}

impl Asked {
    /// How many rows may have been read before if the range extends to the end of the next one.
    fn rows_up_to(self, next: Self) -> i64 {
        let between = next.first.saturating_sub(self.last).saturating_sub(1);
        self.rows.saturating_add(between).saturating_add(next.rows)
    }
}

/// Time between two readings of the database's clock; none when it went backwards.
fn elapsed(since_ms: i64, now_ms: i64) -> Duration {
    Duration::from_millis(u64::try_from(now_ms.saturating_sub(since_ms)).unwrap_or(0))
}

#[cfg(test)]
mod tests;
