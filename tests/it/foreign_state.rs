//! A state file that the exporter's user may not touch. Only root can make one, and root may touch
//! everything: the exporter runs as another user here, and without root the tests say that they
//! were skipped.

use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::Connection;
use tempfile::TempDir;

use crate::binary::PATIENCE;
use crate::process::{Process, TERM, eventually, exporter};

/// `nobody`, on every Linux.
const NOBODY: u32 = 65_534;

const OK: &str = r#"sqlqueue_run_steps_total{source="db",run_log="runs",step="work",outcome="ok"}"#;
const SAMPLES: &str = r#"sqlqueue_samples_total{source="db",run_log="runs"}"#;
const SAVED: &str = "sqlqueue_exporter_state_last_save_successful";

/// A log, a folder for the state, and an exporter that `nobody` can start.
struct World {
    folder: TempDir,
    database: Connection,
}

impl World {
    /// `None`, and a word about it, where the tests do not run as root.
    fn new(test: &str) -> Option<Self> {
        let folder = TempDir::new().unwrap();
        if chown(folder.path(), Some(0), Some(0)).is_err() {
            let skipped = "only root can give a file to somebody else";
            let line = format!("SKIPPED it::foreign_state::{test}: {skipped}\n");
            let _ = std::io::stderr().write_all(line.as_bytes());
            return None;
        }
        set_mode(folder.path(), 0o755);
        let database = Connection::open(folder.path().join("log.db")).unwrap();
        database.busy_timeout(PATIENCE).unwrap();
        database.execute_batch(include_str!("../../sql/sqlite/schema.sql")).unwrap();
        set_mode(&folder.path().join("log.db"), 0o644);
        std::fs::create_dir(folder.path().join("state")).unwrap();
        let config = "global: { sample_interval: 100ms, query_timeout: 1h, lock_timeout: 30m }
state_file: state/state.json
sources:
  - name: db
    sqlite: { file: log.db }
    run_logs: [{ name: runs, preset: notification_run_log, steps: [work] }]
";
        std::fs::write(folder.path().join("config.yaml"), config).unwrap();
        // The folder that it was built in need not be open to others. Copied by another process: what
        // this one opens for writing is open in the children too that other tests are just starting,
        // and as long as it is, it cannot be run.
        let built = env!("CARGO_BIN_EXE_sqlqueue-exporter");
        let copied = Command::new("cp").arg(built).arg(folder.path().join("exporter")).status().unwrap();
        assert!(copied.success());
        Some(Self { folder, database })
    }

    fn state_file(&self) -> PathBuf {
        self.folder.path().join("state/state.json")
    }

    fn start(&self) -> Process {
        let own = exporter(&self.folder.path().join("config.yaml"));
        let mut command = Command::new(self.folder.path().join("exporter"));
        command.args(own.get_args()).current_dir(self.folder.path()).uid(NOBODY).gid(NOBODY);
        Process::start(command)
    }

    /// Counting goes on in memory, and the page says that it is not saved.
    #[track_caller]
    fn assert_counts_unsaved(&self, process: &Process) {
        eventually("the first sample is good", || process.scrape().get(SAMPLES) > Some(0.0));
        for total in [1.0, 2.0] {
            self.database
                .execute_batch(
                    "INSERT INTO RunLog (Step, StartedAt, EndedAt, DurationMs, Outcome) VALUES \
                     ('work', '2026-11-30 12:00:00.000', '2026-11-30 12:00:00.000', 5, 'ok')",
                )
                .unwrap();
            eventually("the row is counted", || process.scrape().get(OK) == Some(total));
        }
        process.scrape().assert(SAVED, 0.0);
    }
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_state_file_of_somebody_else_is_told_and_left_alone_and_counting_goes_on() {
    let Some(world) = World::new("a_state_file_of_somebody_else") else { return };
    // The folder is the exporter's, so it could put another file in the place of this one.
    chown(world.folder.path().join("state"), Some(NOBODY), Some(NOBODY)).unwrap();
    let theirs = "{\"of\": \"somebody else\"}";
    std::fs::write(world.state_file(), theirs).unwrap();
    set_mode(&world.state_file(), 0o600);
    let process = world.start();
    world.assert_counts_unsaved(&process);
    let (status, log) = process.stop(TERM);
    assert_eq!(status.code(), Some(0), "{log}");
    assert!(log.contains("state.json") && log.contains("Permission denied"), "{log}");
    assert_eq!(std::fs::read_to_string(world.state_file()).unwrap(), theirs);
}

#[test]
fn a_folder_of_somebody_else_is_told_and_counting_goes_on() {
    let Some(world) = World::new("a_folder_of_somebody_else") else { return };
    let process = world.start();
    world.assert_counts_unsaved(&process);
    let (status, log) = process.stop(TERM);
    assert_eq!(status.code(), Some(0), "{log}");
    assert!(log.contains("state.json") && log.contains("Permission denied"), "{log}");
    assert_eq!(std::fs::read_dir(world.folder.path().join("state")).unwrap().count(), 0);
}
