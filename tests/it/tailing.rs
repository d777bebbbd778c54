//! Every row exactly once, whatever the interleaving of writers, retention, the reader and its crashes on a
//! log that grows by id.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use sqlqueue_exporter::limits::GAPS_PER_SAMPLE;
use sqlqueue_exporter::sample::{Bounds, LogSample};
use sqlqueue_exporter::state::{Log, LogRow, Progress, Reading};
use sqlqueue_exporter::statement::TailRequest;

const LATE: Duration = Duration::from_secs(600);
const OPEN: Duration = Duration::from_secs(3_600);
/// The smallest batch that a configuration allows.
const BATCH: u32 = 16;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Row {
    id: i64,
    /// How many times the table had been truncated when the row was written.
    epoch: i64,
    /// When its transaction took the id.
    time_ms: i64,
    label: String,
    open: bool,
}

impl Row {
    /// Whether it matches the predicate of a filtered log.
    fn fits(&self) -> bool {
        self.id % 3 != 0
    }
}

impl LogRow for Row {
    fn id(&self) -> i64 {
        self.id
    }
    fn is_open(&self) -> bool {
        self.open
    }
    fn label(&mut self) -> &mut String {
        &mut self.label
    }
}

/// How often each row was counted, by [`key`].
type Counted = BTreeMap<i64, u32>;
type RowLog = Log<Row, Counted>;

/// A row of any epoch; ascending like its time.
const fn key(epoch: i64, id: i64) -> i64 {
    epoch * 1_000_000 + id
}

/// What can happen.
#[derive(Debug, Clone, Copy)]
enum Event {
    /// A transaction takes the next id.
    Begin,
    /// One of the open transactions commits a row, complete or still running.
    Commit { which: usize, open: bool },
    /// One of the open transactions is rolled back.
    Rollback { which: usize },
    /// One of the running rows ends.
    End { which: usize },
    /// The server restarts, and the identity jumps.
    Jump,
    /// Retention deletes the oldest rows.
    Delete { rows: usize },
    /// Many transactions at a time; every other one is committed.
    Burst { pairs: usize },
    /// Time passes.
    Wait { seconds: u32 },
    /// A sample that is saved.
    Sample,
    /// The same while other sessions hold locks: rows whose bit is set are skipped.
    SampleOfFew { locked: u64 },
    /// The table is truncated, and its ids start over.
    Truncate,
    /// The exporter restarts, with nothing but what was saved.
    Restart,
    /// A sample whose process dies before it is saved; another continues from the last save.
    LostSample,
}

/// A log table, and the reader of it.
struct World {
    now_ms: i64,
    next_id: i64,
    epoch: i64,
    /// Whether rows have times.
    timed: bool,
    /// Whether locked rows are skipped, so that a table may only look empty.
    misses_rows: bool,
    locked: u64,
    /// Ids taken by transactions that are not committed.
    in_flight: Vec<i64>,
    /// When each id was taken last.
    begun_ms: BTreeMap<i64, i64>,
    table: BTreeMap<i64, Row>,
    log: RowLog,
    started: bool,
    filtered: bool,
    /// Rows that existed before the first sample, or were gone before they could be read.
    excused: BTreeSet<i64>,
    /// Ids reported as given up: ranges of missing ones, and open rows.
    abandoned: Vec<(i64, i64)>,
    stale: BTreeSet<i64>,
}

impl World {
    fn new(filtered: bool) -> Self {
        Self {
            now_ms: 1_796_040_000_000,
            next_id: 1,
            epoch: 0,
            timed: true,
            misses_rows: true,
            locked: 0,
            in_flight: Vec::new(),
            begun_ms: BTreeMap::new(),
            table: BTreeMap::new(),
            log: RowLog::new([], 3),
            started: false,
            filtered,
            excused: BTreeSet::new(),
            abandoned: Vec::new(),
            stale: BTreeSet::new(),
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Begin => {
                self.now_ms += 1;
                self.begun_ms.insert(self.next_id, self.now_ms);
                self.in_flight.push(self.next_id);
                self.next_id += 1;
            }
            Event::Commit { which, open } => {
                if let Some(id) = pick(&mut self.in_flight, which) {
                    let label = format!("step-{}", id % 5);
                    let time_ms = self.begun_ms[&id];
                    self.table.insert(id, Row { id, epoch: self.epoch, time_ms, label, open });
                    if !self.started && !open {
                        self.excused.insert(id);
                    }
                }
            }
            Event::Rollback { which } => _ = pick(&mut self.in_flight, which),
            Event::End { which } => {
                let mut running: Vec<i64> =
                    self.table.values().filter(|row| row.open).map(|row| row.id).collect();
                if let Some(id) = pick(&mut running, which) {
                    self.table.get_mut(&id).unwrap().open = false;
                    if !self.started {
                        self.excused.insert(id);
                    }
                }
            }
            Event::Jump => {
                // No transaction outlives the restart.
                self.in_flight.clear();
                self.next_id += 1_000;
            }
            Event::Delete { rows } => {
                for _ in 0..rows {
                    let Some((id, row)) = self.table.pop_first() else { return };
                    let counted = self.times_counted(id) > 0;
                    if row.open || !counted {
                        self.excused.insert(id);
                    }
                }
            }
            Event::Burst { pairs } => {
                for _ in 0..pairs {
                    self.happen(Event::Begin);
                    self.happen(Event::Begin);
                    let newest = self.in_flight.len() - 1;
                    self.happen(Event::Commit { which: newest, open: false });
                }
            }
            Event::Wait { seconds } => self.now_ms += i64::from(seconds) * 1_000,
            Event::Sample => {
                if !self.started {
                    // Reading begins at the end of the log: of the existing rows, only the newest ones that
                    // are still running are followed.
                    let head = answer(&TailRequest::Head, &self.table);
                    let followed: BTreeSet<i64> = head.iter().map(|row| row.id).collect();
                    self.excused.extend(self.table.keys().filter(|id| !followed.contains(id)));
                    // An uncommitted row further back than that is taken for an old one.
                    let reaches_down = followed.first() == self.table.keys().next();
                    let lowest = followed.first().or(self.table.keys().next_back());
                    if let Some(lowest) = lowest.filter(|_| !reaches_down) {
                        self.excused.extend(self.in_flight.iter().filter(|id| *id < lowest));
                    }
                }
                let progress = self.sample();
                self.abandoned.extend(progress.abandoned.into_iter().chain(progress.crowded_out));
                self.stale.extend(progress.stale);
                self.started = true;
            }
            Event::SampleOfFew { locked } => {
                if self.started {
                    self.locked = locked;
                    self.happen(Event::Sample);
                    self.locked = 0;
                }
            }
            Event::Truncate => {
                self.now_ms += 2_000;
                self.table.clear();
                self.in_flight.clear();
                self.next_id = 1;
                self.epoch += 1;
            }
            Event::Restart => {
                let saved = serde_json::to_string(&self.log).unwrap();
                self.log = serde_json::from_str(&saved).unwrap();
            }
            Event::LostSample => {
                // The counters that a scrape could have seen are those of the last save.
                let saved = self.log.clone();
                self.sample();
                self.log = saved;
            }
        }
    }

    fn sample(&mut self) -> Progress {
        let is_shown = |id: i64| self.locked >> (id % 64) & 1 == 0;
        let table: BTreeMap<i64, Row> =
            self.table.iter().filter(|(id, _)| is_shown(**id)).map(|(id, row)| (*id, row.clone())).collect();
        let looked_at = answer(&self.log.tail.request(BATCH), &table);
        let (rows, foreign): (Vec<Row>, Vec<Row>) =
            looked_at.into_iter().partition(|row| row.fits() || !self.filtered);
        let time = |row: &Row| self.timed.then_some(row.time_ms);
        let bounds = Bounds {
            oldest_id: table.keys().next().copied(),
            oldest_ms: table.values().next().and_then(time),
            newest_id: table.keys().next_back().copied(),
            newest_ms: table.values().next_back().and_then(time),
            latest_ms: rows.iter().chain(&foreign).filter_map(time).max(),
        };
        let reading = Reading {
            late_window: LATE,
            open_window: OPEN,
            batch_size: BATCH as usize,
            misses_rows: self.misses_rows,
        };
        let foreign = foreign.iter().map(|row| row.id).collect();
        self.log.apply(
            LogSample { now_ms: self.now_ms, bounds, rows, foreign, lock_held: None },
            reading,
            3,
            |_, _| {},
            |counted, row| *counted.entry(key(row.epoch, row.id)).or_default() += 1,
        )
    }

    /// Whether a row has to be counted or reported by the end.
    fn is_due(&self, row: &Row) -> bool {
        !row.open && !self.excused.contains(&row.id) && (row.fits() || !self.filtered)
    }

    fn is_reported(&self, id: i64) -> bool {
        self.stale.contains(&id) || self.abandoned.iter().any(|(first, last)| *first <= id && id <= *last)
    }

    fn times_counted(&self, id: i64) -> u32 {
        self.log.series.values().filter_map(|counted| counted.get(&key(self.epoch, id))).sum()
    }

    fn total_counted(&self) -> u64 {
        self.log.series.values().flat_map(BTreeMap::values).map(|times| u64::from(*times)).sum()
    }
}

fn pick(ids: &mut Vec<i64>, which: usize) -> Option<i64> {
    if ids.is_empty() { None } else { Some(ids.swap_remove(which % ids.len())) }
}

/// The rows that the statement examines to answer the request, whether or not they match the predicate: the
/// newest ones, or late ones and the next above the watermark, each bounded, ascending by id.
fn answer(request: &TailRequest, table: &BTreeMap<i64, Row>) -> Vec<Row> {
    let batch = BATCH as usize;
    match request {
        TailRequest::Head => {
            let mut rows: Vec<Row> = table.values().rev().take(batch).cloned().collect();
            rows.reverse();
            rows
        }
        TailRequest::After { watermark, gaps } => {
            assert!(gaps.len() <= GAPS_PER_SAMPLE);
            let awaited = |id: &i64| gaps.iter().any(|(first, last)| first <= id && id <= last);
            let late = table.values().filter(|row| awaited(&row.id)).take(batch);
            let fresh = table.range(watermark + 1..).map(|(_, row)| row).take(batch);
            let mut rows: Vec<Row> = late.chain(fresh).cloned().collect();
            rows.sort_by_key(|row| row.id);
            rows
        }
    }
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => Just(Event::Begin),
        6 => (any::<usize>(), proptest::bool::weighted(0.2))
            .prop_map(|(which, open)| Event::Commit { which, open }),
        1 => any::<usize>().prop_map(|which| Event::Rollback { which }),
        2 => any::<usize>().prop_map(|which| Event::End { which }),
        1 => Just(Event::Jump),
        1 => (1_usize..4).prop_map(|rows| Event::Delete { rows }),
        3 => (1_u32..400).prop_map(|seconds| Event::Wait { seconds }),
        1 => (1_usize..40).prop_map(|pairs| Event::Burst { pairs }),
        5 => Just(Event::Sample),
        2 => any::<u64>().prop_map(|locked| Event::SampleOfFew { locked }),
        1 => Just(Event::SampleOfFew { locked: u64::MAX }),
        1 => Just(Event::Restart),
        2 => Just(Event::LostSample),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::default())]

    #[test]
    fn every_row_is_counted_exactly_once_or_reported_as_given_up(
        events in proptest::collection::vec(event(), 1..150),
        filtered in any::<bool>(),
    ) {
        let mut world = World::new(filtered);
        let mut counted_before = 0;
        for event in events {
            world.happen(event);
            let counted = world.total_counted();
            prop_assert!(counted >= counted_before, "a counter went down after {event:?}");
            counted_before = counted;
            for id in world.table.keys() {
                prop_assert!(world.times_counted(*id) <= 1, "row {id} was counted twice");
            }
        }
        // Writers are done; the reader catches up.
        world.in_flight.clear();
        if !world.started {
            world.happen(Event::Sample);
        }
        for _ in 0..200 {
            world.happen(Event::Sample);
        }
        for row in world.table.values().filter(|row| world.is_due(row)) {
            prop_assert!(
                world.times_counted(row.id) == 1 || world.is_reported(row.id),
                "row {} was neither counted nor reported", row.id
            );
        }
    }

    #[test]
    fn every_row_after_a_truncation_counts_where_no_row_is_missed_or_rows_have_times(
        // More than after: what is past the old end by the next sample cannot be distinguished.
        (after, before) in (2_usize..40).prop_flat_map(|after| (Just(after), after + 2..after + 40)),
        rolled_back in 0_usize..3,
        was_seen_empty in any::<bool>(),
        misses_rows in any::<bool>(),
    ) {
        let mut world = World::new(false);
        world.misses_rows = misses_rows;
        world.timed = misses_rows || !was_seen_empty;
        world.happen(Event::Sample);
        world.happen(Event::Burst { pairs: before });
        for _ in 0..20 {
            world.happen(Event::Sample);
        }
        world.happen(Event::Truncate);
        if was_seen_empty {
            world.happen(Event::Sample);
        }
        for _ in 0..rolled_back {
            world.happen(Event::Begin);
            world.happen(Event::Rollback { which: 0 });
        }
        world.now_ms += 2_000;
        world.happen(Event::Burst { pairs: after });
        for _ in 0..50 {
            world.happen(Event::Sample);
        }
        for id in world.table.keys() {
            prop_assert_eq!(world.times_counted(*id), 1, "row {}", id);
        }
    }

    #[test]
    fn no_row_is_counted_twice_whatever_is_hidden_and_truncated(
        events in proptest::collection::vec(prop_oneof![20 => event(), 1 => Just(Event::Truncate)], 1..150),
        timed in any::<bool>(),
    ) {
        let mut world = World::new(false);
        world.timed = timed;
        for event in events {
            world.happen(event);
            for counted in world.log.series.values().flat_map(BTreeMap::iter) {
                prop_assert!(*counted.1 <= 1, "row {} was counted twice", counted.0);
            }
        }
    }
}
