//! Enqueue logs: a lease queue that keeps its finished jobs, read as a log of enqueued jobs.

use std::time::Duration;

use crate::support::{Bench, Series};

const TARGETS: &str = "    queues: [{ name: jobs }]\n    enqueue_logs: [{ name: jobs }]\n";

fn enqueued(queue: &str) -> String {
    format!(r#"sqlqueue_enqueued_total{{source="db",queue="{queue}"}}"#)
}

fn insert(bench: &Bench, id: u32, state: char) {
    bench.execute(&format!(
        "INSERT INTO JobQueue (JobId, State, AvailableAt, EnqueuedAt, Attempts, MaxAttempts) VALUES
        ({id}, '{state}', '2026-11-30 11:59:00.000', '2026-11-30 11:59:00.000', 0, 5)"
    ));
}

#[tokio::test]
async fn a_job_counts_once_whatever_becomes_of_it() {
    let bench = Bench::new(&["lease.sql"]);
    insert(&bench, 1, 'R');
    let exporter = bench.exporter(TARGETS);
    let count = async || {
        exporter.sample_once().await;
        Series::of(&exporter).get(&enqueued("jobs")).unwrap()
    };
    assert_eq!(count().await, 0.0, "the job that was there before is known, not counted");
    insert(&bench, 2, 'R');
    // Enqueued and done between two samples.
    insert(&bench, 3, 'D');
    assert_eq!(count().await, 2.0);
    bench.execute("UPDATE JobQueue SET State = 'W' WHERE JobId = 2");
    assert_eq!(count().await, 2.0);
    bench.execute("UPDATE JobQueue SET State = 'R' WHERE JobId = 2");
    assert_eq!(count().await, 2.0);
    bench.execute("DELETE FROM JobQueue WHERE JobId < 3");
    assert_eq!(count().await, 2.0, "a purge takes nothing back");
    insert(&bench, 4, 'R');
    assert_eq!(count().await, 3.0);
}

#[tokio::test]
async fn a_job_whose_row_was_locked_when_it_was_passed_counts_when_it_shows() {
    let bench = Bench::new(&["lease.sql"]);
    insert(&bench, 1, 'R');
    let exporter = bench.exporter(TARGETS);
    exporter.sample_once().await;
    // A claim holds the row of job 2, which READPAST leaves out.
    insert(&bench, 3, 'R');
    exporter.sample_once().await;
    Series::of(&exporter).assert(&enqueued("jobs"), 1.0);
    insert(&bench, 2, 'W');
    bench.clock.advance(Duration::from_secs(15));
    for _ in 0..2 {
        exporter.sample_once().await;
        let series = Series::of(&exporter);
        series.assert(&enqueued("jobs"), 2.0);
        series.assert(r#"sqlqueue_late_rows_total{source="db",enqueue_log="jobs"}"#, 1.0);
    }
}

#[tokio::test]
async fn a_restart_neither_loses_nor_repeats_a_job() {
    let bench = Bench::new(&["lease.sql"]);
    let state_file = bench.file.with_file_name("state.json");
    let config = format!("{TARGETS}state_file: '{}'\n", state_file.display());
    insert(&bench, 1, 'R');
    let exporter = bench.exporter(&config);
    exporter.sample_once().await;
    insert(&bench, 2, 'R');
    exporter.sample_once().await;
    drop(exporter);
    insert(&bench, 3, 'R');

    let exporter = bench.exporter(&config);
    Series::of(&exporter).assert(&enqueued("jobs"), 1.0);
    exporter.sample_once().await;
    Series::of(&exporter).assert(&enqueued("jobs"), 2.0);
}

#[tokio::test]
async fn queues_that_the_table_names_are_at_zero_before_they_count() {
    let bench = Bench::new(&["lease.sql"]);
    bench.execute("ALTER TABLE JobQueue ADD COLUMN QueueName TEXT");
    let exporter = bench.exporter(
        "    enqueue_logs:
      - { name: all, preset: enqueue_log, queue_label: QueueName }
      - { name: mail, preset: enqueue_log }
",
    );
    exporter.sample_once().await;
    assert_eq!(Series::of(&exporter).get(&enqueued("all")), None, "the names come from the table");
    insert(&bench, 1, 'R');
    insert(&bench, 2, 'R');
    bench.execute("UPDATE JobQueue SET QueueName = CASE JobId WHEN 1 THEN 'mail' ELSE 'orders' END");
    exporter.sample_once().await;
    Series::of(&exporter).assert(&enqueued("orders"), 0.0);
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(&enqueued("orders"), 1.0);
    // The target with the queue's name counts every row.
    series.assert(&enqueued("mail"), 2.0);
}
