//! Logs whose ids start over: everything remembered by id starts over with them.

use std::time::Duration;

use crate::support::{Bench, Series};

const RUN_LOG: &str = "CREATE TABLE RunLog (
    Id INTEGER PRIMARY KEY, Step TEXT NOT NULL, StartedAt TEXT NOT NULL, EndedAt TEXT NULL, Outcome TEXT NOT NULL)";
const RUNS: &str = "    run_logs:
      - name: runs
        table: RunLog
        id: Id
        step: Step
        steps: [run]
        run_step: run
        start: StartedAt
        end: EndedAt
        mutable: true
        outcome: { column: Outcome, rules: [{ equals: ok, outcome: ok }, { equals: skipped, outcome: skipped }], default: error }
";

/// Runs of one outcome, with these ids, a minute long and all at the same time.
fn runs(ids: std::ops::RangeInclusive<i64>, outcome: &str, time: &str) -> String {
    let row = |id| format!("({id}, 'run', '2026-11-30 {time}:00', '2026-11-30 {time}:30', '{outcome}')");
    format!("INSERT INTO RunLog VALUES {};", ids.map(row).collect::<Vec<_>>().join(", "))
}

fn of_run(family: &str) -> String {
    format!(r#"sqlqueue_run_{family}{{source="db",run_log="runs",step="run"}}"#)
}

const SKIPS: &str = r#"sqlqueue_run_consecutive_skips{source="db",run_log="runs"}"#;

#[tokio::test]
async fn gauges_follow_the_runs_of_a_log_that_was_deleted_and_reseeded() {
    let bench = Bench::new(&[]);
    bench.execute(RUN_LOG);
    let config = format!("{RUNS}state_file: '{}'\n", bench.file.with_file_name("state.json").display());
    let exporter = bench.exporter(&config);
    exporter.sample_once().await;
    bench.execute(&runs(1..=50, "ok", "11:00"));
    bench.execute("INSERT INTO RunLog VALUES (51, 'run', '2026-11-30 11:05:00', NULL, 'running')");
    exporter.sample_once().await;
    Series::of(&exporter).assert(SKIPS, 0.0);
    Series::of(&exporter).assert(&of_run("in_progress_seconds"), 3_300.0);

    bench.execute("DELETE FROM RunLog");
    bench.execute(&runs(1..=10, "skipped", "11:30"));
    exporter.sample_once().await; // finds out
    drop(exporter);
    let exporter = bench.exporter(&config);
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(r#"sqlqueue_run_steps_total{source="db",run_log="runs",step="run",outcome="ok"}"#, 50.0);
    series
        .assert(r#"sqlqueue_run_steps_total{source="db",run_log="runs",step="run",outcome="skipped"}"#, 10.0);
    series.assert(SKIPS, 10.0);
    series.assert(&of_run("last_start_timestamp_seconds"), 1_796_038_200.0);
    // What earlier rows said holds until there is a newer one.
    series.assert(&of_run("last_success_timestamp_seconds"), 1_796_036_430.0);
    series.assert(&of_run("in_progress_seconds"), 0.0);

    bench.execute(&[runs(11..=11, "broken", "11:40"), runs(12..=12, "ok", "11:50")].concat());
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(SKIPS, 0.0);
    series.assert(&of_run("last_start_timestamp_seconds"), 1_796_039_400.0);
    series.assert(&of_run("last_success_timestamp_seconds"), 1_796_039_430.0);
    series.assert(&of_run("last_error_timestamp_seconds"), 1_796_038_830.0);
}

#[tokio::test]
async fn the_last_notification_follows_a_control_table_that_was_deleted_and_reseeded() {
    let bench = Bench::new(&[]);
    bench.execute("CREATE TABLE Control (Id INTEGER PRIMARY KEY, Kind TEXT NOT NULL, At TEXT NOT NULL)");
    let exporter = bench.exporter(
        "    control_tables:\n      - { name: events, table: Control, id: Id, kind: Kind, kinds: [k], at: At }\n",
    );
    exporter.sample_once().await;
    bench.execute(
        "INSERT INTO Control VALUES (1, 'k', '2026-11-30 11:00:00'), (2, 'k', '2026-11-30 11:00:00')",
    );
    exporter.sample_once().await;
    bench.execute("DELETE FROM Control");
    exporter.sample_once().await;
    bench.clock.advance(Duration::from_secs(15));
    bench.execute("INSERT INTO Control VALUES (1, 'k', '2026-11-30 11:30:00')");
    for _ in 0..2 {
        exporter.sample_once().await;
    }
    let of = |family: &str| format!(r#"sqlqueue_{family}{{source="db",control_table="events",kind="k"}}"#);
    let series = Series::of(&exporter);
    series.assert(&of("notifications_total"), 3.0);
    series.assert(&of("notification_last_timestamp_seconds"), 1_796_038_200.0);
}
