//! Objectives. One that a target does not have is said not to be there: it would take the global one.

use super::time;
use super::yaml::{Mapping, Yaml};
use crate::config::objectives::{
    AttemptLogObjectives, Objectives, QueueObjectives, Ratio, RunLogObjectives, SourceObjectives,
};

pub(super) fn all(objectives: &Objectives) -> Mapping {
    let Objectives { sources, queues, attempt_logs, run_logs } = objectives;
    of_queue(queues).and(of_attempt_log(attempt_logs)).and(of_run_log(run_logs)).and(of_source(sources))
}

pub(super) fn of_source(objectives: &SourceObjectives) -> Mapping {
    let SourceObjectives { max_clock_skew } = objectives;
    Mapping::default().with("max_clock_skew", or_none(max_clock_skew.map(time)))
}

pub(super) fn of_queue(objectives: &QueueObjectives) -> Mapping {
    let QueueObjectives { max_ready_age, max_expired_age, max_attempts, max_failed_jobs } = objectives;
    Mapping::default()
        .with("max_ready_age", or_none(max_ready_age.map(time)))
        .with("max_expired_age", or_none(max_expired_age.map(time)))
        .with("max_attempts", or_none(*max_attempts))
        .with("max_failed_jobs", or_none(*max_failed_jobs))
}

pub(super) fn of_attempt_log(objectives: &AttemptLogObjectives) -> Mapping {
    let AttemptLogObjectives { max_lost_ratio } = objectives;
    Mapping::default().with("max_lost_ratio", or_none(max_lost_ratio.map(Ratio::as_f64)))
}

pub(super) fn of_run_log(objectives: &RunLogObjectives) -> Mapping {
    let RunLogObjectives {
        max_run_gap,
        max_consecutive_skips,
        max_skip_ratio,
        max_error_ratio,
        max_warning_ratio,
        max_slowdown,
        max_log_age,
    } = objectives;
    Mapping::default()
        .with("max_run_gap", or_none(max_run_gap.map(time)))
        .with("max_consecutive_skips", or_none(*max_consecutive_skips))
        .with("max_skip_ratio", or_none(max_skip_ratio.map(Ratio::as_f64)))
        .with("max_error_ratio", or_none(max_error_ratio.map(Ratio::as_f64)))
        .with("max_warning_ratio", or_none(max_warning_ratio.map(Ratio::as_f64)))
        .with("max_slowdown", or_none(max_slowdown.map(Ratio::as_f64)))
        .with("max_log_age", or_none(max_log_age.map(time)))
}

fn or_none(objective: Option<impl Into<Yaml>>) -> Yaml {
    objective.map_or_else(|| "none".into(), Into::into)
}
