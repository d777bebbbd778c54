//! Promises of the twin on the embedded database alone.

use rusqlite::Connection;
use sqlqueue_exporter::demo::notifications::{release_lock, take_lock};
use sqlqueue_exporter::demo::queue::Ownership::Held;
use sqlqueue_exporter::demo::queue::{claim, claim_batch, complete, enqueue, recover};
use sqlqueue_exporter::demo::{now, transactional};

use super::embedded::Embedded;
use super::{LONG, NOW};

fn one<T: rusqlite::types::FromSql>(db: &Connection, sql: &str) -> T {
    db.query_one(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn times_are_milliseconds_of_the_databases_clock() {
    let embedded = Embedded::new();
    let db = embedded.connect();
    let before = now(&db).unwrap();
    enqueue(&db, "invoice", NOW, 5).unwrap();
    let after = now(&db).unwrap();
    let enqueued: String = one(&db, "SELECT EnqueuedAt FROM JobQueue");
    assert_eq!(enqueued.len(), "YYYY-MM-DD HH:MM:SS.SSS".len());
    assert!(before <= enqueued && enqueued <= after, "{before} {enqueued} {after}");
    assert_eq!(one::<String>(&db, "SELECT AvailableAt FROM JobQueue"), enqueued);
}

#[test]
fn nothing_is_claimed_when_nothing_is_asked_for() {
    let embedded = Embedded::new();
    let db = embedded.connect();
    enqueue(&db, "invoice", NOW, 5).unwrap();
    assert_eq!(claim_batch(&db, LONG, 0).unwrap(), []);
}

#[test]
fn a_claim_and_a_recovery_seek_their_rows_whatever_the_history() {
    let embedded = Embedded::new();
    let db = embedded.connect();
    for (statement, sorts) in [
        (include_str!("../../../sql/sqlite/job_queue/claim.sql"), false),
        // By the end of the lease, and only among running jobs.
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

#[test]
fn an_attempt_lasts_from_its_claim_to_its_end() {
    let embedded = Embedded::new();
    let db = embedded.connect();
    let id = enqueue(&db, "invoice", NOW, 5).unwrap();
    claim(&db, LONG).unwrap().unwrap();
    db.execute_batch(
        "UPDATE JobQueue SET EnqueuedAt = strftime('%Y-%m-%d %H:%M:%f', 'now', '-2 hours'),
         ClaimedAt = strftime('%Y-%m-%d %H:%M:%f', 'now', '-1 hour'),
         LeaseUntil = strftime('%Y-%m-%d %H:%M:%f', 'now', '-1 minute')",
    )
    .unwrap();
    recover(&db, NOW, 10).unwrap();
    let again = claim(&db, LONG).unwrap().unwrap();
    assert_eq!(complete(&db, id, &again.token).unwrap(), Held);

    assert_eq!(one::<i64>(&db, "SELECT COUNT(*) FROM JobAttempt"), 2);
    let wrong = "SELECT COUNT(*) FROM JobAttempt WHERE NOT (EnqueuedAt < StartedAt AND StartedAt <= EndedAt)
         OR DurationMs <> CAST(round((julianday(EndedAt) - julianday(StartedAt)) * 86400000) AS INTEGER)
         OR EnqueuedAt <> (SELECT EnqueuedAt FROM JobQueue)";
    assert_eq!(one::<i64>(&db, wrong), 0);
    assert!(one::<i64>(&db, "SELECT DurationMs FROM JobAttempt WHERE Outcome = 'lost'") >= 3_600_000);
    assert!(one::<bool>(&db, "SELECT max(StartedAt) >= min(EndedAt) FROM JobAttempt"));
}

#[test]
fn an_attempt_that_cannot_be_written_down_has_not_ended() {
    let embedded = Embedded::new();
    let db = embedded.connect();
    let id = enqueue(&db, "invoice", NOW, 5).unwrap();
    let claimed = claim(&db, LONG).unwrap().unwrap();
    db.execute_batch("ALTER TABLE JobAttempt RENAME TO Elsewhere").unwrap();
    complete(&db, id, &claimed.token).unwrap_err();
    db.execute_batch("ALTER TABLE Elsewhere RENAME TO JobAttempt").unwrap();
    assert_eq!(complete(&db, id, &claimed.token).unwrap(), Held, "still owned");
    assert_eq!(one::<i64>(&db, "SELECT COUNT(*) FROM JobAttempt"), 1);
}

#[test]
fn a_transaction_holds_nothing_once_it_has_ended() {
    let embedded = Embedded::new();
    let db = embedded.connect();
    transactional::enqueue(&db, "work").unwrap();
    transactional::take(&db, 1).unwrap().unwrap();
    assert_eq!(transactional::commit(&db, 1).unwrap(), 1);
    assert_eq!(transactional::commit(&db, 1).unwrap(), 0);
    assert_eq!(transactional::rollback(&db, 1).unwrap(), 0);
}

#[test]
fn only_one_holds_the_lock_and_only_that_one_gives_it_back() {
    let embedded = Embedded::new();
    let (one, two) = (embedded.connect(), embedded.connect());
    assert!(take_lock(&one, "r", "one").unwrap());
    assert!(!take_lock(&two, "r", "two").unwrap());
    assert!(!take_lock(&one, "r", "one").unwrap(), "not reentrant");
    assert!(take_lock(&two, "another", "two").unwrap());
    assert!(!release_lock(&two, "r", "two").unwrap());
    assert!(release_lock(&one, "r", "one").unwrap());
    assert!(!release_lock(&one, "r", "one").unwrap());
    assert!(take_lock(&two, "r", "two").unwrap());
}
