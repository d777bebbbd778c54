//! Each condition: what raises it, and that the objective itself does not.
#![allow(clippy::indexing_slicing, reason = "a test that panics has failed, as it should")]

use std::time::Duration;

use super::all;
use crate::config::{Objective, Objectives, Outcome};
use crate::sample::{JobState, QueueFacts, StepEntry};
use crate::source::Reason;
use crate::state::TargetData;
use crate::web::page::objectives::Measured as _;
use crate::web::page::problem::Severity;
use crate::web::page::run_log::RunLogAt;
use crate::web::page::tests::world::{EVENTS, JOBS, NOW_MS, RUNS, World, facts, run};

/// The problems, a line each.
fn problems(world: &World) -> Vec<String> {
    let line = |problem: crate::web::page::problem::Problem| {
        assert!(!problem.remedy.is_empty(), "what to do about {problem:?}");
        let severity = match problem.severity {
            Severity::Problem => "problem",
            Severity::Notice => "notice",
        };
        format!("{severity}: {}: {}", problem.subject, problem.what)
    };
    all(&world.state, world.now).into_iter().map(line).collect()
}

/// The one problem of a queue with these facts.
fn of_queue(queue: QueueFacts) -> Option<String> {
    let mut world = World::sampled();
    world.queue(JOBS, "jobs", queue);
    let mut found = problems(&world);
    assert!(found.len() < 2, "{found:?}");
    found.pop().map(|line| line.replace("queue jobs of db: ", ""))
}

#[test]
fn nothing_is_the_matter_when_all_is_well() {
    assert_eq!(problems(&World::sampled()), Vec::<String>::new());
    assert_eq!(problems(&World::new(crate::web::page::tests::world::TARGETS)), Vec::<String>::new());
}

#[test]
fn a_job_that_waits_for_too_long() {
    let waiting = |age_ms, running| QueueFacts {
        oldest_ready_age_ms: Some(age_ms),
        ..facts(&[(JobState::Ready, 1), (JobState::Running, running)])
    };
    assert_eq!(of_queue(waiting(900_000, 0)), None);
    let expected = "problem: The oldest ready job has waited for 15 min; the objective is at most 15 min. No job is running.";
    assert_eq!(of_queue(waiting(900_001, 0)).as_deref(), Some(expected));
    let expected = "problem: The oldest ready job has waited for 1 h; the objective is at most 15 min. 2 jobs are running.";
    assert_eq!(of_queue(waiting(3_600_000, 2)).as_deref(), Some(expected));
}

#[test]
fn leases_that_nobody_recovers() {
    let lapsed = |age_ms| QueueFacts {
        expired_leases: Some(3),
        oldest_expired_lease_ms: Some(age_ms),
        ..facts(&[(JobState::Expired, 3)])
    };
    assert_eq!(of_queue(lapsed(300_000)), None);
    let found = of_queue(lapsed(360_000)).unwrap_or_default();
    assert!(found.starts_with("problem: The first of 3 lapsed leases lapsed 6 min ago"), "{found}");
}

#[test]
fn jobs_that_go_wrong() {
    let attempts = |most| QueueFacts { max_attempts: Some(most), ..QueueFacts::default() };
    assert_eq!(of_queue(attempts(10)), None);
    let expected = "notice: An unfinished job was tried 11 times; the objective is at most 10.";
    assert_eq!(of_queue(attempts(11)).as_deref(), Some(expected));

    assert_eq!(of_queue(facts(&[(JobState::Failed, 10)])), None);
    let expected = "notice: 11 failed jobs are in the table; the objective is at most 10.";
    assert_eq!(of_queue(facts(&[(JobState::Failed, 11)])).as_deref(), Some(expected));

    let found = of_queue(facts(&[(JobState::Exhausted, 1)])).unwrap_or_default();
    assert!(found.starts_with("notice: 1 job has no attempts left"), "{found}");
}

#[test]
fn mappings_that_do_not_fit() {
    let found = of_queue(facts(&[(JobState::Unknown, 2)])).unwrap_or_default();
    assert_eq!(found, "notice: 2 rows are in a state that the mapping does not know.");
    let future = QueueFacts { future_timestamp_rows: Some(1), ..QueueFacts::default() };
    let found = of_queue(future).unwrap_or_default();
    assert_eq!(found, "notice: 1 job claims to have been enqueued in the future.");
}

#[test]
fn runs_that_do_not_begin() {
    let mut world = World::sampled();
    // The run began a minute before the world did.
    for (passed, expected) in [(59 * 60_000, 0), (59 * 60_000 + 1, 1)] {
        world.now.unix_ms = NOW_MS + passed;
        let found = problems(&world);
        assert_eq!(found.len(), expected, "{found:?}");
    }
    assert_eq!(
        problems(&world),
        ["problem: run log runs of db: The last step began 1 h ago; the objective is at most 1 h."]
    );
}

#[test]
fn runs_that_are_all_skipped() {
    let mut world = World::sampled();
    world.run_log((2..5).map(|id| run(id, Outcome::Skipped)).collect());
    assert_eq!(problems(&world), Vec::<String>::new(), "three, which is the objective");
    world.pass(Duration::from_secs(30));
    world.run_log(vec![run(5, Outcome::Skipped)]);
    assert_eq!(
        problems(&world),
        [
            "problem: run log runs of db: 4 runs were skipped in a row; the objective is at most 3. The application lock \
          has been held for 30 s."
        ]
    );
}

#[test]
fn a_step_whose_newest_end_is_an_error() {
    let mut world = World::sampled();
    let step = |id, outcome, end_ms| StepEntry {
        step: "orders".to_owned(),
        end_ms: Some(end_ms),
        ..run(id, outcome)
    };
    world.run_log(vec![step(2, Outcome::Error, NOW_MS - 10_000)]);
    let expected = "problem: run log runs of db: The step orders failed 10 s ago, and no success was seen.";
    assert_eq!(problems(&world), [expected]);
    world.run_log(vec![step(3, Outcome::Ok, NOW_MS - 9_000), step(4, Outcome::Error, NOW_MS - 8_000)]);
    let expected =
        "problem: run log runs of db: The step orders failed 8 s ago, and the last success was 9 s ago.";
    assert_eq!(problems(&world), [expected]);
    world.run_log(vec![step(5, Outcome::Warning, NOW_MS - 7_000)]);
    assert_eq!(problems(&world), Vec::<String>::new());
}

#[test]
fn a_log_that_is_not_pruned() {
    let mut world = World::sampled();
    if let TargetData::RunLog(log) = &mut world.state.sources[0].targets[RUNS].data {
        log.overall.objectives.max_log_age = Some(Duration::from_millis(999));
    }
    let expected = "notice: run log runs of db: The oldest row is 1 s old; the objective is at most 999 ms.";
    assert_eq!(problems(&world), [expected]);
}

#[test]
fn a_database_that_is_down_is_said_once_for_all_its_targets() {
    let mut world = World::sampled();
    world.pass(Duration::from_secs(5));
    for target in 0..=EVENTS {
        world.fail(target, Reason::Connect, "connection refused");
    }
    let found = problems(&world);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("problem: db: The database does not answer (reason connect): "),
        "{found:?}"
    );
    let affected = "Affected: queue jobs, queue labelled, attempt log jobs, enqueue log jobs, run log runs, control table events; the last \
                    good sample is 5 s old.";
    assert!(found[0].ends_with(affected), "{found:?}");
    let details: Vec<_> = all(&world.state, world.now).into_iter().map(|problem| problem.detail).collect();
    assert_eq!(details, [Some("connection refused".to_owned())]);
}

#[test]
fn a_target_that_fails_is_a_notice_until_its_values_are_withdrawn() {
    let mut world = World::sampled();
    world.fail(EVENTS, Reason::MissingObject, "no such table");
    let found = problems(&world);
    assert!(
        found[0].starts_with("notice: db: The database cannot be sampled in full (reason missing_object)"),
        "{found:?}"
    );
    for target in 0..EVENTS {
        world.pass(Duration::from_secs(20));
        world.good(target);
    }
    let found = problems(&world);
    assert!(found[0].starts_with("problem: db: "), "{found:?}");
    world.good(EVENTS);
    world.good(JOBS);
    assert_eq!(problems(&world), Vec::<String>::new(), "a good sample ends it");
}

#[test]
fn a_target_that_falls_silent() {
    let mut world = World::sampled();
    world.pass(Duration::from_secs(61));
    for target in 0..EVENTS {
        world.good(target);
    }
    assert_eq!(
        problems(&world),
        ["problem: db: There was no sample for 1 min 1 s, longer than stale_after, and no error either. \
          Affected: control table events."]
    );
}

#[test]
fn clocks_that_are_apart() {
    let mut world = World::sampled();
    for (skew_ms, expected) in
        [(30_000, None), (31_000, Some("31 s ahead of")), (-31_000, Some("31 s behind"))]
    {
        world.state.sources[0].clock_skew_ms = Some(skew_ms);
        let found = problems(&world);
        assert_eq!(found.len(), usize::from(expected.is_some()), "{found:?}");
        assert!(found.iter().all(|line| line.contains(expected.unwrap_or_default())), "{found:?}");
    }
}

#[test]
fn label_values_that_are_too_many() {
    let mut world = World::sampled();
    if let TargetData::Queue(queue) = &mut world.state.sources[0].targets[JOBS].data {
        queue.labels.dropped = 2;
    }
    let expected = "notice: queue jobs of db: The table has more values of a label than max_label_values; a value was exported as \
                    other 2 times.";
    assert_eq!(problems(&world), [expected]);
}

#[test]
fn the_exporters_own_troubles() {
    let mut world = World::sampled();
    world.saved(true);
    assert_eq!(problems(&world), Vec::<String>::new());
    world.saved(false);
    world.state.config.successful = false;
    let found = problems(&world);
    assert!(found[0].starts_with("notice: this exporter: The state is not saved."), "{found:?}");
    assert!(
        found[1].starts_with("notice: this exporter: The configuration was read again and refused"),
        "{found:?}"
    );
}

#[test]
fn the_worst_comes_first() {
    let mut world = World::sampled();
    let queue = QueueFacts {
        oldest_ready_age_ms: Some(3_600_000),
        max_attempts: Some(99),
        ..facts(&[(JobState::Ready, 1)])
    };
    world.saved(false);
    world.queue(JOBS, "jobs", queue);
    let severities: Vec<_> = all(&world.state, world.now).iter().map(|problem| problem.severity).collect();
    assert_eq!(severities, [Severity::Problem, Severity::Notice, Severity::Notice]);
}

/// The alert on an objective, and the page when the objective is missed, agree on how urgent it is.
#[test]
fn an_objective_pages_when_one_of_its_alerts_does() {
    let rules = [
        include_str!("../../../../alerts/exporter.rules.yml"),
        include_str!("../../../../alerts/queues.rules.yml"),
        include_str!("../../../../alerts/run_logs.rules.yml"),
    ];
    let alerts: Vec<&str> = rules.iter().flat_map(|rules| rules.split("- alert: ").skip(1)).collect();
    for objective in Objectives::ALL.iter().flat_map(|(_, objectives)| *objectives) {
        let unit = if objective.is_duration { "_seconds" } else { "" };
        let metric = format!("{}{unit}", objective.metric);
        let is_of_it =
            |alert: &&&str| alert.split(|c: char| c != '_' && !c.is_alphanumeric()).any(|w| w == metric);
        let of_it: Vec<&&str> = alerts.iter().filter(is_of_it).collect();
        assert!(!of_it.is_empty(), "no alert on {metric}");
        let pages = of_it.iter().any(|alert| alert.contains("severity: page"));
        assert_eq!(objective.pages, pages, "{metric}: {of_it:?}");
    }
}

/// An objective that one sample measures must have its problem; of the others the page has none.
#[test]
fn what_is_measured_has_a_problem_and_the_rest_is_about_the_past() {
    let world = World::sampled();
    let source = &world.state.sources[0];
    let queue = QueueFacts {
        oldest_ready_age_ms: Some(1),
        oldest_expired_lease_ms: Some(1),
        max_attempts: Some(1),
        ..facts(&[(JobState::Failed, 1)])
    };
    let TargetData::RunLog(log) = &source.targets[RUNS].data else { unreachable!() };
    let log = RunLogAt { log, now_ms: NOW_MS };
    for (list, all) in Objectives::ALL {
        for Objective { key, .. } in *all {
            let (measured, problem) = match *list {
                "queues" => (queue.measure(key), queue.exceeded(key, "1")),
                "run_logs" => (log.measure(key), log.exceeded(key, "1")),
                "sources" => (source.measure(key), source.exceeded(key, "1")),
                _ => (None, None),
            };
            assert_eq!(measured.is_some(), problem.is_some(), "{key}");
            let is_past = key.ends_with("_ratio") || *key == "max_slowdown";
            assert_eq!(measured.is_none(), is_past, "{key}");
        }
    }
}
