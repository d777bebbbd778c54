//! Objectives: those that hold everywhere, each target's own, and whether a table can be held to them.

mod value;

use std::ops::RangeInclusive;
use std::time::Duration;

use self::value::{age, count, ratio};
use super::{DAY, HOUR};
use crate::config::objectives::{
    AttemptLogObjectives, Objectives, QueueObjectives, Ratio, RunLogObjectives, SourceObjectives,
};
use crate::config::raw::{
    RawAttemptLogObjectives, RawObjectives, RawQueueObjectives, RawRunLogObjectives, RawSourceObjectives,
};
use crate::yaml::Field;
use crate::yaml::{Bounds, Checker};

/// What holds where the file says nothing.
const DEFAULTS: Objectives = Objectives {
    sources: SourceObjectives { max_clock_skew: Some(Duration::from_secs(30)) },
    queues: QueueObjectives {
        max_ready_age: Some(Duration::from_secs(15 * 60)),
        max_expired_age: Some(Duration::from_secs(5 * 60)),
        max_attempts: Some(10),
        max_failed_jobs: Some(10),
    },
    attempt_logs: AttemptLogObjectives { max_lost_ratio: Some(Ratio::percent(20)) },
    run_logs: RunLogObjectives {
        max_run_gap: Some(HOUR),
        max_consecutive_skips: Some(3),
        max_skip_ratio: Some(Ratio::percent(20)),
        max_error_ratio: Some(Ratio::percent(20)),
        max_warning_ratio: Some(Ratio::percent(50)),
        max_slowdown: Some(Ratio::percent(300)),
        max_log_age: Some(Duration::from_secs(90 * 24 * 3600)),
    },
};

/// An age of 0 would be exceeded by all that waits for a moment.
const AGES: Bounds = Bounds { least: Duration::from_millis(100), most: DAY.saturating_mul(3650) };
/// Every job that is done was tried once.
const ATTEMPTS: RangeInclusive<u32> = 1..=1_000_000;
const FAILED_JOBS: RangeInclusive<u32> = 0..=1_000_000_000;
const SKIPS: RangeInclusive<u32> = 0..=1_000_000;
const SHARES: RangeInclusive<u32> = 0..=1;
/// Below 1 a step would have to become faster all the time.
const SLOWDOWNS: RangeInclusive<u32> = 1..=1000;

/// Which of a queue's objectives its table can be held to.
#[derive(Debug, Clone, Copy)]
pub(super) struct QueueSight {
    /// A job has an age.
    pub(super) ready_age: bool,
    /// A lease has an end.
    pub(super) expired_age: bool,
    /// Attempts are counted.
    pub(super) attempts: bool,
    /// A job can be a failed one.
    pub(super) failed_jobs: bool,
}

/// Which of a run log's objectives it can be held to.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunLogSight {
    /// A row says when its step began.
    pub(super) start: bool,
    /// A row says how long its step took.
    pub(super) duration: bool,
    /// A row can be a skipped run.
    pub(super) skipped: bool,
    /// A row can be an error.
    pub(super) error: bool,
    /// A row can be a warning.
    pub(super) warning: bool,
}

/// The objectives of whatever has none of its own.
pub(super) fn global(checker: &mut Checker<'_>, field: Field<RawObjectives>) -> Objectives {
    let raw = given(field).by_kind();
    let queue = QueueSight { ready_age: true, expired_age: true, attempts: true, failed_jobs: true };
    let run_log = RunLogSight { start: true, duration: true, skipped: true, error: true, warning: true };
    Objectives {
        sources: source(checker, raw.sources, DEFAULTS.sources),
        queues: self::queue(checker, raw.queues, DEFAULTS.queues, queue),
        attempt_logs: attempt_log(checker, raw.attempt_logs, DEFAULTS.attempt_logs, true),
        run_logs: self::run_log(checker, raw.run_logs, DEFAULTS.run_logs, run_log),
    }
}

/// The objectives that a mapping has of its own, if any.
pub(super) fn given<R: Default>(field: Field<R>) -> R {
    field.given().map(|raw| raw.value).unwrap_or_default()
}

/// The objectives of a source.
pub(super) fn source(
    checker: &mut Checker<'_>,
    raw: RawSourceObjectives,
    defaults: SourceObjectives,
) -> SourceObjectives {
    SourceObjectives { max_clock_skew: age(checker, raw.max_clock_skew, AGES, defaults.max_clock_skew, None) }
}

/// The objectives of a queue.
pub(super) fn queue(
    checker: &mut Checker<'_>,
    raw: RawQueueObjectives,
    defaults: QueueObjectives,
    sight: QueueSight,
) -> QueueObjectives {
    let timeless = lacking(sight.ready_age, "neither `enqueued_at` nor `available_at` says how old a job is");
    let endless = lacking(sight.expired_age, "only a lease of `kind: until` or `kind: since` can lapse");
    let uncounted = lacking(sight.attempts, "no `attempts` says how often a job was tried");
    let never = lacking(sight.failed_jobs, "`state` calls no job `failed`");
    QueueObjectives {
        max_ready_age: age(checker, raw.max_ready_age, AGES, defaults.max_ready_age, timeless),
        max_expired_age: age(checker, raw.max_expired_age, AGES, defaults.max_expired_age, endless),
        max_attempts: count(checker, raw.max_attempts, ATTEMPTS, defaults.max_attempts, uncounted),
        max_failed_jobs: count(checker, raw.max_failed_jobs, FAILED_JOBS, defaults.max_failed_jobs, never),
    }
}

/// The objectives of an attempt log.
pub(super) fn attempt_log(
    checker: &mut Checker<'_>,
    raw: RawAttemptLogObjectives,
    defaults: AttemptLogObjectives,
    sees_lost: bool,
) -> AttemptLogObjectives {
    let never = lacking(sees_lost, "`outcome` calls no row `lost`");
    AttemptLogObjectives {
        max_lost_ratio: ratio(checker, raw.max_lost_ratio, SHARES, defaults.max_lost_ratio, never),
    }
}

/// The objectives of a run log.
pub(super) fn run_log(
    checker: &mut Checker<'_>,
    raw: RawRunLogObjectives,
    defaults: RunLogObjectives,
    sight: RunLogSight,
) -> RunLogObjectives {
    let timeless = lacking(sight.start, "no `start` says when a row's step began");
    let unmeasured =
        lacking(sight.duration, "neither `duration` nor `start` and `end` say how long a step took");
    let no_skip = lacking(sight.skipped, "`outcome` calls no row `skipped`");
    let no_error = lacking(sight.error, "`outcome` calls no row `error`");
    let no_warning = lacking(sight.warning, "`outcome` calls no row `warning`");
    let skips = raw.max_consecutive_skips;
    RunLogObjectives {
        max_run_gap: age(checker, raw.max_run_gap, AGES, defaults.max_run_gap, timeless),
        max_consecutive_skips: count(checker, skips, SKIPS, defaults.max_consecutive_skips, no_skip),
        max_skip_ratio: ratio(checker, raw.max_skip_ratio, SHARES, defaults.max_skip_ratio, no_skip),
        max_error_ratio: ratio(checker, raw.max_error_ratio, SHARES, defaults.max_error_ratio, no_error),
        max_warning_ratio: ratio(
            checker,
            raw.max_warning_ratio,
            SHARES,
            defaults.max_warning_ratio,
            no_warning,
        ),
        max_slowdown: ratio(checker, raw.max_slowdown, SLOWDOWNS, defaults.max_slowdown, unmeasured),
        max_log_age: age(checker, raw.max_log_age, AGES, defaults.max_log_age, timeless),
    }
}

/// Why a table cannot be held to an objective, unless it can.
fn lacking(is_seen: bool, why: &'static str) -> Option<&'static str> {
    (!is_seen).then_some(why)
}
