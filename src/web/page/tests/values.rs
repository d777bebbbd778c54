//! The numbers on the overview are those of the state, and are gone when they are no longer true.

use std::time::Duration;

use super::html::{assert_well_formed, text};
use super::world::{EVENTS, JOBS, LABELLED, World, facts, run};
use crate::config::Outcome;
use crate::sample::{JobState, QueueFacts};
use crate::source::Reason;
use crate::state::{SavingState, TargetData};
use crate::statement::Dialect;

#[track_caller]
fn assert_says(world: &World, expected: &str) {
    let html = world.overview();
    assert_well_formed(&html);
    let page = text(&html);
    assert!(page.contains(expected), "{expected:?} is not in: {page}");
}

#[track_caller]
fn assert_silent(world: &World, unexpected: &str) {
    let page = text(&world.overview());
    assert!(!page.contains(unexpected), "{unexpected:?} is in: {page}");
}

#[test]
fn every_number_of_a_queue_is_shown_under_its_name() {
    let mut world = World::sampled();
    let numbered: Vec<(JobState, u64)> =
        JobState::ALL.into_iter().zip([1_001, 1_002, 1_003, 1_004, 1_005, 1_006, 7, 1_008, 1_009]).collect();
    let queue = QueueFacts {
        oldest_ready_age_ms: Some(61_000),
        expired_leases: Some(1_010),
        oldest_expired_lease_ms: Some(62_000),
        longest_running_ms: Some(63_000),
        retrying_jobs: Some(1_011),
        max_attempts: Some(8),
        future_timestamp_rows: Some(0),
        ..facts(&numbered)
    };
    world.queue(JOBS, "jobs", queue);
    for expected in [
        "jobs Ready 1,001 Oldest ready 1 min 1 s Running 1,004 Expired 1,005 Retrying 1,003 Failed 7 \
         Scheduled 1,002 Exhausted 1,006 Unknown state 1,008 Done 1,009 Longest running 1 min 3 s \
         Longest expired 1 min 2 s Most attempts 8",
        "Ready highest 1,001",
        "Oldest ready highest 1 min 1 s",
    ] {
        assert_says(&world, expected);
    }
    // Without a state of its own for jobs that were tried before, their number is told all the same.
    world.queue(JOBS, "jobs", QueueFacts { retrying_jobs: Some(4), ..facts(&[(JobState::Ready, 0)]) });
    assert_says(&world, "jobs Ready 0 Oldest ready not known Tried before 4");
}

#[test]
fn the_present_is_not_taken_for_the_peak_of_its_point() {
    let mut world = World::sampled();
    for ready in [9, 4] {
        world.queue(JOBS, "jobs", facts(&[(JobState::Ready, ready)]));
    }
    assert_says(&world, "Ready highest 9 Ready, the last minute Highest in the last minute: 9. Now: 4.");
}

#[test]
fn a_value_over_its_objective_says_so() {
    let mut world = World::sampled();
    let queue = |age_ms| QueueFacts { oldest_ready_age_ms: Some(age_ms), ..facts(&[(JobState::Ready, 1)]) };
    world.queue(JOBS, "jobs", queue(15 * 60_000));
    assert_silent(&world, "over 15 min");
    world.queue(JOBS, "jobs", queue(15 * 60_000 + 1));
    assert_says(&world, "Oldest ready 15 min over 15 min");
    assert_says(&world, "Objective: at most 15 min.");
}

#[test]
fn the_counters_of_a_log_are_shown_by_outcome() {
    let mut world = World::sampled();
    let TargetData::RunLog(log) = &mut world.state.sources[0].targets[super::world::RUNS].data else {
        unreachable!()
    };
    let step = log.log.series.get_mut("orders").unwrap();
    for (outcome, count) in Outcome::ALL.iter().zip([11, 12, 13, 14]) {
        step.outcomes.insert(*outcome, count);
    }
    assert_says(&world, "orders 11 12 13 14 – – –");
}

#[test]
fn the_last_runs_are_drawn_counted_and_listed() {
    let mut world = World::sampled();
    let outcomes = [Outcome::Ok, Outcome::Warning, Outcome::Error, Outcome::Skipped, Outcome::Skipped];
    let runs = outcomes.iter().enumerate().map(|(n, outcome)| run(n as i64 + 2, *outcome));
    world.run_log(runs.collect());
    assert_says(&world, "2 ok 1 warning 1 error 2 skipped");
    assert_says(&world, "Last 6 runs longest 2 s");
    assert_says(&world, "2 ok, 1 warning, 1 error, 2 skipped; longest 2 s. The last one ended as skipped.");
    assert_says(&world, "2026-11-30 11:59:00 UTC skipped – 2026-11-30 11:59:00 UTC skipped –");
    assert_says(
        &world,
        "Last success 58 s ago 2026-11-30 11:59:02 UTC Skipped in a row 2 Application lock held for 0 s",
    );
    let html = world.overview();
    assert_eq!(html.matches("class=\"bar ").count(), 4, "a skipped run has no duration: {html}");
    // Each outcome has a shape of its own; the legend repeats it.
    let shapes: Vec<usize> = Outcome::ALL
        .iter()
        .map(|outcome| html.matches(&format!("<path class=\"{}\"", outcome.as_str())).count())
        .collect();
    assert_eq!(shapes, [3, 2, 2, 3]);
}

#[test]
fn values_are_withdrawn_when_their_sample_is_stale_and_the_past_stays() {
    let mut world = World::sampled();
    world.pass(Duration::from_secs(60));
    assert_says(&world, "jobs Ready 3");
    world.pass(Duration::from_millis(1));
    assert_silent(&world, "Ready 3");
    assert_silent(&world, "Last success 1 min");
    assert_says(&world, "No numbers: the last good sample is 1 min old, too old to be true.");
    assert_says(
        &world,
        "Ready highest 3 Ready, the last 5 minutes Highest in the last 5 minutes: 3. There is no present value.",
    );
    assert_says(&world, "mail No numbers");
    assert_says(&world, "Last 1 run longest 2 s");
}

#[test]
fn a_queue_that_has_no_rows_any_more_is_not_shown() {
    let mut world = World::sampled();
    world.queue(LABELLED, "other mail", facts(&[(JobState::Ready, 1)]));
    assert_says(&world, "other mail Ready 1");
    assert_silent(&world, "mail No numbers");
    assert_eq!(text(&world.overview()).matches("mail Ready 1").count(), 1);
    world.apply(
        LABELLED,
        crate::sample::Sample::Queue(crate::sample::QueueSample {
            now_ms: world.now.unix_ms,
            queues: Default::default(),
            claims: None,
        }),
    );
    assert_says(&world, "labelled The table has no rows to name a queue.");
}

#[test]
fn the_footer_says_whether_the_state_is_saved() {
    let mut world = World::sampled();
    assert_says(&world, "No state file: counters end with the process.");
    world.state.saving = Some(SavingState { successful: true, last_success_ms: None });
    assert_says(&world, "State not saved yet.");
    world.saved(true);
    assert_says(&world, "State saved just now .");
}

#[test]
fn a_line_does_not_lead_through_a_hole() {
    let mut world = World::sampled();
    let subpaths = |world: &World| {
        let html = world.overview();
        let (_, line) = html.split_once("class=\"line\" d=\"").unwrap();
        line.split_once('"').unwrap().0.matches('M').count()
    };
    for _ in 0..4 {
        world.pass(Duration::from_secs(30));
        world.queue(JOBS, "jobs", facts(&[(JobState::Ready, 4)]));
    }
    assert_eq!(subpaths(&world), 1);
    world.pass(Duration::from_secs(61));
    world.queue(JOBS, "jobs", facts(&[(JobState::Ready, 5)]));
    assert_eq!(subpaths(&world), 2);
    assert_says(&world, "The line is interrupted where there was no sample.");
}

#[test]
fn every_reason_is_explained_once_it_occurred_as_it_is_of_that_kind_of_database() {
    let databases = [Dialect::Mssql, Dialect::Sqlite];
    for (reason, dialect) in Reason::ALL.into_iter().flat_map(|reason| databases.map(|it| (reason, it))) {
        let mut world = World::sampled();
        world.state.sources[0].dialect = dialect;
        assert_silent(&world, reason.meaning(dialect));
        world.fail(EVENTS, reason, "near 'Jan Kowalski'");
        let explained = format!("{} {} {}", reason.as_str(), reason.meaning(dialect), reason.remedy(dialect));
        assert_says(&world, &explained);
        assert_says(&world, &format!("{} 1", reason.as_str()));
        if matches!(reason, Reason::Decode | Reason::Other) {
            assert_silent(&world, "near 'Jan Kowalski'");
            assert_says(&world, "The message is only in the exporter's log");
        } else {
            assert_says(&world, "near 'Jan Kowalski'");
        }
    }
}

#[test]
fn a_file_that_cannot_be_opened_needs_no_advice_about_a_server() {
    let mut world = World::sampled();
    world.fail(JOBS, Reason::Connect, "cannot open q.db");
    assert_says(&world, "whether the exporter's user may read it");
    for word in ["TCP", "firewall", "TLS", "certificate"] {
        assert_silent(&world, word);
    }
}
