//! `check`: what it says, and that what it advises helps.

use std::path::Path;

use rusqlite::Connection;
use tempfile::TempDir;

use crate::binary::{Ended, run, run_in, run_with};
use crate::page::SCHEMA;

/// The demo's tables in a file, and a configuration that watches them.
struct Fixture {
    folder: TempDir,
    database: Connection,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = Connection::open(folder.path().join("queue.db")).unwrap();
        database.execute_batch(SCHEMA).unwrap();
        Self { folder, database }
    }

    fn execute(&self, sql: &str) {
        self.database.execute_batch(sql).unwrap();
    }

    fn check(&self) -> Ended {
        let config = "sources:
  - name: db
    sqlite: { file: queue.db }
    queues:
      - { name: jobs, preset: lease }
    run_logs:
      - { name: runs, preset: notification_run_log, lock: { resource: run } }
    control_tables:
      - { name: events, preset: notification_control }
";
        run_in(self.folder.path(), config, &["check", "--connect"])
    }
}

/// The statement that a warning tells to run.
fn advice(ended: &Ended) -> Option<&str> {
    ended.stdout.lines().map(str::trim).find(|line| line.starts_with("CREATE INDEX"))
}

#[test]
fn a_good_file_is_valid_without_asking_a_database() {
    let ended = run_with(
        "sources: [{ name: db, sqlite: { file: nowhere.db }, queues: [{ name: jobs, preset: lease }] }]",
        &["check"],
    );
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.stdout.contains("config.yaml: the configuration is valid: 1 source, 1 target\n"),
        "{ended:?}"
    );
    assert!(ended.stdout.contains("nothing was asked of a database"), "{ended:?}");
}

#[test]
fn a_bad_file_is_refused_with_file_line_and_key() {
    let ended = run_with(
        "sources:
  - name: db
    sqlite: { file: queue.db }
    queues:
      - { name: jobs, preset: lease, clamed_at: X }
      - { name: jobs, preset: leese }
",
        &["check"],
    );
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{ended:?}");
    for part in ["config.yaml:5:", "clamed_at", "claimed_at"] {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
}

#[test]
fn every_mistake_is_told_at_once() {
    let ended = run_with(
        "global: { stale_after: 1parsec }
sources:
  - name: db
    sqlite: { file: queue.db }
    queues:
      - { name: jobs, preset: leese }
",
        &["check"],
    );
    assert_eq!(ended.code, Some(1), "{ended:?}");
    for part in
        ["config.yaml:1:", "key `global.stale_after`", "config.yaml:6:", "key `sources[0].queues[0].preset`"]
    {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
}

#[test]
fn a_file_that_is_not_there_is_named() {
    for command in ["check", "sql", "serve"] {
        let ended = run(&[command, "--config.file=/nowhere/sqlqueue.yaml"]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{ended:?}");
        assert!(ended.stderr.contains("/nowhere/sqlqueue.yaml"), "{ended:?}");
    }
}

#[test]
fn tables_as_they_should_be_are_good_and_without_warning() {
    let ended = Fixture::new().check();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.ends_with("3 good targets, 0 warnings, 0 failures\n"), "{}", ended.stdout);
    assert_eq!(advice(&ended), None);
}

#[test]
fn a_missing_index_is_a_warning_whose_advice_helps() {
    let fixture = Fixture::new();
    // Another one on the same column stays, which holds finished rows only.
    fixture.execute("DROP INDEX IX_JobQueue_State_AvailableAt");
    let before = fixture.check();
    assert_eq!(before.code, Some(0), "{before:?}");
    assert!(before.stdout.ends_with("3 good targets, 1 warning, 0 failures\n"), "{}", before.stdout);
    assert!(before.stdout.contains("queue jobs: warning, no index"), "{}", before.stdout);

    fixture.execute(advice(&before).expect(&before.stdout));
    let after = fixture.check();
    assert!(after.stdout.ends_with("3 good targets, 0 warnings, 0 failures\n"), "{}", after.stdout);
}

#[test]
fn a_missing_table_is_a_failure_and_the_others_are_still_checked() {
    let fixture = Fixture::new();
    fixture.execute("DROP TABLE JobQueue");
    let ended = fixture.check();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.stdout.contains("queue jobs: FAILED (missing_object), no such table: JobQueue"),
        "{}",
        ended.stdout
    );
    assert!(ended.stdout.ends_with("2 good targets, 0 warnings, 1 failure\n"), "{}", ended.stdout);
}

#[test]
fn a_missing_database_is_a_failure_that_names_the_file() {
    let ended = run_with(
        "sources: [{ name: db, sqlite: { file: nowhere.db }, queues: [{ name: jobs, preset: lease }] }]",
        &["check", "--connect"],
    );
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stdout.contains("FAILED (connect)") && ended.stdout.contains("nowhere.db"), "{ended:?}");
    assert!(!Path::new("nowhere.db").exists());
}
