//! Local times: those that a server wrote by its own wall clock.

use std::process::Stdio;

use rusqlite::Connection;

use crate::binary::{PATIENCE, Running, command, wait_for};

/// Central European time, spelled out so that no time zone database is needed.
const ZONE: &str = "CET-1CEST,M3.5.0/2,M10.5.0/3";

#[test]
fn local_times_take_the_offset_of_their_own_date_and_an_hour_that_comes_twice_is_not_negative() {
    let folder = tempfile::tempdir().unwrap();
    let database = Connection::open(folder.path().join("log.db")).unwrap();
    database.busy_timeout(PATIENCE).unwrap();
    database
        .execute_batch("CREATE TABLE Log (Id INTEGER PRIMARY KEY, Step TEXT, Began TEXT, Ended TEXT)")
        .unwrap();
    let config = folder.path().join("config.yaml");
    std::fs::write(
        &config,
        "global: { sample_interval: 100ms }
sources:
  - name: db
    sqlite: { file: log.db }
    run_logs:
      - name: log
        table: Log
        id: Id
        step: Step
        steps: [winter, summer, night]
        start: { column: Began, zone: server }
        end: { column: Ended, zone: server }
        outcome: { default: ok }
",
    )
    .unwrap();
    let mut server = command(&[&format!("--config.file={}", config.display())]);
    server.env("TZ", ZONE);
    let running = Running::start_as(server, Stdio::null());
    let samples = r#"sqlqueue_samples_total{source="db",run_log="log"} "#;
    let value = |series: &str| {
        let page = running.metrics();
        let line = page.lines().find_map(|line| line.strip_prefix(series)).map(str::to_owned);
        line.unwrap_or_default()
    };
    wait_for("the first sample", || match value(samples).as_str() {
        "" | "0" => Err("no sample"),
        _ => Ok(()),
    });

    database
        .execute_batch(
            "INSERT INTO Log (Step, Began, Ended) VALUES
            ('winter', '2026-11-30 12:30:00', '2026-11-30 12:30:01'),
            ('summer', '2026-07-15 12:30:00', '2026-07-15 12:30:01'),
            ('night', '2026-10-25 02:50:00', '2026-10-25 02:10:00')",
        )
        .unwrap();
    let of =
        |family: &str, step: &str| value(&format!(r#"{family}{{source="db",run_log="log",step="{step}"}} "#));
    let count = "sqlqueue_run_step_duration_seconds_count";
    wait_for("the count of the rows", || match of(count, "night").as_str() {
        "1" => Ok(()),
        other => Err(other.to_owned()),
    });
    let start = "sqlqueue_run_last_start_timestamp_seconds";
    // 11:30Z in winter, 10:30Z in summer.
    assert_eq!(of(start, "winter"), "1796038200.0");
    assert_eq!(of(start, "summer"), "1784111400.0");
    assert_eq!(of("sqlqueue_run_step_duration_seconds_sum", "night"), "1200.0");
}
