//! Logs: each row is counted once, under a bounded label, in a series that a scrape could see at 0 before.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::labels::LabelValues;
use super::queue::QueueState;
use super::tail::{Progress, Reading, Stage, Tail, TailRow};
use crate::config::RunLog;
use crate::sample::{Attempt, EnqueuedJob, LogSample, LogTable, Notification, StepEntry};
use crate::statement::TailRequest;

/// A row of a log.
pub trait LogRow: Clone {
    /// The row's id.
    fn id(&self) -> i64;
    /// Whether what the row records has not ended, so that it counts later.
    fn is_open(&self) -> bool {
        false
    }
    /// The value of the label that the row is counted under.
    fn label(&mut self) -> &mut String;
}

/// Implements [`LogRow`] for rows with the field `id`, a label, and a flag where rows can be open.
macro_rules! log_rows {
    ($($Row:ident: $label:ident $(, open if $open:ident)?;)+) => {$(
        impl LogRow for $Row {
            fn id(&self) -> i64 {
                self.id
            }

            $(fn is_open(&self) -> bool {
                self.$open
            })?

            fn label(&mut self) -> &mut String {
                &mut self.$label
            }
        }
    )+};
}
log_rows! {
    Attempt: queue;
    EnqueuedJob: queue;
    StepEntry: step, open if open;
    Notification: kind;
}

/// A kind of log: what is counted of its rows.
pub trait LogKind: LogTable<Row: LogRow + Serialize + DeserializeOwned> + Sized {
    /// The counters of one label value.
    type Series: Default + Serialize + DeserializeOwned;

    /// What is known of the log as a whole.
    type Overall: Default + Serialize + DeserializeOwned;

    /// What is known of the log as a whole before the first sample.
    fn overall(&self) -> Self::Overall {
        Self::Overall::default()
    }

    /// How the log is shown on the status page.
    fn presentation(log: &LogState<Self>) -> Presentation<'_>;

    /// Whether the values of the label `queue` come from the table.
    fn has_queue_label(&self) -> bool {
        false
    }

    /// The label values that are exported from the start, at 0. A bound on their number drops the last ones
    /// first.
    fn declared(&self) -> Vec<&String> {
        if self.has_queue_label() { Vec::new() } else { vec![&self.target().name] }
    }

    /// How long a row without an end is believed to be open.
    fn open_window(&self) -> Duration {
        Duration::ZERO
    }

    /// Takes what a sample says beside its rows.
    fn observe(_overall: &mut Self::Overall, _sample: &LogSample<Self::Row>) {}

    /// Takes a row once, whether or not it is counted.
    fn remember(&self, _overall: &mut Self::Overall, _series: &mut Self::Series, _row: &Self::Row) {}

    /// Counts a row.
    fn count(series: &mut Self::Series, row: &Self::Row);

    /// The ids started over: forgets what was remembered by id.
    fn start_over(_state: &mut LogState<Self>) {}

    /// Completes a state whose series come from a file: takes what was saved of the log as a whole, and makes
    /// the series usable. What is configured stays.
    fn restore(_state: &mut LogState<Self>, _saved: Self::Overall) {}
}

/// The state of a log target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct LogState<K: LogKind> {
    /// Counters by label value.
    pub log: Log<K::Row, K::Series>,
    /// What is known of the log as a whole.
    #[serde(flatten)]
    pub overall: K::Overall,
    /// Whether the values of the label `queue` come from the table; as configured.
    #[serde(skip)]
    pub labelled: bool,
}

impl<K: LogKind> LogState<K> {
    /// The state before the first sample: the declared label values, at 0.
    pub fn new(kind: &K, max_label_values: usize) -> Self {
        let log = Log::new(kind.declared(), max_label_values);
        Self { log, overall: kind.overall(), labelled: kind.has_queue_label() }
    }

    /// Takes over what was saved. Label values declared since then are there, at 0.
    pub(super) fn restore(&mut self, saved: Self) {
        self.log.restore(saved.log);
        K::restore(self, saved.overall);
    }

    /// What the next sample has to ask for.
    pub(super) fn request(&self, kind: &K) -> TailRequest {
        self.log.tail.request(kind.batch_size())
    }

    pub(super) fn apply(&mut self, kind: &K, sample: LogSample<K::Row>, max_label_values: usize) -> Progress {
        let reading = Reading::of(kind.target(), kind.late_window(), kind.open_window(), kind.batch_size());
        let overall = &mut self.overall;
        K::observe(overall, &sample);
        let remember = |series: &mut K::Series, row: &K::Row| kind.remember(overall, series, row);
        let progress = self.log.apply(sample, reading, max_label_values, remember, K::count);
        if progress.reset {
            K::start_over(self);
        }
        progress
    }
}

/// How a target is shown on the status page.
pub enum Presentation<'a> {
    /// As queues.
    Queue(&'a QueueState),
    /// As a run log.
    RunLog(&'a LogState<RunLog>),
    /// As a table of counters.
    Counts(CountTable<'a>),
}

/// The counters of a log, one row for each label value.
pub struct CountTable<'a> {
    /// The heading of all tables of this kind.
    pub title: &'static str,
    /// What is counted.
    pub caption: &'static str,
    /// The headings of the columns, the first of which has the label values.
    pub columns: &'static [&'static str],
    /// The label values with their cells.
    pub rows: Vec<(&'a str, Vec<Cell>)>,
}

/// A cell of a [`CountTable`].
pub enum Cell {
    /// A counter; `None` when the table cannot tell.
    Count(Option<u64>),
    /// A time of the database's clock, in milliseconds since the epoch; `None` when there was none.
    Time(Option<i64>),
}

/// A log's rows as counters: `S` holds those of one label value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Log<R, S> {
    /// Which rows were read.
    pub tail: Tail,
    /// By value of the label.
    pub series: BTreeMap<String, S>,
    /// Bounds the values of the label.
    pub labels: LabelValues,
    /// Rows that became visible after a higher id was read.
    pub late_rows: u64,
    /// Open rows, as they were when they were read.
    pub open: Vec<R>,
    /// Rows whose label value was new in the last sample. Their series are exported at 0 for one interval first,
    /// so that a scrape sees the 0 and `increase()` sees the rows.
    deferred: Vec<R>,
    /// Whether the next sample comes an interval after the last one. Not saved: the first sample of a new
    /// process or a new configuration comes at once.
    #[serde(skip)]
    in_pace: bool,
}

impl<R: LogRow, S: Default> Log<R, S> {
    /// A log with its declared label values, at 0.
    pub fn new<'a>(declared: impl IntoIterator<Item = &'a String>, max_label_values: usize) -> Self {
        let mut log = Self {
            tail: Tail::default(),
            series: BTreeMap::new(),
            labels: LabelValues::default(),
            late_rows: 0,
            open: Vec::new(),
            deferred: Vec::new(),
            in_pace: false,
        };
        for value in declared {
            log.admit(&mut value.clone(), max_label_values);
        }
        log
    }

    /// Takes over what was saved. The declared label values of this log stay, at 0 if they are new.
    pub fn restore(&mut self, saved: Self) {
        let declared = std::mem::replace(self, saved);
        for (value, series) in declared.series {
            self.series.entry(value).or_insert(series);
        }
        self.labels.keep(declared.labels);
        self.interrupt();
    }

    /// The next sample may come shortly after the last one, and counts no rows that wait.
    pub fn interrupt(&mut self) {
        self.in_pace = false;
    }

    /// Takes what one sample read. `remember` gets each row once, counted or not; `count` gets each row that
    /// counts, at once or with a later sample.
    pub fn apply(
        &mut self,
        sample: LogSample<R>,
        reading: Reading,
        max_label_values: usize,
        mut remember: impl FnMut(&mut S, &R),
        count: impl Fn(&mut S, &R),
    ) -> Progress {
        let waited = if self.in_pace { std::mem::take(&mut self.deferred) } else { Vec::new() };
        for mut row in waited {
            if let Some(series) = self.series.get_mut(row.label()) {
                count(series, &row);
            }
        }
        let from_the_end = !self.tail.has_started();
        let LogSample { now_ms, bounds, rows, foreign, lock_held: _ } = sample;
        let rows = in_order(rows, foreign);
        let seen: Vec<TailRow> = rows.iter().map(|(seen, _)| *seen).collect();
        let mut progress = self.tail.accept(&seen, bounds, now_ms, reading);
        self.late_rows += progress.late;
        for (position, (_, row)) in rows.into_iter().enumerate() {
            let Some(mut row) = row else {
                continue; // foreign
            };
            let counts = progress.count.binary_search(&position).is_ok();
            let is_open = progress.open.binary_search(&position).is_ok();
            if !counts && !is_open && !from_the_end {
                continue; // read before
            }
            let first_seen = self.admit(row.label(), max_label_values);
            let waits = first_seen || self.deferred.iter_mut().any(|other| other.label() == row.label());
            self.open.retain(|other| other.id() != row.id());
            let Some(series) = self.series.get_mut(row.label()) else {
                continue;
            };
            remember(series, &row);
            if is_open {
                self.open.push(row);
            } else if counts && waits {
                self.deferred.push(row);
            } else if counts {
                count(series, &row);
            }
        }
        // Last, because a row that is given up may be among the rows again.
        self.open.retain(|row| !progress.stale.contains(&row.id()));
        self.in_pace = true;
        progress.waits = !self.deferred.is_empty();
        progress
    }

    /// Replaces a label value by the one to export. Returns whether this call added its series.
    fn admit(&mut self, value: &mut String, max_label_values: usize) -> bool {
        let exported = self.labels.admit(value, max_label_values);
        if exported != value.as_str() {
            *value = exported.to_owned();
        }
        if self.series.contains_key(value.as_str()) {
            return false;
        }
        self.series.insert(value.clone(), S::default());
        true
    }
}

/// The rows of the target and the foreign rows, ascending by id.
fn in_order<R: LogRow>(rows: Vec<R>, foreign: Vec<i64>) -> Vec<(TailRow, Option<R>)> {
    let rows = rows.into_iter().map(|row| {
        let stage = if row.is_open() { Stage::Open } else { Stage::Over };
        (TailRow { id: row.id(), stage }, Some(row))
    });
    let foreign = foreign.into_iter().map(|id| (TailRow { id, stage: Stage::Foreign }, None));
    let mut all: Vec<(TailRow, Option<R>)> = rows.chain(foreign).collect();
    all.sort_by_key(|(seen, _)| seen.id);
    all
}
