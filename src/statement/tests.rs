//! Statements as text: every template in both dialects, and how names and constants are quoted.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod indexes;
mod quoting;
mod refused;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use super::{
    Dialect, IndexPurpose, Parameter, Statement, TailRequest, Value, create_index, indexes, runnable, sample,
    seek,
};
use crate::config::{self, ColumnName, Config, Environment, ReadMode, TargetConfig};
use crate::limits::GAPS_PER_SAMPLE;
use crate::statement::templates::{self, environment};

const DIALECTS: [Dialect; 2] = [Dialect::Mssql, Dialect::Sqlite];
const LOCK_TIMEOUT: Duration = Duration::from_millis(1500);

/// A configuration of one source with these targets (YAML, indented by four).
fn config(dialect: Dialect, targets: &str) -> Config {
    let database = match dialect {
        Dialect::Mssql => "mssql: { host: h, database: d, user: u, password_env: P }",
        Dialect::Sqlite => "sqlite: { file: db }",
    };
    let yaml = format!("sources:\n  - name: db\n    {database}\n{targets}");
    let environment = Environment::empty().with_variable("P", "p");
    config::parse(&yaml, Path::new("test.yaml"), &environment)
        .unwrap_or_else(|error| panic!("{error}\n{yaml}"))
}

/// Targets of every kind, covering most branches of their templates.
const TARGETS: &str = "    queues:
      - { name: lease, preset: lease, queue_label: Kind, where: { Tenant: 1 } }
      - { name: followed, preset: lease, id: JobId, queue_label: Kind, probe: { base_table: Job, where: { Tenant: 1 } } }
      - { name: transactional, preset: transactional }
      - { name: owner, preset: transactional_owner }
      - name: related
        table: Outbox
        state: { done_when_set: SentAt }
        lease: { kind: since, column: { column: Seen, encoding: unix_s, sentinels: [0] }, timeout: 5m }
        lookup: { table: Moment, key: JobId, column: Id }
        claimed_at: { column: Claimed, encoding: unix_ms, lookup: true }
        available_at: { column: Due, encoding: dotnet_ticks, sentinels: [0], lookup: true }
        enqueued_at: { column: Entered, zone: offset, lookup: true }
        attempts: { column: Tries, counts: failures }
        max_attempts: 5
    attempt_logs:
      - { name: attempts, preset: attempt_log, queue_label: QueueName, where: { Tenant: 1 }, probe: { base_table: Job } }
    enqueue_logs:
      - { name: enqueued, preset: enqueue_log, queue_label: QueueName, where: { Tenant: 1 } }
    run_logs:
      - { name: runs, preset: notification_run_log_pl, lock: { resource: run } }
      - { name: hhmmss, table: T, id: Id, step: S, duration: { column: Took, unit: hhmmss }, outcome: { default: ok } }
      - { name: open, preset: notification_run_log, mutable: true }
    control_tables:
      - { name: events, preset: notification_control, where: { Kind: a } }
";

fn requests() -> [TailRequest; 2] {
    [TailRequest::Head, TailRequest::After { watermark: 7, gaps: vec![(2, 3), (5, 5)] }]
}

/// The sample of the only target.
fn sample_of(dialect: Dialect, target: &str) -> String {
    let config = config(dialect, target);
    let target = config.sources[0].targets().next().unwrap();
    sample(dialect, target, &TailRequest::Head, LOCK_TIMEOUT).unwrap().text
}

#[test]
fn every_template_is_known_and_can_be_parsed() {
    let sql = Path::new(env!("CARGO_MANIFEST_DIR")).join("sql");
    let mut files = BTreeSet::new();
    for folder in ["check", "dialect", "sample"] {
        for entry in std::fs::read_dir(sql.join(folder)).unwrap() {
            files.insert(format!("{folder}/{}", entry.unwrap().file_name().to_str().unwrap()));
        }
    }
    let known: BTreeSet<String> = templates::files().map(|(name, _)| name.to_owned()).collect();
    assert_eq!(known, files);
    for (name, text) in templates::files() {
        for dialect in DIALECTS {
            let parsed = environment(dialect).template_from_named_str(name, text).map(|_| ());
            parsed.unwrap_or_else(|error| panic!("{name}: {error:#}"));
        }
    }
}

#[test]
fn every_statement_renders_in_both_dialects() {
    for dialect in DIALECTS {
        let config = config(dialect, TARGETS);
        for target in config.sources[0].targets() {
            let mut texts = Vec::new();
            for request in requests() {
                let statement = sample(dialect, target, &request, LOCK_TIMEOUT);
                texts.push(statement.unwrap_or_else(|error| panic!("{error}")).text);
            }
            for index in indexes(target) {
                texts
                    .push(seek(dialect, &index, LOCK_TIMEOUT).unwrap_or_else(|error| panic!("{error}")).text);
                texts.push(create_index(dialect, &index).unwrap_or_else(|error| panic!("{error}")));
            }
            for text in texts {
                // No template syntax and no template comment is left.
                for mark in ["{{", "}}", "{%", "%}", "{#", "#}"] {
                    assert!(!text.contains(mark), "{mark} in {text}");
                }
                assert!(text.trim_end().ends_with(';'), "{text}");
                let is_read = !text.starts_with("CREATE ");
                let guarded = text.starts_with("SET LOCK_TIMEOUT 1500;\nSET DEADLOCK_PRIORITY LOW;\n");
                assert_eq!(guarded, dialect == Dialect::Mssql && is_read, "{text}");
            }
        }
    }
}

#[test]
fn the_text_of_a_log_s_statement_stays_the_same_from_sample_to_sample() {
    for dialect in DIALECTS {
        let config = config(dialect, TARGETS);
        for target in config.sources[0].targets() {
            let of = |gaps: Vec<(i64, i64)>| {
                sample(dialect, target, &TailRequest::After { watermark: 9, gaps }, LOCK_TIMEOUT).unwrap()
            };
            let many = (0..100).map(|id| (2 * id, 2 * id)).collect();
            let (none, many) = (of(Vec::new()), of(many));
            assert_eq!(none.text, many.text);
            let expected = match target {
                TargetConfig::Queue(_) => 0,
                _ => 1 + 2 * GAPS_PER_SAMPLE,
            };
            assert_eq!((none.parameters.len(), many.parameters.len()), (expected, expected));
        }
    }
}

fn parameterised() -> Statement {
    let parameter = |meaning, value| Parameter { meaning, value };
    Statement {
        text: "SELECT @P1, @P2, @P3, @P4;\n\n".to_owned(),
        parameters: vec![
            parameter("a number", Value::Int(-7)),
            parameter("a text", Value::Text("it's".to_owned())),
            parameter("another text", Value::Text("błąd".to_owned())),
            parameter("nothing", Value::Null),
        ],
    }
}

#[test]
fn a_statement_for_a_query_window_of_sql_server_declares_its_parameters() {
    assert_eq!(
        runnable(Dialect::Mssql, &parameterised()),
        "DECLARE @P1 BIGINT = -7; -- a number\n\
         DECLARE @P2 NVARCHAR(4000) = 'it''s'; -- a text\n\
         DECLARE @P3 NVARCHAR(4000) = N'błąd'; -- another text\n\
         DECLARE @P4 BIGINT = NULL; -- nothing\n\
         SELECT @P1, @P2, @P3, @P4;\n"
    );
}

#[test]
fn a_statement_for_the_sqlite3_shell_sets_its_parameters() {
    assert_eq!(
        runnable(Dialect::Sqlite, &parameterised()),
        "-- @P1: a number\n.parameter set @P1 -7\n\
         -- @P2: a text\n.parameter set @P2 'it''s'\n\
         -- @P3: another text\n.parameter set @P3 'błąd'\n\
         -- @P4: nothing\n.parameter set @P4 NULL\n\
         SELECT @P1, @P2, @P3, @P4;\n"
    );
}

/// The ranges around the finished values of a state column.
fn ranges(dialect: Dialect, map: &str) -> Vec<String> {
    let text = sample_of(
        dialect,
        &format!("    queues:\n      - {{ name: q, table: T, state: {{ column: S, map: {map} }} }}\n"),
    );
    let (_, rest) = text.split_once("WHERE (").unwrap();
    let (ranges, _) = rest.split_once(" IS ").unwrap();
    let mut ranges: Vec<String> = ranges
        .split("OR")
        .map(|range| range.trim().replace(['[', ']', '"'], "").replace("t.S ", ""))
        .collect();
    ranges.pop(); // the start of the range of NULL
    ranges
}

#[test]
fn finished_values_are_in_the_order_in_which_the_column_sorts_them() {
    let words = "{ New: ready, cancelled: done, Completed: done }";
    assert_eq!(
        ranges(Dialect::Mssql, words),
        ["< 'cancelled'", "> 'cancelled' AND < 'Completed'", "> 'Completed'"]
    );
    assert_eq!(
        ranges(Dialect::Sqlite, words),
        ["< 'Completed'", "> 'Completed' AND < 'cancelled'", "> 'cancelled'"]
    );
    for dialect in DIALECTS {
        let numbers = "{ 1: ready, 10: done, 9: done, -2: done }";
        assert_eq!(ranges(dialect, numbers), ["< '-2'", "> '-2' AND < '9'", "> '9' AND < '10'", "> '10'"]);
    }
}

#[test]
fn a_related_time_is_a_subquery_that_waits_for_locked_rows() {
    let text = sample_of(
        Dialect::Mssql,
        "    queues:
      - name: q
        table: T
        state: { constant: ready }
        lookup: { table: dbo.Moment, key: JobId, column: Id }
        enqueued_at: { column: At, encoding: unix_s, sentinels: [0], lookup: true }
",
    );
    let subquery = "CAST((SELECT MAX(CASE WHEN l.[At] NOT IN ('0') THEN l.[At] END) FROM [dbo].[Moment] AS l \
                    WHERE l.[JobId] = t.[Id]) AS BIGINT) * 1000 AS enqueued_ms";
    assert!(text.contains(subquery), "{text}");
    assert!(text.contains("FROM clock CROSS JOIN [T] AS t WITH (READPAST, READCOMMITTEDLOCK)\n)"), "{text}");
}

#[test]
fn a_zone_with_an_iana_name_is_sent_by_its_windows_name() {
    let text = sample_of(
        Dialect::Mssql,
        "    queues:
      - { name: q, table: T, state: { constant: ready }, enqueued_at: { column: At, zone: Europe/Kyiv } }
",
    );
    assert!(text.contains("t.[At] AT TIME ZONE 'FLE Standard Time' AT TIME ZONE 'UTC'"), "{text}");
}

#[test]
fn a_read_mode_changes_the_hints_of_every_table_that_is_watched_and_nothing_else() {
    const HINTS: &str = " WITH (READPAST, READCOMMITTEDLOCK)";
    // Claims that are locks need the other mode.
    let committed =
        TARGETS.replace("preset: transactional }", "preset: transactional, read_mode: readpast }");
    let committed = format!("{committed}global: {{ read_mode: read_committed }}\n");
    let (readpast, committed) = (config(Dialect::Mssql, TARGETS), config(Dialect::Mssql, &committed));
    let request = TailRequest::After { watermark: 0, gaps: Vec::new() };
    let asked = |dialect, target| sample(dialect, target, &request, LOCK_TIMEOUT).unwrap().text;
    for (before, after) in readpast.sources[0].targets().zip(committed.sources[0].targets()) {
        let name = &before.target().name;
        let (hinted, text) = (asked(Dialect::Mssql, before), asked(Dialect::Mssql, after));
        assert!(hinted.contains(HINTS), "{name}");
        let is_hinted = after.target().read_mode == ReadMode::ReadPast;
        assert_eq!(text, if is_hinted { hinted } else { hinted.replace(HINTS, "") }, "{name}");
        assert!(is_hinted || !text.contains("WITH ("), "{name}: {text}");
        assert_eq!(asked(Dialect::Sqlite, after), asked(Dialect::Sqlite, before), "{name}");
    }
}

// The twin for SQLite is executed by the integration tests.
#[test]
fn hhmmss_is_taken_apart_as_a_whole_number() {
    let text = sample_of(
        Dialect::Mssql,
        "    run_logs:
      - { name: r, table: T, id: Id, step: S, duration: { column: Took, unit: hhmmss }, outcome: { default: ok } }
",
    );
    let column = "CAST(t.[Took] AS BIGINT)";
    let seconds = format!("({column} / 10000 * 3600 + {column} / 100 % 100 * 60 + {column} % 100) * 1000");
    assert!(text.contains(&seconds), "{text}");
}
