//! An hour with a database that hangs, panics or lacks a table, in simulated time.

use std::future::pending;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use prometheus_client::encoding::prometheus_text;
use prometheus_client::registry::Registry;
use rusqlite::Connection as Database;
use sqlqueue_exporter::clock::{Clock, SharedClock};
use sqlqueue_exporter::config::{self, Environment};
use sqlqueue_exporter::exposition::StateCollector;
use sqlqueue_exporter::sampler::{Ledger, Sampler};
use sqlqueue_exporter::source::{
    BoxFuture, Connection, Connector, Reason, Rows, SourceError, SqliteConnector,
};
use sqlqueue_exporter::statement::{Dialect, Statement};
use tempfile::TempDir;
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, sleep};

use crate::support::{NOW_MS, Series};

const INTERVAL: Duration = Duration::from_secs(15);
const STALE_AFTER: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
/// The longest pause between two attempts, and what an attempt may take.
const CEILING: Duration = Duration::from_secs(300 + 7);

/// How often a target or connection is tried while it fails for an hour. The pauses double from 15 s to 300
/// s, each shortened by up to a half. The most attempts: after 7.5 + 15 + 30 + 60 + 120 s, one every 150 s.
/// The fewest: no pause is shortened, each attempt takes its 7 s, and other targets come first.
const ATTEMPTS_PER_HOUR: std::ops::RangeInclusive<usize> = 13..=28;

/// The runtime's own time.
#[derive(Debug)]
struct SimulatedClock(Instant);

impl Clock for SimulatedClock {
    fn unix_ms(&self) -> i64 {
        NOW_MS + i64::try_from(self.monotonic().as_millis()).unwrap()
    }

    fn monotonic(&self) -> Duration {
        self.0.elapsed()
    }
}

/// How the database behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mood {
    Answers,
    /// Nothing comes back, whatever the deadline.
    Hangs,
    /// The deadline passes, and the connection is lost.
    TimesOut,
    LacksTheTable,
    Panics,
}

/// A SQLite file behind a connector that does as it is told.
#[derive(Debug)]
struct Moody {
    inner: SqliteConnector,
    at_connection: Mutex<Mood>,
    /// For statements that contain the text.
    at_statement: Mutex<(&'static str, Mood)>,
    connects: AtomicUsize,
    /// Statements that went wrong.
    failed: AtomicUsize,
    open: AtomicUsize,
    highest: AtomicUsize,
}

#[derive(Debug)]
struct MoodyConnection {
    inner: Box<dyn Connection>,
    of: Arc<Moody>,
}

/// Gives the connections access to their connector.
#[derive(Debug)]
struct Handle(Arc<Moody>);

impl Connector for Handle {
    fn dialect(&self) -> Dialect {
        self.0.inner.dialect()
    }

    fn describe(&self) -> String {
        self.0.inner.describe()
    }

    fn connect(&self, deadline: Duration) -> BoxFuture<'_, Result<Box<dyn Connection>, SourceError>> {
        let moody = &self.0;
        moody.connects.fetch_add(1, Ordering::SeqCst);
        let mood = *moody.at_connection.lock().unwrap();
        if mood == Mood::Panics {
            // The panic comes before there is a future, as a connector may do. It prints no message on
            // standard error, which would look like a failure.
            resume_unwind(Box::new("a connector's defect"));
        }
        Box::pin(async move {
            fail(mood, deadline).await?;
            let inner = moody.inner.connect(deadline).await?;
            let open = moody.open.fetch_add(1, Ordering::SeqCst) + 1;
            moody.highest.fetch_max(open, Ordering::SeqCst);
            Ok(Box::new(MoodyConnection { inner, of: Arc::clone(moody) }) as Box<dyn Connection>)
        })
    }
}

impl Connection for MoodyConnection {
    fn query<'a>(
        &'a mut self,
        statement: &'a Statement,
        deadline: Duration,
    ) -> BoxFuture<'a, Result<Rows, SourceError>> {
        Box::pin(async move {
            let (text, mood) = *self.of.at_statement.lock().unwrap();
            if mood != Mood::Answers && statement.text.contains(text) {
                self.of.failed.fetch_add(1, Ordering::SeqCst);
                fail(mood, deadline).await?;
            }
            self.inner.query(statement, deadline).await
        })
    }
}

impl Drop for MoodyConnection {
    fn drop(&mut self) {
        self.of.open.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn fail(mood: Mood, deadline: Duration) -> Result<(), SourceError> {
    match mood {
        Mood::Answers => Ok(()),
        Mood::Hangs => pending().await,
        Mood::TimesOut => {
            sleep(deadline).await;
            Err(SourceError::lost(Reason::Timeout, "a deadline passed"))
        }
        Mood::LacksTheTable => Err(SourceError::new(Reason::MissingObject, "no such table")),
        Mood::Panics => resume_unwind(Box::new("a driver's defect")),
    }
}

/// A sampler at work on that database, and the page that scrapes see.
struct World {
    _folder: TempDir,
    database: Database,
    moody: Arc<Moody>,
    registry: Registry,
    stop: watch::Sender<bool>,
    sampling: tokio::task::JoinHandle<()>,
}

const CONFIG: &str = "
global: { sample_interval: 15s, query_timeout: 5s, stale_after: 60s }
sources:
  - name: db
    sqlite: { file: queue.db }
    queues:
      - { name: jobs, table: JobQueue, preset: lease }
      - { name: items, table: WorkQueue, preset: transactional_owner }
    run_logs:
      - { name: runs, preset: notification_run_log, steps: [work] }
";

impl World {
    fn start() -> Self {
        let folder = TempDir::new().unwrap();
        let database = Database::open(folder.path().join("queue.db")).unwrap();
        database.execute_batch(include_str!("../../sql/sqlite/schema.sql")).unwrap();
        let file: PathBuf = folder.path().join("config.yaml");
        let config =
            config::parse(CONFIG, &file, &Environment::empty()).unwrap_or_else(|error| panic!("{error}"));
        let clock: SharedClock = Arc::new(SimulatedClock(Instant::now()));
        let moody = Arc::new(Moody {
            inner: connector(&config.sources[0], &clock, config.global.lock_timeout),
            at_connection: Mutex::new(Mood::Answers),
            at_statement: Mutex::new(("", Mood::Answers)),
            connects: AtomicUsize::new(0),
            failed: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            highest: AtomicUsize::new(0),
        });
        let ledger = Arc::new(Ledger::open(&config, Arc::clone(&clock)).unwrap());
        let collector = StateCollector::new(ledger.state(), Arc::clone(&clock));
        let sampler = Sampler {
            source: config.sources[0].clone(),
            global: config.global,
            connector: Arc::new(Handle(Arc::clone(&moody))),
            ledger,
            clock,
            first_after: Duration::ZERO,
            turns: Arc::new(Semaphore::new(1)),
        };
        let (stop, stopped) = watch::channel(false);
        Self {
            _folder: folder,
            database,
            moody,
            registry: collector.into_registry(),
            stop,
            sampling: tokio::spawn(sampler.run(stopped)),
        }
    }

    fn at_connection(&self, mood: Mood) {
        *self.moody.at_connection.lock().unwrap() = mood;
    }

    fn at_statement(&self, containing: &'static str, mood: Mood) {
        *self.moody.at_statement.lock().unwrap() = (containing, mood);
    }

    /// A scrape, which is served whatever the sampler waits for, and the budget of connections.
    fn scrape(&self) -> Series {
        assert!(self.moody.highest.load(Ordering::SeqCst) <= 1, "one connection a source");
        let mut page = String::new();
        prometheus_text::encode(&mut page, &self.registry).unwrap();
        Series::parse(&page)
    }

    /// Adds a row to the log, of each kind that counts.
    fn write_log(&self) {
        let row = "INSERT INTO RunLog (Step, StartedAt, EndedAt, DurationMs, Candidates, Outcome)
            VALUES ('work', '2026-11-30 12:00:00.000', '2026-11-30 12:00:00.000', 5, 1, 'ok')";
        self.database.execute_batch(row).unwrap();
    }

    /// Adds this many rows of a step that is new to the log.
    fn write_new_step(&self, rows: usize) {
        let rows = format!(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
            INSERT INTO RunLog (Step, StartedAt, EndedAt, DurationMs, Candidates, Outcome)
            SELECT 'new', '2026-11-30 12:00:00.000', '2026-11-30 12:00:00.000', 5, 1, 'ok' FROM n"
        );
        self.database.execute_batch(&rows).unwrap();
    }

    /// Waits for a page with something to see, for `bound` at most.
    async fn until(&self, bound: Duration, what: &str, seen: impl Fn(&Series) -> bool) -> Series {
        let deadline = Instant::now() + bound;
        loop {
            let series = self.scrape();
            if seen(&series) {
                return series;
            }
            assert!(Instant::now() < deadline, "{what}: {series:#?}");
            sleep(Duration::from_millis(500)).await;
        }
    }

    async fn stop(self) {
        self.stop.send_replace(true);
        self.sampling.await.unwrap();
        assert_eq!(self.moody.open.load(Ordering::SeqCst), 0, "every connection was closed");
    }
}

fn connector(source: &config::Source, clock: &SharedClock, lock_timeout: Duration) -> SqliteConnector {
    let config::Database::Sqlite(sqlite) = &source.database else { panic!("not an embedded database") };
    SqliteConnector::new(sqlite.clone(), Some(Arc::clone(clock)), lock_timeout)
}

const UP: &str = r#"sqlqueue_up{source="db"}"#;
const OK: &str = r#"sqlqueue_run_steps_total{source="db",run_log="runs",step="work",outcome="ok"}"#;
const JOBS: &str = r#"sqlqueue_jobs{source="db",queue="jobs",state="ready"}"#;
const TARGETS: [&str; 3] = [r#"queue="jobs""#, r#"queue="items""#, r#"run_log="runs""#];

fn samples(series: &Series, target: &str) -> usize {
    series.sum("sqlqueue_samples_total", target) as usize
}

fn errors(series: &Series, target: &str, reason: &str) -> usize {
    let count = series.sum("sqlqueue_sample_errors_total", &format!("{target},reason=\"{reason}\""));
    assert_eq!(count, series.sum("sqlqueue_sample_errors_total", target), "only {reason}: {series:#?}");
    count as usize
}

/// An hour of scrapes of a hanging database, up to the moment when it recovers.
async fn hang_for_an_hour(mut begin: impl FnMut(&World, Mood)) -> World {
    let world = World::start();
    let is_sampled = |series: &Series| TARGETS.iter().all(|target| samples(series, target) > 0);
    world.until(Duration::from_secs(1), "the first pass", is_sampled).await.assert(JOBS, 0.0);
    world.write_log();
    world.until(INTERVAL * 2, "the row is counted", |series| series.get(OK) == Some(1.0)).await;

    begin(&world, Mood::Hangs);
    let began = Instant::now();
    let before = world.scrape();
    while began.elapsed() < HOUR {
        let series = world.scrape();
        series.assert(OK, 1.0);
        if began.elapsed() > STALE_AFTER {
            series.assert(UP, 0.0);
            for gauge in ["sqlqueue_jobs", "sqlqueue_clock_skew_seconds", "sqlqueue_run_consecutive_skips"] {
                series.assert_absent(gauge);
            }
        }
        sleep(INTERVAL).await;
    }
    let after = world.scrape();
    for target in TARGETS {
        assert_eq!(samples(&before, target), samples(&after, target));
        let attempts = errors(&after, target, "timeout");
        assert!(ATTEMPTS_PER_HOUR.contains(&attempts), "{target}: {attempts} attempts in an hour");
    }

    world.write_log();
    begin(&world, Mood::Answers);
    let is_back =
        |series: &Series| TARGETS.iter().all(|target| samples(series, target) > samples(&before, target));
    let series = world.until(CEILING, "the next sample is good", is_back).await;
    series.assert(UP, 1.0);
    series.assert(JOBS, 0.0);
    series.assert(OK, 2.0);
    world
}

#[tokio::test(start_paused = true)]
async fn a_database_that_hangs_in_its_statements_for_an_hour_is_sampled_again_when_it_is_back() {
    let world = hang_for_an_hour(|world, mood| world.at_statement("", mood)).await;
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_database_that_hangs_while_connecting_for_an_hour_is_sampled_again_when_it_is_back() {
    let world = hang_for_an_hour(|world, mood| {
        world.at_connection(mood);
        // Ends the existing session.
        world.at_statement("", if mood == Mood::Hangs { Mood::TimesOut } else { Mood::Answers });
    })
    .await;
    let connects = world.moody.connects.load(Ordering::SeqCst);
    // The first and the last one were good.
    assert!(ATTEMPTS_PER_HOUR.contains(&(connects - 2)), "one attempt for all targets: {connects}");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_target_that_fails_for_an_hour_delays_no_other() {
    for (mood, reason, fewest) in [
        (Mood::LacksTheTable, "missing_object", 3600 * 10 / 165 - 1),
        // While one statement waits for its deadline, the others wait for the connection.
        (Mood::TimesOut, "timeout", 3600 * 10 / 165 - 1 - *ATTEMPTS_PER_HOUR.end() * 5 / 15),
    ] {
        let world = World::start();
        world.at_statement("JobQueue", mood);
        sleep(HOUR).await;
        let series = world.scrape();
        let attempts = errors(&series, TARGETS[0], reason);
        assert!(ATTEMPTS_PER_HOUR.contains(&attempts), "{attempts} attempts in an hour");
        for target in &TARGETS[1..] {
            let good = samples(&series, target);
            assert!((fewest..=3600 * 10 / 135 + 1).contains(&good), "{target}: {good} samples in an hour");
            assert_eq!(errors(&series, target, reason), 0);
        }
        let connects = world.moody.connects.load(Ordering::SeqCst);
        let lost = if mood == Mood::TimesOut { attempts } else { 0 };
        assert!((lost.max(1)..=lost + 1).contains(&connects), "a good connection is kept: {connects}");
        world.at_statement("", Mood::Answers);
        let is_back = |series: &Series| samples(series, TARGETS[0]) > 0;
        world.until(CEILING, "the next sample is good", is_back).await.assert(UP, 1.0);
        world.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_asking_is_one_error_and_sampling_goes_on() {
    let world = World::start();
    world.at_statement("JobQueue", Mood::Panics);
    let is_counted = |series: &Series| errors(series, TARGETS[0], "other") > 0;
    let series = world.until(INTERVAL, "the panic is counted", is_counted).await;
    assert_eq!(errors(&series, TARGETS[0], "other"), 1);
    assert_eq!(world.moody.failed.load(Ordering::SeqCst), 1);
    let others = |series: &Series| TARGETS[1..].iter().all(|target| samples(series, target) > 0);
    world.until(INTERVAL, "the other targets are sampled", others).await;
    world.at_statement("", Mood::Answers);
    let is_back = |series: &Series| samples(series, TARGETS[0]) > 0;
    world.until(INTERVAL * 3, "the next sample is good", is_back).await.assert(UP, 1.0);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_connecting_is_one_error_of_each_target_and_the_source_is_down() {
    let world = World::start();
    world.at_connection(Mood::Panics);
    let is_counted = |series: &Series| TARGETS.iter().all(|target| errors(series, target, "other") > 0);
    let series = world.until(INTERVAL, "the panic is counted", is_counted).await;
    for target in TARGETS {
        assert_eq!(errors(&series, target, "other"), 1);
    }
    series.assert(UP, 0.0);
    world.at_connection(Mood::Answers);
    let is_back = |series: &Series| TARGETS.iter().all(|target| samples(series, target) > 0);
    world.until(INTERVAL * 3, "the next sample is good", is_back).await.assert(UP, 1.0);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_step_that_is_new_in_a_long_log_is_shown_at_zero_for_an_interval_and_then_caught_up_at_once() {
    const NEW: &str = r#"sqlqueue_run_steps_total{source="db",run_log="runs",step="new",outcome="ok"}"#;
    let world = World::start();
    let is_sampled = |series: &Series| TARGETS.iter().all(|target| samples(series, target) > 0);
    world.until(Duration::from_secs(1), "the first pass", is_sampled).await;
    // Two and a half batches.
    world.write_new_step(2_500);
    world.until(INTERVAL * 2, "the step is seen", |series| series.get(NEW) == Some(0.0)).await;
    let shown = Instant::now();
    world.until(INTERVAL * 2, "the step is counted", |series| series.get(NEW) > Some(0.0)).await;
    // An interval is shortened by up to a tenth, and there is a scrape every half second.
    assert!(
        shown.elapsed() >= INTERVAL - INTERVAL / 10 - Duration::from_millis(500),
        "{:?}",
        shown.elapsed()
    );
    world.until(INTERVAL / 2, "all is counted", |series| series.get(NEW) == Some(2_500.0)).await;
    world.stop().await;
}
