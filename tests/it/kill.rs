//! The exporter is killed again and again while a log grows; at the end every row was counted once.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tempfile::TempDir;

const ROWS: i64 = 20_000;
const KILLS: usize = 50;
/// Rows are committed out of order within blocks of this many ids.
const BLOCK: i64 = 40;
/// A bound for things that must happen; nothing is measured.
const PATIENCE: Duration = Duration::from_secs(120);

/// A running exporter and where it listens.
struct Running {
    child: Child,
    address: String,
}

impl Running {
    fn start(config: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_sqlqueue-exporter"))
            .args(["--web.listen-address=127.0.0.1:0", "--log.format=json"])
            .arg(format!("--config.file={}", config.display()))
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut address = None;
        let mut line = String::new();
        while address.is_none() && log.read_line(&mut line).unwrap() > 0 {
            let event: serde_json::Value = serde_json::from_str(&line).expect(&line);
            address = event["fields"]["address"].as_str().map(ToOwned::to_owned);
            line.clear();
        }
        // The rest of the log is read and dropped, so that the process never waits for its reader.
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        Self { child, address: address.expect("the exporter says where it listens") }
    }

    /// The counters of the log, by series; `None` while the page cannot be had.
    fn counters(&self) -> Option<BTreeMap<String, f64>> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").ok()?;
        let mut page = String::new();
        stream.read_to_string(&mut page).ok()?;
        let series = page.lines().filter(|line| line.starts_with("sqlqueue_run_step"));
        Some(
            series
                .filter_map(|line| line.rsplit_once(' '))
                .map(|(name, value)| (name.to_owned(), value.parse().unwrap()))
                .collect(),
        )
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn series(name: &str) -> String {
    format!(r#"sqlqueue_run_step_duration_seconds_{name}{{source="db",run_log="runs",step="work"}}"#)
}

/// Writes the log: ids ascend block by block, and within a block in a stride that leaves gaps.
fn write_log(file: &Path, done: &AtomicBool) {
    let mut database = Connection::open(file).unwrap();
    database.busy_timeout(Duration::from_secs(10)).unwrap();
    for block in 0..ROWS / BLOCK {
        // 17 and 40 have no common divisor, so the stride visits every id of the block.
        let ids = (0..BLOCK).map(|step| block * BLOCK + step * 17 % BLOCK + 1);
        for half in ids.collect::<Vec<_>>().chunks(10) {
            let transaction = database.transaction().unwrap();
            for id in half {
                transaction
                    .execute(
                        "INSERT INTO RunLog (RunLogId, Step, StartedAt, EndedAt, DurationMs, Candidates, Outcome)
                         VALUES (?1, 'work', '2026-11-30 12:00:00.000', '2026-11-30 12:00:00.000', ?1 % 1000, 1, 'ok')",
                        [id],
                    )
                    .unwrap();
            }
            transaction.commit().unwrap();
        }
        // Spreads the rows over the kills.
        std::thread::sleep(Duration::from_millis(15));
    }
    done.store(true, Ordering::SeqCst);
}

#[test]
fn no_row_is_lost_or_counted_twice_when_the_exporter_is_killed_at_any_moment() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("log.db");
    let schema = include_str!("../../sql/sqlite/schema.sql");
    let database = Connection::open(&file).unwrap();
    database.pragma_update(None, "journal_mode", "WAL").unwrap();
    database.execute_batch(schema).unwrap();
    let config = folder.path().join("config.yaml");
    std::fs::write(
        &config,
        "global: { sample_interval: 100ms }
state_file: state.json
sources:
  - name: db
    sqlite: { file: log.db }
    run_logs: [{ name: runs, preset: notification_run_log, steps: [work] }]
",
    )
    .unwrap();

    // The first start finds an empty log, so that everything after it counts.
    let first = Running::start(&config);
    let deadline = Instant::now() + PATIENCE;
    while !folder.path().join("state.json").exists() {
        assert!(Instant::now() < deadline, "the first sample is saved");
        std::thread::yield_now();
    }
    first.kill();

    let written = Arc::new(AtomicBool::new(false));
    let writer = {
        let (file, written) = (file.clone(), Arc::clone(&written));
        std::thread::spawn(move || write_log(&file, &written))
    };
    let mut random = fastrand::Rng::with_seed(7);
    let mut highest = BTreeMap::new();
    for _ in 0..KILLS {
        let running = Running::start(&config);
        std::thread::sleep(Duration::from_millis(random.u64(20..300)));
        if let Some(seen) = running.counters() {
            for (name, value) in seen {
                let before = highest.insert(name.clone(), value).unwrap_or(0.0);
                assert!(value >= before, "{name} went down from {before} to {value}");
            }
        }
        running.kill();
    }
    writer.join().unwrap();

    let running = Running::start(&config);
    let mut seen = BTreeMap::new();
    let deadline = Instant::now() + PATIENCE;
    while seen.get(&series("count")) != Some(&(ROWS as f64)) {
        assert!(Instant::now() < deadline, "all rows are counted, and once: {seen:?}");
        std::thread::sleep(Duration::from_millis(50));
        seen = running.counters().unwrap_or_default();
    }
    let sum_ms: i64 = database.query_row("SELECT SUM(DurationMs) FROM RunLog", [], |row| row.get(0)).unwrap();
    assert_eq!(seen.get(&series("sum")), Some(&(sum_ms as f64 / 1000.0)));
    let ok = r#"sqlqueue_run_steps_total{source="db",run_log="runs",step="work",outcome="ok"}"#;
    assert_eq!(seen.get(ok), Some(&(ROWS as f64)));
    let candidates = r#"sqlqueue_run_step_candidates_total{source="db",run_log="runs",step="work"}"#;
    assert_eq!(seen.get(candidates), Some(&(ROWS as f64)));
    running.kill();
}
