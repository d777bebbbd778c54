//! The exporter on the tables of `sql/`, with its mapping for them.

use sqlqueue_exporter::demo::queue::Ownership::Held;

use super::database::{Conveniences as _, Database, Enqueued, NewJob, Session};
use super::{LONG, NOW, on_both_databases};
use crate::support::Series;

on_both_databases! {
    what_happens_in_the_queues_and_runs_is_what_the_series_say
    a_check_finds_every_table_and_index_that_it_wants
}

/// Everything of `sql/`, with as small a mapping as possible.
pub fn targets<D: Database>(db: &D) -> String {
    format!(
        "    queues:
      - {{ name: jobs }}
      - {{ name: work, preset: {}, table: WorkQueue }}
    attempt_logs: [{{ name: jobs }}]
    enqueue_logs: [{{ name: jobs }}]
    run_logs: [{{ name: notifications, steps: [comments, run], lock: {{ resource: {} }} }}]
    control_tables: [{{ name: notifications, kinds: [comment] }}]
",
        D::WORK_QUEUE_PRESET,
        db.lock_resource()
    )
}

async fn what_happens_in_the_queues_and_runs_is_what_the_series_say<D: Database>(db: D) {
    let exporter = db.exporter(&targets(&db));
    let sample = async || {
        exporter.sample_once().await;
        let series = Series::of(&exporter);
        series.assert(r#"sqlqueue_up{source="db"}"#, 1.0);
        series
    };
    let jobs = |state: &str| format!(r#"sqlqueue_jobs{{source="db",queue="jobs",state="{state}"}}"#);
    let attempts =
        |outcome: &str| format!(r#"sqlqueue_attempts_total{{source="db",queue="jobs",outcome="{outcome}"}}"#);
    let of_runs = |family: &str, labels: &str| {
        format!(r#"sqlqueue_run_{family}{{source="db",run_log="notifications"{labels}}}"#)
    };
    let enqueued = r#"sqlqueue_enqueued_total{source="db",queue="jobs"}"#;
    let told = r#"sqlqueue_notifications_total{source="db",control_table="notifications",kind="comment"}"#;
    let work = r#"sqlqueue_jobs{source="db",queue="work",state="ready"}"#;

    let empty = sample().await;
    for state in ["ready", "scheduled", "retrying", "running", "expired", "exhausted", "failed", "unknown"] {
        empty.assert(&jobs(state), 0.0);
    }
    for outcome in ["ok", "error", "lost"] {
        empty.assert(&attempts(outcome), 0.0);
    }
    empty.assert(enqueued, 0.0);
    empty.assert(told, 0.0);
    empty.assert(work, 0.0);

    let mut session = db.session().await;
    let done = session.add("done", 5).await;
    let claim = session.take().await;
    assert_eq!(session.complete(done, &claim.token).await, Held);
    session.add("failed", 1).await;
    let claim = session.take().await;
    assert_eq!(session.fail(claim.job_id, &claim.token, "bad data", NOW).await, Held);
    session.add("retried", 5).await;
    let claim = session.take().await;
    assert_eq!(session.fail(claim.job_id, &claim.token, "no network", LONG).await, Held);
    let lapsed = session.add("lapsed", 5).await;
    session.take().await;
    let hour_ago = D::AN_HOUR_AGO;
    session.execute(&format!("UPDATE JobQueue SET LeaseUntil = {hour_ago} WHERE JobId = {lapsed}")).await;
    session.add("running", 5).await;
    session.take().await;
    let later = NewJob { payload: "later", delay: LONG, max_attempts: 5, business_key: None };
    assert!(matches!(session.enqueue(later).await, Enqueued::New(_)));
    session.add("ready", 5).await;
    session.add("ready", 5).await;
    session.enqueue_work("row").await;
    session.add_comment(1, "anna").await;
    session.add_comment(2, "boris").await;
    assert!(session.run_notifications().await);
    assert!(session.take_lock().await);
    let mut other = db.session().await;
    assert!(!other.run_notifications().await);

    let series = sample().await;
    for (state, count) in [
        ("ready", 2.0),
        ("scheduled", 1.0),
        ("retrying", 1.0),
        ("running", 1.0),
        ("expired", 1.0),
        ("exhausted", 0.0),
        ("failed", 1.0),
        ("unknown", 0.0),
    ] {
        series.assert(&jobs(state), count);
    }
    series.assert(r#"sqlqueue_expired_leases{source="db",queue="jobs"}"#, 1.0);
    let lapsed_for =
        series.get(r#"sqlqueue_oldest_expired_lease_seconds{source="db",queue="jobs"}"#).unwrap();
    assert!((3600.0..7200.0).contains(&lapsed_for), "{lapsed_for}");
    series.assert(enqueued, 8.0);
    series.assert(&attempts("ok"), 1.0);
    series.assert(&attempts("error"), 2.0);
    series.assert(&attempts("lost"), 0.0);
    series.assert(r#"sqlqueue_completion_delay_seconds_count{source="db",queue="jobs"}"#, 1.0);
    series.assert(work, 1.0);
    series.assert(told, 2.0);
    series.assert(&of_runs("steps_total", r#",step="comments",outcome="ok""#), 1.0);
    series.assert(&of_runs("steps_total", r#",step="run",outcome="ok""#), 1.0);
    series.assert(&of_runs("steps_total", r#",step="run",outcome="skipped""#), 1.0);
    series.assert(&of_runs("step_candidates_total", r#",step="comments""#), 2.0);
    series.assert(&of_runs("consecutive_skips", ""), 1.0);
    series.assert(&of_runs("lock_held", ""), 1.0);

    // The lapsed lease is taken away, and the lock released.
    session.release_lock().await;
    assert_eq!(session.recover(NOW, 10).await.ready, 1);
    assert!(session.run_notifications().await);
    let series = sample().await;
    series.assert(&jobs("expired"), 0.0);
    series.assert(&jobs("ready"), 3.0);
    series.assert(enqueued, 8.0);
    series.assert(&attempts("lost"), 1.0);
    series.assert(&of_runs("consecutive_skips", ""), 0.0);
    series.assert(&of_runs("lock_held", ""), 0.0);
    series.assert(told, 2.0);
}

async fn a_check_finds_every_table_and_index_that_it_wants<D: Database>(db: D) {
    let checked = db.check(&targets(&db));
    assert_eq!(checked.code, Some(0), "{checked:?}");
    let summary = "6 good targets, 0 warnings, 0 failures\n";
    assert!(checked.stdout.ends_with(summary), "{}", checked.stdout);
}
