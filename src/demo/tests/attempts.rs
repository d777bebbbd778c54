//! The lease queue's history of attempts.

use std::time::Duration;

use rusqlite::Connection;

use super::super::queue::Ownership::{Held, Lost};
use super::super::queue::{Recovered, claim, complete, enqueue, fail, heartbeat, purge_attempts, recover};
use super::{LONG, Lab, tick};

const NOW: Duration = Duration::ZERO;

/// One row of the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::demo) struct AttemptRow {
    pub(in crate::demo) job_id: i64,
    pub(in crate::demo) attempt: u32,
    pub(in crate::demo) outcome: String,
    pub(in crate::demo) enqueued_at: String,
    pub(in crate::demo) started_at: String,
    pub(in crate::demo) ended_at: String,
    pub(in crate::demo) duration_ms: i64,
    pub(in crate::demo) message: Option<String>,
}

/// The history, oldest first.
pub(in crate::demo) fn attempts(connection: &Connection) -> Vec<AttemptRow> {
    connection
        .prepare(include_str!("attempts.sql"))
        .unwrap()
        .query_map([], |row| {
            Ok(AttemptRow {
                job_id: row.get(0)?,
                attempt: row.get(1)?,
                outcome: row.get(2)?,
                enqueued_at: row.get(3)?,
                started_at: row.get(4)?,
                ended_at: row.get(5)?,
                duration_ms: row.get(6)?,
                message: row.get(7)?,
            })
        })
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap()
}

/// Job, number, outcome and message of each attempt.
fn endings(connection: &Connection) -> Vec<(i64, u32, String, Option<String>)> {
    attempts(connection).into_iter().map(|row| (row.job_id, row.attempt, row.outcome, row.message)).collect()
}

#[test]
fn each_way_to_end_an_attempt_writes_one_row() {
    let lab = Lab::new();
    let db = lab.connect();
    let id = enqueue(&db, "invoice", NOW, 5).unwrap();
    let first = claim(&db, LONG).unwrap().unwrap();
    assert_eq!(attempts(&db), [], "an attempt that runs is no history yet");
    assert_eq!(heartbeat(&db, id, &first.token, LONG).unwrap(), Held);
    assert_eq!(fail(&db, id, &first.token, "no network", NOW).unwrap(), Held);

    claim(&db, NOW).unwrap().unwrap();
    tick();
    assert_eq!(recover(&db, NOW, 10).unwrap(), Recovered { ready: 1, failed: 0 });

    let third = claim(&db, LONG).unwrap().unwrap();
    assert_eq!(complete(&db, id, &third.token).unwrap(), Held);

    let mut history = endings(&db);
    let lapsed = history[1].3.take().unwrap();
    assert!(lapsed.starts_with("lease lapsed at 20") && lapsed.ends_with("in attempt 2 of 5"), "{lapsed}");
    assert_eq!(
        history,
        [
            (id, 1, "error".to_owned(), Some("no network".to_owned())),
            (id, 2, "lost".to_owned(), None),
            (id, 3, "ok".to_owned(), None),
        ]
    );
}

#[test]
fn an_attempt_that_uses_the_last_chance_up_is_in_the_history_too() {
    let lab = Lab::new();
    let db = lab.connect();
    let failing = enqueue(&db, "poison", NOW, 1).unwrap();
    let claimed = claim(&db, LONG).unwrap().unwrap();
    assert_eq!(fail(&db, failing, &claimed.token, "bad data", NOW).unwrap(), Held);
    let killing = enqueue(&db, "poison", NOW, 1).unwrap();
    claim(&db, NOW).unwrap().unwrap();
    tick();
    assert_eq!(recover(&db, NOW, 10).unwrap(), Recovered { ready: 0, failed: 1 });
    let history: Vec<_> = endings(&db).into_iter().map(|(job, _, outcome, _)| (job, outcome)).collect();
    assert_eq!(history, [(failing, "error".to_owned()), (killing, "lost".to_owned())]);
}

#[test]
fn a_refused_ending_writes_none() {
    let lab = Lab::new();
    let db = lab.connect();
    let id = enqueue(&db, "invoice", NOW, 5).unwrap();
    let old = claim(&db, NOW).unwrap().unwrap().token;
    tick();
    recover(&db, NOW, 10).unwrap();
    let history = endings(&db);
    assert_eq!(history.len(), 1);
    assert_eq!(complete(&db, id, &old).unwrap(), Lost);
    assert_eq!(fail(&db, id, &old, "too late", NOW).unwrap(), Lost);
    assert_eq!(recover(&db, NOW, 10).unwrap(), Recovered::default());
    assert_eq!(endings(&db), history);

    let new = claim(&db, LONG).unwrap().unwrap().token;
    assert_eq!(complete(&db, id, &new).unwrap(), Held);
    assert_eq!(complete(&db, id, &new).unwrap(), Lost, "done twice");
    assert_eq!(endings(&db).len(), 2);
}

#[test]
fn an_attempt_lasts_from_its_claim_to_its_end() {
    let lab = Lab::new();
    let db = lab.connect();
    enqueue(&db, "invoice", NOW, 5).unwrap();
    tick();
    claim(&db, NOW).unwrap().unwrap();
    std::thread::sleep(Duration::from_millis(30));
    recover(&db, NOW, 10).unwrap();
    let again = claim(&db, LONG).unwrap().unwrap();
    assert_eq!(complete(&db, again.job_id, &again.token).unwrap(), Held);
    let [lost, done] = <[AttemptRow; 2]>::try_from(attempts(&db)).unwrap();
    assert!(lost.enqueued_at < lost.started_at && lost.started_at < lost.ended_at, "{lost:?}");
    assert!(lost.duration_ms >= 30, "{lost:?}");
    assert!(lost.ended_at <= done.started_at && done.started_at <= done.ended_at, "{lost:?} {done:?}");
    for attempt in [&lost, &done] {
        let times = [&attempt.started_at, &attempt.ended_at];
        let between = "SELECT CAST(round((julianday(?2) - julianday(?1)) * 86400000) AS INTEGER)";
        let between: i64 = db.query_one(between, times, |row| row.get(0)).unwrap();
        assert_eq!(attempt.duration_ms, between, "{attempt:?}");
    }
    assert_eq!(done.enqueued_at, lost.enqueued_at);
}

#[test]
fn an_attempt_that_cannot_be_written_down_has_not_ended() {
    let lab = Lab::new();
    let db = lab.connect();
    let id = enqueue(&db, "invoice", NOW, 5).unwrap();
    let claimed = claim(&db, LONG).unwrap().unwrap();
    db.execute_batch("ALTER TABLE JobAttempt RENAME TO Elsewhere").unwrap();
    complete(&db, id, &claimed.token).unwrap_err();
    db.execute_batch("ALTER TABLE Elsewhere RENAME TO JobAttempt").unwrap();
    assert_eq!(complete(&db, id, &claimed.token).unwrap(), Held, "still owned");
    assert_eq!(attempts(&db).len(), 1);
}

#[test]
fn the_history_keeps_what_is_young_and_is_pruned_in_batches() {
    let lab = Lab::new();
    let db = lab.connect();
    let jobs: Vec<i64> = (0..5)
        .map(|_| {
            let id = enqueue(&db, "invoice", NOW, 5).unwrap();
            let claimed = claim(&db, LONG).unwrap().unwrap();
            assert_eq!(complete(&db, claimed.job_id, &claimed.token).unwrap(), Held);
            id
        })
        .collect();
    let left = || attempts(&db).into_iter().map(|row| row.job_id).collect::<Vec<_>>();
    assert_eq!(purge_attempts(&db, LONG, 9).unwrap(), 0);
    db.execute_batch("UPDATE JobAttempt SET EndedAt = '2020-01-01 00:00:00.000' WHERE AttemptId <= 3")
        .unwrap();
    assert_eq!(purge_attempts(&db, LONG, 2).unwrap(), 2);
    assert_eq!(left(), jobs[2..], "the oldest go first");
    assert_eq!(purge_attempts(&db, LONG, 2).unwrap(), 1);
    assert_eq!(purge_attempts(&db, LONG, 2).unwrap(), 0);
    assert_eq!(left(), jobs[3..]);
}
