#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use tokio::sync::Notify;

use super::*;
use crate::clock::{Clock, ManualClock};
use crate::config;
use crate::stopped_time::pass_slowly;

/// Long enough that only a bug lets it pass.
const PATIENCE: Duration = Duration::from_secs(300);

/// A statement that asks for the time, never ends and never yields a row.
const ENDLESS: &str = "WITH RECURSIVE t(n) AS (SELECT strftime('%J', 'now') UNION ALL SELECT n + 1 FROM t) \
                       SELECT COUNT(*) FROM t";

struct Fixture {
    directory: TempDir,
}

impl Fixture {
    /// A database file on which `sql` was run.
    fn new(sql: &str) -> Self {
        let fixture = Self { directory: tempfile::tempdir().unwrap() };
        fixture.writer().execute_batch(sql).unwrap();
        fixture
    }

    fn file(&self) -> PathBuf {
        self.directory.path().join("queue.db")
    }

    fn writer(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.file()).unwrap()
    }

    fn connector(&self) -> SqliteConnector {
        connector(&self.file())
    }

    async fn connect(&self) -> Box<dyn Connection> {
        self.connector().connect(PATIENCE).await.unwrap()
    }
}

fn connector(file: &Path) -> SqliteConnector {
    SqliteConnector::new(config::Sqlite { file: file.to_path_buf() }, None, Duration::from_millis(20))
}

fn statement(text: &str) -> Statement {
    Statement { text: text.to_owned(), parameters: Vec::new() }
}

fn with_parameters(text: &str, values: impl IntoIterator<Item = Value>) -> Statement {
    let parameters = values.into_iter().map(|value| Parameter { meaning: "a test's", value }).collect();
    Statement { text: text.to_owned(), parameters }
}

async fn ask(connection: &mut Box<dyn Connection>, text: &str) -> Result<Rows, SourceError> {
    connection.query(&statement(text), PATIENCE).await
}

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

#[tokio::test]
async fn rows_come_back_with_their_columns_and_types() {
    let fixture = Fixture::new(
        "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 'ż'), (NULL, ''), (-9223372036854775808, 'x')",
    );
    let mut connection = fixture.connect().await;
    let rows = ask(&mut connection, "SELECT a, b AS [the b] FROM t ORDER BY rowid").await.unwrap();
    assert_eq!(rows.columns, ["a", "the b"]);
    assert_eq!(
        rows.rows,
        [vec![Value::Int(1), text("ż")], vec![Value::Null, text("")], vec![Value::Int(i64::MIN), text("x")],]
    );
    let none = ask(&mut connection, "SELECT a FROM t WHERE a = 7").await.unwrap();
    assert_eq!((none.columns.len(), none.rows.len()), (1, 0));
}

#[tokio::test]
async fn text_that_is_not_utf8_is_shown_as_far_as_it_goes() {
    let fixture = Fixture::new("CREATE TABLE t (a); INSERT INTO t VALUES (CAST(X'61FF62' AS TEXT))");
    let mut connection = fixture.connect().await;
    let rows = ask(&mut connection, "SELECT a FROM t").await.unwrap();
    assert_eq!(rows.rows, [vec![text("a\u{fffd}b")]]);
}

#[tokio::test]
async fn other_types_are_refused_by_name_and_cost_only_the_statement() {
    let fixture = Fixture::new("");
    let mut connection = fixture.connect().await;
    for (sql, kind) in [("SELECT 1 AS ok, 2.0 AS age", "REAL"), ("SELECT 1 AS ok, X'00' AS age", "BLOB")] {
        let error = ask(&mut connection, sql).await.unwrap_err();
        assert_eq!((error.reason, error.connection_lost), (Reason::Decode, false), "{error}");
        assert!(error.message.contains("column age") && error.message.contains(kind), "{error}");
    }
    ask(&mut connection, "SELECT 1").await.unwrap();
}

#[tokio::test]
async fn rows_are_bounded() {
    let fixture = Fixture::new("");
    let mut connection = fixture.connect().await;
    let count = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT n FROM t LIMIT";
    let rows = ask(&mut connection, &format!("{count} {MAX_RESULT_ROWS}")).await.unwrap();
    assert_eq!(rows.rows.len(), MAX_RESULT_ROWS);
    let error = ask(&mut connection, &format!("{count} {}", MAX_RESULT_ROWS + 1)).await.unwrap_err();
    assert_eq!((error.reason, error.connection_lost), (Reason::Decode, false));
    assert!(error.too_many_rows, "{error}");
}

#[tokio::test]
async fn parameters_are_bound_by_name() {
    let fixture = Fixture::new("");
    let mut connection = fixture.connect().await;
    let values = [Value::Int(7), text("it's"), Value::Null];
    let asked = with_parameters("SELECT @P3, @P2, @P1, @P2 || '!'", values);
    let rows = connection.query(&asked, PATIENCE).await.unwrap();
    assert_eq!(rows.rows, [vec![Value::Null, text("it's"), Value::Int(7), text("it's!")]]);

    // As on SQL Server, a value that the text does not use is no error, and a missing one is.
    let unused = with_parameters("SELECT 1", [Value::Int(7)]);
    connection.query(&unused, PATIENCE).await.unwrap();
    for text in ["SELECT @P2", "SELECT ?1", "SELECT ?", "SELECT @P0", "SELECT :P1"] {
        let error = connection.query(&with_parameters(text, [Value::Int(7)]), PATIENCE).await.unwrap_err();
        assert_eq!((error.reason, error.connection_lost), (Reason::Other, false), "{text}");
        assert!(error.message.contains("no value"), "{error}");
    }
}

#[tokio::test]
async fn one_statement_at_a_time() {
    let fixture = Fixture::new("");
    let mut connection = fixture.connect().await;
    let error = ask(&mut connection, "SELECT 1; SELECT 2").await.unwrap_err();
    assert_eq!((error.reason, error.connection_lost), (Reason::Other, false));
    let rows = ask(&mut connection, "-- a comment\nSELECT 1; -- and another\n").await.unwrap();
    assert_eq!(rows.rows, [vec![Value::Int(1)]]);
}

#[tokio::test]
async fn nothing_can_be_written() {
    let fixture = Fixture::new("CREATE TABLE t (a); INSERT INTO t VALUES (1)");
    let mut connection = fixture.connect().await;
    for sql in ["DELETE FROM t", "DROP TABLE t", "CREATE TABLE u (a)", "PRAGMA user_version = 7"] {
        let error = ask(&mut connection, sql).await.unwrap_err();
        assert_eq!((error.reason, error.connection_lost), (Reason::Permission, false), "{sql}: {error}");
    }
    let other = fixture.directory.path().join("other.db");
    let attach = format!("ATTACH '{}' AS other", other.display());
    ask(&mut connection, &attach).await.unwrap_err();
    assert!(!other.exists());
    let mut connection = fixture.connect().await;
    let rows = ask(&mut connection, "SELECT COUNT(*) FROM t").await.unwrap();
    assert_eq!(rows.rows, [vec![Value::Int(1)]]);
}

#[tokio::test]
async fn a_missing_file_is_named_and_not_created() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("missing.db");
    let error = connector(&file).connect(PATIENCE).await.unwrap_err();
    assert_eq!((error.reason, error.connection_lost), (Reason::Connect, true));
    assert!(error.message.contains("missing.db"), "{error}");
    assert!(!file.exists());
}

#[tokio::test]
async fn only_database_files_are_opened() {
    let directory = tempfile::tempdir().unwrap();
    let letter = directory.path().join("letter.txt");
    fs::write(&letter, "Dear operator, this is not a database.".repeat(100)).unwrap();
    for file in [letter.as_path(), directory.path()] {
        let error = connector(file).connect(PATIENCE).await.unwrap_err();
        assert_eq!(error.reason, Reason::Connect, "{error}");
        assert!(error.message.contains(&file.display().to_string()), "{error}");
    }
    // Names that mean something else to SQLite are file names here.
    for name in ["", ":memory:", "file:x?mode=memory"] {
        let error = connector(Path::new(name)).connect(PATIENCE).await.unwrap_err();
        assert_eq!(error.reason, Reason::Connect, "{name}");
    }
}

#[tokio::test]
async fn a_writer_with_an_exclusive_lock_is_a_lock_timeout() {
    let fixture = Fixture::new("CREATE TABLE t (a); INSERT INTO t VALUES (1)");
    let mut connection = fixture.connect().await;
    let writer = fixture.writer();
    writer.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let error = ask(&mut connection, "SELECT a FROM t").await.unwrap_err();
    assert_eq!((error.reason, error.connection_lost), (Reason::LockTimeout, false), "{error}");
    // Opening does not fail for it.
    let mut second = fixture.connect().await;
    writer.execute_batch("COMMIT").unwrap();
    ask(&mut connection, "SELECT a FROM t").await.unwrap();
    ask(&mut second, "SELECT a FROM t").await.unwrap();
}

#[tokio::test]
async fn a_write_ahead_log_is_read_beside_its_writer() {
    let fixture = Fixture::new("PRAGMA journal_mode = WAL; CREATE TABLE t (a)");
    let mut connection = fixture.connect().await;
    let writer = fixture.writer();
    writer.execute_batch("BEGIN IMMEDIATE; INSERT INTO t VALUES (1)").unwrap();
    let before = ask(&mut connection, "SELECT COUNT(*) FROM t").await.unwrap();
    writer.execute_batch("COMMIT").unwrap();
    let after = ask(&mut connection, "SELECT COUNT(*) FROM t").await.unwrap();
    assert_eq!((before.rows, after.rows), (vec![vec![Value::Int(0)]], vec![vec![Value::Int(1)]]));
}

#[tokio::test]
async fn missing_objects_are_told_from_bad_statements() {
    let fixture = Fixture::new("CREATE TABLE t (a)");
    let mut connection = fixture.connect().await;
    for (sql, reason, words) in [
        ("SELECT a FROM nowhere", Reason::MissingObject, "no such table: nowhere"),
        ("SELECT b FROM t", Reason::MissingObject, "no such column: b"),
        ("SELEC a FROM t", Reason::Other, "syntax error"),
        ("", Reason::Other, ""),
    ] {
        let error = ask(&mut connection, sql).await.unwrap_err();
        assert_eq!((error.reason, error.connection_lost), (reason, false), "{sql}: {error}");
        assert!(error.message.contains(words), "{error}");
        assert!(sql.is_empty() || !error.message.contains(sql), "the text is not repeated: {error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_runaway_statement_is_stopped_and_the_connection_goes_on() {
    let fixture = Fixture::new("");
    let mut connection = fixture.connect().await;
    for deadline in [Duration::from_millis(3), Duration::ZERO] {
        let asked = statement(ENDLESS);
        let outcome = tokio::select! {
            outcome = connection.query(&asked, deadline) => outcome,
            never = pass_slowly() => never,
        };
        let error = outcome.unwrap_err();
        assert_eq!((error.reason, error.connection_lost), (Reason::Timeout, false), "{error}");
        let rows = ask(&mut connection, "SELECT 1").await.unwrap();
        assert_eq!(rows.rows, [vec![Value::Int(1)]]);
    }
}

/// A clock that tells when it is asked.
#[derive(Debug, Default)]
struct Bell(Notify);

impl Clock for Bell {
    fn unix_ms(&self) -> i64 {
        self.0.notify_one();
        0
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }
}

/// Runs on a runtime of its own: leaving it waits for the blocking threads, so a statement that
/// went on would hang the test.
#[test]
fn a_statement_nobody_waits_for_is_stopped() {
    let fixture = Fixture::new("");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let bell = Arc::new(Bell::default());
        let shared: SharedClock = bell.clone();
        let connector = SqliteConnector::new(config::Sqlite { file: fixture.file() }, Some(shared), PATIENCE);
        let mut connection = connector.connect(PATIENCE).await.unwrap();
        let asked = statement(ENDLESS);
        let mut query = connection.query(&asked, PATIENCE);
        tokio::select! {
            _ = &mut query => panic!("it never ends"),
            () = bell.0.notified() => {}
        }
        drop(query);
        let error = ask(&mut connection, "SELECT 1").await.unwrap_err();
        assert!(error.connection_lost);
    });
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_that_was_replaced_is_not_read_on() {
    let fixture = Fixture::new("CREATE TABLE t (a)");
    let mut connection = fixture.connect().await;
    ask(&mut connection, "SELECT a FROM t").await.unwrap();
    let restored = fixture.directory.path().join("restored.db");
    fs::copy(fixture.file(), &restored).unwrap();
    fs::rename(&restored, fixture.file()).unwrap();
    let error = ask(&mut connection, "SELECT a FROM t").await.unwrap_err();
    assert_eq!((error.reason, error.connection_lost), (Reason::Connect, true), "{error}");
    let mut connection = fixture.connect().await;
    ask(&mut connection, "SELECT a FROM t").await.unwrap();
}

#[tokio::test]
async fn the_time_can_be_held_still() {
    let fixture = Fixture::new("");
    let clock = ManualClock::at(1_750_000_000_123);
    let config = config::Sqlite { file: fixture.file() };
    let shared: SharedClock = clock.clone();
    let connector = SqliteConnector::new(config, Some(shared), PATIENCE);
    let mut connection = connector.connect(PATIENCE).await.unwrap();

    let now = "SELECT CAST(ROUND((CAST(strftime('%J', 'now') AS REAL) - 2440587.5) * 86400000) AS INTEGER)";
    let first = ask(&mut connection, now).await.unwrap();
    assert_eq!(first.rows, [vec![Value::Int(1_750_000_000_123)]]);
    clock.advance(Duration::from_millis(4));
    let second = ask(&mut connection, now).await.unwrap();
    assert_eq!(second.rows, [vec![Value::Int(1_750_000_000_127)]]);

    for other in ["strftime('%s', 'now')", "strftime('%J', '2025-01-01')", "strftime(1, 2)"] {
        let error = ask(&mut connection, &format!("SELECT {other}")).await.unwrap_err();
        assert!(error.message.contains("only strftime('%J', 'now')"), "{error}");
    }

    // Without a clock it is SQLite's own, and it is not that of 2025.
    let mut machine = fixture.connect().await;
    let rows = ask(&mut machine, now).await.unwrap();
    assert!(
        matches!(rows.rows.as_slice(), [row] if matches!(row.as_slice(), [Value::Int(ms)] if *ms > 1_750_000_000_127))
    );
}

#[tokio::test]
async fn it_describes_itself() {
    let fixture = Fixture::new("");
    let connector = fixture.connector();
    assert_eq!(connector.describe(), fixture.file().display().to_string());
    assert_eq!(connector.dialect(), Dialect::Sqlite);
    let connection = fixture.connect().await;
    assert!(format!("{connection:?}").contains("open: true"));
}
