//! The transactional queue: a row leaves it when the consumer's transaction commits.

use super::database::{Database, Session};
use super::on_both_databases;
use crate::mssql::database::unproven;

on_both_databases! {
    a_commit_removes_what_was_taken
    a_rollback_brings_back_what_was_taken
    others_pass_over_what_is_taken
    an_empty_queue_gives_nothing
}

async fn a_commit_removes_what_was_taken<D: Database>(db: D) {
    let mut session = db.session().await;
    for payload in ["one", "two", "three"] {
        session.enqueue_work(payload).await;
    }
    session.begin().await;
    let first = session.dequeue().await.unwrap();
    let second = session.dequeue().await.unwrap();
    assert_eq!((first.1.as_str(), second.1.as_str()), ("one", "two"), "a transaction may take several");
    assert!(first.0 < second.0);
    session.commit().await;
    assert_eq!(session.count("WorkQueue").await, 1);
    session.begin().await;
    assert_eq!(session.dequeue().await.unwrap().1, "three");
    session.commit().await;
    assert_eq!(session.count("WorkQueue").await, 0, "nothing remains of finished work");
}

async fn a_rollback_brings_back_what_was_taken<D: Database>(db: D) {
    let mut session = db.session().await;
    session.enqueue_work("one").await;
    session.enqueue_work("two").await;
    session.begin().await;
    let taken = session.dequeue().await.unwrap();
    session.rollback().await;
    assert_eq!(session.count("WorkQueue").await, 2);
    session.enqueue_work("three").await;
    let mut other = db.session().await;
    other.begin().await;
    assert_eq!(other.dequeue().await.unwrap(), taken, "at its old place, as if nothing had happened");
    other.rollback().await;
}

async fn others_pass_over_what_is_taken<D: Database>(db: D) {
    if !db.passes_over_locked_rows().await {
        unproven("others pass over what a consumer has taken: this server ignores lock hints");
        return;
    }
    let (mut one, mut two, mut three) = (db.session().await, db.session().await, db.session().await);
    for payload in ["one", "two"] {
        one.enqueue_work(payload).await;
    }
    one.begin().await;
    two.begin().await;
    three.begin().await;
    assert_eq!(one.dequeue().await.unwrap().1, "one");
    assert_eq!(two.dequeue().await.unwrap().1, "two");
    assert_eq!(three.dequeue().await, None, "all are taken, and nobody waits");
    one.rollback().await;
    assert_eq!(three.dequeue().await.unwrap().1, "one");
    three.commit().await;
    two.rollback().await;
    two.begin().await;
    assert_eq!(two.dequeue().await.unwrap().1, "two", "a transaction ends for its own rows only");
    two.commit().await;
    assert_eq!(one.count("WorkQueue").await, 0);
}

async fn an_empty_queue_gives_nothing<D: Database>(db: D) {
    let mut session = db.session().await;
    session.begin().await;
    assert_eq!(session.dequeue().await, None);
    session.rollback().await;
}
