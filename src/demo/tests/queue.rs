//! The lease queue.

use std::collections::BTreeSet;
use std::time::Duration;

use rusqlite::Connection;

use super::super::now;
use super::super::queue::Ownership::{Held, Lost};
use super::super::queue::{
    Enqueued, Finished, Recovered, claim, claim_batch, complete, enqueue, enqueue_once, fail, heartbeat,
    purge, recover, requeue,
};
use super::{LONG, Lab, counts, tick};

const NOW: Duration = Duration::ZERO;

#[derive(Debug, PartialEq, Eq)]
struct Job {
    state: String,
    token: Option<String>,
    lease_until: Option<String>,
    claimed_at: Option<String>,
    available_at: String,
    enqueued_at: String,
    attempts: u32,
    last_error: Option<String>,
    finished_at: Option<String>,
}

fn job(connection: &Connection, job_id: i64) -> Job {
    connection
        .query_one(include_str!("job.sql"), [job_id], |row| {
            Ok(Job {
                state: row.get(0)?,
                token: row.get(1)?,
                lease_until: row.get(2)?,
                claimed_at: row.get(3)?,
                available_at: row.get(4)?,
                enqueued_at: row.get(5)?,
                attempts: row.get(6)?,
                last_error: row.get(7)?,
                finished_at: row.get(8)?,
            })
        })
        .unwrap()
}

#[test]
fn a_claimed_job_is_owned_and_hidden_from_others() {
    let lab = Lab::new();
    let db = lab.connect();
    let id = enqueue(&db, "invoice", NOW, 5).unwrap();

    let claimed = claim(&db, LONG).unwrap().expect("a job");
    assert_eq!((claimed.job_id, claimed.attempts, claimed.payload.as_str()), (id, 1, "invoice"));
    assert_eq!(claimed.token.len(), 32);
    let row = job(&db, id);
    assert_eq!((row.state.as_str(), row.attempts), ("W", 1));
    assert_eq!(row.token.as_deref(), Some(claimed.token.as_str()));
    assert!(row.lease_until > row.claimed_at, "{row:?}");
    assert_eq!(claim(&db, LONG).unwrap(), None);

    assert_eq!(complete(&db, id, &claimed.token).unwrap(), Held);
    let row = job(&db, id);
    assert_eq!((row.state.as_str(), row.lease_until.as_deref()), ("D", None));
    assert!(row.finished_at >= row.claimed_at, "{row:?}");
    // The token stays, to be looked at; it owns nothing any more.
    assert_eq!(row.token.as_deref(), Some(claimed.token.as_str()));
    assert_eq!(complete(&db, id, &claimed.token).unwrap(), Lost, "done twice");
    assert_eq!(heartbeat(&db, id, &claimed.token, LONG).unwrap(), Lost);
    assert_eq!(fail(&db, id, &claimed.token, "too late", NOW).unwrap(), Lost);
    assert_eq!(job(&db, id), row);
}

#[test]
fn times_are_milliseconds_of_the_databases_clock() {
    let lab = Lab::new();
    let db = lab.connect();
    let before = now(&db).unwrap();
    let row = job(&db, enqueue(&db, "invoice", NOW, 5).unwrap());
    let after = now(&db).unwrap();
    assert_eq!(row.enqueued_at.len(), "YYYY-MM-DD HH:MM:SS.SSS".len());
    assert!(before <= row.enqueued_at && row.enqueued_at <= after, "{before} {row:?} {after}");
    assert_eq!(row.available_at, row.enqueued_at);
}

#[test]
fn the_longest_claimable_job_comes_first_and_an_early_one_not_at_all() {
    let lab = Lab::new();
    let db = lab.connect();
    let later = enqueue(&db, "later", LONG, 5).unwrap();
    let soon = enqueue(&db, "soon", LONG, 5).unwrap();
    let first = enqueue(&db, "first", NOW, 5).unwrap();

    assert_eq!(claim(&db, LONG).unwrap().unwrap().job_id, first);
    let come_due = "UPDATE JobQueue SET AvailableAt = EnqueuedAt WHERE JobId = ?1";
    assert_eq!(db.execute(come_due, [soon]).unwrap(), 1);
    tick();
    let last = enqueue(&db, "last", NOW, 5).unwrap();
    tick();
    assert_eq!(claim(&db, LONG).unwrap().unwrap().job_id, soon);
    assert_eq!(claim(&db, LONG).unwrap().unwrap().job_id, last);
    assert_eq!(claim(&db, LONG).unwrap(), None);
    assert_eq!(job(&db, later).state, "R");
}

#[test]
fn an_old_token_changes_nothing() {
    let lab = Lab::new();
    let db = lab.connect();
    let id = enqueue(&db, "invoice", NOW, 5).unwrap();
    let old = claim(&db, NOW).unwrap().unwrap().token;
    tick();
    assert_eq!(recover(&db, NOW, 10).unwrap(), Recovered { ready: 1, failed: 0 });

    let refused = |row: Job| {
        assert_eq!(complete(&db, id, &old).unwrap(), Lost);
        assert_eq!(heartbeat(&db, id, &old, LONG).unwrap(), Lost);
        assert_eq!(fail(&db, id, &old, "too late", NOW).unwrap(), Lost);
        assert_eq!(job(&db, id), row);
    };
    let row = job(&db, id);
    assert_eq!((row.state.as_str(), row.token.as_deref(), row.attempts), ("R", None, 1));
    refused(row);

    let new = claim(&db, LONG).unwrap().unwrap();
    assert_eq!((new.job_id, new.attempts), (id, 2));
    assert_ne!(new.token, old);
    refused(job(&db, id));

    assert_eq!(heartbeat(&db, id, &new.token, LONG).unwrap(), Held);
    assert_eq!(complete(&db, id, &new.token).unwrap(), Held);
    refused(job(&db, id));
}

#[test]
fn a_token_is_good_for_its_own_job_only() {
    let lab = Lab::new();
    let db = lab.connect();
    for payload in ["one", "two"] {
        enqueue(&db, payload, NOW, 5).unwrap();
    }
    let one = claim(&db, LONG).unwrap().unwrap();
    let two = claim(&db, LONG).unwrap().unwrap();
    assert_ne!(one.token, two.token);
    assert_eq!(complete(&db, one.job_id, &two.token).unwrap(), Lost);
    assert_eq!(complete(&db, two.job_id, &two.token).unwrap(), Held);
    assert_eq!(job(&db, one.job_id).state, "W");
}

#[test]
fn a_heartbeat_keeps_the_job() {
    let lab = Lab::new();
    let db = lab.connect();
    let id = enqueue(&db, "invoice", NOW, 5).unwrap();
    let claimed = claim(&db, NOW).unwrap().unwrap();
    let before = job(&db, id).lease_until;
    assert_eq!(heartbeat(&db, id, &claimed.token, LONG).unwrap(), Held);
    tick();
    assert_eq!(recover(&db, NOW, 10).unwrap(), Recovered::default());
    let row = job(&db, id);
    assert!(row.lease_until > before);
    assert_eq!((row.token, row.attempts), (Some(claimed.token), 1));
}

#[test]
fn recovery_waits_for_the_grace_and_is_bounded() {
    let lab = Lab::new();
    let db = lab.connect();
    for _ in 0..5 {
        enqueue(&db, "invoice", NOW, 5).unwrap();
        claim(&db, NOW).unwrap().unwrap();
    }
    enqueue(&db, "alive", NOW, 5).unwrap();
    claim(&db, LONG).unwrap().unwrap();
    tick();
    assert_eq!(recover(&db, LONG, 10).unwrap(), Recovered::default());
    for expected in [2, 2, 1, 0] {
        assert_eq!(recover(&db, NOW, 2).unwrap(), Recovered { ready: expected, failed: 0 });
    }
}

#[test]
fn a_failed_attempt_waits_for_its_backoff() {
    let lab = Lab::new();
    let db = lab.connect();
    let id = enqueue(&db, "invoice", NOW, 5).unwrap();
    let claimed = claim(&db, LONG).unwrap().unwrap();
    assert_eq!(fail(&db, id, &claimed.token, "no network", LONG).unwrap(), Held);

    let row = job(&db, id);
    assert_eq!((row.state.as_str(), row.token.as_deref(), row.lease_until.as_deref()), ("R", None, None));
    assert_eq!((row.last_error.as_deref(), row.finished_at.as_deref()), (Some("no network"), None));
    assert!(row.available_at > now(&db).unwrap());
    assert_eq!(claim(&db, LONG).unwrap(), None);
}

#[test]
fn a_job_that_always_fails_is_given_up() {
    let lab = Lab::new();
    let db = lab.connect();
    let id = enqueue(&db, "poison", NOW, 3).unwrap();
    for attempt in 1..=3 {
        let claimed = claim(&db, LONG).unwrap().expect("still ready");
        assert_eq!(claimed.attempts, attempt);
        assert_eq!(fail(&db, id, &claimed.token, "bad data", NOW).unwrap(), Held);
    }
    let row = job(&db, id);
    assert_eq!((row.state.as_str(), row.attempts), ("F", 3));
    assert_eq!(row.last_error.as_deref(), Some("given up after 3 attempts: bad data"));
    assert!(row.finished_at.is_some());
    assert_eq!(claim(&db, LONG).unwrap(), None);
}

#[test]
fn a_job_that_always_kills_its_worker_is_given_up() {
    let lab = Lab::new();
    let db = lab.connect();
    let id = enqueue(&db, "poison", NOW, 2).unwrap();
    for expected in [Recovered { ready: 1, failed: 0 }, Recovered { ready: 0, failed: 1 }] {
        claim(&db, NOW).unwrap().expect("still ready");
        tick();
        assert_eq!(recover(&db, NOW, 10).unwrap(), expected);
    }
    let row = job(&db, id);
    assert_eq!((row.state.as_str(), row.attempts, row.token.as_deref()), ("F", 2, None));
    let error = row.last_error.unwrap();
    assert!(error.starts_with("lease lapsed at 20") && error.ends_with("in attempt 2 of 2"), "{error}");
    assert_eq!(claim(&db, LONG).unwrap(), None);
}

#[test]
fn eight_workers_do_each_of_400_jobs_once() {
    let lab = Lab::new();
    let mut db = lab.connect();
    let transaction = db.transaction().unwrap();
    let jobs: BTreeSet<i64> = (0..400).map(|_| enqueue(&transaction, "invoice", NOW, 1).unwrap()).collect();
    transaction.commit().unwrap();

    let done: Vec<i64> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let db = lab.connect();
                    let mut done = Vec::new();
                    while let Some(claimed) = claim(&db, LONG).unwrap() {
                        assert_eq!(complete(&db, claimed.job_id, &claimed.token).unwrap(), Held);
                        done.push(claimed.job_id);
                    }
                    done
                })
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert_eq!(done.len(), 400);
    assert_eq!(done.into_iter().collect::<BTreeSet<_>>(), jobs);
    assert!(jobs.iter().all(|&id| job(&db, id).state == "D" && job(&db, id).attempts == 1));
}

#[test]
fn a_purge_is_bounded_and_leaves_the_young_and_the_unfinished() {
    let lab = Lab::new();
    let db = lab.connect();
    let mut done = Vec::new();
    for _ in 0..4 {
        enqueue(&db, "invoice", NOW, 1).unwrap();
        let claimed = claim(&db, LONG).unwrap().unwrap();
        assert_eq!(complete(&db, claimed.job_id, &claimed.token).unwrap(), Held);
        done.push(claimed.job_id);
    }
    enqueue(&db, "poison", NOW, 1).unwrap();
    let poison = claim(&db, LONG).unwrap().unwrap();
    assert_eq!(fail(&db, poison.job_id, &poison.token, "bad data", NOW).unwrap(), Held);
    enqueue(&db, "running", NOW, 1).unwrap();
    claim(&db, LONG).unwrap().unwrap();
    enqueue(&db, "ready", NOW, 1).unwrap();

    assert_eq!(purge(&db, Finished::Done, LONG, 9).unwrap(), 0);
    db.execute_batch(&format!(
        "UPDATE JobQueue SET FinishedAt = '2020-01-01 00:00:00.000' WHERE State = 'F' OR JobId <= {}",
        done[2]
    ))
    .unwrap();
    assert_eq!(purge(&db, Finished::Done, LONG, 2).unwrap(), 2);
    assert_eq!(purge(&db, Finished::Done, LONG, 2).unwrap(), 1);
    assert_eq!(purge(&db, Finished::Done, LONG, 2).unwrap(), 0);
    assert_eq!(counts(&db).jobs, 4);
    assert_eq!((job(&db, done[3]).state.as_str(), job(&db, poison.job_id).state.as_str()), ("D", "F"));
    assert_eq!(purge(&db, Finished::Failed, LONG, 9).unwrap(), 1);
    assert_eq!(counts(&db).jobs, 3);
}

#[test]
fn a_batch_is_the_longest_claimable_jobs_each_with_a_token_of_its_own() {
    let lab = Lab::new();
    let db = lab.connect();
    let mut jobs = Vec::new();
    for _ in 0..5 {
        jobs.push(enqueue(&db, "invoice", NOW, 5).unwrap());
        tick();
    }
    let claimed = |batch| {
        let mut claims = claim_batch(&db, LONG, batch).unwrap();
        claims.sort_by_key(|claim| claim.job_id);
        claims
    };
    let first = claimed(3);
    assert_eq!(first.iter().map(|claim| claim.job_id).collect::<Vec<_>>(), jobs[..3]);
    let tokens: BTreeSet<_> = first.iter().map(|claim| claim.token.as_str()).collect();
    assert_eq!(tokens.len(), 3);
    assert_eq!(claimed(0), [], "nothing was asked for");
    assert_eq!(claimed(9).iter().map(|claim| claim.job_id).collect::<Vec<_>>(), jobs[3..]);
    assert_eq!(complete(&db, jobs[0], &first[1].token).unwrap(), Lost);
    assert_eq!(complete(&db, jobs[0], &first[0].token).unwrap(), Held);
}

#[test]
fn a_claim_within_a_transaction_is_refused() {
    let lab = Lab::new();
    let mut db = lab.connect();
    let id = enqueue(&db, "invoice", NOW, 5).unwrap();
    let transaction = db.transaction().unwrap();
    let refused = claim(&transaction, LONG).unwrap_err();
    assert!(refused.to_string().contains("within a transaction"), "{refused}");
    transaction.commit().unwrap();
    assert_eq!(job(&db, id).state, "R");
    assert_eq!(claim(&db, LONG).unwrap().unwrap().job_id, id);
}

#[test]
fn a_business_key_makes_one_job_however_often_it_comes() {
    let lab = Lab::new();
    let mut db = lab.connect();
    let once = |db: &Connection, key| enqueue_once(db, key, "invoice", NOW, 5).unwrap();
    let Enqueued::New(id) = once(&db, "invoice 1") else { panic!("it was new") };
    let row = job(&db, id);
    assert_eq!(enqueue_once(&db, "invoice 1", "other", LONG, 1).unwrap(), Enqueued::Known(id));
    assert_eq!(job(&db, id), row, "it stays as it is");
    assert!(matches!(once(&db, "invoice 2"), Enqueued::New(other) if other != id));
    enqueue(&db, "no key", NOW, 5).unwrap();
    enqueue(&db, "no key", NOW, 5).unwrap();
    assert_eq!(counts(&db).jobs, 4);

    // Also when it is done, until it is purged.
    let claimed = claim(&db, LONG).unwrap().unwrap();
    assert_eq!(complete(&db, id, &claimed.token).unwrap(), Held);
    assert_eq!(once(&db, "invoice 1"), Enqueued::Known(id));
    tick();
    assert_eq!(purge(&db, Finished::Done, NOW, 9).unwrap(), 1);
    assert!(matches!(once(&db, "invoice 1"), Enqueued::New(again) if again > id));

    // Together with what it is about, or not at all.
    let transaction = db.transaction().unwrap();
    assert!(matches!(once(&transaction, "invoice 3"), Enqueued::New(_)));
    transaction.rollback().unwrap();
    assert!(matches!(once(&db, "invoice 3"), Enqueued::New(_)));
}

#[test]
fn a_job_that_was_given_up_gets_more_attempts_on_top_of_those_it_had() {
    let lab = Lab::new();
    let db = lab.connect();
    let id = enqueue(&db, "poison", NOW, 1).unwrap();
    assert!(!requeue(&db, id, Some(2)).unwrap(), "it is ready");
    let claimed = claim(&db, LONG).unwrap().unwrap();
    assert!(!requeue(&db, id, Some(2)).unwrap(), "it is being worked on");
    assert_eq!(fail(&db, id, &claimed.token, "bad data", NOW).unwrap(), Held);

    assert!(requeue(&db, id, Some(2)).unwrap());
    let row = job(&db, id);
    assert_eq!((row.state.as_str(), row.attempts, row.finished_at.as_deref()), ("R", 1, None));
    assert_eq!(row.last_error.as_deref(), Some("given up after 1 attempts: bad data"));
    for attempt in [2, 3] {
        assert_eq!(job(&db, id).state, "R");
        let claimed = claim(&db, LONG).unwrap().unwrap();
        assert_eq!(claimed.attempts, attempt);
        assert_eq!(fail(&db, id, &claimed.token, "bad data", NOW).unwrap(), Held);
    }
    assert_eq!(job(&db, id).last_error.as_deref(), Some("given up after 3 attempts: bad data"));
    assert_eq!(claim(&db, LONG).unwrap(), None);

    assert!(requeue(&db, id, None).unwrap());
    for attempt in [4, 5, 6] {
        let claimed = claim(&db, LONG).unwrap().unwrap();
        assert_eq!(claimed.attempts, attempt);
        assert_eq!(fail(&db, id, &claimed.token, "bad data", NOW).unwrap(), Held);
    }
    assert_eq!(job(&db, id).state, "F", "as many again as it was allowed");

    assert!(requeue(&db, id, Some(1)).unwrap());
    let claimed = claim(&db, LONG).unwrap().unwrap();
    assert_eq!(complete(&db, id, &claimed.token).unwrap(), Held);
    assert!(!requeue(&db, id, None).unwrap(), "it is done");
}

#[test]
fn a_claim_and_a_recovery_seek_their_rows_whatever_the_history() {
    let lab = Lab::new();
    let db = lab.connect();
    for (statement, sorts) in [
        (include_str!("../../../sql/sqlite/job_queue/claim.sql"), false),
        // By the end of the lease, and only what is being worked on.
        (include_str!("../../../sql/sqlite/job_queue/recover.sql"), true),
    ] {
        let mut statement = db.prepare(&format!("EXPLAIN QUERY PLAN {statement}")).unwrap();
        // Raw: a plan needs no parameters.
        let plan: Vec<String> =
            statement.raw_query().mapped(|row| row.get("detail")).collect::<Result<_, _>>().unwrap();
        let has = |text: &str| plan.iter().any(|line| line.contains(text));
        assert!(has("SEARCH JobQueue USING") && has("IX_JobQueue_State_AvailableAt (State=?"), "{plan:#?}");
        assert!(!has("SCAN"), "{plan:#?}");
        assert_eq!(has("TEMP B-TREE"), sorts, "{plan:#?}");
    }
}
