//! The databases that a case runs on: the embedded one, whose clock stands still, and, where
//! there is one, a real server, whose clock does not.

use std::io::Write as _;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::FutureExt as _;
use sqlqueue_exporter::clock::ManualClock;
use sqlqueue_exporter::config::Mssql;
use sqlqueue_exporter::config::{self, Config, Database, Environment};
use sqlqueue_exporter::exporter::Exporter;
use sqlqueue_exporter::source::{
    Connection, Connector, MssqlConnector, Rows, SourceError, SqliteConnector, Value,
};
use sqlqueue_exporter::statement::{Dialect, Statement};
use tokio::sync::Mutex;

use crate::support::{Bench, NOW_MS, Series, patient_config};

#[path = "../support/mssql_server.rs"]
mod mssql_server;

/// Long enough that only a bug lets it pass.
const PATIENCE: Duration = Duration::from_secs(300);

/// Makes each case a test on the embedded database and one on a real server.
macro_rules! on_both_databases {
    ($($case:ident)*) => {
        mod embedded {
            $(#[tokio::test]
            async fn $case() {
                super::$case(crate::backend::Backend::embedded()).await;
            })*
        }
        mod real_server {
            $(#[tokio::test]
            async fn $case() {
                crate::backend::on_server(concat!(module_path!(), "::", stringify!($case)), super::$case)
                    .await;
            })*
        }
    };
}
pub(crate) use on_both_databases;

/// A database of its own for one case.
pub enum Backend {
    Embedded(Bench),
    Server(Server),
}

/// A database on a real server, and a session in it.
pub struct Server {
    settings: Mssql,
    session: Mutex<Box<dyn Connection>>,
    /// The server's clock when the database was made, ms since the epoch.
    started_ms: i64,
}

impl Backend {
    pub fn embedded() -> Self {
        Self::Embedded(Bench::new(&[]))
    }

    /// Runs the fixture of this name: there is a twin for each kind of database.
    pub async fn fixture(&self, name: &str) {
        let folder = match self {
            Self::Embedded(_) => "tests/fixtures",
            Self::Server(_) => "tests/fixtures/mssql",
        };
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(format!("{name}.sql"));
        self.execute(&std::fs::read_to_string(path).unwrap()).await;
    }

    /// Runs statements as one batch.
    pub async fn execute(&self, sql: &str) {
        match self {
            Self::Embedded(bench) => bench.execute(sql),
            Self::Server(server) => {
                let ran = run(&mut **server.session.lock().await, sql).await;
                ran.unwrap_or_else(|error| panic!("{error}\n{sql}"));
            }
        }
    }

    /// Runs statements that a server may not know; says whether it did.
    pub async fn attempt(&self, sql: &str) -> bool {
        run(&mut **server(self).session.lock().await, sql).await.is_ok()
    }

    /// The answer to one statement, asked through a connection of the exporter's own kind.
    pub async fn query(&self, statement: &Statement) -> Result<Rows, SourceError> {
        let connector: Box<dyn Connector> = match self {
            Self::Embedded(bench) => {
                let sqlite = config::Sqlite { file: bench.file.clone() };
                Box::new(SqliteConnector::new(sqlite, Some(bench.clock.clone()), PATIENCE))
            }
            Self::Server(server) => Box::new(MssqlConnector::new(server.settings.clone())),
        };
        connector.connect(PATIENCE).await?.query(statement, PATIENCE).await
    }

    pub const fn dialect(&self) -> Dialect {
        match self {
            Self::Embedded(_) => Dialect::Sqlite,
            Self::Server(_) => Dialect::Mssql,
        }
    }

    /// The configuration of one source with these targets (YAML, indented by four).
    pub fn config(&self, targets: &str) -> Config {
        match self {
            Self::Embedded(bench) => bench.config(targets),
            Self::Server(server) => {
                let database = "{ host: h, database: d, user: u, password_file: /password }";
                let environment = Environment::empty().with_file("/password", "p");
                let mut config = patient_config(&format!("mssql: {database}"), targets, &environment);
                config.sources[0].database = Database::Mssql(server.settings.clone());
                config
            }
        }
    }

    pub fn exporter(&self, targets: &str) -> Exporter {
        match self {
            Self::Embedded(bench) => bench.exporter(targets),
            // The exporter's clock is never compared with a column, so it may say anything.
            Self::Server(_) => Exporter::new(self.config(targets), ManualClock::at(NOW_MS)).unwrap(),
        }
    }

    /// The page after one sample of these targets.
    pub async fn sample(&self, targets: &str) -> Series {
        let exporter = self.exporter(targets);
        exporter.sample_once().await;
        let series = Series::of(&exporter);
        series.assert(r#"sqlqueue_up{source="db"}"#, 1.0);
        series
    }

    /// The present, for the rows of a case.
    pub async fn present(&self) -> Present {
        Present { ms: whole_second(self.now_ms().await) }
    }

    async fn now_ms(&self) -> i64 {
        match self {
            Self::Embedded(_) => NOW_MS,
            Self::Server(server) => {
                let asked = "SELECT DATEDIFF_BIG(MILLISECOND, '1970-01-01T00:00:00', SYSUTCDATETIME()) AS ms";
                let rows = run(&mut **server.session.lock().await, asked).await.unwrap();
                int(&rows)
            }
        }
    }

    /// Moves the clock where that can be done; says by how much, in seconds.
    pub fn advance(&self, by: Duration) -> f64 {
        match self {
            Self::Embedded(bench) => {
                bench.clock.advance(by);
                by.as_secs_f64()
            }
            Self::Server(_) => 0.0,
        }
    }

    /// Fails unless the series has this value: to the millisecond where the clock stands still, and
    /// at most older by the age of the database where it does not.
    #[track_caller]
    pub fn assert_age(&self, series: &Series, name: &str, seconds: f64) -> impl Future<Output = ()> {
        let found = series.get(name);
        let place = std::panic::Location::caller();
        async move {
            let slack = match self {
                Self::Embedded(_) => 0.0,
                #[allow(clippy::cast_precision_loss, reason = "some seconds")]
                Self::Server(server) => (self.now_ms().await - server.started_ms) as f64 / 1000.0,
            };
            let fits = found.is_some_and(|found| (seconds..=seconds + slack).contains(&found));
            assert!(fits, "{place}: {name} is {found:?}, not {seconds} (+ {slack})");
        }
    }

    /// A text constant of this database.
    pub fn text(&self, text: &str) -> String {
        let quoted = format!("'{}'", text.replace('\'', "''"));
        match self {
            Self::Embedded(_) => quoted,
            Self::Server(_) => format!("N{quoted}"),
        }
    }

    /// A name of a table or column in this database's quotes.
    pub fn quoted(&self, name: &str) -> String {
        match self {
            Self::Embedded(_) => format!("\"{}\"", name.replace('"', "\"\"")),
            Self::Server(_) => format!("[{}]", name.replace(']', "]]")),
        }
    }

    /// Takes an application lock, in another session than the exporter's.
    pub async fn take_lock(&self, resource: &str) {
        self.execute(&match self {
            Self::Embedded(_) => format!("INSERT INTO application_lock VALUES ('{resource}', 'run', '')"),
            Self::Server(_) => format!(
                "EXEC sp_getapplock @Resource = '{resource}', @LockMode = 'Exclusive', \
                 @LockOwner = 'Session', @LockTimeout = 0"
            ),
        })
        .await;
    }

    /// Gives the application lock back.
    pub async fn release_lock(&self, resource: &str) {
        self.execute(&match self {
            Self::Embedded(_) => format!("DELETE FROM application_lock WHERE resource = '{resource}'"),
            Self::Server(_) => {
                format!("EXEC sp_releaseapplock @Resource = '{resource}', @LockOwner = 'Session'")
            }
        })
        .await;
    }
}

/// A moment that the times of a case's rows are relative to.
#[derive(Debug, Clone, Copy)]
pub struct Present {
    ms: i64,
}

impl Present {
    /// A UTC time this many seconds later, as a constant of either database.
    pub fn at(self, seconds: i64) -> String {
        format!("'{}'", iso(self.ms + seconds * 1000))
    }

    /// The same instant as a wall clock with this offset shows it, offset included.
    pub fn at_offset(self, seconds: i64, hours: i64) -> String {
        format!("'{}{hours:+03}:00'", iso(self.ms + (seconds + hours * 3600) * 1000))
    }

    /// The same instant in seconds since 1970.
    pub fn unix_s(self, seconds: i64) -> i64 {
        self.ms / 1000 + seconds
    }

    /// The same instant in milliseconds since 1970.
    pub fn unix_ms(self, seconds: i64) -> i64 {
        self.ms + seconds * 1000
    }

    /// The same instant in .NET ticks.
    pub fn ticks(self, seconds: i64) -> i64 {
        self.unix_ms(seconds) * 10_000 + 621_355_968_000_000_000
    }
}

/// Rounded down, so that a moment is the same in every encoding.
const fn whole_second(ms: i64) -> i64 {
    ms - ms.rem_euclid(1000)
}

/// ISO 8601 with a `T`, which no server reads by the rules of a language.
fn iso(ms: i64) -> String {
    let (day, of_day) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000));
    // Civil from days, by eras of 400 years that begin on a 1st of March.
    let shifted = day + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (seconds, ms) = (of_day / 1000, of_day % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}")
}

/// Runs a case in a database of its own on the real server, and drops the database whatever comes
/// of it. Without a server it says that the case is skipped.
pub async fn on_server(test: &str, case: impl AsyncFnOnce(Backend)) {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let Some(settings) = mssql_server::settings(test) else { return };
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("sqlqueue_test_{}_{since_epoch}_{count}", std::process::id());
    let mut admin = connect(&settings).await;
    create_database(&mut *admin, &name).await.unwrap();
    let outcome = AssertUnwindSafe(async {
        let settings = Mssql { database: name.clone(), ..settings };
        let mut session = connect(&settings).await;
        let now = "SELECT DATEDIFF_BIG(MILLISECOND, '1970-01-01T00:00:00', SYSUTCDATETIME()) AS ms";
        let started_ms = whole_second(int(&run(&mut *session, now).await.unwrap()));
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

/// One at a time: databases are made and dropped in a catalog that all of them share.
static CATALOG: Mutex<()> = Mutex::const_new(());

async fn create_database(admin: &mut dyn Connection, name: &str) -> Result<Rows, SourceError> {
    let _turn = CATALOG.lock().await;
    run(admin, &format!("CREATE DATABASE {name}")).await
}

/// The sessions of the case are closed by now, but the server may not have noticed yet, and tells
/// nobody when it does.
async fn drop_database(admin: &mut dyn Connection, name: &str) -> Result<(), SourceError> {
    let _turn = CATALOG.lock().await;
    // Not every server knows this way of ending what is left of them.
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

fn int(rows: &Rows) -> i64 {
    match rows.rows[0][0] {
        Value::Int(value) => value,
        ref other => panic!("{other:?} is not a number"),
    }
}

/// Says on behalf of a test what the server does not let it prove, past the test harness.
pub fn unproven(what: &str) {
    let _ = std::io::stderr().write_all(format!("UNPROVEN {what}\n").as_bytes());
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

    /// Runs statements as one batch. A transaction stays open until it is ended.
    pub async fn execute(&mut self, sql: &str) {
        run(&mut *self.0, sql).await.unwrap_or_else(|error| panic!("{error}\n{sql}"));
    }
}

/// The server behind a case that only runs on one.
pub fn server(backend: &Backend) -> &Server {
    match backend {
        Backend::Server(server) => server,
        Backend::Embedded(_) => panic!("this case needs a server"),
    }
}

#[test]
fn times_of_fixtures_are_iso_8601() {
    let present = Present { ms: NOW_MS };
    assert_eq!(present.at(0), "'2026-11-30T12:00:00.000'");
    assert_eq!(present.at(-60 * 86_400 - 1), "'2026-10-01T11:59:59.000'");
    assert_eq!(present.at_offset(-60, 1), "'2026-11-30T12:59:00.000+01:00'");
    assert_eq!(present.at_offset(0, -5), "'2026-11-30T07:00:00.000-05:00'");
    assert_eq!(iso(951_782_400_000), "2000-02-29T00:00:00.000");
    assert_eq!(present.ticks(0), 639_316_368_000_000_000);
}
