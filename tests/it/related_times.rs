//! Related times: sentinels, which are not times, and times in another table.

use crate::backend::{Backend, on_both_databases};

on_both_databases! {
    a_claim_may_be_told_by_one_table_and_its_start_by_another
    a_sentinel_is_no_time
    a_sentinel_of_another_time_is_null
    a_sentinel_in_the_column_of_a_lease_is_no_claim
    a_related_row_that_is_there_twice_makes_no_job_twice
    a_sentinel_of_a_related_table_is_no_time
    a_related_time_is_the_same_in_every_encoding
}

fn jobs(state: &str) -> String {
    format!(r#"sqlqueue_jobs{{source="db",queue="q",state="{state}"}}"#)
}

const READY_AGE: &str = r#"sqlqueue_oldest_ready_age_seconds{source="db",queue="q"}"#;

async fn a_claim_may_be_told_by_one_table_and_its_start_by_another(db: Backend) {
    db.execute(
        "CREATE TABLE Fetched (Id INT NOT NULL PRIMARY KEY, StateId INT NOT NULL, FetchedAt DATETIME2(3) NULL)",
    )
    .await;
    db.execute("CREATE TABLE Entered (Id INT NOT NULL PRIMARY KEY, CreatedAt DATETIME2(3) NOT NULL)").await;
    let t = db.present().await;
    db.execute(&format!(
        "INSERT INTO Entered VALUES (1, {}), (2, {}), (3, {})",
        t.at(-14_400),
        t.at(-10_800),
        t.at(-18_000)
    ))
    .await;
    db.execute(&format!(
        "INSERT INTO Fetched VALUES (1, 1, NULL), (2, 2, {}), (3, 3, {})",
        t.at(-30),
        t.at(-360)
    ))
    .await;
    let series = db
        .sample(
            "    queues:
      - name: q
        table: Fetched
        state: { constant: ready }
        lease: { kind: since, column: FetchedAt, timeout: 300s }
        lookup: { table: Entered, key: Id, column: StateId }
        claimed_at: { column: CreatedAt, lookup: true }
",
        )
        .await;
    for state in ["ready", "running", "expired"] {
        series.assert(&jobs(state), 1.0);
    }
    let lapsed = r#"sqlqueue_oldest_expired_lease_seconds{source="db",queue="q"}"#;
    db.assert_age(&series, lapsed, 60.0).await;
    let running = r#"sqlqueue_longest_running_seconds{source="db",queue="q"}"#;
    db.assert_age(&series, running, 10_800.0).await;
}

async fn a_sentinel_is_no_time(db: Backend) {
    db.execute("CREATE TABLE Schedule (Id INT NOT NULL PRIMARY KEY, Score FLOAT NOT NULL)").await;
    let t = db.present().await;
    db.execute(&format!(
        "INSERT INTO Schedule VALUES (1, -1), (2, {}), (3, {})",
        t.unix_s(-600),
        t.unix_s(3600)
    ))
    .await;
    let series = db
        .sample(
            "    queues:
      - name: q
        table: Schedule
        state: { constant: ready }
        available_at: { column: Score, encoding: unix_s, sentinels: [-1] }
",
        )
        .await;
    series.assert(&jobs("ready"), 1.0);
    series.assert(&jobs("scheduled"), 1.0);
    db.assert_age(&series, READY_AGE, 600.0).await;
}

async fn a_sentinel_of_another_time_is_null(db: Backend) {
    db.execute("CREATE TABLE Work (Id INT NOT NULL PRIMARY KEY, EnqueuedAt DATETIME2(3) NOT NULL)").await;
    db.execute("INSERT INTO Work VALUES (1, '0001-01-01T00:00:00'), (2, '9999-12-31T00:00:00')").await;
    let series = db
        .sample(
            "    queues:
      - name: q
        table: Work
        state: { constant: ready }
        enqueued_at: { column: EnqueuedAt, sentinels: ['0001-01-01T00:00:00', '9999-12-31T00:00:00'] }
",
        )
        .await;
    series.assert(&jobs("ready"), 2.0);
    series.assert_absent("sqlqueue_oldest_ready_age_seconds");
    series.assert(r#"sqlqueue_future_timestamp_rows{source="db",queue="q"}"#, 0.0);
}

async fn a_sentinel_in_the_column_of_a_lease_is_no_claim(db: Backend) {
    db.execute("CREATE TABLE Leased (Id INT NOT NULL PRIMARY KEY, U BIGINT NULL)").await;
    db.execute("INSERT INTO Leased VALUES (1, 0), (2, 0), (3, NULL)").await;
    for lease in ["kind: until", "kind: since, timeout: 5m"] {
        let series = db
            .sample(&format!(
                "    queues:
      - name: q
        table: Leased
        state: {{ constant: ready }}
        lease: {{ {lease}, column: {{ column: U, encoding: unix_s, sentinels: [0] }} }}
"
            ))
            .await;
        series.assert(&jobs("ready"), 3.0);
        series.assert(&jobs("running"), 0.0);
        series.assert(&jobs("expired"), 0.0);
    }
}

/// The times of these jobs come from the table `Moment`.
fn looked_up(times: &str) -> String {
    format!(
        "    queues:
      - name: q
        table: Task
        state: {{ constant: ready }}
        lookup: {{ table: Moment, key: TaskId, column: Id }}
        {times}
"
    )
}

async fn a_related_row_that_is_there_twice_makes_no_job_twice(db: Backend) {
    db.execute("CREATE TABLE Task (Id INT NOT NULL PRIMARY KEY)").await;
    db.execute("CREATE TABLE Moment (TaskId INT NULL, At DATETIME2(3) NULL)").await;
    db.execute("INSERT INTO Task VALUES (1), (2), (3)").await;
    let t = db.present().await;
    db.execute(&format!(
        "INSERT INTO Moment VALUES (1, {}), (1, {}), (1, NULL), (2, {}), (NULL, {})",
        t.at(-600),
        t.at(-60),
        t.at(-30),
        t.at(-900)
    ))
    .await;
    let series = db.sample(&looked_up("enqueued_at: { column: At, lookup: true }")).await;
    series.assert(&jobs("ready"), 3.0);
    // Of several times, the latest counts.
    db.assert_age(&series, READY_AGE, 60.0).await;
}

async fn a_sentinel_of_a_related_table_is_no_time(db: Backend) {
    db.execute("CREATE TABLE Task (Id INT NOT NULL PRIMARY KEY)").await;
    db.execute("CREATE TABLE Moment (TaskId INT NOT NULL, Due FLOAT NULL)").await;
    db.execute("INSERT INTO Task VALUES (1), (2), (3), (4), (5)").await;
    let t = db.present().await;
    db.execute(&format!(
        "INSERT INTO Moment VALUES (1, {}), (2, {}), (3, -1), (4, NULL)",
        t.unix_s(-60),
        t.unix_s(3600)
    ))
    .await;
    let due = "{ column: Due, encoding: unix_s, sentinels: [-1], lookup: true }";
    // As the time when a job is due: the third is never due, so it waits for nothing.
    let series = db.sample(&looked_up(&format!("available_at: {due}"))).await;
    series.assert(&jobs("ready"), 3.0);
    series.assert(&jobs("scheduled"), 1.0);
    db.assert_age(&series, READY_AGE, 60.0).await;
    // As any other time, it is unknown.
    let series = db.sample(&looked_up(&format!("enqueued_at: {due}"))).await;
    series.assert(&jobs("ready"), 5.0);
    db.assert_age(&series, READY_AGE, 60.0).await;
    series.assert(r#"sqlqueue_future_timestamp_rows{source="db",queue="q"}"#, 1.0);
}

async fn a_related_time_is_the_same_in_every_encoding(db: Backend) {
    db.execute("CREATE TABLE Task (Id INT NOT NULL PRIMARY KEY)").await;
    db.execute(
        "CREATE TABLE Moment (TaskId INT NOT NULL PRIMARY KEY, Utc DATETIME2(7) NULL, Zoned DATETIMEOFFSET(7) \
         NULL, UnixS BIGINT NULL, UnixMs BIGINT NULL, Ticks BIGINT NULL)",
    )
    .await;
    db.execute("INSERT INTO Task VALUES (1), (2), (3)").await;
    let t = db.present().await;
    db.execute(&format!(
        "INSERT INTO Moment VALUES (1, {}, {}, {}, {}, {}), (2, NULL, NULL, NULL, NULL, NULL)",
        t.at(-600),
        t.at_offset(-600, -7),
        t.unix_s(-600),
        t.unix_ms(-600),
        t.ticks(-600)
    ))
    .await;
    for time in [
        "column: Utc",
        "column: Zoned, zone: offset",
        "column: UnixS, encoding: unix_s",
        "column: UnixMs, encoding: unix_ms",
        "column: Ticks, encoding: dotnet_ticks",
    ] {
        let series = db.sample(&looked_up(&format!("enqueued_at: {{ {time}, lookup: true }}"))).await;
        series.assert(&jobs("ready"), 3.0);
        db.assert_age(&series, READY_AGE, 600.0).await;
    }
}
