//! Times that are not times, and times that another table holds.

use crate::support::{Bench, Series};

fn jobs(state: &str) -> String {
    format!(r#"sqlqueue_jobs{{source="db",queue="q",state="{state}"}}"#)
}

#[tokio::test]
async fn a_heartbeat_is_not_a_start() {
    let bench = Bench::new(&[]);
    bench.execute(
        "CREATE TABLE JobQueue (Id INTEGER PRIMARY KEY, StateId INTEGER NOT NULL, FetchedAt TEXT NULL);
        CREATE TABLE State (Id INTEGER PRIMARY KEY, CreatedAt TEXT NOT NULL);
        INSERT INTO State VALUES (1, '2026-11-30 08:00:00'), (2, '2026-11-30 09:00:00'), (3, '2026-11-30 07:00:00');
        INSERT INTO JobQueue VALUES
            (1, 1, NULL), (2, 2, '2026-11-30 11:59:30'), (3, 3, '2026-11-30 11:54:00')",
    );
    let exporter = bench.exporter(
        "    queues:
      - name: q
        table: JobQueue
        state: { constant: ready }
        lease: { kind: since, column: FetchedAt, timeout: 300s }
        lookup: { table: State, key: Id, column: StateId }
        claimed_at: { column: CreatedAt, lookup: true }
",
    );
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(&jobs("ready"), 1.0);
    series.assert(&jobs("running"), 1.0);
    series.assert(&jobs("expired"), 1.0);
    series.assert(r#"sqlqueue_oldest_expired_lease_seconds{source="db",queue="q"}"#, 60.0);
    series.assert(r#"sqlqueue_longest_running_seconds{source="db",queue="q"}"#, 10_800.0);
}

#[tokio::test]
async fn a_sentinel_is_no_time() {
    let bench = Bench::new(&[]);
    bench.execute(
        "CREATE TABLE Schedule (Id INTEGER PRIMARY KEY, Score REAL NOT NULL);
        INSERT INTO Schedule (Score) VALUES (-1), (1796039400), (1796043600)",
    );
    let exporter = bench.exporter(
        "    queues:
      - name: q
        table: Schedule
        state: { constant: ready }
        available_at: { column: Score, encoding: unix_s, sentinels: [-1] }
",
    );
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(&jobs("ready"), 1.0);
    series.assert(&jobs("scheduled"), 1.0);
    series.assert(r#"sqlqueue_oldest_ready_age_seconds{source="db",queue="q"}"#, 600.0);
}

#[tokio::test]
async fn a_sentinel_of_another_time_is_null() {
    let bench = Bench::new(&[]);
    bench.execute(
        "CREATE TABLE Work (Id INTEGER PRIMARY KEY, EnqueuedAt TEXT NOT NULL);
        INSERT INTO Work (EnqueuedAt) VALUES ('0001-01-01 00:00:00'), ('9999-12-31 00:00:00')",
    );
    let exporter = bench.exporter(
        "    queues:
      - name: q
        table: Work
        state: { constant: ready }
        enqueued_at: { column: EnqueuedAt, sentinels: ['0001-01-01 00:00:00', '9999-12-31 00:00:00'] }
",
    );
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(&jobs("ready"), 2.0);
    series.assert_absent("sqlqueue_oldest_ready_age_seconds");
    series.assert(r#"sqlqueue_future_timestamp_rows{source="db",queue="q"}"#, 0.0);
}
