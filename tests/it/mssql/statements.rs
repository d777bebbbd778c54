//! Statements as printed and as sent: every mapping, full table names, lock timeouts and role probes.

use sqlqueue_exporter::config::TargetConfig;
use sqlqueue_exporter::sample::{QueueFacts, Sample};
use sqlqueue_exporter::source::{Rows, Value};
use sqlqueue_exporter::statement::{self, Dialect, Parameter, Statement, TailRequest};

use super::database::{on_server, server};
use super::tests_on;
use crate::backend::Backend;

tests_on! { on_server:
    a_printed_statement_runs_as_it_is_and_answers_the_same
    a_table_of_another_database_is_read_by_its_full_name
    every_statement_bounds_its_wait_for_locks
    a_login_without_the_probe_s_role_gets_no_sample
}

/// Targets that use every branch of every template, and some with as small a mapping as possible.
const EVERY_MAPPING: &str = include_str!("../../support/every_mapping.yaml");

/// Targets of every kind, read without a hint.
const COMMITTED: &str = "    queues:
      - { name: queue, preset: lease, id: JobId, probe: { base_table: JobQueue }, read_mode: read_committed }
    attempt_logs:
      - { name: log, table: Wide, id: Id, outcome: { default: ok }, read_mode: read_committed }
    enqueue_logs:
      - { name: log, table: Wide, id: Id, read_mode: read_committed }
    run_logs:
      - { name: log, table: Wide, id: Id, step: Label, where: { Number: 3 }, outcome: { default: ok }, read_mode: read_committed }
    control_tables:
      - { name: log, table: Wide, id: Id, kind: Label, read_mode: read_committed }
";

async fn every_mapping(db: &Backend) {
    for fixture in
        ["published_lease", "published_transactional", "published_run_log", "lease", "transactional"]
    {
        db.fixture(fixture).await;
    }
    db.execute(
        "CREATE TABLE Wide (Id bigint PRIMARY KEY, Label nvarchar(20) NULL, Number int NULL, Utc datetime2(7) \
         NULL, Zoned datetimeoffset(7) NULL, UnixS int NULL, UnixMs bigint NULL, Ticks bigint NULL)",
    )
    .await;
    let t = db.present().await;
    let (utc, zoned) = (t.at(-60), t.at_offset(-60, 1));
    let (unix_s, unix_ms, ticks) = (t.unix_s(-60), t.unix_ms(-60), t.ticks(-60));
    for (id, utc) in [(1, "NULL"), (5, utc.as_str())] {
        db.execute(&format!(
            "INSERT INTO Wide VALUES ({id}, N'ż''', 3, {utc}, {zoned}, {unix_s}, {unix_ms}, {ticks})"
        ))
        .await;
    }
}

/// What a sampler asks of a target: one request for a queue; for a log, one at the start and one later.
fn requests(target: TargetConfig<'_>) -> Vec<TailRequest> {
    match target {
        TargetConfig::Queue(_) => vec![TailRequest::Head],
        TargetConfig::AttemptLog(_)
        | TargetConfig::EnqueueLog(_)
        | TargetConfig::RunLog(_)
        | TargetConfig::ControlTable(_) => {
            vec![TailRequest::Head, TailRequest::After { watermark: 4, gaps: vec![(1, 1), (3, 3)] }]
        }
    }
}

/// A person who pastes a statement sees what the exporter sees.
async fn a_printed_statement_runs_as_it_is_and_answers_the_same(db: Backend) {
    every_mapping(&db).await;
    let (config, committed) = (db.config(EVERY_MAPPING), db.config(COMMITTED));
    let lock_timeout = config.global.lock_timeout;
    let mut session = server(&db).session().await;
    for target in config.sources[0].targets().chain(committed.sources[0].targets()) {
        let mut statements = Vec::new();
        for request in requests(target) {
            statements.push(statement::sample(Dialect::Mssql, target, &request, lock_timeout).unwrap());
        }
        let samples = statements.len();
        for index in statement::indexes(target) {
            statements.push(statement::seek(Dialect::Mssql, &index, lock_timeout).unwrap());
        }
        for (index, statement) in statements.into_iter().enumerate() {
            // In one batch, with its values declared in it.
            let printed = statement::runnable(Dialect::Mssql, &statement);
            let batch = Statement { text: printed.clone(), parameters: Vec::new() };
            let mut answers = Vec::new();
            for statement in [&statement, &batch] {
                let answer = session.query(statement).await;
                answers.push(answer.unwrap_or_else(|error| panic!("{error}\n{}", statement.text)));
            }
            if index < samples {
                Sample::decode(target, &answers[0]).unwrap_or_else(|error| panic!("{error}\n{printed}"));
            }
            assert_eq!(without_ages(&answers[0]), without_ages(&answers[1]), "{printed}");
        }
    }
}

/// An answer without its clock, and without the ages that depend on it.
fn without_ages(rows: &Rows) -> Vec<Vec<Value>> {
    let gauges = QueueFacts::default().gauges().map(|(name, _)| name);
    let ages: Vec<&str> = gauges.filter(|name| name.ends_with("_ms")).chain(["now_ms"]).collect();
    let mut rows = rows.clone();
    for row in &mut rows.rows {
        for (value, column) in row.iter_mut().zip(&rows.columns) {
            if ages.contains(&column.as_str()) {
                *value = Value::Null;
            }
        }
    }
    rows.rows
}

async fn a_table_of_another_database_is_read_by_its_full_name(db: Backend) {
    db.fixture("published_lease").await;
    db.fixture("transactional").await;
    db.execute("INSERT INTO WorkQueue (EnqueuedAt, Payload) VALUES (SYSUTCDATETIME(), 'x')").await;
    let database = server(&db).database();
    let targets = format!(
        "    queues:\n      - {{ name: demo, table: {database}.dbo.QueueDemo, preset: lease_minimal }}\n      \
         - {{ name: work, table: {database}.dbo.WorkQueue, preset: transactional }}\n"
    );
    let series = db.sample(&targets).await;
    series.assert(r#"sqlqueue_jobs{source="db",queue="demo",state="ready"}"#, 2.0);
    series.assert(r#"sqlqueue_jobs{source="db",queue="work",state="ready"}"#, 1.0);
    let config = db.config(&targets);
    let demo = config.sources[0].targets().next().unwrap();
    let index = statement::indexes(demo).remove(0);
    let seek = statement::seek(Dialect::Mssql, &index, config.global.lock_timeout).unwrap();
    let found = db.query(&seek).await.unwrap();
    assert!(matches!(found.rows[0][0], Value::Text(_)), "{found:?}");
}

async fn every_statement_bounds_its_wait_for_locks(db: Backend) {
    every_mapping(&db).await;
    let config = db.config(EVERY_MAPPING);
    let mut session = server(&db).session().await;
    for target in config.sources[0].targets() {
        for request in requests(target) {
            let asked =
                statement::sample(Dialect::Mssql, target, &request, config.global.lock_timeout).unwrap();
            let (settings, _) = asked.text.split_once("READ COMMITTED;").unwrap();
            let probe = Statement {
                text: format!(
                    "{settings}READ COMMITTED;\nSELECT CAST(@@LOCK_TIMEOUT AS BIGINT) AS ms WHERE @P1 = 1"
                ),
                parameters: vec![Parameter { meaning: "any", value: Value::Int(1) }],
            };
            assert_eq!(session.query(&probe).await.unwrap().rows, [vec![Value::Int(1000)]]);
        }
    }
}

async fn a_login_without_the_probe_s_role_gets_no_sample(db: Backend) {
    db.fixture("published_lease").await;
    let queue = |role: &str| {
        format!(
            "    queues:\n      - {{ name: q, table: QueueDemo, preset: lease_minimal, probe: {{ role: {role} }} }}\n"
        )
    };
    let jobs = r#"sqlqueue_jobs{source="db",queue="q",state="ready"}"#;
    db.sample(&queue("public")).await.assert(jobs, 2.0);
    let series = db.sample(&queue("no such role")).await;
    assert_eq!(series.get(jobs), None);
    series.assert(r#"sqlqueue_sample_errors_total{source="db",queue="q",reason="permission"}"#, 1.0);
}
