//! A server's errors become the reasons they stand for, and cost nobody else a sample.

use mssql_mock_tds::{ColumnDefinition, ColumnValue, QueryResponse, Row, SqlDataType};
use sqlqueue_exporter::clock::ManualClock;
use sqlqueue_exporter::source::{Rows, Value};
use sqlqueue_exporter::statement::{Statement, TailRequest};

use crate::server::{self, Server, error, key, twin};
use crate::support::{NOW_MS, Series};

const TARGETS: &str = "    queues:
      - { name: failing, table: QueueDemo, preset: lease_minimal }
      - { name: good, table: TransactionQueue, preset: transactional_owner }
";

/// The statements of the two targets.
fn statements(server: &Server) -> [Statement; 2] {
    let config = server.config(TARGETS);
    let statements: Vec<_> =
        config.sources[0].targets().map(|target| twin(&config, target, &TailRequest::Head)).collect();
    statements.try_into().expect("two targets")
}

/// The answer of a queue with so many ready jobs.
fn ready(jobs: i64) -> Rows {
    let columns = [
        "now_ms",
        "committed_rows",
        "queue",
        "state",
        "jobs",
        "oldest_ready_age_ms",
        "expired_leases",
        "oldest_expired_lease_ms",
        "longest_running_ms",
        "retrying_jobs",
        "max_attempts",
        "future_timestamp_rows",
    ];
    let row = columns.map(|column| match column {
        "now_ms" => Value::Int(NOW_MS),
        "state" => Value::Text("ready".to_owned()),
        "jobs" => Value::Int(jobs),
        _ => Value::Null,
    });
    Rows { columns: columns.map(str::to_owned).to_vec(), rows: vec![row.to_vec()] }
}

fn errors(reason: &str) -> String {
    format!(r#"sqlqueue_sample_errors_total{{source="db",queue="failing",reason="{reason}"}}"#)
}

const GOOD: &str = r#"sqlqueue_jobs{source="db",queue="good",state="ready"}"#;
const FAILING: &str = r#"sqlqueue_jobs{source="db",queue="failing",state="ready"}"#;
const UP: &str = r#"sqlqueue_up{source="db"}"#;

#[tokio::test]
async fn an_error_has_its_reason_and_costs_no_other_target_its_sample() {
    for (number, message, reason) in [
        (208, "Invalid object name 'QueueDemo'.", "missing_object"),
        (207, "Invalid column name 'State'.", "missing_object"),
        (229, "The SELECT permission was denied on the object 'QueueDemo'.", "permission"),
        (1205, "Transaction was deadlocked and has been chosen as the victim.", "deadlock"),
        (1222, "Lock request time out period exceeded.", "lock_timeout"),
        (10794, "The table option 'readpast' is not supported with memory optimized tables.", "other"),
        (8134, "Divide by zero error encountered.", "other"),
    ] {
        let server = Server::start().await;
        let [failing, good] = statements(&server);
        let exporter = server.exporter(TARGETS, ManualClock::at(NOW_MS));
        server.answer(&failing, error(number, message)).await;
        server.answer(&good, server::rows(&ready(2))).await;
        exporter.sample_once().await;
        let series = Series::of(&exporter);
        series.assert(&errors(reason), 1.0);
        let all = series.all().iter().filter(|(name, _)| name.starts_with("sqlqueue_sample_errors_total"));
        assert_eq!(all.map(|(_, count)| count).sum::<f64>(), 1.0, "{number}: {series:?}");
        assert_eq!(series.get(FAILING), None, "{number}: no number without an answer");
        series.assert(GOOD, 2.0);
        series.assert(UP, 1.0);
        // Both were asked on the one connection, the second after the error.
        assert_eq!(server.seen(), [key(&failing), key(&good)]);
        assert_eq!(server.connections(), 1, "{number}");
    }
}

#[tokio::test]
async fn a_target_recovers_when_its_error_does() {
    let server = Server::start().await;
    let [failing, good] = statements(&server);
    let exporter = server.exporter(TARGETS, ManualClock::at(NOW_MS));
    server.answer(&failing, error(1222, "Lock request time out period exceeded.")).await;
    server.answer(&good, server::rows(&ready(2))).await;
    exporter.sample_once().await;
    server.answer(&failing, server::rows(&ready(7))).await;
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(FAILING, 7.0);
    series.assert(&errors("lock_timeout"), 1.0);
}

#[tokio::test]
async fn an_answer_of_other_types_is_refused() {
    let column = |kind: SqlDataType, value: ColumnValue| {
        QueryResponse::new(vec![ColumnDefinition::new("now_ms", kind)], vec![Row::new(vec![value])])
    };
    let text = || ColumnValue::NVarChar("1796040000000".to_owned());
    for (what, answer) in [
        ("text for a number", column(SqlDataType::NVarChar, text())),
        ("binary", column(SqlDataType::VarBinaryMax, ColumnValue::VarBinaryMax(vec![vec![1]]))),
        ("NULL for a number", column(SqlDataType::BigInt, ColumnValue::Null)),
        (
            "no rows",
            QueryResponse::new(vec![ColumnDefinition::new("now_ms", SqlDataType::BigInt)], Vec::new()),
        ),
        ("other columns", column(SqlDataType::BigInt, ColumnValue::BigInt(NOW_MS))),
    ] {
        let server = Server::start().await;
        let [failing, good] = statements(&server);
        let exporter = server.exporter(TARGETS, ManualClock::at(NOW_MS));
        server.answer(&failing, answer).await;
        server.answer(&good, server::rows(&ready(2))).await;
        exporter.sample_once().await;
        let series = Series::of(&exporter);
        assert_eq!(series.get(&errors("decode")), Some(1.0), "{what}: {series:?}");
        assert_eq!(series.get(FAILING), None, "{what}");
        series.assert(GOOD, 2.0);
        assert_eq!(server.connections(), 1, "{what}");
    }
}

#[tokio::test]
#[should_panic(expected = "statements that are not registered")]
async fn a_batch_that_is_not_registered_fails_its_test() {
    let server = Server::start().await;
    let [failing, _] = statements(&server);
    server.answer(&failing, server::rows(&ready(1))).await;
    server.exporter(TARGETS, ManualClock::at(NOW_MS)).sample_once().await;
}

#[tokio::test]
#[should_panic(expected = "statements that are not registered")]
async fn a_call_with_other_values_than_registered_fails_its_test() {
    const LOG: &str = "    control_tables:\n      - { name: events, preset: notification_control }\n";
    let server = Server::start().await;
    let config = server.config(LOG);
    let target = config.sources[0].targets().next().expect("a target");
    let columns =
        ["now_ms", "oldest_id", "oldest_ms", "newest_id", "newest_ms", "id", "time_ms", "kind", "at_ms"];
    let row = columns.map(|column| if column == "kind" { Value::Null } else { Value::Int(5) });
    let answer = Rows { columns: columns.map(str::to_owned).to_vec(), rows: vec![row.to_vec()] };
    server.answer(&twin(&config, target, &TailRequest::Head), server::rows(&answer)).await;
    let exporter = server.exporter(LOG, ManualClock::at(NOW_MS));
    exporter.sample_once().await;
    // It has read up to 5, and asks for what is after 5.
    let other = TailRequest::After { watermark: 4, gaps: Vec::new() };
    server.answer(&twin(&config, target, &other), server::rows(&answer)).await;
    exporter.sample_once().await;
}
