//! Mutable logs: rows that change or disappear while they are read, also through a predicate.

use std::time::Duration;

use crate::support::{Bench, Series};

const COMMAND_LOG: &str = "CREATE TABLE CommandLog (
    ID INTEGER PRIMARY KEY, CommandType TEXT NOT NULL, StartTime TEXT NOT NULL, EndTime TEXT NULL,
    ErrorNumber INTEGER NULL, ErrorMessage TEXT NULL)";
const COMMANDS: &str = "    run_logs:
      - name: commands
        table: CommandLog
        id: ID
        step: CommandType
        steps: [BACKUP]
        start: StartTime
        end: EndTime
        mutable: true
        open_window: 1h
        outcome:
          column: ErrorNumber
          rules: [{ equals: 0, outcome: ok }, { is_null: true, outcome: skipped }]
          default: error
";

fn outcome(outcome: &str) -> String {
    format!(r#"sqlqueue_run_steps_total{{source="db",run_log="commands",step="BACKUP",outcome="{outcome}"}}"#)
}

const IN_PROGRESS: &str = r#"sqlqueue_run_in_progress_seconds{source="db",run_log="commands",step="BACKUP"}"#;

async fn mutable_log() -> (Bench, sqlqueue_exporter::exporter::Exporter) {
    let bench = Bench::new(&[]);
    bench.execute(COMMAND_LOG);
    let exporter = bench.exporter(COMMANDS);
    exporter.sample_once().await;
    bench.execute(
        "INSERT INTO CommandLog (ID, CommandType, StartTime, EndTime, ErrorNumber, ErrorMessage) VALUES
        (1, 'BACKUP', '2026-11-30 11:00:00', '2026-11-30 11:00:05', 0, NULL),
        (2, 'BACKUP', '2026-11-30 11:10:00', '2026-11-30 11:10:05', 1205, 'deadlock'),
        (3, 'BACKUP', '2026-11-30 11:30:00', NULL, NULL, NULL),
        (4, 'BACKUP', '2026-11-30 11:40:00', '2026-11-30 11:40:00', NULL, NULL),
        (5, 'BACKUP', '2026-11-30 11:50:00', '2026-11-30 11:50:01', 2508, NULL)",
    );
    exporter.sample_once().await;
    (bench, exporter)
}

#[tokio::test]
async fn a_mutable_log_counts_a_row_when_it_ends_although_no_id_moved() {
    let (bench, exporter) = mutable_log().await;
    let series = Series::of(&exporter);
    series.assert(&outcome("ok"), 1.0);
    series.assert(&outcome("error"), 2.0);
    series.assert(&outcome("skipped"), 1.0);
    series.assert(IN_PROGRESS, 1_800.0);

    bench.execute("UPDATE CommandLog SET EndTime = '2026-11-30 12:00:00', ErrorNumber = 0 WHERE ID = 3");
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(&outcome("ok"), 2.0);
    series.assert(&outcome("skipped"), 1.0);
    series.assert(IN_PROGRESS, 0.0);
    exporter.sample_once().await;
    Series::of(&exporter).assert(&outcome("ok"), 2.0);
}

#[tokio::test]
async fn a_row_that_never_ends_becomes_stale_and_not_ok() {
    let (bench, exporter) = mutable_log().await;
    bench.clock.advance(Duration::from_secs(3_601));
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(IN_PROGRESS, 0.0);
    series.assert(&outcome("ok"), 1.0);
    series.assert(&outcome("skipped"), 1.0);
    // It was given up, so its end comes too late.
    bench.execute("UPDATE CommandLog SET EndTime = '2026-11-30 13:30:00', ErrorNumber = 0 WHERE ID = 3");
    exporter.sample_once().await;
    Series::of(&exporter).assert(&outcome("ok"), 1.0);
}

#[tokio::test]
async fn an_open_row_that_is_deleted_stops_being_in_progress() {
    let (bench, exporter) = mutable_log().await;
    bench.execute("DELETE FROM CommandLog WHERE ID = 3");
    exporter.sample_once().await;
    bench.clock.advance(Duration::from_secs(601)); // the late window, 10 minutes
    exporter.sample_once().await;
    Series::of(&exporter).assert(IN_PROGRESS, 0.0);
}

#[tokio::test]
async fn a_row_that_runs_when_the_exporter_starts_counts_when_it_ends() {
    let bench = Bench::new(&[]);
    bench.execute(COMMAND_LOG);
    bench.execute("INSERT INTO CommandLog VALUES (7, 'BACKUP', '2026-11-30 11:30:00', NULL, NULL, NULL)");
    let exporter = bench.exporter(COMMANDS);
    exporter.sample_once().await;
    Series::of(&exporter).assert(IN_PROGRESS, 1_800.0);
    bench.execute("UPDATE CommandLog SET EndTime = '2026-11-30 12:00:00', ErrorNumber = 0");
    exporter.sample_once().await;
    Series::of(&exporter).assert(&outcome("ok"), 1.0);
    Series::of(&exporter).assert(IN_PROGRESS, 0.0);
}

const JOB_HISTORY: &str = "CREATE TABLE sysjobhistory (
    instance_id INTEGER PRIMARY KEY, job_name TEXT NOT NULL, step_id INTEGER NOT NULL,
    run_status INTEGER NOT NULL, run_duration INTEGER NOT NULL)";

#[tokio::test]
async fn a_truncated_table_is_read_from_its_start() {
    let bench = Bench::new(&[]);
    bench.execute(JOB_HISTORY);
    bench.execute("INSERT INTO sysjobhistory VALUES (5000, 'night', 0, 1, 10)");
    let exporter = bench.exporter(
        "    run_logs:
      - { name: agent, table: sysjobhistory, id: instance_id, step: job_name, outcome: { default: ok } }
",
    );
    exporter.sample_once().await;
    bench.execute(
        "DELETE FROM sysjobhistory;
        INSERT INTO sysjobhistory VALUES (1, 'night', 0, 1, 10), (2, 'night', 0, 1, 10)",
    );
    exporter.sample_once().await; // finds out
    exporter.sample_once().await; // reads from the start
    let ok = r#"sqlqueue_run_steps_total{source="db",run_log="agent",step="night",outcome="ok"}"#;
    Series::of(&exporter).assert(ok, 2.0);
    exporter.sample_once().await;
    Series::of(&exporter).assert(ok, 2.0);
}

#[tokio::test]
async fn a_long_absence_is_caught_up_batch_by_batch() {
    let bench = Bench::new(&[]);
    bench.execute(JOB_HISTORY);
    let exporter = bench.exporter(
        "    run_logs:
      - { name: agent, table: sysjobhistory, id: instance_id, step: job_name, steps: [night], batch_size: 100, outcome: { default: ok } }
",
    );
    exporter.sample_once().await;
    bench.execute(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250)
        INSERT INTO sysjobhistory SELECT i, 'night', 0, 1, 10 FROM n",
    );
    let ok = r#"sqlqueue_run_steps_total{source="db",run_log="agent",step="night",outcome="ok"}"#;
    for counted in [100.0, 200.0, 250.0, 250.0] {
        exporter.sample_once().await;
        Series::of(&exporter).assert(ok, counted);
    }
}

#[tokio::test]
async fn rows_of_another_predicate_are_passed_over_and_not_looked_through_for_ever() {
    let bench = Bench::new(&[]);
    bench.execute(JOB_HISTORY);
    let exporter = bench.exporter(
        "    run_logs:
      - { name: runs, table: sysjobhistory, where: { step_id: 0 }, id: instance_id, step: job_name, steps: [night], outcome: { default: ok } }
",
    );
    exporter.sample_once().await;
    let ok = r#"sqlqueue_run_steps_total{source="db",run_log="runs",step="night",outcome="ok"}"#;
    // Only steps: the watermark passes them, and a run with an id among them still counts.
    bench.execute("INSERT INTO sysjobhistory VALUES (1, 'night', 1, 1, 10), (3, 'night', 2, 1, 10)");
    exporter.sample_once().await;
    bench.execute("INSERT INTO sysjobhistory VALUES (2, 'night', 0, 1, 10), (4, 'night', 0, 1, 10)");
    exporter.sample_once().await;
    Series::of(&exporter).assert(ok, 2.0);
    exporter.sample_once().await;
    Series::of(&exporter).assert(ok, 2.0);
}

#[tokio::test]
async fn an_end_that_looks_a_moment_earlier_than_its_start_took_no_time() {
    let bench = Bench::new(&[]);
    bench.execute(COMMAND_LOG);
    let exporter =
        bench.exporter(&COMMANDS.replace("start: StartTime", "start: { column: StartTime, zone: server }"));
    exporter.sample_once().await;
    bench.execute(
        "INSERT INTO CommandLog VALUES
        (1, 'BACKUP', '2026-07-15 12:00:00.010', '2026-07-15 12:00:00.000', 0, NULL)",
    );
    exporter.sample_once().await;
    let of = |suffix: &str| {
        format!(
            r#"sqlqueue_run_step_duration_seconds_{suffix}{{source="db",run_log="commands",step="BACKUP"}}"#
        )
    };
    Series::of(&exporter).assert(&of("count"), 1.0);
    Series::of(&exporter).assert(&of("sum"), 0.0);
}

#[tokio::test]
async fn a_late_run_does_not_end_the_skips_after_it() {
    let bench = Bench::new(&[]);
    bench.execute(JOB_HISTORY);
    let exporter = bench.exporter(
        "    run_logs:
      - { name: runs, table: sysjobhistory, id: instance_id, step: job_name, run_step: run,
          outcome: { column: run_status, rules: [{ equals: 1, outcome: ok }], default: skipped } }
",
    );
    bench.execute("INSERT INTO sysjobhistory VALUES (1, 'run', 0, 1, 10)");
    exporter.sample_once().await;
    bench.execute("INSERT INTO sysjobhistory VALUES (3, 'run', 0, 0, 0), (4, 'run', 0, 0, 0)");
    exporter.sample_once().await;
    let skips = r#"sqlqueue_run_consecutive_skips{source="db",run_log="runs"}"#;
    Series::of(&exporter).assert(skips, 2.0);
    bench.execute("INSERT INTO sysjobhistory VALUES (2, 'run', 0, 1, 10)");
    exporter.sample_once().await;
    Series::of(&exporter).assert(skips, 2.0);
    bench.execute("INSERT INTO sysjobhistory VALUES (5, 'run', 0, 1, 10)");
    exporter.sample_once().await;
    Series::of(&exporter).assert(skips, 0.0);
}

#[tokio::test]
async fn many_gaps_do_not_push_out_a_row_that_still_runs() {
    let bench = Bench::new(&[]);
    bench.execute(COMMAND_LOG);
    let exporter = bench.exporter(COMMANDS);
    exporter.sample_once().await;
    bench.execute(
        "INSERT INTO CommandLog VALUES (1, 'BACKUP', '2026-11-30 11:30:00', NULL, NULL, NULL);
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
        INSERT INTO CommandLog
        SELECT 1 + i * 2, 'BACKUP', '2026-11-30 11:40:00', '2026-11-30 11:40:00', 0, NULL FROM n",
    );
    for _ in 0..5 {
        exporter.sample_once().await;
    }
    let series = Series::of(&exporter);
    series.assert(&outcome("ok"), 3_000.0);
    series.assert(IN_PROGRESS, 1_800.0);
    bench.execute("UPDATE CommandLog SET EndTime = '2026-11-30 12:00:00', ErrorNumber = 0 WHERE ID = 1");
    // Each awaited id gets its turn.
    for _ in 0..10 {
        exporter.sample_once().await;
    }
    Series::of(&exporter).assert(&outcome("ok"), 3_001.0);
}

#[tokio::test]
async fn a_log_is_not_read_again_when_its_oldest_row_changes_or_hides_for_a_while() {
    let bench = Bench::new(&[]);
    bench.execute(COMMAND_LOG);
    let exporter = bench.exporter(COMMANDS);
    let row = |id: i64, hour: i64| {
        format!(
            "INSERT INTO CommandLog VALUES
            ({id}, 'BACKUP', '2026-11-30 {hour:02}:00:00', '2026-11-30 {hour:02}:00:01', 0, NULL);"
        )
    };
    // The second row began before the first, so it took long.
    bench.execute(&[row(1, 9), row(2, 8), row(3, 10)].concat());
    exporter.sample_once().await;
    bench.execute(&row(4, 11));
    exporter.sample_once().await;
    Series::of(&exporter).assert(&outcome("ok"), 1.0);

    bench.execute("UPDATE CommandLog SET StartTime = datetime(StartTime, '+1 hour')");
    exporter.sample_once().await;
    bench.execute("UPDATE CommandLog SET StartTime = datetime(StartTime, '-1 hour')");
    bench.execute("DELETE FROM CommandLog WHERE ID = 1");
    exporter.sample_once().await;
    bench.execute(&row(1, 9));
    for _ in 0..3 {
        exporter.sample_once().await;
    }
    Series::of(&exporter).assert(&outcome("ok"), 1.0);
}

#[tokio::test]
async fn one_row_of_a_far_future_does_not_hide_the_newest_start() {
    let bench = Bench::new(&[]);
    bench.execute(COMMAND_LOG);
    let exporter = bench.exporter(COMMANDS);
    bench.execute(
        "INSERT INTO CommandLog VALUES
        (1, 'BACKUP', '9999-12-31 00:00:00', '9999-12-31 00:00:01', 0, NULL),
        (2, 'BACKUP', '2026-11-30 11:30:00', '2026-11-30 11:30:01', 0, NULL)",
    );
    exporter.sample_once().await;
    let of = |family: &str| format!(r#"{family}{{source="db",run_log="commands",step="BACKUP"}}"#);
    let series = Series::of(&exporter);
    series.assert(&of("sqlqueue_run_last_start_timestamp_seconds"), 1_796_038_200.0);
    series.assert(&of("sqlqueue_run_last_success_timestamp_seconds"), 1_796_038_201.0);
}
