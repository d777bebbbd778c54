//! The lease queue with many workers at once, each with a session of its own.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sqlqueue_exporter::demo::pause::IdlePause;
use sqlqueue_exporter::demo::queue::Ownership::Held;

use super::database::{Conveniences as _, Database, Session};
use super::{LONG, NOW, on_both_databases};

on_both_databases! {
    eight_workers_do_each_of_2000_jobs_once
}

const WORKERS: usize = 8;
const JOBS: usize = 2000;

/// Jobs of which the first attempt fails.
const FAILING: usize = JOBS / 10;

/// Some jobs at once, as a worker does to whom each of them is small.
const BATCH: u32 = 5;

/// Only a job that is lost for ever lets it pass.
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

    // The history says the same.
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

/// Enqueues this worker's share of the jobs, then works until all of them are done; returns the jobs
/// that it did.
async fn work<S: Session>(mut session: S, worker: usize, done: Arc<AtomicUsize>) -> Vec<i64> {
    for number in 0..JOBS / WORKERS {
        let fails = (worker + number * WORKERS).is_multiple_of(JOBS / FAILING);
        session.add(if fails { "fails once" } else { "send invoice" }, 2).await;
    }
    let mut mine = Vec::new();
    let mut idle = IdlePause::new();
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
