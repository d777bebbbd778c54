//! The objectives of the configuration, beside the values that they limit.

use std::time::Duration;

use crate::support::{Bench, Series};

use super::SCHEMA;

/// The page of a queue table with a column for the queue of each job.
fn labelled() -> Bench {
    let bench = Bench::new(&[]);
    bench.execute(
        "CREATE TABLE Job (Hub TEXT, Tries INTEGER, At TEXT);
        INSERT INTO Job VALUES ('mail', 1, '2026-11-30 11:59:00'), ('print', 0, '2026-11-30 11:59:30')",
    );
    bench
}

const LABELLED: &str = "    queues:
      - { name: jobs, table: Job, state: { constant: ready }, queue_label: Hub, attempts: Tries, enqueued_at: At, objectives: { max_ready_age: 90s } }
";

const READY_AGE: &str = "sqlqueue_objective_max_ready_age_seconds";

#[tokio::test]
async fn an_objective_has_the_labels_of_the_gauge_it_is_compared_to() {
    let bench = labelled();
    let exporter = bench.exporter(LABELLED);
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    for queue in ["mail", "print"] {
        let of = |family: &str| format!(r#"{family}{{source="db",queue="{queue}"}}"#);
        assert!(series.get(&of("sqlqueue_oldest_ready_age_seconds")).is_some());
        series.assert(&of(READY_AGE), 90.0);
        series.assert(&of("sqlqueue_objective_max_attempts"), 10.0);
    }
    assert_eq!(series.sum(READY_AGE, ""), 180.0, "and there are no others");
}

#[tokio::test]
async fn the_objective_of_a_queue_that_is_found_in_the_table_goes_with_the_queue() {
    let bench = labelled();
    let exporter = bench.exporter(LABELLED);
    Series::of(&exporter).assert_absent(READY_AGE);
    exporter.sample_once().await;
    bench.execute("DELETE FROM Job WHERE Hub = 'mail'");
    exporter.sample_once().await;
    let of = |queue: &str| format!(r#"{READY_AGE}{{source="db",queue="{queue}"}}"#);
    assert_eq!(Series::of(&exporter).get(&of("mail")), None);
    Series::of(&exporter).assert(&of("print"), 90.0);
    bench.clock.advance(Duration::from_secs(61));
    Series::of(&exporter).assert_absent(READY_AGE);
}

#[tokio::test]
async fn the_objectives_of_a_configured_name_are_there_before_and_after_its_gauges() {
    let bench = Bench::new(&[]);
    bench.execute(SCHEMA);
    let exporter = bench.exporter(
        "    queues: [{ name: jobs, preset: lease }]
    attempt_logs: [{ name: tries, preset: attempt_log }]
    run_logs: [{ name: runs, preset: notification_run_log, objectives: { max_consecutive_skips: 5 } }]
",
    );
    let expected = [
        (READY_AGE, r#"queue="jobs""#, 900.0),
        ("sqlqueue_objective_max_expired_age_seconds", r#"queue="jobs""#, 300.0),
        ("sqlqueue_objective_max_attempts", r#"queue="jobs""#, 10.0),
        ("sqlqueue_objective_max_failed_jobs", r#"queue="jobs""#, 10.0),
        ("sqlqueue_objective_max_lost_ratio", r#"queue="tries""#, 0.2),
        ("sqlqueue_objective_max_run_gap_seconds", r#"run_log="runs""#, 3600.0),
        ("sqlqueue_objective_max_consecutive_skips", r#"run_log="runs""#, 5.0),
        ("sqlqueue_objective_max_skip_ratio", r#"run_log="runs""#, 0.2),
        ("sqlqueue_objective_max_error_ratio", r#"run_log="runs""#, 0.2),
        ("sqlqueue_objective_max_warning_ratio", r#"run_log="runs""#, 0.5),
        ("sqlqueue_objective_max_slowdown_ratio", r#"run_log="runs""#, 3.0),
        ("sqlqueue_objective_max_log_age_seconds", r#"run_log="runs""#, 7_776_000.0),
    ];
    let assert_all = |when: &str| {
        let series = Series::of(&exporter);
        series.assert(r#"sqlqueue_objective_max_clock_skew_seconds{source="db"}"#, 30.0);
        series.assert(r#"sqlqueue_stale_after_seconds{source="db",queue="jobs"}"#, 60.0);
        for (family, label, value) in expected {
            assert_eq!(series.get(&format!("{family}{{source=\"db\",{label}}}")), Some(value), "{when}");
        }
    };
    assert_all("before the first sample");
    exporter.sample_once().await;
    assert_all("with gauges");
    bench.clock.advance(Duration::from_secs(61));
    Series::of(&exporter).assert_absent("sqlqueue_jobs");
    assert_all("when the gauges are withdrawn");
}

#[tokio::test]
async fn no_objective_has_no_series() {
    let bench = Bench::new(&[]);
    bench.execute(SCHEMA);
    let exporter = bench.exporter(
        "    queues:
      - { name: jobs, preset: lease, objectives: { max_ready_age: none } }
      - { name: work, preset: transactional_owner, table: WorkQueue }
",
    );
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert_absent(READY_AGE);
    series.assert(r#"sqlqueue_objective_max_attempts{source="db",queue="jobs"}"#, 10.0);
    let of_work = series.all().keys().filter(|name| name.contains("objective") && name.contains("work"));
    assert_eq!(of_work.count(), 0, "the table cannot be held to any");
}

#[tokio::test]
async fn two_targets_with_one_queue_name_show_the_objectives_of_the_first() {
    let bench = labelled();
    bench.execute(SCHEMA);
    let exporter = bench.exporter(&format!(
        "    queues:
      - {{ name: mail, preset: lease }}\n{}",
        LABELLED.trim_start_matches("    queues:\n")
    ));
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(&format!(r#"{READY_AGE}{{source="db",queue="mail"}}"#), 900.0);
    series.assert(&format!(r#"{READY_AGE}{{source="db",queue="print"}}"#), 90.0);
}
