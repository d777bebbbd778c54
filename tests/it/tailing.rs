//! Every row exactly once: any interleaving of what writers, retention, the reader and its crashes
//! can do to a log that grows by id.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use sqlqueue_exporter::sample::Bounds;
use sqlqueue_exporter::state::{Limits, Log, LogRow, Progress, Reading};
use sqlqueue_exporter::statement::{GAPS_PER_SAMPLE, TailRequest};

const LATE: Duration = Duration::from_secs(600);
const OPEN: Duration = Duration::from_secs(3_600);
/// The smallest batch that a configuration may ask for.
const BATCH: u32 = 16;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Row {
    id: i64,
    label: String,
    open: bool,
}

impl Row {
    /// Whether the predicate of a filtered log lets it through.
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

/// How often each id was counted.
type Counted = BTreeMap<i64, u32>;
type RowLog = Log<Row, Counted>;

/// What can happen.
#[derive(Debug, Clone, Copy)]
enum Event {
    /// A transaction takes the next id.
    Begin,
    /// One of the open transactions commits, a row that is complete or one that still runs.
    Commit { which: usize, open: bool },
    /// One of the open transactions is rolled back.
    Rollback { which: usize },
    /// One of the rows that still run ends.
    End { which: usize },
    /// The server restarts, and the identity jumps.
    Jump,
    /// Retention deletes the oldest rows.
    Delete { rows: usize },
    /// Many transactions at a time, of which every other one is committed.
    Burst { pairs: usize },
    /// Time passes.
    Wait { seconds: u32 },
    /// A sample that is saved.
    Sample,
    /// The exporter is stopped and started: all that is left is what was saved.
    Restart,
    /// A sample whose process dies before it is saved; another goes on from the last save.
    LostSample,
}

/// A log table, and the reader of it.
struct World {
    now_ms: i64,
    next_id: i64,
    /// Ids taken by transactions that are not committed.
    in_flight: Vec<i64>,
    table: BTreeMap<i64, Row>,
    log: RowLog,
    started: bool,
    filtered: bool,
    /// Rows that were there before the first sample, or gone before they could be read.
    excused: BTreeSet<i64>,
    /// Ids that were reported as given up: ranges of missing ones, and open rows.
    abandoned: Vec<(i64, i64)>,
    stale: BTreeSet<i64>,
}

impl World {
    fn new(filtered: bool) -> Self {
        Self {
            now_ms: 1_796_040_000_000,
            next_id: 1,
            in_flight: Vec::new(),
            table: BTreeMap::new(),
            log: RowLog::default(),
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
                self.in_flight.push(self.next_id);
                self.next_id += 1;
            }
            Event::Commit { which, open } => {
                if let Some(id) = pick(&mut self.in_flight, which) {
                    let label = format!("step-{}", id % 5);
                    self.table.insert(id, Row { id, label, open });
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
                    // Reading begins at the end of the log: of what is there, only the newest rows
                    // that still run are followed.
                    let head = answer(&TailRequest::Head, &self.table, self.filtered);
                    let followed: BTreeSet<i64> = head.iter().map(|row| row.id).collect();
                    self.excused.extend(self.table.keys().filter(|id| !followed.contains(id)));
                    // And a row that is on its way further back than that is taken for an old one.
                    let reaches_down = followed.first() == self.table.keys().next();
                    let lowest = followed.first().or(self.table.keys().next_back());
                    if let Some(lowest) = lowest.filter(|_| !reaches_down) {
                        self.excused.extend(self.in_flight.iter().filter(|id| *id < lowest));
                    }
                }
                let progress = self.sample();
                self.abandoned.extend(progress.abandoned);
                self.stale.extend(progress.stale);
                self.started = true;
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
        let rows = answer(&self.log.tail.request(BATCH), &self.table, self.filtered);
        let bounds = Bounds {
            oldest_id: self.table.keys().next().copied(),
            oldest_ms: self.table.keys().next().map(|id| id * 10),
            newest_id: self.table.keys().next_back().copied(),
        };
        let reading = Reading {
            late_window: LATE,
            open_window: OPEN,
            batch_size: BATCH as usize,
            filtered: self.filtered,
        };
        self.log.apply(
            rows,
            bounds,
            self.now_ms,
            Limits { reading, max_label_values: 3 },
            |_, _| {},
            |counted, row| *counted.entry(row.id).or_default() += 1,
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
        self.log.series.values().filter_map(|counted| counted.get(&id)).sum()
    }

    fn total_counted(&self) -> u64 {
        self.log.series.values().flat_map(BTreeMap::values).map(|times| u64::from(*times)).sum()
    }
}

fn pick(ids: &mut Vec<i64>, which: usize) -> Option<i64> {
    if ids.is_empty() { None } else { Some(ids.swap_remove(which % ids.len())) }
}

/// Answers the request as the statement does: the newest rows, or late ones and the next above the
/// watermark, each bounded, ascending by id.
fn answer(request: &TailRequest, table: &BTreeMap<i64, Row>, filtered: bool) -> Vec<Row> {
    let batch = BATCH as usize;
    let fits = |row: &&Row| !filtered || row.fits();
    match request {
        TailRequest::Head => {
            let mut rows: Vec<Row> = table.values().rev().take(batch).filter(fits).cloned().collect();
            rows.reverse();
            rows
        }
        TailRequest::After { watermark, gaps } => {
            assert!(gaps.len() <= GAPS_PER_SAMPLE);
            let awaited = |id: &i64| gaps.iter().any(|(first, last)| first <= id && id <= last);
            let late = table.values().filter(|row| awaited(&row.id)).filter(fits).take(batch);
            let fresh = table.range(watermark + 1..).map(|(_, row)| row).filter(fits).take(batch);
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
        1 => Just(Event::Restart),
        2 => Just(Event::LostSample),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

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
}
