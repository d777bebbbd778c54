//! Objectives: those for every target, each target's own, and whether a table can be held to them.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::checker::{Bounds, Checker};
use super::{DAY, HOUR};
use crate::config::objectives::{Objectives, QueueObjectives, RunLogObjectives};
use crate::config::raw::{RawObjectives, RawQueueObjectives, RawRunLogObjectives};
use crate::config::setting::{Constant, Field, Placed, Setting, Short, Spot};

/// What holds where the file says nothing.
const DEFAULTS: Objectives = Objectives {
    queues: QueueObjectives {
        max_ready_age: Some(Duration::from_secs(15 * 60)),
        max_expired_age: Some(Duration::from_secs(5 * 60)),
        max_attempts: Some(10),
        max_failed_jobs: Some(10),
    },
    run_logs: RunLogObjectives {
        max_run_gap: Some(HOUR),
        max_consecutive_skips: Some(3),
        max_log_age: Some(Duration::from_secs(90 * 24 * 3600)),
    },
};

/// The word for no objective.
const NONE: &str = "none";

/// An age of 0 would be exceeded by all that waits for a moment.
const AGES: Bounds = Bounds { least: Duration::from_millis(100), most: DAY.saturating_mul(3650) };
/// Every job that is done was tried once.
const ATTEMPTS: RangeInclusive<u32> = 1..=1_000_000;
const FAILED_JOBS: RangeInclusive<u32> = 0..=1_000_000_000;
const SKIPS: RangeInclusive<u32> = 0..=1_000_000;

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
    /// A row can say that its run was skipped.
    pub(super) skips: bool,
}

/// The objectives of targets that have none of their own.
pub(super) fn global(checker: &mut Checker<'_>, field: Field<RawObjectives>) -> Objectives {
    let raw = field.given().map(|raw| raw.value).unwrap_or_default();
    let queues = RawQueueObjectives {
        max_ready_age: raw.max_ready_age,
        max_expired_age: raw.max_expired_age,
        max_attempts: raw.max_attempts,
        max_failed_jobs: raw.max_failed_jobs,
    };
    let run_logs = RawRunLogObjectives {
        max_run_gap: raw.max_run_gap,
        max_consecutive_skips: raw.max_consecutive_skips,
        max_log_age: raw.max_log_age,
    };
    let all = QueueSight { ready_age: true, expired_age: true, attempts: true, failed_jobs: true };
    Objectives {
        queues: queue(checker, queues, DEFAULTS.queues, all),
        run_logs: run_log(checker, run_logs, DEFAULTS.run_logs, RunLogSight { start: true, skips: true }),
    }
}

/// The objectives of a queue.
pub(super) fn queue(
    checker: &mut Checker<'_>,
    raw: RawQueueObjectives,
    defaults: QueueObjectives,
    sight: QueueSight,
) -> QueueObjectives {
    let max_ready_age = age(checker, raw.max_ready_age);
    let max_expired_age = age(checker, raw.max_expired_age);
    let max_attempts = count(checker, raw.max_attempts, ATTEMPTS);
    let max_failed_jobs = count(checker, raw.max_failed_jobs, FAILED_JOBS);
    let ageless = "neither `enqueued_at` nor `available_at` says how old a job is";
    QueueObjectives {
        max_ready_age: max_ready_age.in_force(checker, defaults.max_ready_age, sight.ready_age, ageless),
        max_expired_age: max_expired_age.in_force(
            checker,
            defaults.max_expired_age,
            sight.expired_age,
            "only a lease of `kind: until` or `kind: since` can lapse",
        ),
        max_attempts: max_attempts.in_force(
            checker,
            defaults.max_attempts,
            sight.attempts,
            "no `attempts` says how often a job was tried",
        ),
        max_failed_jobs: max_failed_jobs.in_force(
            checker,
            defaults.max_failed_jobs,
            sight.failed_jobs,
            "`state` calls no job `failed`",
        ),
    }
}

/// The objectives of a run log.
pub(super) fn run_log(
    checker: &mut Checker<'_>,
    raw: RawRunLogObjectives,
    defaults: RunLogObjectives,
    sight: RunLogSight,
) -> RunLogObjectives {
    let max_run_gap = age(checker, raw.max_run_gap);
    let max_consecutive_skips = count(checker, raw.max_consecutive_skips, SKIPS);
    let max_log_age = age(checker, raw.max_log_age);
    let timeless = "no `start` says when a row's step began";
    RunLogObjectives {
        max_run_gap: max_run_gap.in_force(checker, defaults.max_run_gap, sight.start, timeless),
        max_consecutive_skips: max_consecutive_skips.in_force(
            checker,
            defaults.max_consecutive_skips,
            sight.skips,
            "`outcome` calls no row `skipped`",
        ),
        max_log_age: max_log_age.in_force(checker, defaults.max_log_age, sight.start, timeless),
    }
}

/// What the file says of an objective.
#[derive(Debug, Clone, Copy)]
enum Said<T> {
    /// Nothing, or what is wrong and was reported.
    Nothing,
    /// That there is none.
    None,
    /// What it is, and where.
    Value(T, Spot),
}

impl<T> Said<T> {
    /// The objective in force. One that the file sets although the table cannot be held to it would
    /// never be heard of again, so it is refused; `unseen` says what is lacking.
    fn in_force(
        self,
        checker: &mut Checker<'_>,
        default: Option<T>,
        is_seen: bool,
        unseen: &str,
    ) -> Option<T> {
        match self {
            Self::Value(_, at) if !is_seen => {
                checker.report(at, format!("has no effect: {unseen}; remove this objective"));
                None
            }
            Self::Value(value, _) => Some(value),
            Self::Nothing => default.filter(|_| is_seen),
            Self::None => None,
        }
    }
}

fn age(checker: &mut Checker<'_>, field: Field<String>) -> Said<Duration> {
    match field {
        Setting::Null => Said::None,
        Setting::Set(value) if value.value == NONE => Said::None,
        field => match checker.duration(field, AGES) {
            Ok(Some((age, at))) => Said::Value(age, at),
            Ok(None) | Err(()) => Said::Nothing,
        },
    }
}

fn count(checker: &mut Checker<'_>, field: Field<Constant>, range: RangeInclusive<u32>) -> Said<u32> {
    let value = match field {
        Setting::Absent => return Said::Nothing,
        Setting::Null => return Said::None,
        Setting::Set(value) => value,
    };
    let at = value.spot();
    let message = match value.value {
        Short::Text(word) if word == NONE => return Said::None,
        Short::Integer(number) => match u32::try_from(number).ok().filter(|number| range.contains(number)) {
            Some(number) => return Said::Value(number, at),
            None => format!("{number} is not between {} and {}", range.start(), range.end()),
        },
        other => format!("expected a whole number or `{NONE}`, found {}", other.found()),
    };
    checker.report(at, message);
    Said::Nothing
}
