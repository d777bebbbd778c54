//! Problems: the alert conditions that one sample can decide.
//!
//! An alert also waits, and compares with the past. A problem that is gone a minute later raises none.

mod sampling;

use super::Now;
use super::objectives;
use super::problem::{Problem, Severity};
use super::quantity::{counted, kind, since, span, visible};
use super::run_log::RunLogAt;
use crate::sample::{JobState, QueueFacts};
use crate::state::{Presentation, RunLogState, SourceState, State, TargetState};

/// All problems, the worst first.
pub(super) fn all(state: &State, now: Now) -> Vec<Problem> {
    let mut problems = of_exporter(state);
    for source in &state.sources {
        problems.extend(sampling::of_source(source, state, now));
        for target in &source.targets {
            // Withdrawn values are no longer true.
            if target.is_fresh(now.monotonic, state.stale_after) {
                problems.extend(of_values(source, target, now));
            }
        }
    }
    problems.sort_by_key(|problem| problem.severity);
    problems
}

fn of_exporter(state: &State) -> Vec<Problem> {
    let saves = state.saving.is_none_or(|saving| saving.successful);
    let conditions = [
        (
            !saves,
            "The state is not saved. Counting continues in memory, and what is counted now is lost at a restart.",
            "The exporter's log names the file and the reason: a disk that is full, a folder that it may not write \
             to, or a file that is corrupt or of a newer version.",
        ),
        (
            !state.config.successful,
            "The configuration was read again and refused; the previous one stays in force.",
            "Run sqlqueue-exporter check: it names every mistake with file, line and key.",
        ),
    ];
    let failing = conditions.into_iter().filter(|(fails, ..)| *fails);
    failing.map(|(_, what, remedy)| Problem::new(Severity::Notice, "this exporter", what, remedy)).collect()
}

fn of_values(source: &SourceState, target: &TargetState, now: Now) -> Vec<Problem> {
    let subject = |name: &str| subject(source, target, name);
    match target.data.presentation() {
        Presentation::Queue(queue) => {
            let of_queue = |(name, facts): (&String, &QueueFacts)| {
                let subject = subject(name);
                let mut problems = objectives::problems(facts, queue.objectives.each(), &subject);
                problems.extend(of_queue(&subject, facts));
                problems
            };
            queue.queues.iter().flat_map(of_queue).collect()
        }
        Presentation::RunLog(log) => {
            let (subject, now_ms) = (subject(&target.name), super::source::database_ms(source, now));
            let (log_now, limits) = (RunLogAt { log, now_ms }, log.overall.objectives.each());
            let mut problems = objectives::problems(&log_now, limits, &subject);
            problems.extend(failing_steps(&subject, log, now_ms));
            problems
        }
        // A counter has to be compared with its past.
        Presentation::Counts(_) => Vec::new(),
    }
}

/// What no objective limits: it is wrong whenever there is any.
fn of_queue(subject: &str, facts: &QueueFacts) -> Vec<Problem> {
    let jobs = |state| facts.jobs.get(&state).copied().unwrap_or(0);
    let conditions = [
        (
            jobs(JobState::Exhausted),
            ["job has", "jobs have"],
            "no attempts left and will never be claimed, but did not fail.",
            "Check whether recovery runs: it moves such jobs to the failed ones.",
        ),
        (
            jobs(JobState::Unknown),
            ["row is", "rows are"],
            "in a state that the mapping does not know.",
            "Add the stored value to state.map in the configuration.",
        ),
        (
            facts.future_timestamp_rows.unwrap_or(0),
            ["job claims", "jobs claim"],
            "to have been enqueued in the future.",
            "Check the zone of enqueued_at in the configuration, and the clocks of the machines that enqueue.",
        ),
    ];
    let found = conditions.into_iter().filter(|(rows, ..)| *rows > 0);
    let problem = |(rows, [singular, plural], what, remedy): (u64, [&str; 2], &str, &str)| {
        let what = format!("{} {what}", counted(rows, singular, plural));
        Problem::new(Severity::Notice, subject, what, remedy)
    };
    found.map(problem).collect()
}

/// Steps whose last run failed.
fn failing_steps(subject: &str, log: &RunLogState, now_ms: i64) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (name, step) in &log.log.series {
        let Some(error_ms) = step.last_error_ms.filter(|at_ms| step.last_success_ms < Some(*at_ms)) else {
            continue;
        };
        let ago = |at_ms| format!("{} ago", span(since(at_ms, now_ms)));
        let success = step.last_success_ms.map_or_else(
            || "no success was seen".to_owned(),
            |at_ms| format!("the last success was {}", ago(at_ms)),
        );
        let what = format!("The step {} failed {}, and {success}.", visible(name), ago(error_ms));
        let remedy = "Read the message in the newest row of the step. It is in the log table; the exporter does not read it.";
        problems.push(Problem::new(Severity::Problem, subject, what, remedy));
    }
    problems
}

/// What a problem of a target is about.
fn subject(source: &SourceState, target: &TargetState, name: &str) -> String {
    format!("{} {} of {}", kind(target.label()), visible(name), visible(&source.name))
}

#[cfg(test)]
mod tests;
