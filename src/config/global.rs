//! Global settings: they hold for every target that does not set its own.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::SAMPLE_INTERVALS;
use super::objectives::{Objectives, ObjectivesForm};
use crate::duration::{self, DAY, HOUR};
use crate::yaml::{Bounds, Checker, Field, Located, Resolved, form};

const SAMPLE_INTERVAL: Duration = Duration::from_secs(15);
const QUERY_TIMEOUT: Duration = Duration::from_secs(5);
const LOCK_TIMEOUT: Duration = Duration::from_secs(1);
const STALE_AFTER: Duration = Duration::from_secs(60);
const MAX_LABEL_VALUES: usize = 100;

const QUERY_TIMEOUTS: Bounds = Bounds { least: Duration::from_millis(10), most: HOUR };
/// Zero is allowed: the server then does not wait for a lock at all.
const LOCK_TIMEOUTS: Bounds = Bounds { least: Duration::ZERO, most: HOUR };
const STALE_AFTERS: Bounds = Bounds { least: Duration::from_millis(100), most: DAY.saturating_mul(7) };

/// Settings that hold for every target unless it says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Global {
    /// Time between two samples of a target.
    #[serde(serialize_with = "duration::serialize")]
    pub sample_interval: Duration,
    /// Deadline for one statement, and for connecting and logging in.
    #[serde(serialize_with = "duration::serialize")]
    pub query_timeout: Duration,
    /// How long the server may let a statement wait for a lock.
    #[serde(serialize_with = "duration::serialize")]
    pub lock_timeout: Duration,
    /// Age past which the gauges of a target are withdrawn.
    #[serde(serialize_with = "duration::serialize")]
    pub stale_after: Duration,
    /// How locked rows are read.
    pub read_mode: ReadMode,
    /// The most values exported per target for a label that comes from a table.
    pub max_label_values: usize,
    /// The default objectives, for sources and targets that set none of their own.
    pub objectives: Objectives,
}

/// How a statement reads locked rows. There is no NOLOCK: it reads uncommitted data, and can miss rows or
/// read them twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReadMode {
    /// Skips them, so that the result is what a worker could claim now. SQL Server only.
    #[default]
    #[serde(rename = "readpast")]
    ReadPast,
    /// Waits for them, or reads their last committed version where the database keeps one.
    ReadCommitted,
}

form! {
    pub struct GlobalForm {
        /// Time between two samples of a target.
        sample_interval: Field<String>,
        /// Deadline for one statement, and for connecting and logging in.
        query_timeout: Field<String>,
        /// How long the server may let a statement wait for a lock.
        lock_timeout: Field<String>,
        /// Age past which the gauges of a target are withdrawn.
        stale_after: Field<String>,
        /// How locked rows are read: `readpast` or `read_committed`.
        read_mode: Field<ReadMode>,
        /// The most values exported per target for a label that comes from a table.
        max_label_values: Field<u32>,
        /// The default objectives, for sources and targets that set none of their own.
        objectives: Field<ObjectivesForm>,
    }
}

impl Global {
    /// Checks the global settings. Also returns `stale_after` with its location, for the targets to be
    /// checked against.
    pub(super) fn check(checker: &mut Checker<'_>, field: Field<GlobalForm>) -> (Self, Option<Resolved>) {
        let form = field.value_or_default();
        let mut resolve = |key, field: Field<String>, bounds, default| match field.given() {
            Some(yaml) => {
                let at = Some(yaml.location());
                checker.duration(&yaml, bounds).map(|value| Resolved { key, value, at })
            }
            None => Some(Resolved { key, value: default, at: None }),
        };
        let interval = resolve("sample_interval", form.sample_interval, SAMPLE_INTERVALS, SAMPLE_INTERVAL);
        let query = resolve("query_timeout", form.query_timeout, QUERY_TIMEOUTS, QUERY_TIMEOUT);
        let lock = resolve("lock_timeout", form.lock_timeout, LOCK_TIMEOUTS, LOCK_TIMEOUT);
        let stale = resolve("stale_after", form.stale_after, STALE_AFTERS, STALE_AFTER);
        if let (Some(lock), Some(query)) = (&lock, &query)
            && lock.value >= query.value
        {
            // Otherwise the statement's own deadline always comes first, and a lock is never reported as the
            // reason.
            checker.relation(lock, "must be shorter than", query);
        }
        if let (Some(interval), Some(stale)) = (&interval, &stale)
            && interval.value > stale.value
        {
            checker.relation(interval, "must not be longer than", stale);
        }
        let max_label_values =
            form.max_label_values.given().and_then(|yaml| checker.number(&yaml, 1, 10_000));
        let value = |setting: Option<Resolved>, default| setting.map_or(default, |setting| setting.value);
        let global = Self {
            sample_interval: value(interval, SAMPLE_INTERVAL),
            query_timeout: value(query, QUERY_TIMEOUT),
            lock_timeout: value(lock, LOCK_TIMEOUT),
            stale_after: value(stale, STALE_AFTER),
            read_mode: form.read_mode.value_or_default(),
            max_label_values: max_label_values
                .and_then(|given| usize::try_from(given).ok())
                .unwrap_or(MAX_LABEL_VALUES),
            objectives: Objectives::check(checker, form.objectives),
        };
        (global, stale)
    }
}
