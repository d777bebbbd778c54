//! Kills: the exporter is killed repeatedly while a log grows, and at the end every row was counted once.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rusqlite::Connection;
use tempfile::TempDir;

use crate::binary::{PATIENCE, Running, wait_for};

const ROWS: i64 = 20_000;
const KILLS: usize = 50;
/// Rows are committed out of order within blocks of this many ids.
const BLOCK: i64 = 40;

/// The counters of the log, by series.
fn counters(running: &Running) -> BTreeMap<String, f64> {
    let page = running.metrics();
    let series = page.lines().filter(|line| line.starts_with("sqlqueue_run_step"));
    series
        .filter_map(|line| line.rsplit_once(' '))
        .map(|(name, value)| (name.to_owned(), value.parse().unwrap()))
        .collect()
}

fn series(name: &str) -> String {
    format!(r#"sqlqueue_run_step_duration_seconds_{name}{{source="db",run_log="runs",step="work"}}"#)
}

/// Writes the log: ids ascend block by block, and within a block in a stride that leaves gaps.
fn write_log(file: &Path, done: &AtomicBool) {
    let mut database = Connection::open(file).unwrap();
    database.busy_timeout(PATIENCE).unwrap();
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

    let option = format!("--config.file={}", config.display());
    let start = || Running::start(&[&option], Stdio::null());

    // The first start finds an empty log, so that everything after it counts. Dropping it kills it.
    let first = start();
    let state_file = folder.path().join("state.json");
    wait_for("the first save", || if state_file.exists() { Ok(()) } else { Err("no state file") });
    drop(first);

    let written = Arc::new(AtomicBool::new(false));
    let writer = {
        let (file, written) = (file.clone(), Arc::clone(&written));
        std::thread::spawn(move || write_log(&file, &written))
    };
    let mut random = fastrand::Rng::with_seed(7);
    let mut highest = BTreeMap::new();
    let mut kills = 0;
    while kills < KILLS || !written.load(Ordering::SeqCst) {
        let running = start();
        // Any moment will do: this decides when the kill comes, and waits for nothing.
        std::thread::sleep(Duration::from_millis(random.u64(5..300)));
        for (name, value) in counters(&running) {
            let before = highest.insert(name.clone(), value).unwrap_or(0.0);
            assert!(value >= before, "{name} went down from {before} to {value}");
        }
        drop(running);
        kills += 1;
    }
    writer.join().unwrap();

    let running = start();
    #[allow(clippy::cast_precision_loss, reason = "a small number")]
    let expected = ROWS as f64;
    let seen = wait_for("the count of all rows", || {
        let seen = counters(&running);
        if seen.get(&series("count")) == Some(&expected) { Ok(seen) } else { Err(seen) }
    });
    let sum: f64 =
        database.query_row("SELECT SUM(DurationMs) / 1000.0 FROM RunLog", [], |row| row.get(0)).unwrap();
    assert_eq!(seen.get(&series("sum")), Some(&sum));
    let ok = r#"sqlqueue_run_steps_total{source="db",run_log="runs",step="work",outcome="ok"}"#;
    assert_eq!(seen.get(ok), Some(&expected));
    let candidates = r#"sqlqueue_run_step_candidates_total{source="db",run_log="runs",step="work"}"#;
    assert_eq!(seen.get(candidates), Some(&expected));
}
