//! Whole notification runs, the decision streams, and the workload as a whole.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeSet;
use std::time::Duration;

use rusqlite::TransactionBehavior;
use tokio::sync::{oneshot, watch};

use super::actor::{Actor, Conditions};
use super::runs::run;
use super::script::{self, RunPlan, WorkerScript};
use super::{DemoSummary, run_workload};
use crate::clock::SystemClock;
use crate::demo::notifications::{RUN, RUN_LOCK, add_comment, add_order, take_lock};
use crate::demo::tests::{Lab, LogRow, PATIENCE, counts, outcomes, run_log};
use crate::demo::{DemoError, DemoOptions, HostClock};

fn actor(lab: &Lab, name: &str) -> Actor {
    Actor::enter(&lab.database, name.to_owned(), conditions(100.0)).unwrap()
}

fn conditions(speed: f64) -> Conditions {
    let (_, incident) = watch::channel(None);
    Conditions::new(7, speed, incident)
}

fn steps(log: &[LogRow]) -> Vec<(&str, &str)> {
    log.iter().map(|row| (row.step.as_str(), row.outcome.as_str())).collect()
}

#[tokio::test]
async fn a_run_logs_every_step_and_itself_and_gives_the_lock_back() {
    let lab = Lab::new();
    let db = lab.connect();
    add_comment(&db, 1, "a", "owner@example.org").unwrap();
    add_order(&db, "buyer@example.org", None).unwrap();

    let plan = RunPlan { comments: 3000, ..RunPlan::default() };
    let summary = run(&actor(&lab, "one"), plan).await.unwrap();
    assert_eq!((summary.runs_started, summary.runs_skipped, summary.notifications), (1, 0, 2));
    let log = run_log(&db);
    assert_eq!(steps(&log), [("comments", "ok"), ("orders", "ok"), ("reminders", "ok"), (RUN, "ok")]);
    let candidates: Vec<_> = log.iter().map(|row| row.candidates).collect();
    assert_eq!(candidates, [Some(1), Some(1), Some(0), None]);
    assert!(log.iter().all(|row| row.message.is_none()), "{log:?}");
    assert!(log[0].duration_ms >= 29 && log[3].duration_ms >= log[0].duration_ms, "{log:?}");
    assert_eq!(counts(&db).lock_holder, None);
}

#[tokio::test]
async fn a_skipped_run_writes_one_row_and_touches_nothing_else() {
    let lab = Lab::new();
    let db = lab.connect();
    add_comment(&db, 1, "a", "owner@example.org").unwrap();
    assert!(take_lock(&db, RUN_LOCK, "somebody").unwrap());
    let before = counts(&db);

    let summary = run(&actor(&lab, "one"), RunPlan::default()).await.unwrap();
    assert_eq!(summary, DemoSummary { runs_started: 1, runs_skipped: 1, ..DemoSummary::default() });
    let mut after = counts(&db);
    assert_eq!(after.log, 1);
    after.log = 0;
    assert_eq!(after, before, "the other's lock included");
    let row = run_log(&db).remove(0);
    assert_eq!(
        (row.step.as_str(), row.outcome.as_str(), row.duration_ms, row.candidates),
        (RUN, "skipped", 0, None)
    );
    assert!(row.message.unwrap().starts_with("skipped:"));
}

#[tokio::test]
async fn a_step_that_fails_does_not_stop_the_next() {
    let lab = Lab::new();
    let db = lab.connect();
    add_order(&db, "buyer@example.org", Some(Duration::ZERO)).unwrap();
    let actor = actor(&lab, "one");

    let summary =
        run(&actor, RunPlan { orders_fail: true, reminders: 500, ..RunPlan::default() }).await.unwrap();
    assert_eq!((summary.step_errors, summary.notifications), (1, 1));
    assert_eq!(
        steps(&run_log(&db)),
        [("comments", "ok"), ("orders", "error"), ("reminders", "ok"), (RUN, "ok")]
    );
    assert_eq!(counts(&db).lock_holder, None);
    assert_eq!(run(&actor, RunPlan::default()).await.unwrap().notifications, 1, "the order, at last");
}

#[tokio::test]
async fn an_orphaned_lock_skips_every_later_run() {
    let lab = Lab::new();
    let db = lab.connect();
    run(&actor(&lab, "killed"), RunPlan { orphan_lock: true, ..RunPlan::default() }).await.unwrap();
    assert_eq!(counts(&db).lock_holder.as_deref(), Some("killed"));
    for _ in 0..3 {
        assert_eq!(run(&actor(&lab, "next"), RunPlan::default()).await.unwrap().runs_skipped, 1);
    }
    let log = run_log(&db);
    assert_eq!(steps(&log)[..3], [("comments", "ok"), ("orders", "ok"), ("reminders", "ok")]);
    assert_eq!(steps(&log)[3..], [(RUN, "skipped"); 3], "the killed run logs nothing of its own");
}

#[tokio::test]
async fn a_run_that_is_stopped_gives_the_lock_back() {
    let lab = Lab::new();
    let db = lab.connect();
    let conditions = conditions(1.0);
    let stop = conditions.stop.clone();
    let actor = Actor::enter(&lab.database, "one".to_owned(), conditions).unwrap();
    let running =
        tokio::spawn(async move { run(&actor, RunPlan { comments: 60_000, ..RunPlan::default() }).await });
    await_until(|| counts(&db).lock_holder.is_some()).await;
    stop.cancel();
    running.await.unwrap().unwrap();
    assert_eq!(counts(&db).lock_holder, None);
    assert_eq!(steps(&run_log(&db)), [(RUN, "warning")]);
}

#[test]
fn the_seed_and_the_name_make_the_stream() {
    let stream = |seed, name| {
        let mut rng = script::generator(seed, name);
        (0..50).map(|n| script::delivery(&mut rng, n)).collect::<Vec<_>>()
    };
    assert_eq!(stream(7, "enqueuer"), stream(7, "enqueuer"));
    assert_ne!(stream(7, "enqueuer"), stream(8, "enqueuer"));
    assert_ne!(stream(7, "enqueuer"), stream(7, "producer"));
}

#[test]
fn meeting_a_poison_job_does_not_move_a_workers_stream() {
    let poison = script::delivery(&mut script::generator(7, "enqueuer"), 0).payload;
    for poison in [poison, script::ENDLESS] {
        does_not_move_a_workers_stream(poison);
    }
}

fn does_not_move_a_workers_stream(poison: &str) {
    let stream = |every: usize| {
        let mut script = WorkerScript::new(script::generator(7, "worker-1"), 1);
        (0..50)
            .map(|n| {
                if n % every == 0 {
                    assert_eq!(script.attempt(poison).fate, script::Fate::Failure);
                }
                script.attempt("send invoice")
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(stream(3), stream(7));
    assert_eq!(stream(3)[2].fate, script::Fate::Crash, "the third job, as promised");
}

#[test]
fn no_seed_spoils_the_opening() {
    for seed in 0..500 {
        let mut rng = script::generator(seed, "enqueuer");
        let jobs: u64 = (0..16).map(|n| script::delivery(&mut rng, n).jobs).sum();
        assert_eq!(jobs, 25, "a burst among the first jobs delays the poison job's end, seed {seed}");
        for worker in 1..=4 {
            let name = format!("worker-{worker}");
            let mut script = WorkerScript::new(script::generator(seed, &name), worker);
            let attempts: Vec<_> = (0..8).map(|_| script.attempt("send invoice")).collect();
            let odd = attempts.iter().filter(|a| a.fate != script::Fate::Success || a.work > 300).count();
            assert_eq!(odd, 1, "{name}, seed {seed}: {attempts:?}");
        }
    }
}

#[test]
fn a_backoff_doubles_up_to_a_ceiling() {
    assert_eq!(
        [1, 2, 3, 4, 7, 40, u32::MAX].map(|attempts| script::backoff("send invoice", attempts)),
        [800, 1600, 3200, 6400, 30_000, 30_000, 30_000]
    );
}

/// Everything that the demo shows, as seen.sql calls it.
const EVERYTHING: [&str; 20] = [
    "job ready",
    "job scheduled",
    "job retrying",
    "job running",
    "job expired",
    "job failed",
    "job done",
    "work free",
    "work taken",
    "lock held",
    "attempt ok",
    "attempt error",
    "attempt lost",
    "outcome ok",
    "outcome warning",
    "outcome error",
    "outcome skipped",
    "kind comment",
    "kind order",
    "kind reminder",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_workload_shows_everything_and_stops_when_told() {
    let lab = Lab::new();
    let db = lab.connect();
    let options = DemoOptions { speed: 8.0, ..lab.options.clone() };
    let (stop, stopped) = oneshot::channel::<()>();
    let database = lab.database.clone();
    let workload = tokio::spawn(async move {
        run_workload(&database, &options, &host_clock(), async {
            let _ = stopped.await;
        })
        .await
    });

    let mut missing: BTreeSet<String> = EVERYTHING.iter().map(ToString::to_string).collect();
    await_until(|| {
        let mut statement = db.prepare_cached(include_str!("../tests/seen.sql")).unwrap();
        for seen in statement.query_map([], |row| row.get::<_, String>(0)).unwrap() {
            missing.remove(&seen.unwrap());
        }
        assert!(!workload.is_finished(), "ended early");
        let outcomes = outcomes(&db);
        // The poison job has failed for good, and the workers have come to their crashes. A lost attempt
        // is no sign of a crash: on a busy machine others are lost, too.
        let failed = outcomes.iter().filter(|outcome| *outcome == "error").count();
        missing.is_empty() && failed >= 3 && outcomes.len() >= 40
    })
    .await;

    stop.send(()).unwrap();
    let summary = tokio::time::timeout(PATIENCE, workload).await.expect("an end").unwrap().unwrap();
    let counted = counts(&db);
    assert_eq!(counted.lock_holder, None);
    assert!(
        summary.jobs_done > 0 && summary.attempts_failed >= 3 && summary.workers_crashed > 0,
        "{summary:?}"
    );
    let outcomes = outcomes(&db);
    let ended = |outcome: &str| outcomes.iter().filter(|ended| *ended == outcome).count() as u64;
    assert_eq!(
        [ended("ok"), ended("error"), ended("lost")],
        [summary.jobs_done, summary.attempts_failed, summary.jobs_recovered],
        "{summary:?}"
    );
    assert_eq!(u64::from(counted.work), summary.work_enqueued - summary.work_committed, "{summary:?}");
    assert_eq!(u64::from(counted.control), summary.notifications, "{summary:?}");
    assert!(summary.runs_skipped < summary.runs_started, "{summary:?}");
    assert!(summary.jobs_claimed >= summary.jobs_done + summary.attempts_failed, "{summary:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_breaks_ends_the_workload_with_the_actors_name() {
    let lab = Lab::new();
    let options = DemoOptions { speed: 20.0, ..lab.options.clone() };
    lab.connect().execute_batch(include_str!("../tests/break.sql")).unwrap();
    let clock = host_clock();
    let ended = run_workload(&lab.database, &options, &clock, std::future::pending());
    let error = tokio::time::timeout(PATIENCE, ended).await.expect("an end").unwrap_err();
    let DemoError::Actor { actor, .. } = &error else { panic!("{error:?}") };
    assert!(actor == "producer" || actor.starts_with("consumer-"), "{error}");
    assert!(error.to_string().contains("WorkQueue"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_somebody_locks_delays_the_workload_but_not_its_end() {
    let mut lab = Lab::new();
    lab.database.busy_timeout = Some(Duration::from_millis(200));
    let mut db = lab.connect();
    let lock = db.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
    // Longer than a write waits for the lock by itself.
    let shutdown = tokio::time::sleep(Duration::from_secs(1));
    let clock = host_clock();
    let ended = run_workload(&lab.database, &lab.options, &clock, shutdown);
    let summary =
        tokio::time::timeout(PATIENCE, ended).await.expect("an end, the lock notwithstanding").unwrap();
    assert_eq!(summary, DemoSummary::default(), "nothing could be written");
    drop(lock);
}

fn host_clock() -> std::sync::Arc<HostClock> {
    HostClock::new(SystemClock::shared())
}

/// Polls the database, for a bounded time.
async fn await_until(mut done: impl FnMut() -> bool) {
    let polling = async {
        while !done() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, polling).await.expect("it never happened");
}
