//! The driver's promises on a real server: values, parameters, errors, deadlines and logins.

use std::time::Duration;

use sqlqueue_exporter::config::Mssql;
use sqlqueue_exporter::config::Secret;
use sqlqueue_exporter::source::{Connection, Connector as _, MssqlConnector, Reason, SourceError, Value};
use sqlqueue_exporter::statement::{Parameter, Statement};

use super::settings::settings;
use crate::backend::PATIENCE;

async fn connect(settings: Mssql) -> Result<Box<dyn Connection>, SourceError> {
    MssqlConnector::new(settings).connect(PATIENCE).await
}

fn statement(text: &str) -> Statement {
    Statement { text: text.to_owned(), parameters: Vec::new() }
}

fn with_parameters(text: &str, values: impl IntoIterator<Item = Value>) -> Statement {
    let parameters = values.into_iter().map(|value| Parameter { meaning: "a test's", value }).collect();
    Statement { text: text.to_owned(), parameters }
}

async fn rows(connection: &mut Box<dyn Connection>, text: &str) -> Vec<Vec<Value>> {
    connection.query(&statement(text), PATIENCE).await.unwrap().rows
}

#[tokio::test]
#[ignore = "needs SQLQUEUE_TEST_MSSQL"]
async fn values_and_parameters() {
    let mut connection = connect(settings()).await.unwrap();
    let typed = "SET LOCK_TIMEOUT 1000; SELECT CAST(1 AS BIGINT) AS b, CAST(2 AS INT) AS i, \
                 CAST(3 AS SMALLINT) AS s, CAST(4 AS TINYINT) AS t, CAST(1 AS BIT) AS f, \
                 CAST(N'zażółć' AS NVARCHAR(200)) AS n, CAST(NULL AS NVARCHAR(200)) AS x";
    let int = Value::Int;
    let text = |text: &str| Value::Text(text.to_owned());
    let row = vec![int(1), int(2), int(3), int(4), int(1), text("zażółć"), Value::Null];
    assert_eq!(rows(&mut connection, typed).await, [row]);

    let asked = with_parameters(
        "SET LOCK_TIMEOUT 1000; SELECT @P1 AS a, CAST(@P2 AS NVARCHAR(200)) AS b, @P3 AS c",
        [int(i64::MAX), text("it's ż"), Value::Null],
    );
    let answered = connection.query(&asked, PATIENCE).await.unwrap();
    assert_eq!(answered.columns, ["a", "b", "c"]);
    assert_eq!(answered.rows, [vec![int(i64::MAX), text("it's ż"), Value::Null]]);
    // Longer than one packet.
    let long = with_parameters("SELECT CAST(@P1 AS NVARCHAR(4000)) AS a", [text(&"ż".repeat(4000))]);
    assert_eq!(connection.query(&long, PATIENCE).await.unwrap().rows, [vec![text(&"ż".repeat(4000))]]);
}

#[tokio::test]
#[ignore = "needs SQLQUEUE_TEST_MSSQL"]
async fn errors_leave_the_connection_in_step() {
    let mut connection = connect(settings()).await.unwrap();
    for (text, reasons) in [
        // Other TDS servers use a number of their own for it.
        ("SELECT a FROM dbo.there_is_no_such_table", [Reason::MissingObject, Reason::Other].as_slice()),
        ("SELECT CAST(1 AS BIGINT) AS n; SELECT 1 / 0 AS n", &[Reason::Other]),
        ("SELECT CAST('2025-01-01' AS DATETIME) AS claimed", &[Reason::Decode]),
        ("SELECT FROM WHERE", &[Reason::Other]),
    ] {
        for asked in [statement(text), with_parameters(text, [Value::Int(1)])] {
            let error = connection.query(&asked, PATIENCE).await.unwrap_err();
            assert!(reasons.contains(&error.reason) && !error.connection_lost, "{text}: {error:?}");
        }
        assert_eq!(rows(&mut connection, "SELECT CAST(42 AS BIGINT) AS n").await, [vec![Value::Int(42)]]);
    }
}

#[tokio::test]
#[ignore = "needs SQLQUEUE_TEST_MSSQL"]
async fn a_statement_ends_at_its_deadline() {
    let mut connection = connect(settings()).await.unwrap();
    // Counts to 10^8, which takes seconds, and ends by itself on a server that cannot cancel.
    let slow = statement(
        "WITH d AS (SELECT n FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS v (n)) \
         SELECT COUNT_BIG(*) AS n FROM d AS a CROSS JOIN d AS b CROSS JOIN d AS c CROSS JOIN d AS d \
         CROSS JOIN d AS e CROSS JOIN d AS f CROSS JOIN d AS g CROSS JOIN d AS h",
    );
    let error = connection.query(&slow, Duration::from_millis(200)).await.unwrap_err();
    assert_eq!(error.reason, Reason::Timeout, "{error}");
    if error.connection_lost {
        connection = connect(settings()).await.unwrap();
    }
    assert_eq!(rows(&mut connection, "SELECT CAST(42 AS BIGINT) AS n").await, [vec![Value::Int(42)]]);
}

#[tokio::test]
#[ignore = "needs SQLQUEUE_TEST_MSSQL"]
async fn a_wrong_password_is_a_refused_login() {
    let password = Secret::new("p@ss;w{}rd'\" zażółć");
    let error = connect(Mssql { password, ..settings() }).await.unwrap_err();
    assert_eq!((error.reason, error.connection_lost), (Reason::Login, true), "{error}");
    assert!(!error.message.contains("p@ss"), "{error}");
}
