//! Promises of the procedures alone: whose transaction they may be part of, and what they refuse, with the
//! numbers in their headers.

use sqlqueue_exporter::demo::queue::Ownership::{Held, Lost};

use super::installed::{OnServer, on_installed_server};
use super::session::ServerSession;
use super::tests_on;
use crate::reference::database::{Conveniences as _, Session};

tests_on! { on_installed_server:
    what_must_be_seen_at_once_is_refused_in_a_transaction
    a_row_is_not_taken_without_a_transaction
    an_argument_that_makes_no_sense_is_refused
    a_text_that_is_too_long_is_refused_and_not_cut
    a_completion_is_part_of_the_transaction_of_the_work
    a_consumer_that_dies_gives_its_row_back
    a_lock_that_a_run_left_to_its_session_is_given_back_by_the_next
}

/// The number of the error, which must be the only one.
async fn refused(session: &mut ServerSession, sql: &str) -> u32 {
    let refusal = session.attempt(sql).await.expect_err(sql);
    refusal.number.unwrap()
}

async fn what_must_be_seen_at_once_is_refused_in_a_transaction(db: OnServer) {
    let mut session = db.connect().await;
    let id = session.add("send invoice", 5).await;
    for call in [
        "ClaimJobs @LeaseMs = 60000",
        "HeartbeatJob @JobId = 1, @ClaimToken = '5f0c2a3e-0000-4000-8000-00000000000a', @LeaseMs = 60000",
        "NotifyComments",
        "RunNotifications",
    ] {
        session.execute("BEGIN TRANSACTION").await;
        assert_eq!(refused(&mut session, &format!("EXEC {call}")).await, 50001, "{call}");
        session.execute("IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION").await;
        // No transaction has begun yet, but the next statement would begin one.
        session.execute("SET IMPLICIT_TRANSACTIONS ON").await;
        assert_eq!(refused(&mut session, &format!("EXEC {call}")).await, 50001, "{call}");
        session.execute("IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION").await;
        session.execute("SET IMPLICIT_TRANSACTIONS OFF").await;
    }
    assert_eq!(session.job(id).await.state, "R");
    assert_eq!(session.run_log().await, []);
}

async fn a_row_is_not_taken_without_a_transaction(db: OnServer) {
    let mut session = db.connect().await;
    session.enqueue_work("row").await;
    assert_eq!(refused(&mut session, "EXEC DequeueWork").await, 50003);
    assert_eq!(session.count("WorkQueue").await, 1);
}

async fn an_argument_that_makes_no_sense_is_refused(db: OnServer) {
    let mut session = db.connect().await;
    let id = session.add("send invoice", 5).await;
    let token = session.take().await.token;
    let job = session.job(id).await;
    let owner = format!("@JobId = {id}, @ClaimToken = '{token}'");
    for call in [
        "EnqueueJob @Payload = N'x', @DelayMs = -1".to_owned(),
        format!("EnqueueJob @Payload = N'x', @BusinessKey = N'{}'", "k".repeat(201)),
        "ClaimJobs @LeaseMs = 0".to_owned(),
        "ClaimJobs @LeaseMs = NULL".to_owned(),
        "ClaimJobs @LeaseMs = 60000, @Batch = 0".to_owned(),
        "ClaimJobs @LeaseMs = 60000, @Batch = 2001".to_owned(),
        format!("HeartbeatJob {owner}, @LeaseMs = 0"),
        format!("FailJob {owner}, @Error = N'x', @BackoffMs = -1"),
        "RecoverJobs @GraceMs = -1".to_owned(),
        "RecoverJobs @Batch = 0".to_owned(),
        format!("RequeueJob @JobId = {id}, @MoreAttempts = 0"),
        "PurgeJobs @State = N'R', @KeepMs = 0".to_owned(),
        "PurgeJobs @State = N'D', @KeepMs = -1".to_owned(),
        "PurgeJobs @State = N'D', @KeepMs = 0, @Batch = 0".to_owned(),
        "PurgeJobAttempts @KeepMs = -1".to_owned(),
        "PurgeRunLog @KeepMs = -1".to_owned(),
        "NotifyComments @Cap = 0".to_owned(),
    ] {
        let number = refused(&mut session, &format!("EXEC {call}")).await;
        // Babelfish counts letters in DATALENGTH, and leaves it to the column to refuse a text that is too
        // long.
        let is_too_long = db.is_babelfish() && call.contains("@BusinessKey") && number == 8152;
        assert!(number == 50002 || is_too_long, "{call}: {number}");
    }
    assert_eq!(session.count("JobQueue").await, 1);
    assert_eq!(session.job(id).await, job);
}

async fn a_text_that_is_too_long_is_refused_and_not_cut(db: OnServer) {
    let mut session = db.connect().await;
    for length in [2000, 2001] {
        let text = "ż".repeat(length);
        let job = session.attempt(&format!("EXEC EnqueueJob @Payload = N'{text}'")).await;
        let work = session.attempt(&format!("EXEC EnqueueWork @Payload = N'{text}'")).await;
        assert_eq!((job.is_ok(), work.is_ok()), (length == 2000, length == 2000));
    }
    assert_eq!(session.count("JobQueue").await, 1);
    assert_eq!(session.count("WorkQueue").await, 1);
}

async fn a_completion_is_part_of_the_transaction_of_the_work(db: OnServer) {
    let mut session = db.connect().await;
    let id = session.add("send invoice", 5).await;
    let token = session.take().await.token;
    session.begin().await;
    session.enqueue_work("what the work wrote").await;
    assert_eq!(session.complete(id, &token).await, Held);
    session.rollback().await;
    assert_eq!(session.job(id).await.state, "W");
    assert_eq!(session.attempts(id).await, []);
    assert_eq!(session.count("WorkQueue").await, 0);

    session.begin().await;
    session.enqueue_work("what the work wrote").await;
    assert_eq!(session.complete(id, &token).await, Held);
    session.commit().await;
    assert_eq!(session.job(id).await.state, "D");
    assert_eq!(session.attempts(id).await.len(), 1);
    assert_eq!(session.count("WorkQueue").await, 1);
    assert_eq!(session.complete(id, &token).await, Lost);
}

async fn a_consumer_that_dies_gives_its_row_back(db: OnServer) {
    let (mut consumer, mut other) = (db.connect().await, db.connect().await);
    consumer.enqueue_work("row").await;
    consumer.begin().await;
    let taken = consumer.dequeue().await.unwrap();
    drop(consumer);
    // The server notices sooner or later; until then, the row is skipped or waited for.
    let found = crate::reference::in_time(async || {
        other.begin().await;
        let found = other.dequeue().await;
        other.commit().await;
        found
    })
    .await;
    assert_eq!(found, taken);
}

async fn a_lock_that_a_run_left_to_its_session_is_given_back_by_the_next(db: OnServer) {
    let (mut session, mut other) = (db.connect().await, db.connect().await);
    // Like a run whose client cancels it.
    assert!(session.take_lock().await);
    assert!(session.take_lock().await, "it counts how often");
    assert!(!other.run_notifications().await);
    assert!(session.run_notifications().await);
    assert!(other.run_notifications().await);
}
