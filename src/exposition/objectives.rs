//! The objectives of the configuration, beside the gauges that are compared to them.

use super::families::{self as family, Family};
use super::page::{Label, Page, Value};
use crate::config::{AttemptLogObjectives, QueueObjectives, Ratio, RunLogObjectives, SourceObjectives};

/// Adds the objectives of a source.
pub(super) fn add_source_objectives<'a>(
    page: &mut Page<'a>,
    labels: &[Label<'a>],
    objectives: &SourceObjectives,
) {
    let SourceObjectives { max_clock_skew } = objectives;
    let max_clock_skew = max_clock_skew.map(|skew| skew.as_secs_f64());
    add(page, labels, [(&family::OBJECTIVE_MAX_CLOCK_SKEW, max_clock_skew)]);
}

/// Adds the objectives of one queue.
pub(super) fn add_queue_objectives<'a>(
    page: &mut Page<'a>,
    labels: &[Label<'a>],
    objectives: &QueueObjectives,
) {
    let QueueObjectives { max_ready_age, max_expired_age, max_attempts, max_failed_jobs } = objectives;
    let objectives = [
        (&family::OBJECTIVE_MAX_READY_AGE, max_ready_age.map(|age| age.as_secs_f64())),
        (&family::OBJECTIVE_MAX_EXPIRED_AGE, max_expired_age.map(|age| age.as_secs_f64())),
        (&family::OBJECTIVE_MAX_ATTEMPTS, max_attempts.map(f64::from)),
        (&family::OBJECTIVE_MAX_FAILED_JOBS, max_failed_jobs.map(f64::from)),
    ];
    add(page, labels, objectives);
}

/// Adds the objectives of the attempts at the jobs of one queue.
pub(super) fn add_attempt_log_objectives<'a>(
    page: &mut Page<'a>,
    labels: &[Label<'a>],
    objectives: &AttemptLogObjectives,
) {
    let AttemptLogObjectives { max_lost_ratio } = objectives;
    add(page, labels, [(&family::OBJECTIVE_MAX_LOST_RATIO, max_lost_ratio.map(Ratio::as_f64))]);
}

/// Adds the objectives of a run log.
pub(super) fn add_run_log_objectives<'a>(
    page: &mut Page<'a>,
    labels: &[Label<'a>],
    objectives: &RunLogObjectives,
) {
    let RunLogObjectives {
        max_run_gap,
        max_consecutive_skips,
        max_skip_ratio,
        max_error_ratio,
        max_warning_ratio,
        max_slowdown,
        max_log_age,
    } = objectives;
    let objectives = [
        (&family::OBJECTIVE_MAX_RUN_GAP, max_run_gap.map(|gap| gap.as_secs_f64())),
        (&family::OBJECTIVE_MAX_CONSECUTIVE_SKIPS, max_consecutive_skips.map(f64::from)),
        (&family::OBJECTIVE_MAX_SKIP_RATIO, max_skip_ratio.map(Ratio::as_f64)),
        (&family::OBJECTIVE_MAX_ERROR_RATIO, max_error_ratio.map(Ratio::as_f64)),
        (&family::OBJECTIVE_MAX_WARNING_RATIO, max_warning_ratio.map(Ratio::as_f64)),
        (&family::OBJECTIVE_MAX_SLOWDOWN, max_slowdown.map(Ratio::as_f64)),
        (&family::OBJECTIVE_MAX_LOG_AGE, max_log_age.map(|age| age.as_secs_f64())),
    ];
    add(page, labels, objectives);
}

fn add<'a, const N: usize>(
    page: &mut Page<'a>,
    labels: &[Label<'a>],
    objectives: [(&'static Family, Option<f64>); N],
) {
    for (family, objective) in objectives {
        if let Some(objective) = objective {
            page.add(family, labels.to_vec(), Value::Number(objective));
        }
    }
}
