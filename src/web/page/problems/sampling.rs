//! Sampling problems: databases that do not answer, and targets that cannot be read.

use super::subject;
use crate::source::Reason;
use crate::state::{SourceState, State, TargetState};
use crate::web::page::problem::{Problem, Severity};
use crate::web::page::quantity::{counted, visible};
use crate::web::page::source::{age_of, message, target_name};
use crate::web::page::{Now, objectives};

pub(super) fn of_source(source: &SourceState, state: &State, now: Now) -> Vec<Problem> {
    let mut problems = Vec::new();
    // A cause that affects many targets is reported once.
    for reason in Reason::ALL {
        let fails = |target: &&TargetState| {
            let error = target.sampling.last_error.as_ref();
            target.sampling.failed_in_a_row > 0 && error.is_some_and(|error| error.reason == reason)
        };
        let failing: Vec<&TargetState> = source.targets.iter().filter(fails).collect();
        if let Some(first) = failing.first() {
            problems.push(failure(source, state, now, reason, first, &failing));
        }
    }
    problems.extend(silence(source, state, now));
    for target in &source.targets {
        let dropped = target.data.labels().dropped;
        if dropped > 0 {
            let what = format!(
                "The table has more values of a label than max_label_values; a value was exported as other {}.",
                counted(dropped, "time", "times")
            );
            let remedy = "Check whether the column is meant to be a label: a value for each job or customer is too \
                          many. Otherwise raise max_label_values.";
            let subject = subject(source, target, &target.name);
            problems.push(Problem::new(Severity::Notice, &subject, what, remedy));
        }
    }
    if source.targets.iter().any(|target| target.is_fresh(now.monotonic, state.stale_after)) {
        problems.extend(objectives::problems(source, source.objectives.each(), &visible(&source.name)));
    }
    problems
}

/// Targets that are not sampled in time, without an error.
fn silence(source: &SourceState, state: &State, now: Now) -> Option<Problem> {
    let is_silent = |target: &&TargetState| {
        let sampling = &target.sampling;
        let has_failed = sampling.failed_in_a_row > 0;
        !has_failed && sampling.last_good.is_some() && !target.is_fresh(now.monotonic, state.stale_after)
    };
    let silent: Vec<&TargetState> = source.targets.iter().filter(is_silent).collect();
    let longest = silent.iter().min_by_key(|target| target.sampling.last_good)?;
    let names: Vec<String> = silent.iter().map(|target| target_name(target)).collect();
    let what = format!(
        "There was no sample for {}, longer than stale_after, and no error either. Affected: {}.",
        age_of(longest, now)?,
        names.join(", ")
    );
    let remedy = "The targets of a source are sampled one after the other: check which of them takes long \
                  (sqlqueue_sample_duration_seconds), and at the load on this machine. Then raise stale_after or \
                  sample_interval, or make a second source of the same database.";
    Some(Problem::new(Severity::Problem, &visible(&source.name), what, remedy))
}

fn failure(
    source: &SourceState,
    state: &State,
    now: Now,
    reason: Reason,
    first: &TargetState,
    failing: &[&TargetState],
) -> Problem {
    let is_down = source.up == Some(false);
    let is_withdrawn = |target: &&TargetState| !target.is_fresh(now.monotonic, state.stale_after);
    let is_urgent = is_down || failing.iter().any(is_withdrawn);
    let severity = if is_urgent { Severity::Problem } else { Severity::Notice };
    let names: Vec<String> = failing.iter().map(|target| target_name(target)).collect();
    let what = if is_down { "does not answer" } else { "cannot be sampled in full" };
    let age = match age_of(first, now) {
        Some(age) => format!("the last good sample is {age} old"),
        None => "there was no good sample yet".to_owned(),
    };
    let what = format!(
        "The database {what} (reason {}): {} Affected: {}; {age}.",
        reason.as_str(),
        reason.meaning(source.dialect),
        names.join(", ")
    );
    Problem {
        detail: first.sampling.last_error.as_ref().map(message),
        ..Problem::new(severity, &visible(&source.name), what, reason.remedy(source.dialect))
    }
}
