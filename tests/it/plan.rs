//! Query plans: SQLite runs each sampling statement by seeking, however long the history is.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use sqlqueue_exporter::config::{self, Environment};
use sqlqueue_exporter::statement::{self, Dialect, TailRequest};

const SCHEMA: &str = include_str!("../../sql/sqlite/schema.sql");

/// Queues whose finished rows have other shapes than the demo's.
const OTHER_TABLES: &str = "
    CREATE TABLE TwoEnds (Id INTEGER PRIMARY KEY, Status TEXT NULL, Payload TEXT);
    CREATE INDEX IX_TwoEnds ON TwoEnds (Status);
    CREATE TABLE Stamped (Id INTEGER PRIMARY KEY, FinishedAt TEXT NULL, Payload TEXT);
    CREATE INDEX IX_Stamped ON Stamped (FinishedAt);
    CREATE TABLE Moment (JobId INTEGER, At TEXT NULL);
    CREATE INDEX IX_Moment ON Moment (JobId);
";

const AFTER: TailRequest = TailRequest::After { watermark: 0, gaps: Vec::new() };

/// The steps of a target's plan that touch its table, which every statement calls `t`.
fn plan(target: &str, request: &TailRequest) -> Vec<String> {
    plan_of("t", target, request)
}

/// The steps of a target's plan that touch the table with this alias, in SQLite's words.
fn plan_of(alias: &str, target: &str, request: &TailRequest) -> Vec<String> {
    let yaml = format!("sources:\n  - name: db\n    sqlite: {{ file: db }}\n    {target}\n");
    let config = config::parse(&yaml, Path::new("test.yaml"), &Environment::empty())
        .unwrap_or_else(|error| panic!("{error}"));
    let target = config.sources[0].targets().next().unwrap();
    let statement = statement::sample(Dialect::Sqlite, target, request, Duration::from_secs(1)).unwrap();

    let database = Connection::open_in_memory().unwrap();
    database.execute_batch(SCHEMA).unwrap();
    database.execute_batch(OTHER_TABLES).unwrap();
    let mut explain = database.prepare(&format!("EXPLAIN QUERY PLAN {}", statement.text)).unwrap();
    let mut steps = explain.raw_query();
    let mut found = Vec::new();
    while let Some(step) = steps.next().unwrap() {
        let step: String = step.get("detail").unwrap();
        if step.split(' ').nth(1) == Some(alias) {
            found.push(step);
        }
    }
    found
}

#[test]
fn a_lease_queue_is_sought_by_its_unfinished_states() {
    let index = "SEARCH t USING INDEX IX_JobQueue_State_AvailableAt";
    assert_eq!(
        plan("queues: [{ name: jobs, preset: lease }]", &TailRequest::Head),
        [format!("{index} (State<?)"), format!("{index} (State>?)"), format!("{index} (State=?)")]
    );
}

#[test]
fn the_claimed_jobs_that_are_followed_are_sought_by_their_state() {
    let index = "SEARCH t USING INDEX IX_JobQueue_State_AvailableAt";
    let all = plan("queues: [{ name: jobs, preset: lease }]", &TailRequest::Head);
    let steps = plan("queues: [{ name: jobs, preset: lease, id: JobId }]", &TailRequest::Head);
    assert_eq!(steps, [all, vec![format!("{index} (State=?)")]].concat());
}

#[test]
fn several_finished_states_are_left_out_by_the_ranges_between_them() {
    let target = "queues: [{ name: jobs, table: TwoEnds, lease: { kind: none },
        state: { column: Status, map: { new: ready, done: done, gone: done } } }]";
    let index = "SEARCH t USING COVERING INDEX IX_TwoEnds";
    assert_eq!(
        plan(target, &TailRequest::Head),
        [
            format!("{index} (Status<?)"),
            format!("{index} (Status>? AND Status<?)"),
            format!("{index} (Status>?)"),
            format!("{index} (Status=?)"),
        ]
    );
}

#[test]
fn rows_that_are_done_when_a_column_is_set_are_left_out_by_its_index() {
    let target = "queues: [{ name: jobs, table: Stamped, lease: { kind: none },
        state: { done_when_set: FinishedAt } }]";
    assert_eq!(plan(target, &TailRequest::Head), ["SEARCH t USING COVERING INDEX IX_Stamped (FinishedAt=?)"]);
}

#[test]
fn a_related_table_is_sought_by_its_key_for_each_unfinished_job() {
    let target = "queues: [{ name: jobs, preset: lease, enqueued_at: { column: At, lookup: true },
        lookup: { table: Moment, key: JobId, column: JobId } }]";
    let steps = plan_of("l", target, &TailRequest::Head);
    assert!(!steps.is_empty());
    for step in steps {
        assert_eq!(step, "SEARCH l USING INDEX IX_Moment (JobId=?)");
    }
    assert_eq!(
        plan(target, &TailRequest::Head),
        plan("queues: [{ name: jobs, preset: lease }]", &TailRequest::Head)
    );
}

/// Each kind of log, whole and through a predicate.
const LOGS: [&str; 9] = [
    "attempt_logs: [{ name: jobs, preset: attempt_log }]",
    "enqueue_logs: [{ name: jobs, preset: enqueue_log }]",
    "run_logs: [{ name: runs, preset: notification_run_log, lock: { resource: run } }]",
    "run_logs: [{ name: runs, preset: notification_run_log, mutable: true }]",
    "control_tables: [{ name: events, preset: notification_control }]",
    "attempt_logs: [{ name: jobs, preset: attempt_log, where: { JobId: 1 } }]",
    "enqueue_logs: [{ name: jobs, preset: enqueue_log, where: { State: D } }]",
    "run_logs: [{ name: runs, preset: notification_run_log, where: { Step: run } }]",
    "control_tables: [{ name: events, preset: notification_control, where: { Kind: comment } }]",
];

/// `SCAN t` alone reads the table in the order of its row id. Such a read stops at its LIMIT: there is no
/// sort in between, which the plan would name, and no condition that leaves rows out.
const FROM_ONE_END: &str = "SCAN t";

#[test]
fn a_log_is_read_from_its_watermark_on() {
    for log in LOGS {
        assert_eq!(
            plan(log, &AFTER),
            [
                FROM_ONE_END,                                               // the oldest row
                FROM_ONE_END,                                               // the newest
                "SEARCH t USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)", // late rows, range by range
                "SEARCH t USING INTEGER PRIMARY KEY (rowid>?)",             // new rows
            ],
            "{log}"
        );
    }
}

#[test]
fn the_first_sample_of_a_log_reads_its_newest_rows_only() {
    for log in LOGS {
        // The oldest row, the newest, and one batch of rows backwards from the end.
        assert_eq!(plan(log, &TailRequest::Head), [FROM_ONE_END; 3], "{log}");
    }
}
