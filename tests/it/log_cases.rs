//! Run logs found in the field, with what other tools got wrong about them and the right values.

use crate::backend::{Backend, on_both_databases};
use crate::support::Series;

on_both_databases! {
    identity_gaps
    hhmmss_durations
    hhmmss_durations_in_a_column_with_decimals
    step_rows_and_summary_rows
    times_of_steps_are_those_of_their_rows
    the_newest_error_and_the_newest_success_of_a_step
}

fn steps(step: &str, outcome: &str) -> String {
    format!(r#"sqlqueue_run_steps_total{{source="db",run_log="log",step="{step}",outcome="{outcome}"}}"#)
}

fn of_step(family: &str, step: &str) -> String {
    format!(r#"{family}{{source="db",run_log="log",step="{step}"}}"#)
}

const LOG: &str = "    run_logs:
      - name: log
        table: StepLog
        id: Id
        step: Step
        steps: [s]
        duration: { column: Took, unit: hhmmss }
        outcome: { column: Fault, rules: [{ is_null: true, outcome: ok }], default: error }
        batch_size: 100
";

async fn log(db: &Backend) {
    db.execute(
        "CREATE TABLE StepLog (Id BIGINT NOT NULL PRIMARY KEY, Step NVARCHAR(50) NOT NULL, Took INT NULL, \
         Fault NVARCHAR(100) NULL)",
    )
    .await;
}

async fn identity_gaps(db: Backend) {
    log(&db).await;
    db.execute("INSERT INTO StepLog (Id, Step) VALUES (999, 's'), (1000, 's')").await;
    let exporter = db.exporter(LOG);
    exporter.sample_once().await;
    Series::of(&exporter).assert(&steps("s", "ok"), 0.0);
    // The gap is longer than a batch.
    db.execute("INSERT INTO StepLog (Id, Step) VALUES (1001, 's'), (1002, 's'), (2003, 's')").await;
    exporter.sample_once().await;
    Series::of(&exporter).assert(&steps("s", "ok"), 3.0);
    // A row not yet committed when the watermark passed its id is counted, once.
    let late = r#"sqlqueue_late_rows_total{source="db",run_log="log"}"#;
    Series::of(&exporter).assert(late, 0.0);
    db.execute("INSERT INTO StepLog (Id, Step) VALUES (1500, 's')").await;
    for _ in 0..2 {
        exporter.sample_once().await;
        Series::of(&exporter).assert(&steps("s", "ok"), 4.0);
        Series::of(&exporter).assert(late, 1.0);
    }
}

async fn hhmmss_durations(db: Backend) {
    log(&db).await;
    let exporter = db.exporter(LOG);
    exporter.sample_once().await;
    let mut sum = 0.0;
    for (id, (digits, seconds)) in
        [(90, 90.0), (100, 60.0), (15_614, 6974.0), (281_535, 101_735.0), (1_231_535, 443_735.0)]
            .into_iter()
            .enumerate()
    {
        db.execute(&format!("INSERT INTO StepLog (Id, Step, Took) VALUES ({id} + 1, 's', {digits})")).await;
        exporter.sample_once().await;
        sum += seconds;
        Series::of(&exporter).assert(&of_step("sqlqueue_run_step_duration_seconds_sum", "s"), sum);
    }
}

async fn hhmmss_durations_in_a_column_with_decimals(db: Backend) {
    db.execute(
        "CREATE TABLE StepLog (Id BIGINT NOT NULL PRIMARY KEY, Step NVARCHAR(50) NOT NULL, \
         Took DECIMAL(10, 2) NULL, Fault NVARCHAR(100) NULL)",
    )
    .await;
    let exporter = db.exporter(LOG);
    exporter.sample_once().await;
    // 1:56:14, in a type that divides with a fraction.
    db.execute("INSERT INTO StepLog (Id, Step, Took) VALUES (1, 's', 15614)").await;
    exporter.sample_once().await;
    Series::of(&exporter).assert(&of_step("sqlqueue_run_step_duration_seconds_sum", "s"), 6974.0);
}

async fn step_rows_and_summary_rows(db: Backend) {
    db.execute(
        "CREATE TABLE History (Id INT NOT NULL PRIMARY KEY, Job NVARCHAR(20) NOT NULL, StepId INT NOT NULL, \
         Status INT NOT NULL, Seconds INT NOT NULL)",
    )
    .await;
    let exporter = db.exporter(
        "    run_logs:
      - name: log
        table: History
        where: { Job: backup }
        id: Id
        step: StepId
        run_step: '0'
        steps: ['0', '1', '2']
        duration: { column: Seconds, unit: s }
        outcome:
          column: Status
          rules: [{ equals: 1, outcome: ok }, { equals: 2, outcome: warning }]
          default: error
",
    );
    exporter.sample_once().await;
    db.execute(
        "INSERT INTO History VALUES (10, 'backup', 1, 2, 5), (11, 'backup', 1, 1, 20), (12, 'backup', 2, 1, 20), \
         (13, 'backup', 0, 1, 45), (14, 'replica', 1, 4, 12600), (15, 'replica', 1, 4, 12601), \
         (16, 'replica', 1, 4, 12602)",
    )
    .await;
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(&steps("0", "ok"), 1.0);
    series.assert(&steps("1", "warning"), 1.0);
    series.assert(&steps("1", "ok"), 1.0);
    series.assert(&steps("1", "error"), 0.0);
    series.assert(&of_step("sqlqueue_run_step_duration_seconds_sum", "0"), 45.0);
    series.assert(&of_step("sqlqueue_run_step_duration_seconds_sum", "1"), 25.0);
}

async fn times_of_steps_are_those_of_their_rows(db: Backend) {
    db.execute(
        "CREATE TABLE Zoned (Id INT NOT NULL PRIMARY KEY, Step NVARCHAR(20) NOT NULL, Began DATETIMEOFFSET(3) \
         NULL, Ended DATETIMEOFFSET(3) NULL)",
    )
    .await;
    let exporter = db.exporter(
        "    run_logs:
      - name: log
        table: Zoned
        id: Id
        step: Step
        steps: [night]
        start: { column: Began, zone: offset }
        end: { column: Ended, zone: offset }
        outcome: { default: ok }
",
    );
    exporter.sample_once().await;
    // From 02:50 to 02:10 by the wall clock, in the night when clocks go back: twenty minutes.
    db.execute(
        "INSERT INTO Zoned VALUES (1, 'night', '2026-10-25T02:50:00.000+02:00', '2026-10-25T02:10:00.000+01:00')",
    )
    .await;
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(&of_step("sqlqueue_run_last_start_timestamp_seconds", "night"), 1_792_889_400.0);
    series.assert(&of_step("sqlqueue_run_last_success_timestamp_seconds", "night"), 1_792_890_600.0);
    series.assert(&of_step("sqlqueue_run_step_duration_seconds_sum", "night"), 1200.0);
}

async fn the_newest_error_and_the_newest_success_of_a_step(db: Backend) {
    db.execute(
        "CREATE TABLE Ended (Id INT NOT NULL PRIMARY KEY, Step NVARCHAR(20) NOT NULL, Outcome NVARCHAR(20) NULL, \
         EndedAt DATETIME2(3) NULL)",
    )
    .await;
    let exporter = db.exporter(
        "    run_logs:
      - name: log
        table: Ended
        id: Id
        step: Step
        end: EndedAt
        outcome: { column: Outcome, rules: [{ equals: ok, outcome: ok }, { equals: skipped, outcome: skipped }], default: error }
",
    );
    let at = |outcome: &str| {
        let series = Series::of(&exporter);
        series.get(&of_step(&format!("sqlqueue_run_last_{outcome}_timestamp_seconds"), "s"))
    };
    db.execute("INSERT INTO Ended VALUES (1, 's', 'ok', '2026-11-30 11:00:00')").await;
    exporter.sample_once().await;
    assert_eq!((at("success"), at("error")), (Some(1_796_036_400.0), None));

    db.execute("INSERT INTO Ended VALUES (3, 's', 'broken', '2026-11-30 11:10:00')").await;
    exporter.sample_once().await;
    assert_eq!((at("success"), at("error")), (Some(1_796_036_400.0), Some(1_796_037_000.0)));

    // A skipped run is neither, and an error that commits late is not the newest.
    db.execute(
        "INSERT INTO Ended VALUES (2, 's', 'broken', '2026-11-30 11:30:00'), (4, 's', 'skipped', \
         '2026-11-30 11:20:00')",
    )
    .await;
    exporter.sample_once().await;
    assert_eq!((at("success"), at("error")), (Some(1_796_036_400.0), Some(1_796_037_000.0)));
}
