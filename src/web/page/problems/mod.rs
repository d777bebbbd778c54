//! Problems: the alert conditions that one look at the state can decide.
//!
//! An alert also waits and compares with the past. A problem that is gone a minute later raises none.

mod queue;
mod run_log;
mod sampling;

use serde::Serialize;

use super::now::Now;
use super::quantity::{kind, visible};
use crate::state::{SourceState, State, TargetData, TargetState};

/// How bad it is: the alert on it pages somebody, or it can wait until somebody is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Severity {
    /// Somebody has to look now.
    Problem,
    /// It can wait.
    Notice,
}

/// One thing that needs a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Problem {
    pub(super) severity: Severity,
    /// What it is about: `queue jobs of orders_db`.
    pub(super) subject: String,
    /// What is the matter.
    pub(super) what: String,
    /// The server's words, if any.
    pub(super) detail: Option<String>,
    /// What to do.
    pub(super) remedy: String,
}

impl Problem {
    fn new(severity: Severity, subject: impl Into<String>, what: impl Into<String>) -> Self {
        Self { severity, subject: subject.into(), what: what.into(), detail: None, remedy: String::new() }
    }

    fn remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: remedy.into(), ..self }
    }
}

/// Everything that needs a person, the worst first.
pub(super) fn all(state: &State, now: Now) -> Vec<Problem> {
    let mut problems = of_exporter(state);
    for source in &state.sources {
        problems.extend(sampling::of_source(source, state, now));
        for target in &source.targets {
            // Values that are withdrawn say nothing.
            if target.is_fresh(now.monotonic, state.stale_after) {
                problems.extend(of_values(source, target, now));
            }
        }
    }
    problems.sort_by_key(|problem| problem.severity);
    problems
}

fn of_exporter(state: &State) -> Vec<Problem> {
    let mut problems = Vec::new();
    if state.saving.is_some_and(|saving| !saving.successful) {
        let what = "The state is not saved. Counting goes on in memory, and what is counted now is lost at a restart.";
        problems.push(Problem::new(Severity::Notice, "this exporter", what).remedy(
            "The exporter's log names the file and the reason: a disk that is full, a folder that it may not write \
             to, or a file that is corrupt or of a newer version.",
        ));
    }
    if !state.config.successful {
        let what = "The configuration was read again and refused; the one before stays in force.";
        problems.push(
            Problem::new(Severity::Notice, "this exporter", what)
                .remedy("Run sqlqueue-exporter check: it names every mistake with file, line and key."),
        );
    }
    problems
}

fn of_values(source: &SourceState, target: &TargetState, now: Now) -> Vec<Problem> {
    let subject = |name: &str| subject(source, target, name);
    if let TargetData::RunLog(log) = &target.data {
        return run_log::problems(&subject(&target.name), log, super::source::database_ms(source, now));
    }
    let TargetData::Queue(queue) = &target.data else {
        return Vec::new(); // counters say nothing in one look
    };
    let of_queue = |(name, facts): (&String, &_)| queue::problems(&subject(name), facts, &queue.objectives);
    queue.queues.iter().flat_map(of_queue).collect()
}

/// What a problem of a target is about.
fn subject(source: &SourceState, target: &TargetState, name: &str) -> String {
    format!("{} {} of {}", kind(target.label()), visible(name), visible(&source.name))
}

#[cfg(test)]
mod tests;
