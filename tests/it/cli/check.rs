//! `check`: what it prints, and whether its advice helps.

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

    /// What `check --connect` prints for these targets (YAML, indented by four).
    fn check_targets(&self, targets: &str) -> Ended {
        let config = format!(
            "global: {{ query_timeout: 1h }}\nsources:\n  - name: db\n    sqlite: {{ file: queue.db }}\n{targets}"
        );
        run_in(self.folder.path(), &config, &["check", "--connect"])
    }

    fn check(&self) -> Ended {
        self.check_targets(
            "    queues:
      - { name: jobs, preset: lease }
    run_logs:
      - { name: runs, preset: notification_run_log, lock: { resource: run } }
    control_tables:
      - { name: events, preset: notification_control }
",
        )
    }
}

/// The statement that a warning advises.
fn advice(ended: &Ended) -> Option<&str> {
    ended.stdout.lines().map(str::trim).find(|line| line.starts_with("CREATE "))
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
    assert!(ended.stdout.contains("no database was contacted"), "{ended:?}");
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
    // Another index on the same column stays, which holds finished rows only.
    fixture.execute("DROP INDEX IX_JobQueue_State_AvailableAt");
    let before = fixture.check();
    assert_eq!(before.code, Some(0), "{before:?}");
    assert!(before.stdout.ends_with("3 good targets, 1 warning, 0 failures\n"), "{}", before.stdout);
    assert!(before.stdout.contains("queue jobs: warning, no index"), "{}", before.stdout);

    fixture.execute(advice(&before).expect(&before.stdout));
    let after = fixture.check();
    assert!(after.stdout.ends_with("3 good targets, 0 warnings, 0 failures\n"), "{}", after.stdout);
}

/// A table that several queues share.
const SHARED: &str = "    queues:
      - { name: jobs, table: Shared, where: { T: a }, state: { column: state, map: { R: ready, D: done } } }
";

#[test]
fn an_index_on_a_column_of_the_predicate_alone_does_not_leave_finished_rows_out() {
    let fixture = Fixture::new();
    fixture.execute(
        "CREATE TABLE Shared (Id INTEGER PRIMARY KEY, T TEXT, State TEXT, Priority INTEGER);
        CREATE INDEX IX_T ON Shared (T);
        CREATE INDEX IX_T_Priority ON Shared (T, Priority, State);
        CREATE INDEX IX_Open ON Shared (State) WHERE State <> 'D'",
    );
    let before = fixture.check_targets(SHARED);
    assert!(before.stdout.ends_with("1 good target, 1 warning, 0 failures\n"), "{}", before.stdout);
    assert!(before.stdout.contains("filtered indexes are not looked at"), "{}", before.stdout);
    assert_eq!(advice(&before), Some(r#"CREATE INDEX "IX_Shared_state" ON "Shared" ("state");"#));

    fixture.execute("CREATE INDEX IX_T_State ON Shared (T, State)");
    let after = fixture.check_targets(SHARED);
    assert!(after.stdout.ends_with("1 good target, 0 warnings, 0 failures\n"), "{}", after.stdout);
}

#[test]
fn a_log_is_sought_by_its_id_and_by_nothing_else() {
    let fixture = Fixture::new();
    for table in ["Heap", "main.Heap"] {
        fixture.execute(
            "DROP TABLE IF EXISTS Heap; CREATE TABLE Heap (Id INTEGER, Kind TEXT);
            CREATE INDEX IX_Heap ON Heap (Kind, Id)",
        );
        let log = format!(
            "    control_tables:\n      - {{ name: events, table: {table}, id: Id, kind: Kind, where: {{ Kind: x }} }}\n"
        );
        let before = fixture.check_targets(&log);
        assert!(before.stdout.ends_with("1 good target, 1 warning, 0 failures\n"), "{}", before.stdout);
        fixture.execute(advice(&before).expect(&before.stdout));
        let after = fixture.check_targets(&log);
        assert!(after.stdout.ends_with("1 good target, 0 warnings, 0 failures\n"), "{}", after.stdout);
    }
}

#[test]
fn a_related_table_without_an_index_on_its_key_is_a_warning_whose_advice_helps() {
    let fixture = Fixture::new();
    fixture.execute("CREATE TABLE Moment (JobId INTEGER, At TEXT)");
    let queue = |times: &str| {
        fixture.check_targets(&format!(
            "    queues:
      - name: jobs
        preset: lease
        lookup: {{ table: Moment, key: JobId, column: JobId }}
        {times}
"
        ))
    };
    let unused = queue("");
    assert!(unused.stdout.ends_with("1 good target, 0 warnings, 0 failures\n"), "{}", unused.stdout);
    let times = "enqueued_at: { column: At, lookup: true }";
    let before = queue(times);
    assert!(before.stdout.ends_with("1 good target, 1 warning, 0 failures\n"), "{}", before.stdout);
    assert_eq!(advice(&before), Some(r#"CREATE INDEX "IX_Moment_JobId" ON "Moment" ("JobId");"#));
    fixture.execute(advice(&before).unwrap());
    let after = queue(times);
    assert!(after.stdout.ends_with("1 good target, 0 warnings, 0 failures\n"), "{}", after.stdout);
}

#[test]
fn a_log_whose_second_sample_would_fail_is_no_good_target() {
    let fixture = Fixture::new();
    // Without its schema, it is taken for a step of the statement that the first sample lacks.
    fixture.execute("CREATE TABLE late (Id INTEGER PRIMARY KEY, Kind TEXT)");
    let ended = fixture
        .check_targets("    control_tables:\n      - { name: events, table: late, id: Id, kind: Kind }\n");
    assert!(ended.stdout.contains("control_table events: FAILED"), "{}", ended.stdout);
    assert!(ended.stdout.ends_with("0 good targets, 0 warnings, 1 failure\n"), "{}", ended.stdout);
    let named = fixture.check_targets(
        "    control_tables:\n      - { name: events, table: main.late, id: Id, kind: Kind }\n",
    );
    assert!(named.stdout.ends_with("1 good target, 0 warnings, 0 failures\n"), "{}", named.stdout);
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
fn a_missing_column_is_named_by_its_key() {
    let fixture = Fixture::new();
    let ended =
        fixture.check_targets("    queues:\n      - { name: jobs, preset: lease, enqueued_at: nope }\n");
    let said = "queue jobs: FAILED (missing_object), no such column: nope, the column of `enqueued_at`\n";
    assert!(ended.stdout.contains(said), "{}", ended.stdout);
    let quoted = "\n      - { name: runs, preset: notification_run_log, start: '[no pe]' }\n";
    let ended = fixture.check_targets(&format!("    run_logs:{quoted}"));
    assert!(ended.stdout.contains("no such column: no pe, the column of `start`\n"), "{}", ended.stdout);
}

#[test]
fn a_missing_database_is_a_failure_that_names_the_file() {
    let ended = run_with(
        "sources: [{ name: db, sqlite: { file: nowhere.db }, queues: [{ name: jobs, preset: lease }] }]",
        &["check", "--connect"],
    );
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stdout.contains("FAILED (connect)") && ended.stdout.contains("nowhere.db"), "{ended:?}");
    assert!(ended.stdout.contains("Check whether the file exists"), "{ended:?}");
    assert!(!ended.stdout.contains("host") && !ended.stdout.contains("certificate"), "{ended:?}");
    assert!(!Path::new("nowhere.db").exists());
}

#[test]
fn a_value_that_is_not_what_the_mapping_says_is_told_with_its_column() {
    let folder = tempfile::tempdir().unwrap();
    let database = rusqlite::Connection::open(folder.path().join("q.db")).unwrap();
    database
        .execute_batch("CREATE TABLE Job (\"it's \"\"when\"\"\"); INSERT INTO Job VALUES ('30.11.2026')")
        .unwrap();
    let config = "sources: [{ name: db, sqlite: { file: q.db }, queues: [{ name: q, table: Job, state: { constant: ready }, \
                  enqueued_at: '[it''s \"when\"]' }] }]";
    let ended = run_in(folder.path(), config, &["check", "--connect"]);
    let told =
        "FAILED (decode), a row whose \"it's \"\"when\"\"\" holds no time in ISO 8601: is this the column";
    assert!(ended.stdout.contains(told), "{ended:?}");
}

#[test]
fn a_state_file_that_could_not_be_used_is_found_before_it_is_needed() {
    let folder = tempfile::tempdir().unwrap();
    let config = |state_file: &str| {
        format!(
            "state_file: {state_file}\nsources: [{{ name: db, sqlite: {{ file: q.db }}, queues: [{{ name: q, preset: lease }}] }}]"
        )
    };
    let good = run_in(folder.path(), &config("state.json"), &["check"]);
    assert_eq!(good.code, Some(0), "{good:?}");
    assert!(good.stdout.contains("it can be created"), "{good:?}");
    // Files made by root here would keep out the exporter, which is another user.
    let left: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name.to_string_lossy().starts_with("state"))
        .collect();
    assert!(left.is_empty(), "{left:?}");

    let nowhere = run_in(folder.path(), &config("nowhere/state.json"), &["check"]);
    assert_eq!(nowhere.code, Some(1), "{nowhere:?}");
    assert!(nowhere.stdout.contains("nowhere/state.json: the state file: FAILED"), "{nowhere:?}");

    std::fs::write(folder.path().join("state.json"), "{").unwrap();
    let corrupt = run_in(folder.path(), &config("state.json"), &["check"]);
    assert_eq!(corrupt.code, Some(1), "{corrupt:?}");
    assert!(corrupt.stdout.contains("is corrupt"), "{corrupt:?}");
}

#[test]
fn a_queue_label_of_too_many_values_is_named_with_what_to_do_about_it() {
    let fixture = Fixture::new();
    fixture.execute(
        "CREATE TABLE Wide (Id INTEGER PRIMARY KEY);
        WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT 20001) INSERT INTO Wide SELECT n FROM n",
    );
    let queue = |keys: &str| {
        fixture.check_targets(&format!(
            "    queues:\n      - {{ name: q, table: Wide, state: {{ constant: ready }}{keys} }}\n"
        ))
    };
    let labelled = queue(", queue_label: Id");
    let why = "  queue q: FAILED (decode), the statement returned more than 20000 rows, one for each state of each value \
               of the column Id, the `queue_label`; name a column of few values, or none, or leave rows out with \
               `where`\n      Each queue takes several rows of the answer, whose number is limited.\n";
    assert!(labelled.stdout.contains(why), "{}", labelled.stdout);
    for keys in ["", ", queue_label: Id, where: { Id: 7 }"] {
        let fine = queue(keys);
        assert!(fine.stdout.ends_with("1 good target, 0 warnings, 0 failures\n"), "{}", fine.stdout);
    }
}
