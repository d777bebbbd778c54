//! Cost of one sample of a lease queue beside a growing history of finished rows.
//!
//! Run with `cargo bench --bench sample_cost`. Builds one database with 10 thousand and one with
//! 5 million finished rows (about 700 MB in the temporary folder), each with 1 000 unfinished rows
//! scattered through the table, and compares the median time of the sampling statement. Fails when
//! the ratio is above 1.5: history must not cost anything.
//!
//! `SQLQUEUE_BENCH_ROWS` sets another number of finished rows for the large database.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark prints, and may panic on anything unexpected"
)]

use std::path::Path;
use std::time::{Duration, Instant};

use sqlqueue_exporter::config::{self, Environment, Sqlite};
use sqlqueue_exporter::source::{Connection, Connector as _, Rows, SqliteConnector, Value};
use sqlqueue_exporter::statement::{self, Dialect, Statement, TailRequest};
use tokio::runtime::Runtime;

const UNFINISHED: u64 = 1_000;
const SMALL: u64 = 10_000;
const LARGE: u64 = 5_000_000;
const MAX_RATIO: f64 = 1.5;
const ROUNDS: usize = 101;
const DEADLINE: Duration = Duration::from_secs(30);

fn main() {
    let large = std::env::var("SQLQUEUE_BENCH_ROWS").ok().and_then(|rows| rows.parse().ok()).unwrap_or(LARGE);
    let statement = sampling_statement();
    let runtime = Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut databases = [SMALL, large].map(|finished| {
        let file = folder.path().join(format!("{finished}.db"));
        build(&file, finished);
        Measured { finished, connection: connect(&runtime, &file), times: Vec::new() }
    });
    // In turns, so that other load on the machine slows both, and so that neither finds the processor's
    // caches as it left them: a sampler returns after seconds.
    for _ in 0..ROUNDS {
        for database in &mut databases {
            database.measure(&runtime, &statement);
        }
    }
    let [small, large] = databases.map(Measured::median);
    let ratio = large.as_secs_f64() / small.as_secs_f64();
    println!("ratio {ratio:.2} (at most {MAX_RATIO})");
    assert!(ratio <= MAX_RATIO, "history costs: the ratio is {ratio:.2}");
}

/// A database and the durations of its samples.
struct Measured {
    finished: u64,
    connection: Box<dyn Connection>,
    times: Vec<Duration>,
}

impl Measured {
    fn measure(&mut self, runtime: &Runtime, statement: &Statement) {
        let started = Instant::now();
        let rows = runtime.block_on(self.connection.query(statement, DEADLINE)).unwrap();
        self.times.push(started.elapsed());
        assert_eq!(jobs(&rows), UNFINISHED);
    }

    fn median(mut self) -> Duration {
        self.times.sort();
        let median = self.times[ROUNDS / 2];
        println!("{:>9} finished rows, {UNFINISHED} unfinished: median {median:?}", self.finished);
        median
    }
}

/// The exporter's own connection.
fn connect(runtime: &Runtime, file: &Path) -> Box<dyn Connection> {
    let connector = SqliteConnector::new(Sqlite { file: file.to_owned() }, None, DEADLINE);
    runtime.block_on(connector.connect(DEADLINE)).unwrap()
}

/// The statement as the exporter sends it.
fn sampling_statement() -> Statement {
    let yaml =
        "sources: [{ name: bench, sqlite: { file: bench.db }, queues: [{ name: jobs, preset: lease }] }]";
    let config = config::parse(yaml, Path::new("bench.yaml"), &Environment::empty()).unwrap();
    let target = config.sources[0].targets().next().unwrap();
    statement::sample(Dialect::Sqlite, target, &TailRequest::Head, DEADLINE).unwrap()
}

fn build(file: &Path, finished: u64) {
    let database = rusqlite::Connection::open(file).unwrap();
    let total = finished + UNFINISHED;
    let stride = total / UNFINISHED;
    database
        .execute_batch(&format!(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
            {}
            WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < {total})
            INSERT INTO JobQueue (JobId, State, ClaimToken, LeaseUntil, ClaimedAt, AvailableAt, EnqueuedAt,
                Attempts, MaxAttempts, FinishedAt, Payload)
            SELECT n,
                CASE WHEN n % {stride} <> 0 THEN 'D' WHEN n / {stride} % 2 = 0 THEN 'R' ELSE 'W' END,
                'token', '2026-11-30 11:05:00.000', '2026-11-30 11:01:00.000', '2026-11-30 11:00:00.000',
                '2026-11-30 11:00:00.000', n % 3, 5,
                CASE WHEN n % {stride} <> 0 THEN '2026-11-30 11:01:00.000' END, 'payload ' || n
            FROM number;",
            include_str!("../sql/sqlite/schema.sql"),
        ))
        .unwrap();
}

/// The number of jobs in an answer, as proof that it is the right one.
fn jobs(rows: &Rows) -> u64 {
    let column = rows.columns.iter().position(|name| name == "jobs").unwrap();
    let counts = rows.rows.iter().map(|row| match row[column] {
        Value::Int(jobs) => u64::try_from(jobs).unwrap(),
        Value::Null | Value::Text(_) => 0,
    });
    counts.sum()
}
