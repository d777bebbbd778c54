//! The file as a whole: syntax, unknown keys, wrong types, names.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::{SQLITE, config, environment, errors, queue_errors};
use crate::config::{ConfigError, Database, Environment, load};

#[test]
fn an_unknown_key_suggests_the_nearest() {
    assert_eq!(
        queue_errors("preset: lease\nqueued_at: QueuedAt"),
        "config.yaml:7:9: key `sources[0].queues[0].queued_at`: unknown key; did you mean `enqueued_at`?"
    );
    assert_eq!(
        errors("global: { interval: 15s }"),
        "config.yaml:1:11: key `global.interval`: unknown key; did you mean `sample_interval`?"
    );
}

#[test]
fn an_unknown_key_far_from_all_lists_the_valid_ones() {
    assert_eq!(
        errors("zzzz: 1"),
        "config.yaml:1:1: key `zzzz`: unknown key; valid keys: global, state_file, sources"
    );
    assert_eq!(
        queue_errors("preset: lease\nlease: { kind: owner, colum: X }"),
        "config.yaml:7:31: key `sources[0].queues[0].lease.colum`: unknown key; did you mean `column`?"
    );
    assert_eq!(
        queue_errors("preset: lease\nclaimed_at: { column: X, tz: utc }"),
        "config.yaml:7:34: key `sources[0].queues[0].claimed_at.tz`: unknown key; valid keys: column, \
         encoding, zone, sentinels, lookup"
    );
}

#[test]
fn an_unknown_word_suggests_the_nearest() {
    assert_eq!(
        queue_errors("preset: lease\nlease: { kind: untill, column: X }"),
        "config.yaml:7:24: key `sources[0].queues[0].lease.kind`: unknown value `untill`; did you mean \
         `until`?"
    );
    assert_eq!(
        queue_errors("preset: lease\nstate: { column: State, map: { R: waiting } }"),
        "config.yaml:7:43: key `sources[0].queues[0].state.map.R`: unknown value `waiting`; expected one of: \
         ready, scheduled, retrying, running, failed, done"
    );
}

#[test]
fn a_wrong_type_says_what_was_expected() {
    let cases = [
        (
            "table: [JobQueue]",
            "7:16: key `sources[0].queues[0].table`: expected a string, found a list; quote a \
          name that begins with a bracket: '[name]'",
        ),
        ("table: { a: b }", "7:16: key `sources[0].queues[0].table`: expected a string, found a mapping"),
        (
            "state: ready",
            "7:16: key `sources[0].queues[0].state`: expected a mapping of keys to values, found a \
          string",
        ),
        (
            "count_done: 1",
            "7:21: key `sources[0].queues[0].count_done`: expected `true` or `false`, found a \
          number",
        ),
        (
            "claimed_at: 5",
            "7:21: key `sources[0].queues[0].claimed_at`: expected a column name or a mapping of \
          `column`, `encoding`, `zone`, `sentinels` and `lookup`, found a number",
        ),
        (
            "claimed_at: [x]",
            "7:21: key `sources[0].queues[0].claimed_at`: expected a column name or a mapping of \
          `column`, `encoding`, `zone`, `sentinels` and `lookup`, found a list",
        ),
        (
            "where: [x]",
            "7:16: key `sources[0].queues[0].where`: expected a mapping of keys to values, found a \
          list",
        ),
        (
            "state: { constant: [ready] }",
            "7:28: key `sources[0].queues[0].state.constant`: expected a single \
          word, found a list",
        ),
    ];
    for (keys, expected) in cases {
        assert_eq!(queue_errors(&format!("preset: lease\n{keys}")), format!("config.yaml:{expected}"));
    }
    assert_eq!(
        errors("global: { max_label_values: many }\n"),
        "config.yaml:1:29: key `global.max_label_values`: expected a whole number from 0 to 4294967295, found \
         a string"
    );
    assert_eq!(errors("sources: 5"), "config.yaml:1:10: key `sources`: expected a list, found a number");
    assert_eq!(errors("- a"), "config.yaml:1:1: expected a mapping of keys to values, found a list");
}

#[test]
fn an_empty_file_lacks_its_sources() {
    let expected = "config.yaml:1:1: key `sources`: is missing; at least one source is needed";
    assert_eq!(errors(""), expected);
    assert_eq!(errors("sources:"), expected);
    assert_eq!(
        errors("sources: []"),
        "config.yaml:1:10: key `sources`: is empty; at least one source is needed"
    );
}

#[test]
fn broken_yaml_is_reported_with_its_place() {
    assert_eq!(
        errors("global: {\nsources: ]"),
        "config.yaml:1:9: not valid YAML: mismatched bracket '{' closed by ']'"
    );
    assert_eq!(
        errors("global:\n  query_timeout: 1s\n  query_timeout: 2s\n"),
        "config.yaml:3:3: key `global.query_timeout`: this key is given twice in one mapping; keep one of them"
    );
    assert_eq!(
        errors("global: {}\n---\nsources: []\n"),
        "config.yaml:3:1: a second YAML document begins here; a configuration is one document"
    );
    assert_eq!(
        errors("sources: !secret x\n"),
        "config.yaml:1:18: key `sources`: YAML tags are not used here; quote a value that begins with `!`"
    );
}

#[test]
fn what_is_too_much_for_a_configuration_is_said_in_plain_words() {
    let many = format!("sources: [{}]", "1,".repeat(300_000));
    let deep = format!("sources: {}{}", "[".repeat(50), "]".repeat(50));
    let deeper = format!("sources: {}{}", "[".repeat(5_000), "]".repeat(5_000));
    let aliases = format!("global: {{ a: &a 1, b: [{}] }}", "*a,".repeat(60_000));
    for (yaml, expected) in [
        (many, "there is far more in the file than a configuration needs"),
        (deep, "lists and mappings lie too deep within each other"),
        (deeper, "lists and mappings lie too deep within each other"),
        (aliases, "YAML anchors and aliases"),
    ] {
        let text = errors(&yaml);
        assert!(text.contains(expected) && text.starts_with("config.yaml:1:"), "{text}");
        for jargon in ["budget", "Nodes", "recursion"] {
            assert!(!text.contains(jargon), "{text}");
        }
    }
    let text = queue_errors("max_attempts: 1e400");
    assert!(text.contains("is a number without end, or too large for one; in quotes it is text"), "{text}");
}

#[test]
fn control_characters_of_a_file_do_not_reach_a_terminal() {
    for keys in ["table: \"a\\0b\"", "table: \"a\\eb\"", "preset: \"lea\\ese\"", "sample_interval: \"1\\n2\""]
    {
        let text = queue_errors(&format!("{keys}\nenqueued_at: E"));
        assert!(!text.lines().any(|line| line.contains(char::is_control)), "{text:?}");
        assert!(text.lines().all(|line| line.starts_with("config.yaml:")), "{text:?}");
    }
}

#[test]
fn errors_inside_an_alias_stand_at_the_alias() {
    let file = format!(
        "sources:\n  - name: a\n    {SQLITE}\n    queues:\n      - &q\n        name: q\n        preset: lease\n      - *q\n"
    );
    assert_eq!(
        errors(&file),
        "config.yaml:8:9: key `sources[0].queues[1].name`: `q` is also the name on line 6; names in the queues of a \
         source are unique"
    );
    let file = format!(
        "sources:\n  - name: a\n    {SQLITE}\n    queues:\n      - &q {{ name: q, preset: lease, claimed_at: X }}\n    run_logs:\n      - *q\n"
    );
    assert_eq!(
        errors(&file),
        "config.yaml:7:9: key `sources[0].run_logs[0].claimed_at`: unknown key; valid keys: name, table, \
         preset, sample_interval, where, probe, read_mode, id, step, run_step, steps, start, end, duration, candidates, outcome, \
         mutable, open_window, lock, objectives, batch_size, late_window"
    );
    let file = format!(
        "sources:\n  - name: a\n    {SQLITE}\n    queues:\n      - {{ name: q, preset: lease, lease: &l {{ kind: owner, column: C }} }}\n      - {{ name: r, preset: lease, lease: {{ <<: *l, column: 'a b' }} }}\n"
    );
    assert!(errors(&file).starts_with("config.yaml:6:60: key `sources[0].queues[1].lease.column`: "));
}

#[test]
fn several_mistakes_are_reported_together_in_the_order_of_the_file() {
    let text = errors(
        "global: { query_timeout: 5 }\nsources:\n  - name: a\n    queues:\n      - name: q\n        lease: { kind: since, column: 'a.b' }\n",
    );
    let lines: Vec<&str> = text.lines().map(|line| line.split(": ").nth(1).unwrap()).collect();
    assert_eq!(
        lines,
        [
            "key `global.query_timeout`",
            "key `sources[0].mssql`",
            "key `sources[0].queues[0].table`",
            "key `sources[0].queues[0].state`",
            "key `sources[0].queues[0].lease.timeout`",
            "key `sources[0].queues[0].lease.column`",
        ],
        "{text}"
    );
}

#[test]
fn names_are_unique_in_their_scope_only() {
    let source = |name: &str| {
        format!(
            "  - name: {name}\n    {SQLITE}\n    queues: [{{ name: x, preset: lease }}]\n    attempt_logs: [{{ name: x, preset: attempt_log }}]\n    enqueue_logs: [{{ name: x, preset: enqueue_log }}]\n    run_logs: [{{ name: x, preset: notification_run_log }}]\n    control_tables: [{{ name: x, preset: notification_control }}]\n"
        )
    };
    assert_eq!(config(&format!("sources:\n{}{}", source("a"), source("b"))).sources.len(), 2);
    assert_eq!(
        errors(&format!("sources:\n{}{}", source("a"), source("a"))),
        "config.yaml:9:11: key `sources[1].name`: `a` is also the name on line 2; names in sources are unique"
    );
}

#[test]
fn names_are_neither_absent_nor_empty() {
    assert_eq!(
        errors(&format!("sources:\n  - {SQLITE}\n    queues: [{{ name: '', preset: lease }}]\n")),
        "config.yaml:2:5: key `sources[0].name`: is missing; it becomes the value of a label\n\
         config.yaml:3:22: key `sources[0].queues[0].name`: is empty"
    );
}

#[test]
fn an_unreadable_file_is_named_with_the_reason() {
    let error = load(Path::new("/nonexistent/config.yaml"), &environment()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "/nonexistent/config.yaml: cannot read the configuration: No such file or directory (os error 2)"
    );
    assert!(matches!(error, ConfigError::Unreadable { error, .. } if error.kind() == ErrorKind::NotFound));
}

#[test]
fn a_file_on_disk_is_loaded_and_relative_paths_start_from_its_directory() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("exporter.yaml");
    std::fs::write(directory.path().join("password"), "s3cret\n").unwrap();
    let file = "sources:\n  - name: a\n    mssql: { host: h, database: d, user: u, password_file: password, ca_file: ca.pem }\n    queues: [{ name: q, preset: lease }]\n  - name: b\n    sqlite: { file: queue.db }\n    queues: [{ name: q, preset: lease }]\n";
    std::fs::write(&path, file).unwrap();
    let config = load(&path, &Environment::process()).unwrap();
    let Database::Mssql(mssql) = &config.sources[0].database else { panic!("not SQL Server") };
    assert_eq!(mssql.password.expose(), "s3cret");
    assert_eq!(mssql.trust, crate::config::Trust::CaFile(directory.path().join("ca.pem")));
    let Database::Sqlite(sqlite) = &config.sources[1].database else { panic!("not SQLite") };
    assert_eq!(sqlite.file, directory.path().join("queue.db"));
    assert_ne!(sqlite.file, PathBuf::from("queue.db"));
}

#[test]
fn a_file_with_everything_in_it_is_read() {
    let file = r#"
global: { sample_interval: 15s, query_timeout: 5s, lock_timeout: 1s, stale_after: 60s, max_label_values: 100 }
sources:
  - name: orders_db
    mssql:
      host: db1
      port: 1433
      database: Orders
      user: sqlqueue
      password_file: /run/secrets/db
      encryption: required
      ca_file: /etc/ssl/orders.pem
      application_intent: read_write
    queues:
      - name: orders
        table: dbo.JobQueue
        preset: lease
        sample_interval: 15s
        where: { TaskHub: default, Type: 1 }
        queue_label: QueueName
        state: { column: State, map: { R: ready, W: running, D: done, F: failed } }
        count_done: false
        lease: { kind: until, column: LeaseUntil, token: ClaimToken, tolerance: 0s }
        claimed_at: ClaimedAt
        available_at: AvailableAt
        enqueued_at: { column: EnqueuedAt, encoding: native, zone: Central European Standard Time }
        attempts: { column: Attempts, counts: claims }
        max_attempts: { column: MaxAttempts }
    attempt_logs:
      - name: orders
        table: dbo.JobAttempt
        preset: attempt_log
        id: AttemptId
        queue_label: QueueName
        outcome: { column: Outcome, rules: [ { equals: ok, outcome: ok }, { equals: lost, outcome: lost } ], default: error }
        attempt: Attempt
        started_at: StartedAt
        ended_at: EndedAt
        duration: { column: DurationMs, unit: ms }
        enqueued_at: EnqueuedAt
        batch_size: 1000
        late_window: 10m
    enqueue_logs:
      - name: orders
        table: dbo.JobQueue
        preset: enqueue_log
        id: JobId
        queue_label: QueueName
        enqueued_at: { column: EnqueuedAt, encoding: native, zone: Central European Standard Time }
        batch_size: 1000
        late_window: 10m
    run_logs:
      - name: notifications
        table: dbo.tabela_przebiegow
        preset: notification_run_log_pl
        id: id_przebiegu
        step: krok
        run_step: przebieg
        steps: [komentarze, przebieg]
        start: { column: start, zone: server }
        end: { column: koniec, zone: server }
        duration: { column: ms, unit: ms }
        candidates: kandydatow
        outcome:
          column: blad
          rules:
            - { like: "POMINIETY%", outcome: skipped }
            - { like: "BLAD%", outcome: error }
            - { is_null: true, outcome: ok }
          default: warning
        lock: { resource: dbo.powiadomienia_przebieg }
        batch_size: 1000
        late_window: 10m
    control_tables:
      - name: notifications
        table: dbo.tabela_powiadomien
        preset: notification_control_pl
        id: id_powiadomienia
        kind: rodzaj
        kinds: [komentarz]
        at: { column: kiedy, zone: server }
        batch_size: 1000
        late_window: 10m
  - name: app
    sqlite: { file: /var/lib/app/queue.db }
    queues: [{ name: jobs, preset: transactional }]
"#;
    let config = config(file);
    let counts = |source: &crate::config::Source| {
        [
            source.queues.len(),
            source.attempt_logs.len(),
            source.enqueue_logs.len(),
            source.run_logs.len(),
            source.control_tables.len(),
        ]
    };
    assert_eq!(config.sources.iter().map(counts).collect::<Vec<_>>(), [[1, 1, 1, 1, 1], [1, 0, 0, 0, 0]]);
}
