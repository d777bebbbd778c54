//! Attempt logs: the attempts of a lease queue become counters and histograms, each row counted once.

use crate::support::{Bench, Series};

const PRESET: &str = "    attempt_logs:\n      - { name: jobs, preset: attempt_log }\n";
const LABELLED: &str =
    "    attempt_logs:\n      - { name: jobs, preset: attempt_log, queue_label: QueueName }\n";

/// Job 2: an error of 2 s, then done after 4 s; job 3: lost, then done in 500 ms.
const ATTEMPTS: &str = "
    INSERT INTO JobAttempt (QueueName, JobId, Attempt, Outcome, EnqueuedAt, StartedAt, EndedAt, DurationMs) VALUES
    ('orders', 2, 1, 'error', '2026-11-30 11:50:00.000', '2026-11-30 11:50:01.000', '2026-11-30 11:50:03.000', 2000),
    ('orders', 2, 2, 'ok', '2026-11-30 11:50:00.000', '2026-11-30 11:50:10.000', '2026-11-30 11:50:14.000', 4000),
    ('mail', 3, 1, 'lost', '2026-11-30 11:51:00.000', '2026-11-30 11:51:00.000', '2026-11-30 11:55:00.000', 240000),
    ('mail', 3, 2, 'ok', '2026-11-30 11:51:00.000', '2026-11-30 11:55:01.000', '2026-11-30 11:55:01.500', 500);
";

fn of_queue(family: &str, queue: &str) -> String {
    format!(r#"sqlqueue_{family}{{source="db",queue="{queue}"}}"#)
}

fn attempts(queue: &str, outcome: &str) -> String {
    format!(r#"sqlqueue_attempts_total{{source="db",queue="{queue}",outcome="{outcome}"}}"#)
}

#[tokio::test]
async fn every_series_of_the_declared_name_is_there_at_zero_from_the_first_sample() {
    let bench = Bench::new(&["attempt_log.sql"]);
    let exporter = bench.exporter(PRESET);
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    for outcome in ["ok", "error", "lost"] {
        series.assert(&attempts("jobs", outcome), 0.0);
    }
    for family in [
        "retries_total",
        "lease_reclaims_total",
        "attempt_duration_seconds_count",
        "completion_delay_seconds_count",
    ] {
        series.assert(&of_queue(family, "jobs"), 0.0);
    }
    series.assert(r#"sqlqueue_samples_total{source="db",attempt_log="jobs"}"#, 1.0);
    series.assert(r#"sqlqueue_late_rows_total{source="db",attempt_log="jobs"}"#, 0.0);
    series.assert(r#"sqlqueue_dropped_label_values_total{source="db",attempt_log="jobs"}"#, 0.0);
}

#[tokio::test]
async fn attempts_become_counters_and_histograms_and_each_is_counted_once() {
    let bench = Bench::new(&["attempt_log.sql"]);
    let exporter = bench.exporter(PRESET);
    exporter.sample_once().await;
    bench.execute(ATTEMPTS);
    for _ in 0..2 {
        exporter.sample_once().await;
        let series = Series::of(&exporter);
        series.assert(&attempts("jobs", "ok"), 2.0);
        series.assert(&attempts("jobs", "error"), 1.0);
        series.assert(&attempts("jobs", "lost"), 1.0);
        series.assert(&of_queue("retries_total", "jobs"), 2.0);
        series.assert(&of_queue("lease_reclaims_total", "jobs"), 1.0);
        // Without the lost one: 2 s + 4 s + 0.5 s.
        series.assert(&of_queue("attempt_duration_seconds_count", "jobs"), 3.0);
        series.assert(&of_queue("attempt_duration_seconds_sum", "jobs"), 6.5);
        // Only finished jobs have a completion delay: 14 s + 4 min 1.5 s.
        series.assert(&of_queue("completion_delay_seconds_count", "jobs"), 2.0);
        series.assert(&of_queue("completion_delay_seconds_sum", "jobs"), 255.5);
    }
}

#[tokio::test]
async fn a_queue_of_the_table_is_at_zero_for_one_sample_before_it_counts() {
    let bench = Bench::new(&["attempt_log.sql"]);
    let exporter = bench.exporter(LABELLED);
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    assert_eq!(series.get(&attempts("jobs", "ok")), None, "the names come from the table");
    series.assert(&attempts("mail", "ok"), 0.0);

    bench.execute(ATTEMPTS);
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(&attempts("mail", "ok"), 1.0);
    series.assert(&of_queue("lease_reclaims_total", "mail"), 1.0);
    series.assert(&attempts("orders", "ok"), 0.0);
    series.assert(&of_queue("completion_delay_seconds_count", "orders"), 0.0);

    for _ in 0..2 {
        exporter.sample_once().await;
        let series = Series::of(&exporter);
        series.assert(&attempts("orders", "ok"), 1.0);
        series.assert(&attempts("orders", "error"), 1.0);
        series.assert(&of_queue("retries_total", "orders"), 1.0);
        series.assert(&of_queue("completion_delay_seconds_sum", "orders"), 14.0);
    }
}

#[tokio::test]
async fn a_row_that_commits_late_is_counted_once() {
    let bench = Bench::new(&["attempt_log.sql"]);
    let exporter = bench.exporter(PRESET);
    exporter.sample_once().await;
    let insert = |id: u32| {
        bench.execute(&format!(
            "INSERT INTO JobAttempt (AttemptId, JobId, Attempt, Outcome) VALUES ({id}, 9, 1, 'ok')"
        ));
    };
    insert(3);
    exporter.sample_once().await;
    insert(2);
    for _ in 0..2 {
        exporter.sample_once().await;
        let series = Series::of(&exporter);
        series.assert(&attempts("jobs", "ok"), 2.0);
        series.assert(r#"sqlqueue_late_rows_total{source="db",attempt_log="jobs"}"#, 1.0);
    }
}

#[tokio::test]
async fn a_restart_neither_loses_nor_repeats_an_attempt() {
    let bench = Bench::new(&["attempt_log.sql"]);
    let state_file = bench.file.with_file_name("state.json");
    let config = format!("{LABELLED}state_file: '{}'\n", state_file.display());
    let exporter = bench.exporter(&config);
    exporter.sample_once().await;
    bench.execute(ATTEMPTS);
    // The rows of `orders` are read now, and counted after the restart.
    exporter.sample_once().await;
    drop(exporter);

    let exporter = bench.exporter(&config);
    let series = Series::of(&exporter);
    series.assert(&attempts("mail", "ok"), 1.0);
    series.assert(&attempts("orders", "ok"), 0.0);
    series.assert(&of_queue("attempt_duration_seconds_sum", "mail"), 0.5);
    // The first sample counts at once: no scrape can have seen the 0 yet.
    exporter.sample_once().await;
    Series::of(&exporter).assert(&attempts("orders", "ok"), 0.0);
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(&attempts("mail", "ok"), 1.0);
    series.assert(&attempts("orders", "ok"), 1.0);
    series.assert(&of_queue("completion_delay_seconds_sum", "orders"), 14.0);
}

#[tokio::test]
async fn what_is_negative_or_null_is_not_observed() {
    let bench = Bench::new(&["attempt_log.sql"]);
    let exporter = bench.exporter(PRESET);
    exporter.sample_once().await;
    bench.execute(
        "INSERT INTO JobAttempt (JobId, Attempt, Outcome, EnqueuedAt, EndedAt, DurationMs) VALUES
        (1, 1, 'ok', '2026-11-30 11:50:05.000', '2026-11-30 11:50:00.000', -1),
        (2, 1, 'ok', NULL, '2026-11-30 11:50:00.000', NULL),
        (3, 1, 'ok', '2026-11-30 11:50:00.000', NULL, NULL),
        (4, 1, 'ok', '2026-11-30 11:50:00.000', '2026-11-30 11:50:00.000', 0)",
    );
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(&attempts("jobs", "ok"), 4.0);
    for family in ["attempt_duration_seconds", "completion_delay_seconds"] {
        series.assert(&of_queue(&format!("{family}_count"), "jobs"), 1.0);
        series.assert(&of_queue(&format!("{family}_sum"), "jobs"), 0.0);
    }
}

#[tokio::test]
async fn without_a_duration_column_the_times_tell_the_duration() {
    let bench = Bench::new(&["attempt_log.sql"]);
    let exporter =
        bench.exporter("    attempt_logs:\n      - { name: jobs, preset: attempt_log, duration: null }\n");
    exporter.sample_once().await;
    bench.execute(
        "INSERT INTO JobAttempt (JobId, Attempt, Outcome, StartedAt, EndedAt, DurationMs) VALUES
        (1, 1, 'error', '2026-11-30 11:50:00.000', '2026-11-30 11:50:00.250', 99)",
    );
    exporter.sample_once().await;
    Series::of(&exporter).assert(&of_queue("attempt_duration_seconds_sum", "jobs"), 0.25);
}

#[tokio::test]
async fn what_the_table_cannot_tell_has_no_series() {
    let bench = Bench::new(&["attempt_log.sql"]);
    let exporter = bench.exporter(
        "    attempt_logs:
      - name: jobs
        table: JobAttempt
        id: AttemptId
        outcome: { column: Outcome, rules: [ { equals: ok, outcome: ok } ], default: error }
",
    );
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(&attempts("jobs", "ok"), 0.0);
    for absent in [
        "sqlqueue_retries_total",
        "sqlqueue_lease_reclaims_total",
        "sqlqueue_attempt_duration_seconds_count",
        "sqlqueue_completion_delay_seconds_count",
    ] {
        series.assert_absent(absent);
    }
}

#[tokio::test]
async fn two_tables_with_the_same_queue_do_not_make_a_series_twice() {
    let bench = Bench::new(&["attempt_log.sql"]);
    let exporter = bench.exporter(
        "    attempt_logs:
      - { name: mail, preset: attempt_log }
      - { name: jobs, preset: attempt_log, queue_label: QueueName }
",
    );
    exporter.sample_once().await;
    Series::of(&exporter).assert(&attempts("mail", "ok"), 0.0);
}
