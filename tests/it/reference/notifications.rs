//! Notification runs: one message per event, whatever happens.

use super::database::{Conveniences as _, Database, LogRow, Session};
use super::on_both_databases;

on_both_databases! {
    three_comments_on_two_items_make_two_messages_and_each_is_told_once
    a_key_that_is_there_is_refused
    a_run_that_finds_the_lock_taken_logs_one_skipped_row_and_touches_nothing
    an_error_in_a_step_is_logged_and_the_next_steps_run
    the_lock_is_free_after_a_run
    reaching_the_cap_is_a_warning_and_the_rest_waits
    a_run_prunes_a_bounded_part_of_the_old_log
}

/// The step and outcome of each row.
fn steps(log: &[LogRow]) -> Vec<(&str, &str)> {
    log.iter().map(|row| (row.step.as_str(), row.outcome.as_str())).collect()
}

async fn three_comments_on_two_items_make_two_messages_and_each_is_told_once<D: Database>(db: D) {
    let mut session = db.session().await;
    for (item, recipient) in [(1, "anna"), (2, "boris"), (1, "anna")] {
        session.add_comment(item, recipient).await;
    }
    let mut runs = 0;
    let mut run = async |candidates, messages| {
        assert!(session.run_notifications().await);
        runs += 1;
        assert_eq!(session.count("OutgoingMessage").await, messages);
        assert_eq!(session.count("NotificationControl").await, messages);
        let log = session.run_log().await;
        let of = |step: &str| {
            let rows = log.iter().filter(|row| row.step == step).cloned().collect::<Vec<_>>();
            assert_eq!(rows.len(), runs, "one row a step and run");
            rows.last().unwrap().clone()
        };
        let comments = of("comments");
        assert_eq!((comments.outcome.as_str(), comments.candidates), ("ok", Some(candidates)));
        let whole = of("run");
        assert_eq!((whole.outcome.as_str(), whole.candidates, &whole.message), ("ok", None, &None));
        assert_eq!(log.last(), Some(&whole), "it is written last");
        assert!(log.iter().all(|row| row.duration_ms >= 0));
    };
    run(2, 2).await;
    run(0, 2).await;
    db.session().await.add_comment(2, "boris").await;
    run(1, 3).await;
    run(0, 3).await;
    let told = "SELECT Recipient FROM OutgoingMessage ORDER BY MessageId";
    let told = format!("{:?}", session.rows(told).await);
    // Two in one run come in any order.
    assert!(told.contains("anna") && told.ends_with(r#"[Text("boris")]]"#), "{told}");
}

async fn a_key_that_is_there_is_refused<D: Database>(db: D) {
    let mut session = db.session().await;
    let row = |kind: &str, key2| {
        format!(
            "INSERT INTO NotificationControl (Kind, [Key], Key2, CreatedAt) \
             VALUES ('{kind}', 1, {key2}, '2026-11-30T12:00:00')"
        )
    };
    session.execute(&row("comment", 1)).await;
    let refusal = session.attempt(&row("comment", 1)).await.unwrap_err();
    assert!(refusal.is_duplicate, "{refusal:?}");
    assert!(refusal.number.is_none_or(|number| number == 2627), "{refusal:?}");
    session.execute(&row("comment", 2)).await;
    session.execute(&row("order", 1)).await;
    assert_eq!(session.count("NotificationControl").await, 3);
}

async fn a_run_that_finds_the_lock_taken_logs_one_skipped_row_and_touches_nothing<D: Database>(db: D) {
    let (mut session, mut holder) = (db.session().await, db.session().await);
    session.add_comment(1, "anna").await;
    assert!(holder.take_lock().await);
    assert!(!session.run_notifications().await);
    let skipped = session.run_log().await;
    assert_eq!(steps(&skipped), [("run", "skipped")]);
    assert_eq!((skipped[0].duration_ms, skipped[0].candidates), (0, None), "it is no fast run");
    let message = skipped[0].message.as_deref();
    assert_eq!(message, Some("skipped: the previous run still holds the lock"));
    for table in ["OutgoingMessage", "NotificationControl"] {
        assert_eq!(session.count(table).await, 0, "{table}");
    }
    assert!(!session.take_lock().await, "the lock is still the other's");
    holder.release_lock().await;
    assert!(session.run_notifications().await);
    assert_eq!(session.count("OutgoingMessage").await, 1);
}

async fn an_error_in_a_step_is_logged_and_the_next_steps_run<D: Database>(db: D) {
    let mut session = db.session().await;
    db.add_second_step().await;
    session.add_comment(1, "anna").await;
    session.add_comment(2, "refused").await;
    db.refuse_messages_to("refused").await;

    assert!(session.run_notifications().await);
    let log = session.run_log().await;
    assert_eq!(log.iter().map(|row| row.step.as_str()).collect::<Vec<_>>(), D::STEPS);
    let (failed, second) = (&log[0], &log[1]);
    assert_eq!((failed.outcome.as_str(), failed.candidates), ("error", Some(2)));
    assert!(failed.message.as_deref().is_some_and(|text| text.starts_with("error")), "{failed:?}");
    assert_eq!((second.outcome.as_str(), second.candidates), ("ok", Some(1)));
    // The failed step has left nothing behind, not even for the comment that was fine.
    let comments = "SELECT COUNT(*) FROM NotificationControl WHERE Kind = 'comment'";
    assert_eq!(session.number(comments).await, 0);
    assert_eq!(session.count("OutgoingMessage").await, 1);
    let mut other = db.session().await;
    assert!(other.take_lock().await, "the lock is free");
    other.release_lock().await;

    // So the next run sends it after all.
    db.accept_messages().await;
    assert!(session.run_notifications().await);
    assert_eq!(session.number(comments).await, 2);
    assert_eq!(session.count("OutgoingMessage").await, 3);
}

async fn the_lock_is_free_after_a_run<D: Database>(db: D) {
    let (mut session, mut other) = (db.session().await, db.session().await);
    for _ in 0..2 {
        assert!(session.run_notifications().await);
        assert!(other.take_lock().await);
        other.release_lock().await;
        assert!(other.run_notifications().await, "and another session's is not in the way either");
    }
}

async fn reaching_the_cap_is_a_warning_and_the_rest_waits<D: Database>(db: D) {
    let mut session = db.session().await;
    for item in 1..=3 {
        session.add_comment(item, "anna").await;
    }
    session.notify_comments(2).await;
    assert_eq!(session.count("OutgoingMessage").await, 2);
    session.notify_comments(2).await;
    assert_eq!(session.count("OutgoingMessage").await, 3);
    let log = session.run_log().await;
    assert_eq!(steps(&log), [("comments", "warning"), ("comments", "ok")]);
    assert_eq!((log[0].candidates, log[1].candidates), (Some(2), Some(1)));
    let message = log[0].message.as_deref();
    assert_eq!(message, Some("warning: the cap of 2 notifications per run was reached"));
    assert_eq!(log[1].message, None);
}

async fn a_run_prunes_a_bounded_part_of_the_old_log<D: Database>(db: D) {
    let mut session = db.session().await;
    let backlog = D::PRUNED_BY_A_RUN + 100;
    let row = "('old', '2020-01-01T00:00:00', '2020-01-01T00:00:00', 0, 'ok')";
    for _ in 0..backlog / 100 {
        let rows = [row; 100].join(", ");
        session
            .execute(&format!(
                "INSERT INTO RunLog (Step, StartedAt, EndedAt, DurationMs, Outcome) VALUES {rows}"
            ))
            .await;
    }
    let old = "SELECT COUNT(*) FROM RunLog WHERE Step = 'old'";
    for left in [100, 0, 0] {
        assert!(session.run_notifications().await);
        assert_eq!(session.number(old).await, left);
    }
    let log = session.run_log().await;
    assert_eq!(log.iter().filter(|row| row.step == "run").count(), 3, "what is young stays");
}
