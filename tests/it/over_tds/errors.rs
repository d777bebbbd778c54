//! Errors over TDS: they become their reasons, and no other target loses a sample.

use sqlqueue_exporter::clock::ManualClock;
use sqlqueue_exporter::source::{Rows, Value};
use sqlqueue_exporter::statement::{Statement, TailRequest};

use super::server::{config, exporter, twin};
use crate::support::{NOW_MS, Series};
use crate::tds::answers::{failure, queue_columns, rows};
use crate::tds::request::Request;
use crate::tds::server::TdsServer;
use crate::tds::wire::{DONE_FINAL, Kind, columns, done, fixed, in_chunks, nvarchar, row};

const TARGETS: &str = "    queues:
      - { name: failing, table: QueueDemo, preset: lease_minimal }
      - { name: good, table: TransactionQueue, preset: transactional_owner }
";

/// The statements of the two targets.
fn statements(server: &TdsServer) -> [Statement; 2] {
    let config = config(server, TARGETS);
    let statements: Vec<_> =
        config.sources[0].targets().map(|target| twin(&config, target, &TailRequest::Head)).collect();
    statements.try_into().expect("two targets")
}

/// The answer of a queue with this many ready jobs.
fn ready(jobs: i64) -> Rows {
    let columns = queue_columns();
    let row = columns.iter().map(|column| match *column {
        "now_ms" => Value::Int(NOW_MS),
        "state" => Value::Text("ready".to_owned()),
        "jobs" => Value::Int(jobs),
        _ => Value::Null,
    });
    Rows { rows: vec![row.collect()], columns: columns.into_iter().map(str::to_owned).collect() }
}

fn errors(reason: &str) -> String {
    format!(r#"sqlqueue_sample_errors_total{{source="db",queue="failing",reason="{reason}"}}"#)
}

const GOOD: &str = r#"sqlqueue_jobs{source="db",queue="good",state="ready"}"#;
const FAILING: &str = r#"sqlqueue_jobs{source="db",queue="failing",state="ready"}"#;
const UP: &str = r#"sqlqueue_up{source="db"}"#;

#[tokio::test]
async fn an_error_has_its_reason_and_costs_no_other_target_its_sample() {
    for (number, reason) in [
        (208, "missing_object"),
        (207, "missing_object"),
        (229, "permission"),
        (1205, "deadlock"),
        (1222, "lock_timeout"),
        (10794, "other"),
        (8134, "other"),
    ] {
        let server = TdsServer::start();
        let [failing, good] = statements(&server);
        let exporter = exporter(&server, TARGETS, ManualClock::at(NOW_MS));
        server.answer(&failing, failure(number));
        server.answer(&good, rows(&ready(2)));
        exporter.sample_once().await;
        let series = Series::of(&exporter);
        series.assert(&errors(reason), 1.0);
        let all = series.all().iter().filter(|(name, _)| name.starts_with("sqlqueue_sample_errors_total"));
        assert_eq!(all.map(|(_, count)| count).sum::<f64>(), 1.0, "{number}: {series:?}");
        assert_eq!(series.get(FAILING), None, "{number}: no number without an answer");
        series.assert(GOOD, 2.0);
        series.assert(UP, 1.0);
        // Both used the one connection, the second after the error.
        assert_eq!(server.seen(), [Request::from(&failing), Request::from(&good)]);
        assert_eq!(server.accepted(), 1, "{number}");
    }
}

#[tokio::test]
async fn a_target_recovers_when_its_error_does() {
    let server = TdsServer::start();
    let [failing, good] = statements(&server);
    let exporter = exporter(&server, TARGETS, ManualClock::at(NOW_MS));
    server.answer(&failing, failure(1222));
    server.answer(&good, rows(&ready(2)));
    exporter.sample_once().await;
    server.answer(&failing, rows(&ready(7)));
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(FAILING, 7.0);
    series.assert(&errors("lock_timeout"), 1.0);
}

#[tokio::test]
async fn an_answer_of_other_types_is_refused() {
    let column =
        |kind: Kind, value: Vec<u8>| [columns(&[("now_ms", kind)]), row(&[value]), done(DONE_FINAL)].concat();
    for (what, answer) in [
        ("text for a number", column(Kind::NVarChar, nvarchar(Some("1796040000000")))),
        ("binary", column(Kind::VarBinaryMax, in_chunks(Some(&[1])))),
        ("NULL for a number", column(Kind::Integer(8), fixed(&[]))),
        ("no rows", [columns(&[("now_ms", Kind::Integer(8))]), done(DONE_FINAL)].concat()),
        ("other columns", column(Kind::Integer(8), fixed(&NOW_MS.to_le_bytes()))),
    ] {
        let server = TdsServer::start();
        let [failing, good] = statements(&server);
        let exporter = exporter(&server, TARGETS, ManualClock::at(NOW_MS));
        server.answer(&failing, answer);
        server.answer(&good, rows(&ready(2)));
        exporter.sample_once().await;
        let series = Series::of(&exporter);
        assert_eq!(series.get(&errors("decode")), Some(1.0), "{what}: {series:?}");
        assert_eq!(series.get(FAILING), None, "{what}");
        series.assert(GOOD, 2.0);
        assert_eq!(server.accepted(), 1, "{what}");
    }
}

#[tokio::test]
#[should_panic(expected = "requests without an answer")]
async fn a_batch_without_an_answer_fails_its_test() {
    let server = TdsServer::start();
    let [failing, _] = statements(&server);
    server.answer(&failing, rows(&ready(1)));
    exporter(&server, TARGETS, ManualClock::at(NOW_MS)).sample_once().await;
}

#[tokio::test]
#[should_panic(expected = "requests without an answer")]
async fn a_call_with_other_values_than_expected_fails_its_test() {
    const LOG: &str = "    control_tables:\n      - { name: events, preset: notification_control }\n";
    let server = TdsServer::start();
    let config = config(&server, LOG);
    let target = config.sources[0].targets().next().expect("a target");
    let columns =
        ["now_ms", "oldest_id", "oldest_ms", "newest_id", "newest_ms", "id", "time_ms", "kind", "at_ms"];
    let row = columns.map(|column| if column == "kind" { Value::Null } else { Value::Int(5) });
    let answer = Rows { columns: columns.map(str::to_owned).to_vec(), rows: vec![row.to_vec()] };
    server.answer(&twin(&config, target, &TailRequest::Head), rows(&answer));
    let exporter = exporter(&server, LOG, ManualClock::at(NOW_MS));
    exporter.sample_once().await;
    // It has read up to 5, and asks for what comes after.
    let other = TailRequest::After { watermark: 4, gaps: Vec::new() };
    server.answer(&twin(&config, target, &other), rows(&answer));
    exporter.sample_once().await;
}
