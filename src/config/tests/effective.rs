//! The configuration in force: complete, readable again, and without secrets.

use super::{MSSQL, PASSWORD, config, environment};
use crate::config::{Config, Preset, TargetKind, parse, presets};

/// Every key, with a value that is not its default.
const EVERYTHING: &str = r#"
global:
  sample_interval: 10s
  query_timeout: 4s
  lock_timeout: 0s
  stale_after: 2m
  read_mode: read_committed
  max_label_values: 50
  objectives:
    { max_ready_age: 1m, max_expired_age: none, max_attempts: 7, max_failed_jobs: none, max_run_gap: 2h,
      max_consecutive_skips: 5, max_skip_ratio: 0.05, max_error_ratio: none, max_warning_ratio: 1,
      max_slowdown: 2.5, max_log_age: none, max_lost_ratio: 0.000001, max_clock_skew: 1s500ms }
state_file: state.json
sources:
  - name: 'the "first" one: #1'
    mssql:
      host: db1
      instance: SQLEXPRESS
      database: Orders
      user: sqlqueue
      password_file: /run/secrets/db
      encryption: login_only
      trust_server_certificate: true
    objectives: { max_clock_skew: none }
    queues:
      - name: until
        table: 'Orders.dbo.[a]]b.c]'
        where: { '[a b]': "true", Type: 1 }
        probe: { base_table: dbo.Base, where: { Hidden: 0 }, role: reader }
        sample_interval: 20s
        id: JobId
        queue_label: Queue
        lookup: { table: Related, key: Id, column: RelatedId }
        state: { column: State, map: { R: ready, "1": running, D: done, F: failed, S: scheduled, Y: retrying } }
        lease:
          kind: until
          column: { column: LeaseUntil, encoding: unix_ms, sentinels: [-1, "a: b"] }
          token: Token
          tolerance: 1s500ms
        claimed_at: { column: ClaimedAt, lookup: true }
        available_at: { column: AvailableAt, zone: Asia/Tokyo }
        enqueued_at: { column: EnqueuedAt, encoding: dotnet_ticks }
        attempts: Attempts
        max_attempts: { column: MaxAttempts }
        count_done: true
        objectives: { max_ready_age: none, max_expired_age: 1h30m, max_attempts: none, max_failed_jobs: 3 }
      - name: since
        table: Jobs
        state: { done_when_set: DoneAt }
        read_mode: readpast
        lease: { kind: since, column: { column: FetchedAt, zone: server }, timeout: 5m, tolerance: 3s }
        attempts: { column: Attempts, counts: failures }
        max_attempts: 25
      - { name: owner, table: Jobs, state: { constant: retrying }, lease: { kind: owner, column: Owner } }
      - { name: rowlock, table: Jobs, state: { constant: ready }, lease: { kind: rowlock }, read_mode: readpast }
      - { name: none, table: Jobs, state: { constant: failed } }
    attempt_logs:
      - name: attempts
        table: Attempt
        id: AttemptId
        queue_label: Queue
        outcome:
          column: Outcome
          rules: [{ is_null: true, outcome: lost }, { equals: 1, outcome: ok }, { like: 'x%', outcome: error }]
          default: ok
        attempt: Number
        started_at: { column: StartedAt, zone: offset }
        ended_at: EndedAt
        duration: { column: Ms, unit: s }
        enqueued_at: EnqueuedAt
        objectives: { max_lost_ratio: none }
        batch_size: 20
        late_window: 0s
    enqueue_logs:
      - name: enqueued
        table: Jobs
        id: JobId
        queue_label: Queue
        enqueued_at: { column: EnqueuedAt, zone: offset }
        where: { Kind: 1 }
        batch_size: 30
        late_window: 1m
    run_logs:
      - name: runs
        table: Log
        id: Id
        step: Step
        run_step: run
        steps: [run, "yes", "~"]
        start: { column: StartedAt, zone: server }
        end: EndedAt
        duration: { column: Took, unit: hhmmss }
        candidates: Candidates
        outcome: { default: warning }
        mutable: true
        open_window: 2h
        lock: { resource: 'the lock' }
        objectives: { max_run_gap: 1d, max_log_age: none, max_slowdown: 1000, max_warning_ratio: 0.125 }
        batch_size: 30
        late_window: 1m
    control_tables:
      - { name: events, table: Event, id: Id, kind: Kind, kinds: [a], at: At, batch_size: 40, late_window: 2m }
  - name: second
    mssql:
      { host: db2, port: 14330, database: d, user: u, password_env: DB_PASSWORD, ca_file: ca.pem,
        application_intent: read_only }
    queues: [{ name: jobs }]
  - name: third
    mssql: { host: db3, database: d, user: u, password_credential: db, encryption: off }
    queues: [{ name: jobs }]
  - name: fourth
    sqlite: { file: 'C:\queue.db' }
    queues: [{ name: jobs }]
"#;

/// The configuration after it was written and read again.
fn again(config: &Config) -> Config {
    let yaml = config.to_yaml().unwrap();
    let environment = environment()
        .with_credentials_directory("/run/credentials")
        .with_file("/run/credentials/db", PASSWORD);
    parse(&yaml, "config.yaml".as_ref(), &environment).unwrap_or_else(|error| panic!("{error}\n---\n{yaml}"))
}

fn everything() -> Config {
    let environment = environment()
        .with_credentials_directory("/run/credentials")
        .with_file("/run/credentials/db", PASSWORD);
    parse(EVERYTHING, "config.yaml".as_ref(), &environment).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_setting_survives_being_written_and_read_again() {
    let config = everything();
    assert_eq!(again(&config), config);
}

#[test]
fn the_zone_in_force_is_shown_by_its_windows_name() {
    let yaml = everything().to_yaml().unwrap();
    assert!(yaml.contains("zone: Tokyo Standard Time") && !yaml.contains("Asia/Tokyo"), "{yaml}");
}

#[test]
fn a_password_is_shown_by_the_name_of_its_source_only() {
    let yaml = everything().to_yaml().unwrap();
    assert!(!yaml.contains(PASSWORD), "{yaml}");
    for source in ["password_file: /run/secrets/db", "password_env: DB_PASSWORD", "password_credential: db"] {
        assert!(yaml.contains(source), "{source} in {yaml}");
    }
}

#[test]
fn a_preset_is_spelt_out_and_reads_the_same() {
    for Preset { kind, name, .. } in presets() {
        let lock = if *kind == TargetKind::RunLog { ", lock: { resource: l }" } else { "" };
        let target = format!("{kind}: [{{ name: t, preset: {name}{lock} }}]");
        let config = config(&format!("sources:\n  - name: db\n    {MSSQL}\n    {target}\n"));
        assert_eq!(again(&config), config, "{name}");
        let yaml = config.to_yaml().unwrap();
        assert!(!yaml.contains("preset"), "{yaml}");
    }
}

#[test]
fn defaults_are_filled_in() {
    let yaml = config("sources: [{ name: db, sqlite: { file: q.db }, queues: [{ name: jobs }] }]").to_yaml();
    let yaml = yaml.unwrap();
    for line in
        ["stale_after: 1m", "read_mode: readpast", "max_ready_age: 15m", "table: JobQueue", "tolerance: 0s"]
    {
        assert!(yaml.contains(line), "{line} in {yaml}");
    }
    assert!(!yaml.contains("state_file"), "what is not set is not there: {yaml}");
}
