//! The lease queue with many workers at once, each with a session of its own.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sqlqueue_exporter::demo::pause::IdlePause;
use sqlqueue_exporter::demo::queue::Ownership::Held;

use super::database::{Conveniences as _, Database, Enqueued, NewJob, Session};
use super::{LONG, NOW, on_both_databases};

on_both_databases! {
    eight_workers_do_each_of_2000_jobs_once
    eight_sessions_that_enqueue_the_same_keys_make_one_job_a_key
    eight_consumers_take_each_row_once_whatever_is_rolled_back
}

const WORKERS: usize = 8;
const JOBS: usize = 2000;

/// Jobs whose first attempt fails.
const FAILING: usize = JOBS / 10;

/// Several jobs at once, as for a worker with small jobs.
const BATCH: u32 = 5;

/// Only a job lost for ever exceeds it.
const PATIENCE: Duration = Duration::from_secs(1200);

async fn eight_workers_do_each_of_2000_jobs_once<D: Database>(db: D) {
    let done = Arc::new(AtomicUsize::new(0));
    let mut workers = tokio::task::JoinSet::new();
    for worker in 0..WORKERS {
        workers.spawn(work(db.session().await, worker, Arc::clone(&done)));
    }
    let by_worker = tokio::time::timeout(PATIENCE, workers.join_all()).await.expect("every job's end");
    assert!(by_worker.iter().filter(|jobs| !jobs.is_empty()).count() > 1, "it was no trial of many");
    let jobs: Vec<i64> = by_worker.into_iter().flatten().collect();
    assert_eq!(jobs.len(), JOBS, "a job was done twice");
    assert_eq!(jobs.iter().collect::<BTreeSet<_>>().len(), JOBS);

    // The history agrees.
    let mut session = db.session().await;
    let count = |condition: &str| format!("SELECT COUNT(*) FROM JobQueue WHERE {condition}");
    let (jobs, failing) = (JOBS as i64, FAILING as i64);
    assert_eq!(session.count("JobQueue").await, jobs);
    assert_eq!(session.number(&count("State = 'D' AND FinishedAt IS NOT NULL")).await, jobs);
    assert_eq!(session.number(&count("Attempts = 2")).await, failing);
    let outcomes = "SELECT Outcome, COUNT(*) AS n FROM JobAttempt GROUP BY Outcome ORDER BY Outcome";
    let outcomes = format!("{:?}", session.rows(outcomes).await);
    assert_eq!(outcomes, format!(r#"[[Text("error"), Int({failing})], [Text("ok"), Int({jobs})]]"#));
    let odd = "SELECT COUNT(*) FROM (SELECT a.JobId FROM JobAttempt AS a \
               INNER JOIN JobQueue AS q ON q.JobId = a.JobId GROUP BY a.JobId, q.Attempts \
               HAVING MIN(a.Attempt) <> 1 OR MAX(a.Attempt) <> q.Attempts OR COUNT(*) <> q.Attempts \
               OR COUNT(DISTINCT a.Attempt) <> q.Attempts) AS odd";
    assert_eq!(session.number(odd).await, 0, "every attempt has one row and one number");
    let last = "SELECT COUNT(*) FROM JobAttempt AS a INNER JOIN JobQueue AS q ON q.JobId = a.JobId \
                WHERE a.Attempt = q.Attempts AND a.Outcome = 'ok'";
    assert_eq!(session.number(last).await, jobs, "no attempt comes after the one that did the job");
    let without = "SELECT COUNT(*) FROM JobAttempt \
                   WHERE StartedAt IS NULL OR EndedAt < StartedAt OR DurationMs < 0";
    assert_eq!(session.number(without).await, 0);
}

/// Enqueues this worker's share of the jobs, then works until all of them are done. Returns the jobs that it
/// did.
async fn work<S: Session>(mut session: S, worker: usize, done: Arc<AtomicUsize>) -> Vec<i64> {
    for number in 0..JOBS / WORKERS {
        let fails = (worker + number * WORKERS).is_multiple_of(JOBS / FAILING);
        session.add(if fails { "fails once" } else { "send invoice" }, 2).await;
    }
    let mut mine = Vec::new();
    let mut idle = IdlePause::default();
    while done.load(Ordering::Relaxed) < JOBS {
        let claims = session.claim(LONG, BATCH).await.unwrap();
        assert!(claims.len() <= BATCH as usize);
        if claims.is_empty() {
            tokio::time::sleep(idle.after_nothing()).await;
            continue;
        }
        idle.reset();
        for claim in claims {
            if claim.payload == "fails once" && claim.attempts == 1 {
                assert_eq!(session.fail(claim.job_id, &claim.token, "once", NOW).await, Held);
            } else {
                assert_eq!(session.complete(claim.job_id, &claim.token).await, Held);
                mine.push(claim.job_id);
                done.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
    mine
}

const KEYS: usize = 30;

async fn eight_sessions_that_enqueue_the_same_keys_make_one_job_a_key<D: Database>(db: D) {
    let mut sessions = tokio::task::JoinSet::new();
    for _ in 0..WORKERS {
        let mut session = db.session().await;
        sessions.spawn(async move {
            let mut jobs = Vec::new();
            for key in 0..KEYS {
                let key = format!("invoice {key}");
                let job = NewJob { payload: "x", delay: NOW, max_attempts: 5, business_key: Some(&key) };
                jobs.push(session.enqueue(job).await);
            }
            jobs
        });
    }
    let answers = tokio::time::timeout(PATIENCE, sessions.join_all()).await.expect("every answer");
    for key in 0..KEYS {
        let of_key: Vec<Enqueued> = answers.iter().map(|jobs| jobs[key]).collect();
        let new: Vec<i64> = of_key
            .iter()
            .filter_map(|enqueued| match enqueued {
                Enqueued::New(job_id) => Some(*job_id),
                Enqueued::Known(_) => None,
            })
            .collect();
        let [job_id] = new.as_slice() else { panic!("{of_key:?}") };
        let known = of_key.iter().filter(|enqueued| **enqueued == Enqueued::Known(*job_id)).count();
        assert_eq!(known, WORKERS - 1, "everybody is told of the one job: {of_key:?}");
    }
    assert_eq!(db.session().await.count("JobQueue").await, KEYS as i64);
}

const ROWS: usize = 200;

async fn eight_consumers_take_each_row_once_whatever_is_rolled_back<D: Database>(db: D) {
    let mut producer = db.session().await;
    for row in 0..ROWS {
        producer.enqueue_work(&format!("row {row}")).await;
    }
    let consumed = Arc::new(AtomicUsize::new(0));
    let mut consumers = tokio::task::JoinSet::new();
    for _ in 0..WORKERS {
        consumers.spawn(consume(db.session().await, Arc::clone(&consumed)));
    }
    let by_consumer = tokio::time::timeout(PATIENCE, consumers.join_all()).await.expect("every row's end");
    let rows: Vec<String> = by_consumer.into_iter().flatten().collect();
    assert_eq!(rows.len(), ROWS, "a row was consumed twice");
    assert_eq!(rows.into_iter().collect::<BTreeSet<_>>().len(), ROWS);
    assert_eq!(producer.count("WorkQueue").await, 0);
}

/// Consumes rows until none is left; every fourth transaction is rolled back. Returns the payloads.
async fn consume<S: Session>(mut session: S, consumed: Arc<AtomicUsize>) -> Vec<String> {
    let mut mine = Vec::new();
    let mut idle = IdlePause::default();
    let mut transactions = 0;
    while consumed.load(Ordering::Relaxed) < ROWS {
        session.begin().await;
        let Some((_, payload)) = session.dequeue().await else {
            session.rollback().await;
            tokio::time::sleep(idle.after_nothing()).await;
            continue;
        };
        idle.reset();
        transactions += 1;
        if transactions % 4 == 0 {
            session.rollback().await;
        } else {
            session.commit().await;
            mine.push(payload);
            consumed.fetch_add(1, Ordering::Relaxed);
        }
    }
    mine
}
