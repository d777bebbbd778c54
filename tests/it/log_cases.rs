//! Cases from public bug reports of other tools that concern logs, each with the right value.

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
async fn durations_written_as_hhmmss_have_no_upper_bound_on_hours() {
    let bench = Bench::new(&[]);
    bench.execute(JOB_HISTORY);
    let exporter = bench.exporter(
        "    run_logs:
      - name: agent
        table: sysjobhistory
        id: instance_id
        step: job_name
        steps: [night]
        duration: { column: run_duration, unit: hhmmss }
        outcome: { default: ok }
",
    );
    exporter.sample_once().await;
    let sum = r#"sqlqueue_run_step_duration_seconds_sum{source="db",run_log="agent",step="night"}"#;
    let mut total = 0.0;
    for (written, seconds) in
        [(90, 90.0), (100, 60.0), (15_614, 6_974.0), (281_535, 101_735.0), (1_231_535, 443_735.0)]
    {
        bench.execute(&format!(
            "INSERT INTO sysjobhistory (job_name, step_id, run_status, run_duration)
             VALUES ('night', 0, 1, {written})"
        ));
        exporter.sample_once().await;
        total += seconds;
        Series::of(&exporter).assert(sum, total);
    }
}

#[tokio::test]
async fn a_tail_crosses_an_identity_jump_and_counts_rows_not_ids() {
    let bench = Bench::new(&[]);
    bench.execute(JOB_HISTORY);
    let row = |id: i64| format!("INSERT INTO sysjobhistory VALUES ({id}, 'night', 0, 1, 10);");
    bench.execute(&row(1_000));
    let exporter = bench.exporter(
        "    run_logs:
      - { name: agent, table: sysjobhistory, id: instance_id, step: job_name, batch_size: 100, outcome: { default: ok } }
",
    );
    exporter.sample_once().await;
    let ok = r#"sqlqueue_run_steps_total{source="db",run_log="agent",step="night",outcome="ok"}"#;
    Series::of(&exporter).assert(ok, 0.0);
    bench.execute(&[row(1_001), row(1_002), row(2_003)].concat());
    exporter.sample_once().await;
    Series::of(&exporter).assert(ok, 3.0);
    // One that took its id before the jump and was committed after it.
    bench.execute(&row(1_500));
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(ok, 4.0);
    series.assert(r#"sqlqueue_late_rows_total{source="db",run_log="agent"}"#, 1.0);
    exporter.sample_once().await;
    Series::of(&exporter).assert(ok, 4.0);
}

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
async fn a_summary_row_is_a_run_and_a_step_row_is_not() {
    let bench = Bench::new(&[]);
    bench.execute(JOB_HISTORY);
    let exporter = bench.exporter(
        "    run_logs:
      - name: runs
        table: sysjobhistory
        where: { step_id: 0 }
        id: instance_id
        step: job_name
        steps: [nightly]
        duration: { column: run_duration, unit: hhmmss }
        outcome: { column: run_status, rules: [{ equals: 1, outcome: ok }, { equals: 3, outcome: warning }], default: error }
      - name: retries
        table: sysjobhistory
        where: { run_status: 2 }
        id: instance_id
        step: job_name
        steps: [nightly]
        outcome: { default: warning }
",
    );
    exporter.sample_once().await;
    bench.execute(
        "INSERT INTO sysjobhistory VALUES
        (10, 'nightly', 1, 2, 5), (11, 'nightly', 1, 1, 20), (12, 'nightly', 2, 1, 20), (13, 'nightly', 0, 1, 45),
        (14, 'other', 1, 4, 12600), (15, 'other', 1, 4, 12601), (16, 'other', 1, 4, 12602)",
    );
    exporter.sample_once().await;
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(r#"sqlqueue_run_steps_total{source="db",run_log="runs",step="nightly",outcome="ok"}"#, 1.0);
    series
        .assert(r#"sqlqueue_run_step_duration_seconds_sum{source="db",run_log="runs",step="nightly"}"#, 45.0);
    series.assert(
        r#"sqlqueue_run_steps_total{source="db",run_log="retries",step="nightly",outcome="warning"}"#,
        1.0,
    );
    for log in ["runs", "retries"] {
        let other =
            format!(r#"sqlqueue_run_steps_total{{source="db",run_log="{log}",step="other",outcome="ok"}}"#);
        assert_eq!(series.get(&other), None, "nothing comes of rows 14 to 16");
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
    // Steps only: the watermark passes them, and a run that took its id among them still counts.
    bench.execute("INSERT INTO sysjobhistory VALUES (1, 'night', 1, 1, 10), (3, 'night', 2, 1, 10)");
    exporter.sample_once().await;
    bench.execute("INSERT INTO sysjobhistory VALUES (2, 'night', 0, 1, 10), (4, 'night', 0, 1, 10)");
    exporter.sample_once().await;
    Series::of(&exporter).assert(ok, 2.0);
    exporter.sample_once().await;
    Series::of(&exporter).assert(ok, 2.0);
}
