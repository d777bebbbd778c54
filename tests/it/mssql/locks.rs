//! Workers' locks: rows in flight, row versions, and page and table locks.

use sqlqueue_exporter::source::Value;
use sqlqueue_exporter::statement::{self, Dialect, Statement, TailRequest};

use super::database::{on_server, server, unproven};
use super::tests_on;
use crate::backend::Backend;
use crate::support::Series;

tests_on! { on_server:
    rows_that_workers_have_locked_are_in_flight
    committed_rows_are_counted_from_a_snapshot_too
    a_table_lock_is_an_error_and_no_low_number
    a_page_lock_is_an_error_and_no_low_number
    a_delete_of_so_many_rows_that_it_locks_the_table_is_an_error_and_no_low_number
    a_locked_row_is_read_as_it_was_committed_or_is_an_error
}

/// Whether the server leaves out rows that another session has locked. Other TDS servers accept the hint and
/// ignore it.
async fn skips_locked_rows(db: &Backend) -> bool {
    let mut worker = server(db).session().await;
    worker.execute("BEGIN TRANSACTION; UPDATE WorkQueue SET Payload = 'y' WHERE WorkId = 1").await;
    let text = "SELECT COUNT_BIG(*) AS n FROM WorkQueue WITH (READPAST, READCOMMITTEDLOCK) WHERE WorkId = 1";
    let seen = db.query(&Statement { text: text.to_owned(), parameters: Vec::new() }).await.unwrap();
    worker.execute("ROLLBACK TRANSACTION").await;
    seen.rows == [vec![Value::Int(0)]]
}

const WORK: &str = "    queues:\n      - { name: work, preset: transactional }\n";

async fn rows_that_workers_have_locked_are_in_flight(db: Backend) {
    db.fixture("transactional").await;
    let now = db.present().await.at(0);
    let row = format!("({now}, 'x')");
    db.execute(&format!(
        "INSERT INTO WorkQueue (EnqueuedAt, Payload) VALUES {}",
        [row.as_str(); 5].join(", ")
    ))
    .await;
    // Row versions, so that locked rows can be counted without waiting.
    db.attempt(&format!("ALTER DATABASE {} SET ALLOW_SNAPSHOT_ISOLATION ON", server(&db).database())).await;
    let (mut consumer, mut producer) = (server(&db).session().await, server(&db).session().await);
    let skips = skips_locked_rows(&db).await;
    consumer.execute("BEGIN TRANSACTION; DELETE FROM WorkQueue WITH (READPAST) WHERE WorkId = 1").await;
    producer
        .execute(&format!(
            "BEGIN TRANSACTION; INSERT INTO WorkQueue (EnqueuedAt, Payload) VALUES {row}, {row}"
        ))
        .await;
    let series = db.sample(WORK).await;
    consumer.execute("ROLLBACK TRANSACTION").await;
    producer.execute("ROLLBACK TRANSACTION").await;
    let jobs = |state: &str| format!(r#"sqlqueue_jobs{{source="db",queue="work",state="{state}"}}"#);
    if skips {
        series.assert(&jobs("ready"), 4.0);
        series.assert(&jobs("running"), 1.0);
    } else {
        unproven("rows in flight: this server does not skip locked rows, so there are none to it");
        series.assert(&jobs("ready"), 5.0);
        series.assert(&jobs("running"), 0.0);
    }
}

/// The branch for a database with snapshots but without READ_COMMITTED_SNAPSHOT.
async fn committed_rows_are_counted_from_a_snapshot_too(db: Backend) {
    db.fixture("transactional").await;
    db.execute("INSERT INTO WorkQueue (EnqueuedAt, Payload) VALUES (SYSUTCDATETIME(), 'x')").await;
    let database = server(&db).database();
    db.attempt(&format!("ALTER DATABASE {database} SET ALLOW_SNAPSHOT_ISOLATION ON")).await;
    if !skips_locked_rows(&db).await {
        unproven("a count from a snapshot: this server does not isolate sessions as SQL Server does");
        return;
    }
    let config = db.config(WORK);
    let target = config.sources[0].targets().next().unwrap();
    let mut asked =
        statement::sample(Dialect::Mssql, target, &TailRequest::Head, config.global.lock_timeout).unwrap();
    let rcsi = "is_read_committed_snapshot_on = 1";
    assert_eq!(asked.text.matches(rcsi).count(), 1);
    asked.text = asked.text.replace(rcsi, "1 = 0");
    let rows = db.query(&asked).await.unwrap_or_else(|error| panic!("{error}\n{}", asked.text));
    let column = rows.columns.iter().position(|name| name == "committed_rows").unwrap();
    assert_eq!(rows.rows[0][column], Value::Int(1));
}

/// Whether a read without a hint finds the last committed version of a row that is being changed.
async fn keeps_row_versions(db: &Backend) -> bool {
    let text = "SELECT CAST(is_read_committed_snapshot_on AS BIGINT) AS it_is FROM sys.databases \
                WHERE database_id = DB_ID()";
    let answer = db.query(&Statement { text: text.to_owned(), parameters: Vec::new() }).await.unwrap();
    answer.rows == [vec![Value::Int(1)]]
}

async fn a_locked_row_is_read_as_it_was_committed_or_is_an_error(db: Backend) {
    db.fixture("transactional").await;
    db.execute(
        "INSERT INTO WorkQueue (EnqueuedAt, Payload) VALUES (SYSUTCDATETIME(), 'x'), (SYSUTCDATETIME(), 'x')",
    )
    .await;
    let queue = "    queues:
      - { name: work, preset: transactional, lease: { kind: none }, read_mode: read_committed }
";
    let exporter = db.exporter(queue);
    let mut worker = server(&db).session().await;
    worker.execute("BEGIN TRANSACTION; DELETE FROM WorkQueue WHERE WorkId = 1").await;
    exporter.sample_once().await;
    worker.execute("ROLLBACK TRANSACTION").await;
    let ready = r#"sqlqueue_jobs{source="db",queue="work",state="ready"}"#;
    let waited = r#"sqlqueue_sample_errors_total{source="db",queue="work",reason="lock_timeout"}"#;
    if keeps_row_versions(&db).await {
        unproven("a locked row is waited for: this server keeps row versions");
        Series::of(&exporter).assert(ready, 2.0);
    } else {
        unproven("a locked row is read as it was committed: this server keeps no row versions");
        Series::of(&exporter).assert_absent("sqlqueue_jobs");
        Series::of(&exporter).assert(waited, 1.0);
    }
    exporter.sample_once().await;
    Series::of(&exporter).assert(ready, 2.0);
}

async fn a_table_lock_is_an_error_and_no_low_number(db: Backend) {
    locked(&db, 1, "UPDATE WorkQueue WITH (TABLOCKX) SET Payload = 'y'").await;
}

async fn a_page_lock_is_an_error_and_no_low_number(db: Backend) {
    locked(&db, 1, "UPDATE WorkQueue WITH (PAGLOCK) SET Payload = 'y'").await;
}

/// More than 5000 locks of one statement become one table lock.
async fn a_delete_of_so_many_rows_that_it_locks_the_table_is_an_error_and_no_low_number(db: Backend) {
    locked(&db, 10_000, "DELETE FROM WorkQueue").await;
}

/// While a worker holds what this statement locks, which is more than rows, the queue has no values.
async fn locked(db: &Backend, rows: u32, statement: &str) {
    db.fixture("transactional").await;
    db.execute(&format!(
        "WITH n AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM n WHERE n < {rows}) \
         INSERT INTO WorkQueue (EnqueuedAt, Payload) SELECT SYSUTCDATETIME(), 'x' FROM n \
         OPTION (MAXRECURSION 0)"
    ))
    .await;
    if !skips_locked_rows(db).await {
        unproven(&format!("{statement} is an error of the sample: this server ignores lock hints"));
        return;
    }
    let mut worker = server(db).session().await;
    worker.execute(&format!("BEGIN TRANSACTION; {statement}")).await;
    let exporter = db.exporter(WORK);
    exporter.sample_once().await;
    worker.execute("ROLLBACK TRANSACTION").await;
    let series = Series::of(&exporter);
    series.assert_absent("sqlqueue_jobs");
    series.assert(r#"sqlqueue_sample_errors_total{source="db",queue="work",reason="lock_timeout"}"#, 1.0);
    // The lock is gone, and so is the error.
    exporter.sample_once().await;
    let ready = r#"sqlqueue_jobs{source="db",queue="work",state="ready"}"#;
    Series::of(&exporter).assert(ready, f64::from(rows));
}
