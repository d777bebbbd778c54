//! Shared helpers: an exporter on an embedded database whose clock stands still, and a parsed page.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use sqlqueue_exporter::clock::ManualClock;
use sqlqueue_exporter::config::{self, Config, Database, Environment};
use sqlqueue_exporter::exporter::Exporter;
use sqlqueue_exporter::source::SqliteConnector;
use sqlqueue_exporter::web::Format;
use tempfile::TempDir;

/// The published lease table, as a target.
pub const PUBLISHED_LEASE: &str =
    "    queues:\n      - { name: demo, table: QueueDemo, preset: lease_minimal }\n";
/// The published destructive queue, as a target.
pub const PUBLISHED_TRANSACTIONAL: &str =
    "    queues:\n      - { name: items, table: TransactionQueue, preset: transactional_owner }\n";
/// The published run log and its control table, as targets.
pub const PUBLISHED_RUN_LOG: &str = "    run_logs:
      - name: runs
        table: tabela_przebiegow
        preset: notification_run_log_pl
        steps: [komentarze, przebieg]
        lock: { resource: dbo.powiadomienia_przebieg }
    control_tables:
      - { name: events, table: tabela_powiadomien, preset: notification_control_pl, kinds: [komentarz] }
";

/// 2026-11-30T12:00:00Z, in milliseconds: the current time of every fixture.
pub const NOW_MS: i64 = 1_796_040_000_000;

/// A database in a temporary folder, and an exporter that samples it at [`NOW_MS`].
pub struct Bench {
    _folder: TempDir,
    pub file: PathBuf,
    pub database: Connection,
    pub clock: Arc<ManualClock>,
}

impl Bench {
    /// A database made by these fixture files.
    pub fn new(fixtures: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("queue.db");
        let database = Connection::open(&file).unwrap();
        for fixture in fixtures {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(fixture);
            database.execute_batch(&std::fs::read_to_string(path).unwrap()).unwrap();
        }
        Self { _folder: folder, file, database, clock: ManualClock::at(NOW_MS) }
    }

    pub fn execute(&self, sql: &str) {
        self.database.execute_batch(sql).unwrap();
    }

    /// The configuration of one source with these targets (YAML, indented by four).
    pub fn config(&self, targets: &str) -> Config {
        patient_config(
            &format!("sqlite: {{ file: '{}' }}", self.file.display()),
            targets,
            &Environment::empty(),
        )
    }

    pub fn exporter(&self, targets: &str) -> Exporter {
        let clock = Arc::clone(&self.clock);
        let database_clock = Arc::clone(&self.clock);
        Exporter::with_connectors(self.config(targets), clock, move |source, global| {
            let Database::Sqlite(sqlite) = &source.database else { panic!("not an embedded database") };
            let clock = database_clock.clone();
            Arc::new(SqliteConnector::new(sqlite.clone(), Some(clock), global.lock_timeout))
        })
        .unwrap()
    }
}

/// The configuration of one source with these targets (YAML, indented by four), with a deadline that no
/// machine is slow enough to miss.
pub fn patient_config(database: &str, targets: &str, environment: &Environment) -> Config {
    let yaml = format!("sources:\n  - name: db\n    {database}\n{targets}");
    let mut config = config::parse(&yaml, Path::new("test.yaml"), environment)
        .unwrap_or_else(|error| panic!("{error}\n{yaml}"));
    config.global.query_timeout = Duration::from_secs(3600);
    config
}

/// The page in one of the text formats.
pub fn text_page(exporter: &Exporter, format: Format) -> String {
    String::from_utf8(exporter.metrics(format).unwrap()).unwrap()
}

/// Fails unless a file of the project has the expected text. With UPDATE_GOLDEN=1 it writes the file instead,
/// for a person to review and commit.
#[track_caller]
pub fn assert_golden(file: &str, current: &str, expected: &str) {
    if current == expected {
        return;
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, expected).unwrap();
        return;
    }
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let (old, new) = (lines(current), lines(expected));
    let gone: Vec<_> = old.iter().filter(|line| !new.contains(line)).collect();
    let come: Vec<_> = new.iter().filter(|line| !old.contains(line)).collect();
    panic!(
        "{file} is not what the program says; if the change is meant, update it with\n\
         \x20   UPDATE_GOLDEN=1 cargo test --test it\n\
         only in {file}: {gone:#?}\nonly in the program: {come:#?}"
    );
}

/// A file of the project; empty when it does not exist yet.
pub fn project_file(file: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap_or_default()
}

/// Series of a page: name with labels, as written, to value.
#[derive(Debug)]
pub struct Series(BTreeMap<String, f64>);

impl Series {
    /// Reads a page in the Prometheus text format. A duplicate series is a failure.
    pub fn of(exporter: &Exporter) -> Self {
        Self::parse(&text_page(exporter, Format::PrometheusText))
    }

    /// The same for a page that came another way.
    pub fn parse(page: &str) -> Self {
        let mut series = BTreeMap::new();
        for line in page.lines().filter(|line| !line.starts_with('#')) {
            let (name, value) = line.rsplit_once(' ').expect(line);
            let twice = series.insert(name.to_owned(), value.parse().expect(line));
            assert_eq!(twice, None, "{name} is there twice");
        }
        Self(series)
    }

    /// All series.
    pub fn all(&self) -> &BTreeMap<String, f64> {
        &self.0
    }

    /// The value of one series, or `None` when the page does not have it.
    pub fn get(&self, series: &str) -> Option<f64> {
        self.0.get(series).copied()
    }

    /// The sum of all series of a family with this text among their labels.
    pub fn sum(&self, family: &str, label: &str) -> f64 {
        let mine = |name: &str| name.split('{').next() == Some(family) && name.contains(label);
        self.0.iter().filter(|(name, _)| mine(name)).map(|(_, value)| value).sum()
    }

    /// Fails unless the series has this value.
    #[track_caller]
    pub fn assert(&self, series: &str, value: f64) {
        assert_eq!(self.get(series), Some(value), "{series}, in {:#?}", self.0);
    }

    /// Fails when a series of this family is below 0.
    #[track_caller]
    pub fn assert_never_negative(&self, family: &str) {
        let mine = |name: &str| name.split('{').next() == Some(family);
        let found: Vec<_> = self.0.iter().filter(|(name, value)| mine(name) && **value < 0.0).collect();
        assert!(found.is_empty(), "{found:?}");
    }

    /// Fails when the page has any series of this family.
    #[track_caller]
    pub fn assert_absent(&self, family: &str) {
        let found: Vec<_> = self.0.keys().filter(|name| name.split('{').next() == Some(family)).collect();
        assert!(found.is_empty(), "{found:?}");
    }
}
