//! Databases on the real server: one per case, dropped when the case ends.

use std::io::Write as _;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::FutureExt as _;
use sqlqueue_exporter::config::Mssql;
use sqlqueue_exporter::source::{Connection, Connector as _, MssqlConnector, Rows, SourceError, Value};
use sqlqueue_exporter::statement::Statement;
use tokio::sync::Mutex;

use super::settings::settings;
use crate::backend::{Backend, PATIENCE, whole_second};

/// A database on a real server, and a session in it.
pub struct Server {
    settings: Mssql,
    session: Mutex<Box<dyn Connection>>,
    /// The server's clock when the database was made, ms since the epoch.
    started_ms: i64,
}

impl Server {
    /// Another session in the same database.
    pub async fn session(&self) -> Session {
        Session(connect(&self.settings).await)
    }

    /// How to reach the database.
    pub const fn settings(&self) -> &Mssql {
        &self.settings
    }

    /// Runs statements as one batch in the session of the case.
    pub async fn run(&self, sql: &str) -> Result<Rows, SourceError> {
        run(&mut **self.session.lock().await, sql).await
    }

    /// The server's clock, ms since the epoch.
    pub async fn now_ms(&self) -> i64 {
        now_ms(&mut **self.session.lock().await).await
    }

    /// How many seconds ago the database was made.
    pub async fn age(&self) -> f64 {
        #[allow(clippy::cast_precision_loss, reason = "some seconds")]
        let ms = (self.now_ms().await - self.started_ms) as f64;
        ms / 1000.0
    }

    /// The name of the database.
    pub fn database(&self) -> &str {
        &self.settings.database
    }
}

/// A session that lasts for some statements.
pub struct Session(Box<dyn Connection>);

impl Session {
    /// The answer to one statement.
    pub async fn query(&mut self, statement: &Statement) -> Result<Rows, SourceError> {
        self.0.query(statement, PATIENCE).await
    }

    /// Runs statements as one batch. A transaction stays open until something ends it.
    pub async fn execute(&mut self, sql: &str) {
        run(&mut *self.0, sql).await.unwrap_or_else(|error| panic!("{error}\n{sql}"));
    }
}

/// The server of a case that runs on nothing else.
pub fn server(backend: &Backend) -> &Server {
    match backend {
        Backend::Server(server) => server,
        Backend::Embedded(_) => panic!("this case needs a server"),
    }
}

/// Runs a case in a database of its own on the real server, and drops the database whether the case
/// passes or fails.
pub async fn on_server(case: impl AsyncFnOnce(Backend)) {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let settings = settings();
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("sqlqueue_test_{}_{since_epoch}_{count}", std::process::id());
    let mut admin = connect(&settings).await;
    create_database(&mut *admin, &name).await.unwrap();
    let outcome = AssertUnwindSafe(async {
        let settings = Mssql { database: name.clone(), ..settings };
        let mut session = connect(&settings).await;
        let started_ms = whole_second(now_ms(&mut *session).await);
        case(Backend::Server(Server { settings, session: Mutex::new(session), started_ms })).await;
    })
    .catch_unwind()
    .await;
    let dropped = drop_database(&mut *admin, &name).await;
    if let Err(panic) = outcome {
        resume_unwind(panic);
    }
    dropped.unwrap();
}

/// Databases are created and dropped one at a time, because they share one catalog.
static CATALOG: Mutex<()> = Mutex::const_new(());

async fn create_database(admin: &mut dyn Connection, name: &str) -> Result<Rows, SourceError> {
    let _turn = CATALOG.lock().await;
    run(admin, &format!("CREATE DATABASE {name}")).await
}

/// The sessions of the case are closed by now, but the server may not have noticed yet, and there is no sign
/// when it does.
async fn drop_database(admin: &mut dyn Connection, name: &str) -> Result<(), SourceError> {
    let _turn = CATALOG.lock().await;
    // Not every server supports this way of ending the remaining sessions.
    let _ = run(admin, &format!("ALTER DATABASE {name} SET SINGLE_USER WITH ROLLBACK IMMEDIATE")).await;
    for _ in 0..100 {
        if run(admin, &format!("DROP DATABASE {name}")).await.is_ok() {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    run(admin, &format!("DROP DATABASE {name}")).await.map(|_| ())
}

async fn connect(settings: &Mssql) -> Box<dyn Connection> {
    MssqlConnector::new(settings.clone()).connect(PATIENCE).await.unwrap()
}

async fn run(connection: &mut dyn Connection, sql: &str) -> Result<Rows, SourceError> {
    connection.query(&Statement { text: sql.to_owned(), parameters: Vec::new() }, PATIENCE).await
}

async fn now_ms(connection: &mut dyn Connection) -> i64 {
    let sql = "SELECT DATEDIFF_BIG(MILLISECOND, '1970-01-01T00:00:00', SYSUTCDATETIME()) AS ms";
    let rows = run(connection, sql).await.unwrap();
    match rows.rows[0][0] {
        Value::Int(ms) => ms,
        ref other => panic!("{other:?} is not a number"),
    }
}

/// Reports what this server cannot prove. It writes past the test harness, which hides the output of passing
/// tests.
pub fn unproven(what: &str) {
    let _ = std::io::stderr().write_all(format!("UNPROVEN {what}\n").as_bytes());
}
