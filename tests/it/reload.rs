//! Reloads: a changed configuration takes effect while everything runs. What stays is kept, and a wrong
//! configuration changes nothing.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::Connection;
use sqlqueue_exporter::state_file::StateFile;
use tempfile::TempDir;

use crate::binary::{PATIENCE, run};
use crate::process::{Process, TERM, count_events, eventually, exporter};
use crate::support::{Bench, Series};
use crate::tds::server::TdsServer;

const RUNS: &str = "    run_logs: [{ name: runs, preset: notification_run_log, steps: [work] }]\n";
const QUEUE: &str = "    queues: [{ name: jobs, preset: lease }]\n";
const OK: &str = r#"sqlqueue_run_steps_total{source="db",run_log="runs",step="work",outcome="ok"}"#;
const READY: &str = r#"sqlqueue_jobs{source="db",queue="jobs",state="ready"}"#;
const TAKEN: &str = "sqlqueue_exporter_config_last_reload_successful";
const TAKEN_AT: &str = "sqlqueue_exporter_config_last_reload_success_timestamp_seconds";
const ROW: &str = "INSERT INTO RunLog (Step, StartedAt, EndedAt, DurationMs, Outcome) VALUES
    ('work', '2026-11-30 11:59:00.000', '2026-11-30 11:59:00.000', 5, 'ok')";

/// The demo's tables, on a clock that stands still.
fn bench() -> Bench {
    let bench = Bench::new(&[]);
    bench.execute(include_str!("../../sql/sqlite/schema.sql"));
    bench.execute(
        "INSERT INTO JobQueue (State, AvailableAt, EnqueuedAt, MaxAttempts, Payload) VALUES
         ('R', '2026-11-30 11:59:00.000', '2026-11-30 11:59:00.000', 5, 'x')",
    );
    bench
}

#[tokio::test]
async fn what_stays_is_kept_and_what_comes_and_goes_comes_and_goes() {
    let bench = bench();
    let mut exporter = bench.exporter(RUNS);
    exporter.sample_once().await;
    bench.execute(ROW);
    exporter.sample_once().await;
    Series::of(&exporter).assert(OK, 1.0);

    exporter.reload(bench.config(&[QUEUE, RUNS].concat())).await.unwrap();
    let series = Series::of(&exporter);
    series.assert(OK, 1.0);
    series.assert(r#"sqlqueue_samples_total{source="db",run_log="runs"}"#, 2.0);
    series.assert(r#"sqlqueue_up{source="db"}"#, 1.0);
    let start = r#"sqlqueue_run_last_start_timestamp_seconds{source="db",run_log="runs",step="work"}"#;
    series.assert(start, 1_796_039_940.0);
    assert_eq!(series.get(READY), None, "it was not looked at yet");
    exporter.sample_once().await;
    Series::of(&exporter).assert(READY, 1.0);

    exporter.reload(bench.config(QUEUE)).await.unwrap();
    let series = Series::of(&exporter);
    series.assert(READY, 1.0);
    series.assert_absent("sqlqueue_run_steps_total");
}

#[tokio::test]
async fn a_log_that_is_read_in_another_way_keeps_its_counts_and_its_place() {
    let bench = bench();
    let mut exporter = bench.exporter(RUNS);
    exporter.sample_once().await;
    bench.execute(ROW);
    exporter.sample_once().await;
    bench.execute(ROW);
    let other = RUNS.replace("steps: [work]", "steps: [work, other], batch_size: 17");
    exporter.reload(bench.config(&other)).await.unwrap();
    let series = Series::of(&exporter);
    series.assert(OK, 1.0);
    series.assert(&OK.replace("work", "other"), 0.0);
    series.assert_absent("sqlqueue_run_last_start_timestamp_seconds");
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(OK, 2.0);
    assert!(
        series
            .get(r#"sqlqueue_run_last_start_timestamp_seconds{source="db",run_log="runs",step="work"}"#)
            .is_some()
    );
}

#[tokio::test]
async fn a_target_that_reads_other_rows_starts_anew() {
    let bench = bench();
    let mut exporter = bench.exporter(RUNS);
    exporter.sample_once().await;
    bench.execute(ROW);
    exporter.sample_once().await;
    let other = RUNS.replace("steps:", "where: { Outcome: ok }, steps:");
    exporter.reload(bench.config(&other)).await.unwrap();
    Series::of(&exporter).assert(OK, 0.0);
    exporter.sample_once().await;
    Series::of(&exporter).assert(OK, 0.0);
    bench.execute(ROW);
    exporter.sample_once().await;
    Series::of(&exporter).assert(OK, 1.0);
}

#[tokio::test]
async fn a_target_that_comes_back_goes_on_from_what_was_saved_of_it() {
    let bench = bench();
    let state_file = format!("state_file: '{}'\n", bench.file.with_file_name("state.json").display());
    let mut exporter = bench.exporter(&[RUNS, &state_file].concat());
    exporter.sample_once().await;
    bench.execute(ROW);
    exporter.sample_once().await;
    exporter.reload(bench.config(&[QUEUE, &state_file].concat())).await.unwrap();
    bench.execute(ROW);
    exporter.reload(bench.config(&[QUEUE, RUNS, &state_file].concat())).await.unwrap();
    Series::of(&exporter).assert(OK, 1.0);
    exporter.sample_once().await;
    Series::of(&exporter).assert(OK, 2.0);
}

#[tokio::test]
async fn a_state_file_of_another_exporter_refuses_the_reload_and_changes_nothing() {
    let bench = bench();
    let mut exporter = bench.exporter(RUNS);
    exporter.sample_once().await;
    bench.execute(ROW);
    exporter.sample_once().await;
    let taken = bench.file.with_file_name("taken.json");
    let _theirs = StateFile::open(&taken).unwrap();
    let other = format!("{QUEUE}state_file: '{}'\n", taken.display());
    let refused = exporter.reload(bench.config(&other)).await.unwrap_err().to_string();
    assert!(refused.contains("taken.json is in use by another exporter"), "{refused}");
    let series = Series::of(&exporter);
    series.assert(OK, 1.0);
    series.assert_absent("sqlqueue_jobs");
}

/// A log in a SQLite file, and a process that watches it.
struct World {
    folder: TempDir,
    database: Connection,
}

impl World {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let database = Connection::open(folder.path().join("log.db")).unwrap();
        database.busy_timeout(PATIENCE).unwrap();
        database.execute_batch(include_str!("../../sql/sqlite/schema.sql")).unwrap();
        Self { folder, database }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("config.yaml")
    }

    fn write(&self, targets: &str) {
        let yaml = format!(
            "global: {{ sample_interval: 100ms, query_timeout: 1h, lock_timeout: 30m }}\nstate_file: state.json\n\
             sources:\n  - name: db\n    sqlite: {{ file: log.db }}\n{targets}"
        );
        std::fs::write(self.file(), yaml).unwrap();
    }

    fn start(&self, arguments: &[&str]) -> Process {
        let mut command = exporter(&self.file());
        command.args(arguments);
        Process::start(command)
    }
}

/// The status line of a POST.
fn post(process: &Process, path: &str) -> (u16, String) {
    let output = Command::new("curl")
        .args(["-s", "-X", "POST", "-w", "\n%{http_code}", &format!("http://{}{path}", process.address())])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (body, status) = text.rsplit_once('\n').unwrap();
    (status.parse().unwrap(), body.to_owned())
}

#[test]
fn a_hangup_reads_the_configuration_again_and_a_broken_one_changes_nothing() {
    let world = World::new();
    world.write(RUNS);
    let process = world.start(&[]);
    let samples = r#"sqlqueue_samples_total{source="db",run_log="runs"}"#;
    eventually("the first sample is good", || process.scrape().get(samples) > Some(0.0));
    world.database.execute_batch(ROW).unwrap();
    eventually("the row is counted", || process.scrape().get(OK) == Some(1.0));
    let series = process.scrape();
    series.assert(TAKEN, 1.0);
    let started = series.get(TAKEN_AT).unwrap();

    world.write(&[QUEUE, RUNS].concat().replace("preset: lease", "preset: leese"));
    process.signal("HUP");
    eventually("the reload is refused", || process.scrape().get(TAKEN) == Some(0.0));
    let series = process.scrape();
    series.assert(OK, 1.0);
    series.assert(TAKEN_AT, started);
    process.await_event("the one before stays in force");

    world.write(&[QUEUE, RUNS].concat());
    process.signal("HUP");
    eventually("the queue is sampled", || process.scrape().get(READY) == Some(0.0));
    let series = process.scrape();
    series.assert(OK, 1.0);
    series.assert(TAKEN, 1.0);
    assert!(series.get(TAKEN_AT) > Some(started));
    world.database.execute_batch(ROW).unwrap();
    eventually("the next row is counted", || process.scrape().get(OK) == Some(2.0));
    let (status, log) = process.stop(TERM);
    assert_eq!(status.code(), Some(0), "{log}");
    assert_eq!(count_events(&log, "the one before stays in force"), 1, "{log}");
    assert!(log.contains("did you mean `lease`"), "{log}");
}

#[test]
fn a_post_reloads_only_where_that_is_allowed() {
    let world = World::new();
    world.write(RUNS);
    let process = world.start(&[]);
    let (status, body) = post(&process, "/-/reload");
    assert_eq!(status, 403, "{body}");
    assert!(body.contains("--web.enable-lifecycle"), "{body}");
    drop(process);

    let process = world.start(&["--web.enable-lifecycle"]);
    assert!(process.get("/-/reload", "*/*").starts_with("HTTP/1.1 405"));
    world.write(&[QUEUE, RUNS].concat());
    assert_eq!(post(&process, "/-/reload"), (200, "the configuration is reloaded\n".to_owned()));
    eventually("the queue is sampled", || process.scrape().get(READY) == Some(0.0));
    world.write("    quues: []\n");
    let (status, body) = post(&process, "/-/reload");
    assert_eq!(status, 400, "{body}");
    assert!(body.contains("config.yaml:6:5: key `sources[0].quues`: unknown key"), "{body}");
    process.scrape().assert(TAKEN, 0.0);
}

#[test]
fn the_help_says_how_a_configuration_is_reloaded() {
    assert!(run(&["--help"]).stdout.contains("SIGHUP"));
}

/// Writes to the file of the log in the background, until stopped.
fn keep_writing(file: &Path, stop: &Arc<AtomicBool>) -> std::thread::JoinHandle<f64> {
    let (file, stop) = (file.to_owned(), Arc::clone(stop));
    std::thread::spawn(move || {
        let database = Connection::open(file).unwrap();
        database.busy_timeout(PATIENCE).unwrap();
        let mut rows = 0.0;
        while !stop.load(Ordering::SeqCst) {
            database.execute_batch(ROW).unwrap();
            rows += 1.0;
        }
        rows
    })
}

struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn counters_neither_go_down_nor_go_away_while_the_configuration_is_reloaded_under_load() {
    let world = World::new();
    world.database.pragma_update(None, "journal_mode", "WAL").unwrap();
    world.write(RUNS);
    let process = world.start(&["--web.enable-lifecycle"]);
    let samples = r#"sqlqueue_samples_total{source="db",run_log="runs"}"#;
    eventually("the first sample is good", || process.scrape().get(samples) > Some(0.0));
    let stop = Arc::new(AtomicBool::new(false));
    let writer = keep_writing(&world.folder.path().join("log.db"), &stop);
    std::thread::scope(|scope| {
        // Stops when an assertion fails, too, so that the scope can end.
        let stopping = StopOnDrop(&stop);
        for _ in 0..4 {
            scope.spawn(|| {
                let (mut counted, mut sampled) = (0.0, 0.0);
                while !stop.load(Ordering::SeqCst) {
                    let series = process.scrape();
                    for (name, highest) in [(OK, &mut counted), (samples, &mut sampled)] {
                        let now = series.get(name).expect("the series is on every page");
                        assert!(now >= *highest, "{name} went down from {highest} to {now}");
                        *highest = now;
                    }
                }
            });
        }
        for round in 0..20 {
            // The source changes each time; its log does not.
            world.write(&if round % 2 == 0 { [QUEUE, RUNS].concat() } else { RUNS.to_owned() });
            assert_eq!(post(&process, "/-/reload").0, 200);
            let before = process.scrape().get(samples);
            eventually("sampling goes on", || process.scrape().get(samples) > before);
        }
        drop(stopping);
    });
    let rows = writer.join().unwrap();
    eventually("every row is counted once", || process.scrape().get(OK) == Some(rows));
}

#[test]
fn a_source_that_stays_keeps_its_connection() {
    let server = TdsServer::start();
    let folder = TempDir::new().unwrap();
    let config = folder.path().join("config.yaml");
    let write = |other: &str| {
        let yaml = format!(
            "global: {{ sample_interval: 100ms, query_timeout: 1h }}
sources:
  - name: stays
    mssql: {{ host: 127.0.0.1, port: {}, database: Orders, user: watcher, password_env: PASSWORD, encryption: off }}
    queues: [{{ name: jobs, table: dbo.jobs, preset: lease_minimal }}]
{other}",
            server.port()
        );
        std::fs::write(&config, yaml).unwrap();
    };
    write("");
    let mut command = exporter(&config);
    command.env("PASSWORD", "secret").arg("--web.enable-lifecycle");
    let process = Process::start(command);
    let samples = || process.scrape().get(r#"sqlqueue_samples_total{source="stays",queue="jobs"}"#);
    eventually("the source is sampled", || samples() > Some(0.0));
    write("  - name: comes\n    sqlite: { file: none.db }\n    queues: [{ name: jobs, preset: lease }]\n");
    assert_eq!(post(&process, "/-/reload").0, 200);
    let before = samples();
    eventually("sampling goes on", || samples() > before);
    eventually("the new source is asked", || {
        process.scrape().get(r#"sqlqueue_up{source="comes"}"#) == Some(0.0)
    });
    assert_eq!(server.accepted(), 1);
}
