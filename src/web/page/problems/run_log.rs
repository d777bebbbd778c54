//! What needs a person about a run log.

use std::time::Duration;

use super::{Problem, Severity};
use crate::state::RunLogState;
use crate::web::page::quantity::{counted, span, span_ms, visible};

/// `now_ms` is the database's clock.
pub(super) fn problems(subject: &str, log: &RunLogState, now_ms: i64) -> Vec<Problem> {
    let age_of = |at_ms: i64| Duration::from_millis(u64::try_from(now_ms.saturating_sub(at_ms)).unwrap_or(0));
    let problem = |what: String| Problem::new(Severity::Problem, subject, what);
    let notice = |what: String| Problem::new(Severity::Notice, subject, what);
    let objectives = &log.overall.objectives;
    let mut problems = Vec::new();

    let last_start_ms = log.log.series.values().filter_map(|step| step.last_start_ms).max();
    if let (Some(age), Some(most)) = (last_start_ms.map(age_of), objectives.max_run_gap)
        && age > most
    {
        let what = format!("The last step began {} ago; the objective is at most {}.", span(age), span(most));
        problems
            .push(problem(what).remedy("Look whether the scheduler runs, and whether its job is enabled."));
    }
    if let (Some(skips), Some(most)) = (log.overall.consecutive_skips, objectives.max_consecutive_skips)
        && skips > u64::from(most)
    {
        let lock = match log.overall.lock {
            Some(lock) if lock.held => {
                format!(" The application lock has been held for {}.", span_ms(lock.held_ms))
            }
            Some(_) => " The application lock is free now.".to_owned(),
            None => String::new(),
        };
        let what = format!(
            "{} skipped in a row; the objective is at most {most}.{lock}",
            counted(skips, "run was", "runs were")
        );
        problems.push(problem(what).remedy(
            "A run that hangs, or a session that died without releasing its lock, keeps every later run from starting: \
             find the session that holds the lock (sys.dm_tran_locks), and end it.",
        ));
    }
    for (name, step) in &log.log.series {
        if let Some(error_ms) = step.last_error_ms
            && step.last_success_ms.is_none_or(|success_ms| success_ms < error_ms)
        {
            let since = step.last_success_ms.map_or_else(
                || "and no success was seen".to_owned(),
                |success_ms| format!("and the last success was {} ago", span(age_of(success_ms))),
            );
            let what = format!("The step {} failed {} ago, {since}.", visible(name), span(age_of(error_ms)));
            problems.push(problem(what).remedy("Read the message in the newest row of the step: the log table has it, the exporter does not read it."));
        }
    }
    if let (Some(oldest_ms), Some(most)) = (log.log.tail.bounds().oldest_ms, objectives.max_log_age)
        && age_of(oldest_ms) > most
    {
        let what = format!(
            "The oldest row is {} old; the objective is at most {}.",
            span(age_of(oldest_ms)),
            span(most)
        );
        problems.push(notice(what).remedy("Look whether the job that prunes the log runs."));
    }
    problems
}
