//! Leases found in the field, with what other tools got wrong about them and the right values.

use crate::backend::{Backend, on_both_databases};
use crate::support::Series;

on_both_databases! {
    every_state_of_a_full_lease_table
    lease_tolerance_and_offsets
    poison_job_int_overflow_and_stale_owner
    visibility_timeout_shorter_than_the_work
    a_heartbeat_is_not_a_start
    clock_skew_of_a_worker
}

fn jobs(state: &str) -> String {
    format!(r#"sqlqueue_jobs{{source="db",queue="q",state="{state}"}}"#)
}

fn of_queue(family: &str) -> String {
    format!(r#"{family}{{source="db",queue="q"}}"#)
}

#[track_caller]
fn assert_jobs(series: &Series, expected: &[(&str, f64)]) {
    for (state, count) in expected {
        series.assert(&jobs(state), *count);
    }
}

async fn every_state_of_a_full_lease_table(db: Backend) {
    db.fixture("lease").await;
    let t = db.present().await;
    let token = "'5f0c2a3e-0000-4000-8000-00000000000a'";
    let (now, ago) = (t.at(0), |seconds: i64| t.at(-seconds));
    let rows = [
        // State, token, lease until, claimed, available, enqueued, attempts, most attempts.
        format!("('R', NULL, NULL, NULL, {}, {}, 0, 5)", ago(120), ago(300)),
        format!("('R', NULL, NULL, NULL, {}, {}, 0, 5)", ago(200), ago(90)),
        format!("('R', NULL, NULL, NULL, {}, {}, 0, 5)", t.at(3600), ago(90)),
        format!("('R', NULL, NULL, NULL, {}, {}, 2, 5)", t.at(3600), ago(900)),
        format!("('R', NULL, NULL, NULL, {}, {}, 5, 5)", ago(10), ago(9000)),
        format!("('R', NULL, NULL, NULL, {now}, {}, 0, 5)", t.at(3600)),
        format!("('W', {token}, {}, {}, {now}, {now}, 1, 5)", t.at(1800), ago(60)),
        format!("('W', {token}, {}, {}, {now}, {now}, 2, 5)", t.at(1800), ago(30)),
        format!("('W', {token}, {}, {}, {}, {}, 1, 5)", ago(60), ago(400), ago(500), ago(500)),
        format!("('W', {token}, {}, {}, {}, {}, 5, 5)", ago(120), ago(400), ago(500), ago(500)),
        format!("('F', {token}, NULL, {}, {}, {}, 9, 5)", ago(400), ago(500), ago(500)),
        format!("('D', {token}, NULL, {}, {}, {}, 9, 9)", ago(400), ago(500), ago(500)),
        format!("('?', NULL, NULL, NULL, {}, {}, 9, 9)", ago(500), ago(500)),
    ];
    db.execute(&format!(
        "INSERT INTO JobQueue (State, ClaimToken, LeaseUntil, ClaimedAt, AvailableAt, EnqueuedAt, Attempts, \
         MaxAttempts) VALUES {}",
        rows.join(", ")
    ))
    .await;
    let series = db.sample("    queues:\n      - { name: q, preset: lease }\n").await;
    assert_jobs(
        &series,
        &[
            ("ready", 3.0),
            ("scheduled", 1.0),
            ("retrying", 1.0),
            ("running", 2.0),
            ("expired", 1.0),
            ("exhausted", 2.0),
            ("failed", 1.0),
            ("unknown", 1.0),
        ],
    );
    assert_eq!(series.get(&jobs("done")), None, "finished rows are not read");
    // Since it was both enqueued and due.
    db.assert_age(&series, &of_queue("sqlqueue_oldest_ready_age_seconds"), 120.0).await;
    series.assert(&of_queue("sqlqueue_expired_leases"), 2.0);
    db.assert_age(&series, &of_queue("sqlqueue_oldest_expired_lease_seconds"), 120.0).await;
    db.assert_age(&series, &of_queue("sqlqueue_longest_running_seconds"), 60.0).await;
    // A first claim is not a retry.
    series.assert(&of_queue("sqlqueue_retrying_jobs"), 4.0);
    series.assert(&of_queue("sqlqueue_max_attempts"), 5.0);
    series.assert(&of_queue("sqlqueue_future_timestamp_rows"), 1.0);
}

async fn lease_tolerance_and_offsets(db: Backend) {
    db.execute("CREATE TABLE Msg (Id BIGINT NOT NULL PRIMARY KEY, Until DATETIMEOFFSET(3) NULL)").await;
    let queue = |tolerance: &str| {
        format!(
            "    queues:\n      - name: q\n        table: Msg\n        state: {{ constant: ready }}\n        \
             lease: {{ kind: until, column: {{ column: Until, zone: offset }}{tolerance} }}\n"
        )
    };
    // Wall clocks with two offsets: compared as written, only one has lapsed. In minutes, because a server's
    // clock keeps running on a slow machine.
    let t = db.present().await;
    let (ten, sixty) = (t.at_offset(-600, 0), t.at_offset(-3600, 2));
    db.execute(&format!("INSERT INTO Msg (Id, Until) VALUES (1, {ten}), (2, {sixty})")).await;
    let series = db.sample(&queue(", tolerance: 30m")).await;
    assert_jobs(&series, &[("running", 1.0), ("expired", 1.0), ("ready", 0.0)]);
    db.assert_age(&series, &of_queue("sqlqueue_oldest_expired_lease_seconds"), 1800.0).await;
    let series = db.sample(&queue("")).await;
    assert_jobs(&series, &[("running", 0.0), ("expired", 2.0), ("ready", 0.0)]);
    db.assert_age(&series, &of_queue("sqlqueue_oldest_expired_lease_seconds"), 3600.0).await;
}

async fn poison_job_int_overflow_and_stale_owner(db: Backend) {
    db.execute(
        "CREATE TABLE Task (Id BIGINT NOT NULL PRIMARY KEY, Since DATETIME2(3) NOT NULL, \
         LockedBy NVARCHAR(20) NULL, LockUntil DATETIME2(3) NULL, Tries INT NOT NULL)",
    )
    .await;
    let t = db.present().await;
    const MONTH: i64 = 2_592_000;
    db.execute(&format!(
        "INSERT INTO Task (Id, Since, LockedBy, LockUntil, Tries) VALUES (1, {}, 'w1', {}, 21600), \
         (2, {}, NULL, NULL, 0), (3, {}, 'w2', {}, 1)",
        t.at(-MONTH),
        t.at(-1200),
        t.at(-60),
        t.at(-120),
        t.at(60)
    ))
    .await;
    let queue = |lease: &str| {
        format!(
            "    queues:\n      - name: q\n        table: Task\n        state: {{ constant: ready }}\n        \
             lease: {lease}\n        enqueued_at: Since\n        attempts: {{ column: Tries, counts: claims \
             }}\n"
        )
    };
    // The owner of the poison job is still in its row; its lock is not.
    let series = db.sample(&queue("{ kind: until, column: LockUntil }")).await;
    assert_jobs(&series, &[("expired", 1.0), ("ready", 1.0), ("running", 1.0)]);
    series.assert(&of_queue("sqlqueue_max_attempts"), 21600.0);
    db.assert_age(&series, &of_queue("sqlqueue_oldest_expired_lease_seconds"), 1200.0).await;
    db.assert_age(&series, &of_queue("sqlqueue_oldest_ready_age_seconds"), 60.0).await;
    // A month in milliseconds needs more than 32 bits.
    let series = db.sample(&queue("{ kind: none }")).await;
    #[allow(clippy::cast_precision_loss, reason = "a small number")]
    db.assert_age(&series, &of_queue("sqlqueue_oldest_ready_age_seconds"), MONTH as f64).await;
}

async fn visibility_timeout_shorter_than_the_work(db: Backend) {
    db.execute(
        "CREATE TABLE jobs (id BIGINT NOT NULL PRIMARY KEY, queue NVARCHAR(255) NOT NULL, attempts SMALLINT \
         NOT NULL, reserved_at INT NULL, available_at INT NOT NULL, created_at INT NOT NULL)",
    )
    .await;
    let t = db.present().await;
    let (reserved, created) = (t.unix_s(-91), t.unix_s(-95));
    db.execute(&format!("INSERT INTO jobs VALUES (1, 'q', 1, {reserved}, {created}, {created})")).await;
    let queue = "    queues:
      - name: jobs
        table: jobs
        id: id
        queue_label: queue
        state: { constant: ready }
        lease: { kind: since, column: { column: reserved_at, encoding: unix_s }, timeout: 90s }
        claimed_at: { column: reserved_at, encoding: unix_s }
        available_at: { column: available_at, encoding: unix_s }
        enqueued_at: { column: created_at, encoding: unix_s }
        attempts: { column: attempts, counts: claims }
";
    let exporter = db.exporter(queue);
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    assert_jobs(&series, &[("expired", 1.0), ("running", 0.0), ("ready", 0.0)]);
    db.assert_age(&series, &of_queue("sqlqueue_oldest_expired_lease_seconds"), 1.0).await;
    series.assert(&of_queue("sqlqueue_retrying_jobs"), 0.0);
    series.assert(&of_queue("sqlqueue_lease_reclaims_total"), 0.0);

    // Another worker takes the job while the first still works.
    let reserved = db.present().await.unix_s(0);
    db.execute(&format!("UPDATE jobs SET attempts = 2, reserved_at = {reserved} WHERE id = 1")).await;
    for _ in 0..2 {
        exporter.sample_once().await;
        Series::of(&exporter).assert(&of_queue("sqlqueue_lease_reclaims_total"), 1.0);
    }
    let series = Series::of(&exporter);
    assert_jobs(&series, &[("expired", 0.0), ("running", 1.0), ("ready", 0.0)]);
    series.assert(&of_queue("sqlqueue_retrying_jobs"), 1.0);
    db.assert_age(&series, &of_queue("sqlqueue_longest_running_seconds"), 0.0).await;
}

async fn a_heartbeat_is_not_a_start(db: Backend) {
    db.execute(
        "CREATE TABLE Fetched (Id BIGINT NOT NULL PRIMARY KEY, FetchedAt DATETIME NULL, StartedAt DATETIME NULL)",
    )
    .await;
    let t = db.present().await;
    db.execute(&format!(
        "INSERT INTO Fetched (Id, FetchedAt, StartedAt) VALUES (1, NULL, NULL), (2, {}, {}), (3, {}, {})",
        t.at(-30),
        t.at(-10_800),
        t.at(-360),
        t.at(-720)
    ))
    .await;
    let series = db
        .sample(
            "    queues:
      - name: q
        table: Fetched
        state: { constant: ready }
        lease: { kind: since, column: FetchedAt, timeout: 5m }
        claimed_at: StartedAt
",
        )
        .await;
    assert_jobs(&series, &[("ready", 1.0), ("running", 1.0), ("expired", 1.0)]);
    db.assert_age(&series, &of_queue("sqlqueue_oldest_expired_lease_seconds"), 60.0).await;
    db.assert_age(&series, &of_queue("sqlqueue_longest_running_seconds"), 10_800.0).await;
}

async fn clock_skew_of_a_worker(db: Backend) {
    db.fixture("published_lease").await;
    let t = db.present().await;
    // A lease of two minutes, taken by a clock that is 90 s fast.
    db.execute("DELETE FROM QueueDemo").await;
    db.execute(&format!(
        "INSERT INTO QueueDemo (State, ClaimToken, LeaseUntil, Payload) VALUES \
         ('W', '5f0c2a3e-0000-4000-8000-00000000000a', {}, 'skewed')",
        t.at(210)
    ))
    .await;
    let series =
        db.sample("    queues:\n      - { name: q, table: QueueDemo, preset: lease_minimal }\n").await;
    assert_jobs(&series, &[("running", 1.0), ("expired", 0.0)]);
}
