//! Databases that a case runs on: the embedded one, whose clock stands still, and a real server, whose clock
//! does not. Tests on the real server are ignored unless asked for.

use std::path::Path;
use std::time::Duration;

use sqlqueue_exporter::clock::ManualClock;
use sqlqueue_exporter::config::{self, Config, Database, Environment};
use sqlqueue_exporter::exporter::Exporter;
use sqlqueue_exporter::source::{Connector, MssqlConnector, Rows, SourceError, SqliteConnector};
use sqlqueue_exporter::statement::{Dialect, Statement};

use crate::mssql::database::{Server, server};
use crate::support::{Bench, NOW_MS, Series, patient_config};

/// So long that only a bug exceeds it.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// Makes each case a test on the embedded database and one on a real server.
macro_rules! on_both_databases {
    ($($case:ident)*) => {
        mod embedded {
            $(#[tokio::test]
            async fn $case() {
                super::$case(crate::backend::Backend::embedded()).await;
            })*
        }
        mod mssql {
            $(#[tokio::test]
            #[ignore = "needs SQLQUEUE_TEST_MSSQL"]
            async fn $case() {
                crate::mssql::database::on_server(super::$case).await;
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

impl Backend {
    pub fn embedded() -> Self {
        Self::Embedded(Bench::new(&[]))
    }

    /// Runs the fixture of this name, which has a twin for each kind of database.
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
                server.run(sql).await.unwrap_or_else(|error| panic!("{error}\n{sql}"));
            }
        }
    }

    /// Runs statements that a server may not know. Returns whether it did.
    pub async fn attempt(&self, sql: &str) -> bool {
        server(self).run(sql).await.is_ok()
    }

    /// The answer to one statement, through a connection of the exporter's own kind.
    pub async fn query(&self, statement: &Statement) -> Result<Rows, SourceError> {
        let connector: Box<dyn Connector> = match self {
            Self::Embedded(bench) => {
                let sqlite = config::Sqlite { file: bench.file.clone() };
                Box::new(SqliteConnector::new(sqlite, Some(bench.clock.clone()), PATIENCE))
            }
            Self::Server(server) => Box::new(MssqlConnector::new(server.settings().clone())),
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
                config.sources[0].database = Database::Mssql(server.settings().clone());
                config
            }
        }
    }

    pub fn exporter(&self, targets: &str) -> Exporter {
        match self {
            Self::Embedded(bench) => bench.exporter(targets),
            // The exporter's clock is never compared with a column, so any time will do.
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

    /// The current time, for the rows of a case.
    pub async fn present(&self) -> Present {
        Present { ms: whole_second(self.now_ms().await) }
    }

    async fn now_ms(&self) -> i64 {
        match self {
            Self::Embedded(_) => NOW_MS,
            Self::Server(server) => server.now_ms().await,
        }
    }

    /// Moves the clock where it can be moved. Returns by how much, in seconds.
    pub fn advance(&self, by: Duration) -> f64 {
        match self {
            Self::Embedded(bench) => {
                bench.clock.advance(by);
                by.as_secs_f64()
            }
            Self::Server(_) => 0.0,
        }
    }

    /// Fails unless the series has this value. The value is exact to the millisecond where the clock stands
    /// still; elsewhere it may be greater by at most the age of the database.
    #[track_caller]
    pub fn assert_age(&self, series: &Series, name: &str, seconds: f64) -> impl Future<Output = ()> {
        let found = series.get(name);
        let place = std::panic::Location::caller();
        async move {
            let slack = match self {
                Self::Embedded(_) => 0.0,
                Self::Server(server) => server.age().await,
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

    /// The name of a table or column in this database's quotes.
    pub fn quoted(&self, name: &str) -> String {
        match self {
            Self::Embedded(_) => format!("\"{}\"", name.replace('"', "\"\"")),
            Self::Server(_) => format!("[{}]", name.replace(']', "]]")),
        }
    }

    /// Takes an application lock in a session other than the exporter's.
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
pub const fn whole_second(ms: i64) -> i64 {
    ms - ms.rem_euclid(1000)
}

/// ISO 8601 with a `T`, which no server's language settings affect.
fn iso(ms: i64) -> String {
    let (day, of_day) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000));
    // Converts days to a date, by eras of 400 years that begin on 1 March.
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
