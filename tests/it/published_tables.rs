//! Published tables: those of the three source systems, exactly as published.

use std::time::Duration;

use crate::backend::{Backend, on_both_databases};
use crate::support::{PUBLISHED_LEASE, PUBLISHED_RUN_LOG, PUBLISHED_TRANSACTIONAL, Series};

on_both_databases! {
    a_lease_table_without_times_has_counts_and_no_age
    a_destructive_queue_shows_owned_rows_as_running
    run_log_rows_become_counters_and_histograms_by_step_and_outcome
    an_application_lock_shows_for_how_long_it_was_found_held
    control_rows_become_notifications_by_kind
    a_step_that_was_never_seen_is_at_zero_for_one_sample_before_it_counts
}

async fn a_lease_table_without_times_has_counts_and_no_age(db: Backend) {
    db.fixture("published_lease").await;
    let exporter = db.exporter(PUBLISHED_LEASE);
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(r#"sqlqueue_up{source="db"}"#, 1.0);
    let jobs = |state: &str| format!(r#"sqlqueue_jobs{{source="db",queue="demo",state="{state}"}}"#);
    series.assert(&jobs("ready"), 2.0);
    series.assert(&jobs("running"), 1.0);
    series.assert(&jobs("expired"), 1.0);
    series.assert(&jobs("unknown"), 0.0);
    assert_eq!(series.get(&jobs("done")), None, "finished rows are not read");
    assert_eq!(series.get(&jobs("scheduled")), None, "the table cannot show it");
    series.assert(r#"sqlqueue_expired_leases{source="db",queue="demo"}"#, 1.0);
    db.assert_age(&series, r#"sqlqueue_oldest_expired_lease_seconds{source="db",queue="demo"}"#, 60.0).await;
    for absent in [
        "sqlqueue_oldest_ready_age_seconds",
        "sqlqueue_longest_running_seconds",
        "sqlqueue_max_attempts",
        "sqlqueue_retrying_jobs",
        "sqlqueue_future_timestamp_rows",
    ] {
        series.assert_absent(absent);
    }
}

async fn a_destructive_queue_shows_owned_rows_as_running(db: Backend) {
    db.fixture("published_transactional").await;
    let exporter = db.exporter(PUBLISHED_TRANSACTIONAL);
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(r#"sqlqueue_jobs{source="db",queue="items",state="ready"}"#, 2.0);
    series.assert(r#"sqlqueue_jobs{source="db",queue="items",state="running"}"#, 1.0);
    series.assert_absent("sqlqueue_oldest_ready_age_seconds");
    series.assert_absent("sqlqueue_expired_leases");

    db.execute("DELETE FROM TransactionQueue").await;
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(r#"sqlqueue_jobs{source="db",queue="items",state="ready"}"#, 0.0);
    series.assert(r#"sqlqueue_jobs{source="db",queue="items",state="running"}"#, 0.0);
}

async fn run_log_rows_become_counters_and_histograms_by_step_and_outcome(db: Backend) {
    db.fixture("published_run_log").await;
    let exporter = db.exporter(PUBLISHED_RUN_LOG);
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    let steps = |step: &str, outcome: &str| {
        format!(r#"sqlqueue_run_steps_total{{source="db",run_log="runs",step="{step}",outcome="{outcome}"}}"#)
    };
    for step in ["komentarze", "przebieg"] {
        for outcome in ["ok", "warning", "error", "skipped"] {
            series.assert(&steps(step, outcome), 0.0);
        }
    }

    db.execute(
        "INSERT INTO tabela_przebiegow (krok, start, koniec, ms, kandydatow, blad) VALUES
        ('komentarze', '2026-11-30T11:50:00.000', '2026-11-30T11:50:00.012', 12, 2, NULL),
        ('przebieg', '2026-11-30T11:50:00.000', '2026-11-30T11:50:00.015', 15, NULL, NULL),
        ('komentarze', '2026-11-30T11:51:00.000', '2026-11-30T11:51:00.003', 3, 0, NULL),
        ('przebieg', '2026-11-30T11:51:00.000', '2026-11-30T11:51:00.004', 4, NULL, NULL),
        ('przebieg', '2026-11-30T11:52:00.000', '2026-11-30T11:52:00.000', 0, NULL,
            'POMINIETY: poprzedni przebieg jeszcze trwa (kod -1)'),
        ('komentarze', '2026-11-30T11:53:00.000', '2026-11-30T11:53:00.007', 7, NULL,
            'BLAD 1205: Transaction was deadlocked')",
    )
    .await;
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(&steps("przebieg", "ok"), 2.0);
    series.assert(&steps("przebieg", "skipped"), 1.0);
    series.assert(&steps("komentarze", "ok"), 2.0);
    series.assert(&steps("komentarze", "error"), 1.0);
    let duration = |suffix: &str| {
        format!(
            r#"sqlqueue_run_step_duration_seconds_{suffix}{{source="db",run_log="runs",step="przebieg"}}"#
        )
    };
    series.assert(&duration("count"), 2.0);
    series.assert(&duration("sum"), 0.019);
    series.assert(r#"sqlqueue_run_step_candidates_total{source="db",run_log="runs",step="komentarze"}"#, 2.0);
    series.assert(r#"sqlqueue_run_consecutive_skips{source="db",run_log="runs"}"#, 1.0);

    db.execute(
        "INSERT INTO tabela_przebiegow (krok, start, koniec, ms, kandydatow, blad) VALUES
        ('przebieg', '2026-11-30T11:54:00.000', '2026-11-30T11:54:00.005', 5, NULL, NULL)",
    )
    .await;
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(r#"sqlqueue_run_consecutive_skips{source="db",run_log="runs"}"#, 0.0);
    series.assert(&steps("przebieg", "ok"), 3.0);
}

async fn an_application_lock_shows_for_how_long_it_was_found_held(db: Backend) {
    db.fixture("published_run_log").await;
    let exporter = db.exporter(PUBLISHED_RUN_LOG);
    let held = r#"sqlqueue_run_lock_held{source="db",run_log="runs"}"#;
    let held_for = r#"sqlqueue_run_lock_held_seconds{source="db",run_log="runs"}"#;
    exporter.sample_once().await;
    Series::of(&exporter).assert(held, 0.0);

    db.take_lock("dbo.powiadomienia_przebieg").await;
    exporter.sample_once().await;
    Series::of(&exporter).assert(held, 1.0);
    Series::of(&exporter).assert(held_for, 0.0);
    let passed = db.advance(Duration::from_secs(15));
    exporter.sample_once().await;
    Series::of(&exporter).assert(held, 1.0);
    db.assert_age(&Series::of(&exporter), held_for, passed).await;

    db.release_lock("dbo.powiadomienia_przebieg").await;
    exporter.sample_once().await;
    Series::of(&exporter).assert(held, 0.0);
    Series::of(&exporter).assert(held_for, 0.0);
}

async fn control_rows_become_notifications_by_kind(db: Backend) {
    db.fixture("published_run_log").await;
    let exporter = db.exporter(PUBLISHED_RUN_LOG);
    exporter.sample_once().await;
    let total = r#"sqlqueue_notifications_total{source="db",control_table="events",kind="komentarz"}"#;
    Series::of(&exporter).assert(total, 0.0);
    db.execute(
        "INSERT INTO tabela_powiadomien (rodzaj, klucz, klucz2, kiedy) VALUES
        ('komentarz', 1, 2, '2026-11-30T11:50:00.000'), ('komentarz', 2, 3, '2026-11-30T11:51:00.000')",
    )
    .await;
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(total, 2.0);
}

async fn a_step_that_was_never_seen_is_at_zero_for_one_sample_before_it_counts(db: Backend) {
    db.fixture("published_run_log").await;
    let exporter = db.exporter(PUBLISHED_RUN_LOG);
    exporter.sample_once().await;
    db.execute(
        "INSERT INTO tabela_przebiegow (krok, start, ms) VALUES ('zamowienia', '2026-11-30T11:50:00.000', 9)",
    )
    .await;
    let ok = r#"sqlqueue_run_steps_total{source="db",run_log="runs",step="zamowienia",outcome="ok"}"#;
    assert_eq!(Series::of(&exporter).get(ok), None);
    exporter.sample_once().await;
    Series::of(&exporter).assert(ok, 0.0);
    exporter.sample_once().await;
    Series::of(&exporter).assert(ok, 1.0);
    exporter.sample_once().await;
    Series::of(&exporter).assert(ok, 1.0);
}
