//! Foreign state: a state file that the exporter's user may not touch.

use std::os::unix::fs::chown;
use std::path::PathBuf;

use rusqlite::Connection;
use tempfile::TempDir;

use crate::binary::PATIENCE;
use crate::foreign_user::{NOBODY, as_nobody, folder_of_root, set_mode};
use crate::process::{Process, TERM, eventually, exporter};

const OK: &str = r#"sqlqueue_run_steps_total{source="db",run_log="runs",step="work",outcome="ok"}"#;
const SAMPLES: &str = r#"sqlqueue_samples_total{source="db",run_log="runs"}"#;
const SAVED: &str = "sqlqueue_exporter_state_last_save_successful";

/// A log, a folder for the state, and an exporter that `nobody` can start.
struct World {
    folder: TempDir,
    database: Connection,
}

impl World {
    /// `None`, with a message, where the tests do not run as root.
    fn new(test: &str) -> Option<Self> {
        let folder = folder_of_root(&format!("foreign_state::{test}"))?;
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
        Some(Self { folder, database })
    }

    fn state_file(&self) -> PathBuf {
        self.folder.path().join("state/state.json")
    }

    fn start(&self) -> Process {
        let own = exporter(&self.folder.path().join("config.yaml"));
        Process::start(as_nobody(self.folder.path(), &own))
    }

    /// Counting continues in memory, and the page shows that nothing is saved.
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

#[test]
fn a_state_file_of_somebody_else_is_told_and_left_alone_and_counting_goes_on() {
    let Some(world) = World::new("a_state_file_of_somebody_else") else { return };
    // The folder is the exporter's, so it could put another file in place of this one.
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
