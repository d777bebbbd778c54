//! What the logs that grow by id have in common: each row counted once, under a bounded label,
//! in a series that existed before its first row was counted.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::labels::LabelValues;
use super::tail::{Progress, Reading, Tail, TailRow};
use crate::sample::Bounds;

/// A row of a log.
pub trait LogRow: Clone {
    /// The row's id.
    fn id(&self) -> i64;
    /// Whether what the row tells of is still going on, so that it counts later.
    fn is_open(&self) -> bool {
        false
    }
    /// The value of the label that the row is counted under.
    fn label(&mut self) -> &mut String;
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
    /// Rows that were read while they were open, as they were then.
    pub open: Vec<R>,
    /// Rows whose label value was new in the last sample. Their series are exported at 0 first, so
    /// that `increase()` sees the rows.
    deferred: Vec<R>,
}

impl<R, S> Default for Log<R, S> {
    fn default() -> Self {
        Self {
            tail: Tail::default(),
            series: BTreeMap::new(),
            labels: LabelValues::default(),
            late_rows: 0,
            open: Vec::new(),
            deferred: Vec::new(),
        }
    }
}

impl<R: LogRow, S: Default> Log<R, S> {
    /// A log whose declared label values are there before the first sample, at 0.
    pub fn new<'a>(declared: impl IntoIterator<Item = &'a String>, max_label_values: usize) -> Self {
        let mut log = Self::default();
        for value in declared {
            log.admit(&mut value.clone(), max_label_values);
        }
        log
    }

    /// Takes over what was saved; the declared label values of this log stay, at 0 where they are new.
    pub fn restore(&mut self, saved: Self) {
        let declared = std::mem::replace(self, saved);
        for (value, series) in declared.series {
            self.series.entry(value).or_insert(series);
        }
        self.labels.keep(declared.labels);
    }

    /// Takes the rows of one sample, ascending by id. `remember` is given each row once, whether or
    /// not it is counted; `count` is given each row that counts, at once or one sample later.
    pub fn apply(
        &mut self,
        rows: Vec<R>,
        bounds: Bounds,
        now_ms: i64,
        limits: Limits,
        mut remember: impl FnMut(&mut S, &R),
        count: impl Fn(&mut S, &R),
    ) -> Progress {
        for mut row in std::mem::take(&mut self.deferred) {
            if let Some(series) = self.series.get_mut(row.label()) {
                count(series, &row);
            }
        }
        let from_the_end = !self.tail.has_started();
        let seen: Vec<TailRow> =
            rows.iter().map(|row| TailRow { id: row.id(), open: row.is_open() }).collect();
        let progress = self.tail.accept(&seen, bounds, now_ms, limits.reading);
        self.late_rows += progress.late;
        for (position, mut row) in rows.into_iter().enumerate() {
            let counts = progress.count.binary_search(&position).is_ok();
            let is_open = progress.open.binary_search(&position).is_ok();
            if !counts && !is_open && !from_the_end {
                continue; // read before
            }
            let first_seen = self.admit(row.label(), limits.max_label_values);
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
        // Last, because a row that is given up may be among the rows once more.
        self.open.retain(|row| !progress.stale.contains(&row.id()));
        progress
    }

    /// Replaces a label value by the one to export; whether its series are new with this call.
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

/// The limits that hold for a log target.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How the log is read.
    pub reading: Reading,
    /// How many label values are exported under their own name.
    pub max_label_values: usize,
}
