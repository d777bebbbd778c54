//! What only a real server can show. `SQLQUEUE_TEST_MSSQL` names it (tests/support/mssql_server.rs);
//! the login must be allowed to create databases. The cases that the embedded database can show too
//! run on both and are in the other modules.

use sqlqueue_exporter::config::TargetConfig;
use sqlqueue_exporter::sample::Sample;
use sqlqueue_exporter::source::{Rows, Value};
use sqlqueue_exporter::statement::{self, Dialect, Parameter, Statement, TailRequest};

use crate::backend::{Backend, on_server, server, unproven};
use crate::support::{Series, project_file};

/// A test of the case of this name.
macro_rules! tests {
    ($($test:ident: $case:ident)*) => {
        $(#[tokio::test]
        async fn $test() {
            on_server(concat!("real_server::", stringify!($test)), $case).await;
        })*
    };
}

tests! {
    a_named_zone_takes_the_offset_of_the_row_s_own_date: named_zone
    every_zone_of_the_table_is_known_to_the_server: every_zone
    the_server_s_zone_is_that_of_its_clock: server_zone
    a_printed_statement_runs_as_it_is_and_answers_the_same: printed_statements
    a_table_of_another_database_is_read_by_its_full_name: full_name
    every_statement_bounds_its_wait_for_locks: guard
    rows_that_workers_have_locked_are_in_flight: rows_in_flight
    committed_rows_are_counted_from_a_snapshot_too: snapshot_count
    a_table_lock_is_an_error_and_no_low_number: table_lock
    a_page_lock_is_an_error_and_no_low_number: page_lock
    a_delete_of_so_many_rows_that_it_locks_the_table_is_an_error_and_no_low_number: escalated_lock
    a_locked_row_is_read_as_it_was_committed_or_is_an_error: committed_reads
    a_login_without_the_probe_s_role_gets_no_sample: role_probe
}

async fn named_zone(db: Backend) {
    db.execute(
        "CREATE TABLE Local (Id int PRIMARY KEY, Step varchar(20) NOT NULL, Began datetime2(3) NULL, \
         Old datetime NULL)",
    )
    .await;
    db.execute(
        "INSERT INTO Local VALUES (1, 'winter', '2026-11-30T12:30:00', '2026-11-30T12:30:00'), \
         (2, 'summer', '2026-07-01T12:00:00', '2026-07-01T12:00:00')",
    )
    .await;
    // The second name is sent as the first.
    let zones = ["Central European Standard Time", "Europe/Warsaw"];
    for (column, zone) in ["Began", "Old"].into_iter().flat_map(|column| zones.map(|zone| (column, zone))) {
        let log = format!(
            "    run_logs:\n      - name: log\n        table: Local\n        id: Id\n        step: Step\n        \
             start: {{ column: {column}, zone: {zone} }}\n        end: {{ column: {column}, zone: {zone} }}\n        \
             outcome: {{ default: ok }}\n"
        );
        let series = db.sample(&log).await;
        for (step, unix) in [("winter", 1_796_038_200.0), ("summer", 1_782_900_000.0)] {
            let start = format!(
                r#"sqlqueue_run_last_start_timestamp_seconds{{source="db",run_log="log",step="{step}"}}"#
            );
            series.assert(&start, unix);
        }
        let oldest = r#"sqlqueue_run_log_oldest_row_timestamp_seconds{source="db",run_log="log"}"#;
        series.assert(oldest, 1_796_038_200.0);
    }
}

async fn every_zone(db: Backend) {
    let table = project_file("src/config/time_zone/windows_zones.txt");
    let names = table.lines().filter(|line| !line.starts_with(['#', '-']));
    let names: Vec<&str> = names.map(|line| line.split_once(": ").unwrap().0).collect();
    let text = "SELECT CAST(name AS NVARCHAR(200)) AS name FROM sys.time_zone_info";
    let list = db.query(&Statement { text: text.to_owned(), parameters: Vec::new() }).await;
    let Ok(list) = list else {
        unproven("every zone is known: this server has no sys.time_zone_info, and is asked for every tenth");
        for name in names.iter().step_by(10) {
            let text = format!(
                "SELECT CAST(CAST('2026-07-01T12:00:00' AS datetime2) AT TIME ZONE '{name}' AS NVARCHAR(50)) AS t"
            );
            let answer = db.query(&Statement { text, parameters: Vec::new() }).await;
            answer.unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        return;
    };
    let known = |name: &str| list.rows.contains(&vec![Value::Text(name.to_owned())]);
    let unknown: Vec<&str> = names.into_iter().filter(|name| !known(name)).collect();
    assert_eq!(unknown, Vec::<&str>::new());
}

async fn server_zone(db: Backend) {
    db.fixture("published_run_log").await;
    db.execute("INSERT INTO tabela_powiadomien (rodzaj, klucz) VALUES ('komentarz', 1)").await;
    let step = "INSERT INTO tabela_przebiegow (krok, start, koniec, ms) VALUES ('przebieg', SYSDATETIME(), \
                SYSDATETIME(), 0)";
    let before = db.present().await.unix_s(0);
    db.execute(step).await;
    let series = db
        .sample(
            "    run_logs:
      - { name: runs, preset: notification_run_log_pl }
    control_tables:
      - { name: events, preset: notification_control_pl }
",
        )
        .await;
    let after = db.present().await.unix_s(1);
    for name in [
        r#"sqlqueue_run_last_start_timestamp_seconds{source="db",run_log="runs",step="przebieg"}"#,
        r#"sqlqueue_run_last_success_timestamp_seconds{source="db",run_log="runs",step="przebieg"}"#,
    ] {
        let found = series.get(name).unwrap();
        #[allow(clippy::cast_precision_loss, reason = "seconds since 1970 are exact")]
        let fits = (before as f64..=after as f64).contains(&found);
        assert!(fits, "{name} is {found}, not within {before} and {after}");
    }
    let last = r#"sqlqueue_notification_last_timestamp_seconds{source="db",control_table="events",kind="komentarz"}"#;
    assert!(series.get(last).is_some(), "{series:?}");
}

/// Targets that use every branch of every template, and some that map as little as there can be.
const EVERY_MAPPING: &str = include_str!("../support/every_mapping.yaml");

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

/// What a sampler asks of a target: once for a queue, at the start and later for a log.
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
async fn printed_statements(db: Backend) {
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

/// An answer less its clock, and the ages that the clock makes.
fn without_ages(rows: &Rows) -> Vec<Vec<Value>> {
    let ages = ["now_ms", "oldest_ready_age_ms", "oldest_expired_lease_ms", "longest_running_ms"];
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

async fn full_name(db: Backend) {
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

async fn guard(db: Backend) {
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

/// Whether the server leaves out the rows that another session has locked. Servers that only speak
/// the protocol take the hint and do not act on it.
async fn skips_locked_rows(db: &Backend) -> bool {
    let mut worker = server(db).session().await;
    worker.execute("BEGIN TRANSACTION; UPDATE WorkQueue SET Payload = 'y' WHERE WorkId = 1").await;
    let text = "SELECT COUNT_BIG(*) AS n FROM WorkQueue WITH (READPAST, READCOMMITTEDLOCK) WHERE WorkId = 1";
    let seen = db.query(&Statement { text: text.to_owned(), parameters: Vec::new() }).await.unwrap();
    worker.execute("ROLLBACK TRANSACTION").await;
    seen.rows == [vec![Value::Int(0)]]
}

const WORK: &str = "    queues:\n      - { name: work, preset: transactional }\n";

async fn rows_in_flight(db: Backend) {
    db.fixture("transactional").await;
    let now = db.present().await.at(0);
    let row = format!("({now}, 'x')");
    db.execute(&format!(
        "INSERT INTO WorkQueue (EnqueuedAt, Payload) VALUES {}",
        [row.as_str(); 5].join(", ")
    ))
    .await;
    // Row versions, so that what is locked can be counted without waiting for it.
    db.attempt(&format!("ALTER DATABASE {} SET ALLOW_SNAPSHOT_ISOLATION ON", server(&db).database())).await;
    let (mut consumer, mut producer) = (server(&db).session().await, server(&db).session().await);
    let skips = skips_locked_rows(&db).await;
    consumer.execute("BEGIN TRANSACTION; DELETE FROM WorkQueue WITH (READPAST) WHERE WorkId = 1").await;
    producer
        .execute(&format!(
            "BEGIN TRANSACTION; INSERT INTO WorkQueue (EnqueuedAt, Payload) VALUES {row}, {row}"
        ))
        .await;
    let series = db.sample(WORK).await;
    consumer.execute("ROLLBACK TRANSACTION").await;
    producer.execute("ROLLBACK TRANSACTION").await;
    let jobs = |state: &str| format!(r#"sqlqueue_jobs{{source="db",queue="work",state="{state}"}}"#);
    if skips {
        series.assert(&jobs("ready"), 4.0);
        series.assert(&jobs("running"), 1.0);
    } else {
        unproven("rows in flight: this server does not skip locked rows, so there are none to it");
        series.assert(&jobs("ready"), 5.0);
        series.assert(&jobs("running"), 0.0);
    }
}

/// The branch for a database that has snapshots and no READ_COMMITTED_SNAPSHOT.
async fn snapshot_count(db: Backend) {
    db.fixture("transactional").await;
    db.execute("INSERT INTO WorkQueue (EnqueuedAt, Payload) VALUES (SYSUTCDATETIME(), 'x')").await;
    let database = server(&db).database();
    db.attempt(&format!("ALTER DATABASE {database} SET ALLOW_SNAPSHOT_ISOLATION ON")).await;
    if !skips_locked_rows(&db).await {
        unproven("a count from a snapshot: this server does not isolate sessions as SQL Server does");
        return;
    }
    let config = db.config(WORK);
    let target = config.sources[0].targets().next().unwrap();
    let mut asked =
        statement::sample(Dialect::Mssql, target, &TailRequest::Head, config.global.lock_timeout).unwrap();
    let rcsi = "is_read_committed_snapshot_on = 1";
    assert_eq!(asked.text.matches(rcsi).count(), 1);
    asked.text = asked.text.replace(rcsi, "1 = 0");
    let rows = db.query(&asked).await.unwrap_or_else(|error| panic!("{error}\n{}", asked.text));
    let column = rows.columns.iter().position(|name| name == "committed_rows").unwrap();
    assert_eq!(rows.rows[0][column], Value::Int(1));
}

/// Whether a read without a hint finds the last committed version of a row that somebody changes.
async fn keeps_row_versions(db: &Backend) -> bool {
    let text = "SELECT CAST(is_read_committed_snapshot_on AS BIGINT) AS it_is FROM sys.databases \
                WHERE database_id = DB_ID()";
    let answer = db.query(&Statement { text: text.to_owned(), parameters: Vec::new() }).await.unwrap();
    answer.rows == [vec![Value::Int(1)]]
}

async fn committed_reads(db: Backend) {
    db.fixture("transactional").await;
    db.execute(
        "INSERT INTO WorkQueue (EnqueuedAt, Payload) VALUES (SYSUTCDATETIME(), 'x'), (SYSUTCDATETIME(), 'x')",
    )
    .await;
    let queue = "    queues:
      - { name: work, preset: transactional, lease: { kind: none }, read_mode: read_committed }
";
    let exporter = db.exporter(queue);
    let mut worker = server(&db).session().await;
    worker.execute("BEGIN TRANSACTION; DELETE FROM WorkQueue WHERE WorkId = 1").await;
    exporter.sample_once().await;
    worker.execute("ROLLBACK TRANSACTION").await;
    let ready = r#"sqlqueue_jobs{source="db",queue="work",state="ready"}"#;
    let waited = r#"sqlqueue_sample_errors_total{source="db",queue="work",reason="lock_timeout"}"#;
    if keeps_row_versions(&db).await {
        unproven("a locked row is waited for: this server keeps row versions");
        Series::of(&exporter).assert(ready, 2.0);
    } else {
        unproven("a locked row is read as it was committed: this server keeps no row versions");
        Series::of(&exporter).assert_absent("sqlqueue_jobs");
        Series::of(&exporter).assert(waited, 1.0);
    }
    exporter.sample_once().await;
    Series::of(&exporter).assert(ready, 2.0);
}

async fn table_lock(db: Backend) {
    locked(&db, 1, "UPDATE WorkQueue WITH (TABLOCKX) SET Payload = 'y'").await;
}

async fn page_lock(db: Backend) {
    locked(&db, 1, "UPDATE WorkQueue WITH (PAGLOCK) SET Payload = 'y'").await;
}

/// More than 5000 locks of one statement become one of the table.
async fn escalated_lock(db: Backend) {
    locked(&db, 10_000, "DELETE FROM WorkQueue").await;
}

/// While a worker holds what this statement locks, which is more than rows, nothing is known of the
/// queue.
async fn locked(db: &Backend, rows: u32, statement: &str) {
    db.fixture("transactional").await;
    db.execute(&format!(
        "WITH n AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM n WHERE n < {rows}) \
         INSERT INTO WorkQueue (EnqueuedAt, Payload) SELECT SYSUTCDATETIME(), 'x' FROM n \
         OPTION (MAXRECURSION 0)"
    ))
    .await;
    if !skips_locked_rows(db).await {
        unproven(&format!("{statement} is an error of the sample: this server ignores lock hints"));
        return;
    }
    let mut worker = server(db).session().await;
    worker.execute(&format!("BEGIN TRANSACTION; {statement}")).await;
    let exporter = db.exporter(WORK);
    exporter.sample_once().await;
    worker.execute("ROLLBACK TRANSACTION").await;
    let series = Series::of(&exporter);
    series.assert_absent("sqlqueue_jobs");
    series.assert(r#"sqlqueue_sample_errors_total{source="db",queue="work",reason="lock_timeout"}"#, 1.0);
    // The lock is gone, and so is the error.
    exporter.sample_once().await;
    let ready = r#"sqlqueue_jobs{source="db",queue="work",state="ready"}"#;
    Series::of(&exporter).assert(ready, f64::from(rows));
}

async fn role_probe(db: Backend) {
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
