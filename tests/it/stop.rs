//! Stops: the process ends in order whatever hangs, and its state file survives what disks do.

use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::Connection;
use sqlqueue_exporter::state_file::StateFile;
use tempfile::TempDir;

use crate::binary::PATIENCE;
use crate::process::{INT, Process, TERM, count_events, eventually, exporter};
use crate::tds::server::{Fault, TdsServer};

const OK: &str = r#"sqlqueue_run_steps_total{source="db",run_log="runs",step="work",outcome="ok"}"#;
const SAMPLES: &str = r#"sqlqueue_samples_total{source="db",run_log="runs"}"#;
const SAVED: &str = "sqlqueue_exporter_state_last_save_successful";
const STATE_FILE_CANNOT: &str = "cannot be saved";

/// A log in a SQLite file, and a configuration that watches it and keeps its state.
struct Bench {
    folder: TempDir,
    database: Connection,
    config: PathBuf,
}

impl Bench {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let database = Connection::open(folder.path().join("log.db")).unwrap();
        database.busy_timeout(PATIENCE).unwrap();
        database.execute_batch(include_str!("../../sql/sqlite/schema.sql")).unwrap();
        std::fs::create_dir(folder.path().join("state")).unwrap();
        let config = folder.path().join("config.yaml");
        std::fs::write(
            &config,
            "global: { sample_interval: 100ms, query_timeout: 1h, lock_timeout: 30m }
state_file: state/state.json
sources:
  - name: db
    sqlite: { file: log.db }
    run_logs: [{ name: runs, preset: notification_run_log, steps: [work] }]
",
        )
        .unwrap();
        Self { folder, database, config }
    }

    fn state_file(&self) -> PathBuf {
        self.folder.path().join("state/state.json")
    }

    fn start(&self) -> Process {
        Process::start(exporter(&self.config))
    }

    fn write_log(&self) {
        let row = "INSERT INTO RunLog (Step, StartedAt, EndedAt, DurationMs, Outcome)
            VALUES ('work', '2026-11-30 12:00:00.000', '2026-11-30 12:00:00.000', 5, 'ok')";
        self.database.execute_batch(row).unwrap();
    }

    /// Writes one more row and waits until a scrape shows it.
    #[track_caller]
    fn count_one_more(&self, process: &Process, total: f64) {
        self.write_log();
        eventually("the row is counted", || process.scrape().get(OK) == Some(total));
    }
}

/// The state file is usable, and no process holds it.
#[track_caller]
fn assert_whole(path: &Path) {
    let opened = StateFile::open(path).unwrap();
    assert!(opened.problem.is_none() && !opened.is_new, "{:?}", opened.problem);
}

#[test]
fn it_stops_while_a_server_is_silent() {
    for signal in [TERM, INT] {
        let server = TdsServer::start();
        let folder = TempDir::new().unwrap();
        let config = folder.path().join("config.yaml");
        let yaml = format!(
            "global: {{ sample_interval: 100ms, query_timeout: 1h }}
state_file: state.json
sources:
  - name: db
    mssql: {{ host: 127.0.0.1, port: {}, database: Orders, user: watcher, password_env: PASSWORD, encryption: off }}
    run_logs: [{{ name: runs, preset: notification_run_log }}]
    queues: [{{ name: hangs, table: dbo.hangs, preset: lease_minimal }}]
",
            server.port()
        );
        std::fs::write(&config, yaml).unwrap();
        let mut command = exporter(&config);
        command.env("PASSWORD", "secret");
        let process = Process::start(command);
        let state_file = folder.path().join("state.json");
        eventually("the first sample is saved", || state_file.exists());
        server.at_statement("", Fault::Silence);
        let answered = server.statements();
        eventually("a statement hangs", || server.statements() > answered);
        let series = process.scrape();
        assert_eq!(series.sum("sqlqueue_sample_errors_total", ""), 0.0, "it waits still: {series:#?}");
        assert_eq!(server.open(), 1);
        let (status, log) = process.stop(signal);
        assert_eq!(status.code(), Some(0), "SIG{signal}: {log}");
        assert_eq!(server.open(), 0);
        assert_whole(&state_file);
    }
}

#[test]
fn it_stops_while_it_waits_for_the_lock_of_a_file() {
    for signal in [TERM, INT] {
        let bench = Bench::new();
        let process = bench.start();
        eventually("the first sample is good", || process.scrape().get(SAMPLES) > Some(0.0));
        bench.database.execute_batch("BEGIN EXCLUSIVE").unwrap();
        // Without the lock, there would be a sample every 100 ms.
        let mut before = None;
        eventually("a statement waits", || {
            let stood_still = before == process.scrape().get(SAMPLES);
            before = process.scrape().get(SAMPLES);
            std::thread::sleep(std::time::Duration::from_millis(300));
            stood_still
        });
        let (status, log) = process.stop(signal);
        assert_eq!(status.code(), Some(0), "SIG{signal}: {log}");
        assert_whole(&bench.state_file());
    }
}

#[test]
fn a_signal_before_the_first_sample_is_no_crash() {
    let bench = Bench::new();
    let (status, log) = bench.start().stop(TERM);
    assert_eq!(status.code(), Some(0), "{log}");
}

#[test]
fn a_second_exporter_on_the_same_state_file_does_not_start() {
    let bench = Bench::new();
    let process = bench.start();
    let second = exporter(&bench.config).arg("--web.listen-address=127.0.0.1:0").output().unwrap();
    let message = String::from_utf8(second.stderr).unwrap();
    assert_eq!(second.status.code(), Some(1), "{message}");
    assert!(message.contains("state.json is in use by another exporter"), "{message}");
    bench.count_one_more(&process, 1.0);
    let (status, log) = process.stop(TERM);
    assert_eq!(status.code(), Some(0), "{log}");
}

#[test]
fn a_corrupt_state_file_is_told_and_kept_and_counting_goes_on() {
    let bench = Bench::new();
    let corrupt = r#"{"format":"sqlqueue-exporter state","version":1,"targ"#;
    std::fs::write(bench.state_file(), corrupt).unwrap();
    let process = bench.start();
    eventually("the first sample is good", || process.scrape().get(SAMPLES) > Some(0.0));
    process.scrape().assert(SAVED, 0.0);
    bench.count_one_more(&process, 1.0);
    process.scrape().assert(SAVED, 0.0);
    let (status, log) = process.stop(TERM);
    assert_eq!(status.code(), Some(0), "{log}");
    assert_eq!(count_events(&log, "is corrupt"), 1, "{log}");
    assert_eq!(std::fs::read_to_string(bench.state_file()).unwrap(), corrupt);
}

#[test]
fn a_folder_that_vanishes_costs_no_row_and_is_written_to_when_it_is_back() {
    let bench = Bench::new();
    let process = bench.start();
    eventually("the first sample is good", || process.scrape().get(SAMPLES) > Some(0.0));
    bench.count_one_more(&process, 1.0);
    process.scrape().assert(SAVED, 1.0);

    let state_folder = bench.folder.path().join("state");
    std::fs::remove_dir_all(&state_folder).unwrap();
    bench.count_one_more(&process, 2.0);
    bench.count_one_more(&process, 3.0);
    process.scrape().assert(SAVED, 0.0);
    process.await_event(STATE_FILE_CANNOT);

    std::fs::create_dir(&state_folder).unwrap();
    bench.count_one_more(&process, 4.0);
    process.scrape().assert(SAVED, 1.0);
    let (status, log) = process.stop(TERM);
    assert_eq!(status.code(), Some(0), "{log}");
    assert_eq!(count_events(&log, STATE_FILE_CANNOT), 1, "{log}");
    assert_eq!(count_events(&log, "saved again"), 1, "{log}");
    assert_whole(&bench.state_file());

    // Nothing was lost, and nothing is counted twice.
    let process = bench.start();
    process.scrape().assert(OK, 4.0);
    bench.count_one_more(&process, 5.0);
}

/// A limit on file size simulates a full disk: a file can be created, but not written.
#[test]
fn a_full_disk_costs_no_row_and_leaves_the_state_that_was_saved() {
    let bench = Bench::new();
    let process = bench.start();
    eventually("the first sample is good", || process.scrape().get(SAMPLES) > Some(0.0));
    bench.count_one_more(&process, 1.0);
    process.stop(TERM);
    let saved = std::fs::read(bench.state_file()).unwrap();

    let direct = exporter(&bench.config);
    let mut command = Command::new("bash");
    command.args(["-c", r#"ulimit -S -f 0; trap "" XFSZ; exec "$0" "$@""#]);
    command.arg(direct.get_program()).args(direct.get_args());
    let process = Process::start(command);
    bench.count_one_more(&process, 2.0);
    bench.count_one_more(&process, 3.0);
    process.scrape().assert(SAVED, 0.0);
    process.await_event(STATE_FILE_CANNOT);
    assert_eq!(std::fs::read(bench.state_file()).unwrap(), saved);
    let left = std::fs::read_dir(bench.folder.path().join("state")).unwrap().count();
    assert_eq!(left, 2, "the state and its lock, and nothing half written");

    let limit = Command::new("prlimit").args(["--pid", &process.id(), "--fsize=unlimited"]).status().unwrap();
    assert!(limit.success());
    bench.count_one_more(&process, 4.0);
    process.scrape().assert(SAVED, 1.0);
    let (status, log) = process.stop(TERM);
    assert_eq!(status.code(), Some(0), "{log}");
    assert_eq!(count_events(&log, STATE_FILE_CANNOT), 1, "{log}");
    assert_eq!(count_events(&log, "saved again"), 1, "{log}");
    let process = bench.start();
    process.scrape().assert(OK, 4.0);
}
