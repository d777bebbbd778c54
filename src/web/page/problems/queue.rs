//! What needs a person about a queue.

use std::time::Duration;

use super::{Problem, Severity};
use crate::config::QueueObjectives;
use crate::sample::{JobState, QueueFacts};
use crate::web::page::quantity::{counted, span};

pub(super) fn problems(subject: &str, facts: &QueueFacts, objectives: &QueueObjectives) -> Vec<Problem> {
    let jobs = |state: JobState| facts.jobs.get(&state).copied().unwrap_or(0);
    let problem = |what: String| Problem::new(Severity::Problem, subject, what);
    let notice = |what: String| Problem::new(Severity::Notice, subject, what);
    let exceeded = |age_ms: Option<u64>, most: Option<Duration>| {
        let age = age_ms.map(Duration::from_millis)?;
        most.filter(|most| age > *most).map(|most| (span(age), span(most)))
    };
    let mut problems = Vec::new();
    if let Some((age, most)) = exceeded(facts.oldest_ready_age_ms, objectives.max_ready_age) {
        let running = jobs(JobState::Running);
        let what = format!("The oldest ready job has waited for {age}; the objective is at most {most}.");
        problems.push(if running == 0 {
            problem(format!("{what} No job is running.")).remedy("Look whether the workers run, and can log in.")
        } else {
            problem(format!("{what} {} running.", counted(running, "job is", "jobs are"))).remedy(
                "If the age grows as fast as time passes, one job is passed over: look at it. Else there is more work \
                 than the workers can do.",
            )
        });
    }
    if let Some((age, most)) = exceeded(facts.oldest_expired_lease_ms, objectives.max_expired_age) {
        let leases = counted(facts.expired_leases.unwrap_or(0), "lapsed lease", "lapsed leases");
        let what = format!(
            "The first of {leases} lapsed {age} ago, and nobody has put the job back; the objective is at most {most}."
        );
        problems.push(problem(what).remedy(
            "Look whether recovery runs. A worker that died, or work that takes longer than its lease, leaves these behind.",
        ));
    }
    if let (Some(attempts), Some(most)) = (facts.max_attempts, objectives.max_attempts)
        && attempts > u64::from(most)
    {
        let what = format!(
            "An unfinished job was tried {}; the objective is at most {most}.",
            counted(attempts, "time", "times")
        );
        problems.push(
            notice(what).remedy("Find it by its attempts, read its last error, and mend it or let it fail."),
        );
    }
    let failed = jobs(JobState::Failed);
    if let Some(most) = objectives.max_failed_jobs
        && failed > u64::from(most)
    {
        let what = format!(
            "{} in the table; the objective is at most {most}.",
            counted(failed, "failed job lies", "failed jobs lie")
        );
        problems.push(
            notice(what).remedy("Read their errors. Run them again, or remove those that nobody needs."),
        );
    }
    if jobs(JobState::Exhausted) > 0 {
        let exhausted = counted(jobs(JobState::Exhausted), "job has", "jobs have");
        problems.push(
            notice(format!("{exhausted} no attempts left and will never be claimed, but did not fail."))
                .remedy("Look whether recovery runs: it is what moves such jobs to the failed ones."),
        );
    }
    if jobs(JobState::Unknown) > 0 {
        let unknown = counted(jobs(JobState::Unknown), "row is", "rows are");
        problems.push(
            notice(format!("{unknown} in a state that the mapping does not know."))
                .remedy("Add the stored value to state.map in the configuration."),
        );
    }
    if let Some(rows) = facts.future_timestamp_rows.filter(|rows| *rows > 0) {
        let rows = counted(rows, "job claims", "jobs claim");
        problems.push(notice(format!("{rows} to have been enqueued in the future.")).remedy(
            "Look at the zone of enqueued_at in the configuration, and at the clocks of those who enqueue.",
        ));
    }
    problems
}
