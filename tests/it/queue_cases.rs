//! Queue tables found in the field, with what other tools got wrong about them and the right values.

use sqlqueue_exporter::config::TableName;
use sqlqueue_exporter::source::Value;
use sqlqueue_exporter::statement::{self, Dialect, TailRequest};

use crate::backend::{Backend, on_both_databases};
use crate::mssql::database::unproven;
use crate::support::Series;

on_both_databases! {
    parked_row_is_not_backlog
    mixed_host_time_zones
    soft_deleted_rows_and_null_times
    identity_gaps_are_not_jobs
    vanished_rows
    duplicate_label_rows
    false_zero
    a_time_is_the_same_in_every_encoding
    unfinished_rows_are_found_whatever_the_type_of_the_state
    a_row_is_done_when_its_column_is_set
    names_with_brackets_quotes_and_spaces
    the_index_that_a_sample_seeks_is_found
    an_index_serves_when_finished_rows_lie_outside_of_its_range
}

fn jobs(queue: &str, state: &str) -> String {
    format!(r#"sqlqueue_jobs{{source="db",queue="{queue}",state="{state}"}}"#)
}

const READY_AGE: &str = r#"sqlqueue_oldest_ready_age_seconds{source="db",queue="q"}"#;

async fn parked_row_is_not_backlog(db: Backend) {
    db.execute(
        "CREATE TABLE Parked (Id BIGINT NOT NULL PRIMARY KEY, Added DATETIME2(3) NOT NULL, Due DATETIME2(3) \
         NOT NULL)",
    )
    .await;
    let t = db.present().await;
    db.execute(&format!("INSERT INTO Parked VALUES (1, {}, {})", t.at(-36_900), t.at(42_300))).await;
    let series = db
        .sample(
            "    queues:
      - { name: q, table: Parked, state: { constant: ready }, lease: { kind: none }, enqueued_at: Added, \
             available_at: Due }
",
        )
        .await;
    series.assert(&jobs("q", "ready"), 0.0);
    series.assert(&jobs("q", "scheduled"), 1.0);
    series.assert(READY_AGE, 0.0);
}

async fn mixed_host_time_zones(db: Backend) {
    db.execute("CREATE TABLE Added (Id BIGINT NOT NULL PRIMARY KEY, At DATETIME2(3) NULL)").await;
    let t = db.present().await;
    db.execute(&format!("INSERT INTO Added VALUES (1, {}), (2, {})", t.at(-60), t.at(-60 + 8 * 3600))).await;
    let series = db
        .sample(
            "    queues:
      - { name: q, table: Added, state: { constant: ready }, lease: { kind: none }, enqueued_at: { column: \
             At, zone: utc } }
",
        )
        .await;
    series.assert(&jobs("q", "ready"), 2.0);
    db.assert_age(&series, READY_AGE, 60.0).await;
    series.assert(r#"sqlqueue_future_timestamp_rows{source="db",queue="q"}"#, 1.0);
}

async fn soft_deleted_rows_and_null_times(db: Backend) {
    db.execute("CREATE TABLE Soft (Id BIGINT NOT NULL PRIMARY KEY, Visible BIT NOT NULL, At DATETIME NULL)")
        .await;
    let hidden: Vec<String> = (4..1000).map(|id| format!("({id}, 0, '2020-01-01T00:00:00.000')")).collect();
    db.execute(&format!(
        "INSERT INTO Soft VALUES (1, 1, NULL), (2, 1, NULL), (3, 1, NULL), {}",
        hidden.join(", ")
    ))
    .await;
    let series = db
        .sample(
            "    queues:
      - { name: q, table: Soft, where: { Visible: true }, state: { constant: ready }, lease: { kind: none }, \
             enqueued_at: At }
",
        )
        .await;
    series.assert(&jobs("q", "ready"), 3.0);
    series.assert_absent("sqlqueue_oldest_ready_age_seconds");
}

async fn identity_gaps_are_not_jobs(db: Backend) {
    db.execute("CREATE TABLE Gaps (Id BIGINT NOT NULL PRIMARY KEY, Body NVARCHAR(20) NULL)").await;
    db.execute("INSERT INTO Gaps (Id) VALUES (1001), (1002), (2003)").await;
    let series = db
        .sample("    queues:\n      - { name: q, table: Gaps, state: { constant: ready }, lease: { kind: none } }\n")
        .await;
    series.assert(&jobs("q", "ready"), 3.0);
}

const LABELLED: &str = "    queues:
      - { name: mails, table: Labelled, queue_label: Kind, state: { constant: ready }, lease: { kind: none } }
";

async fn vanished_rows(db: Backend) {
    db.execute("CREATE TABLE Labelled (Id BIGINT NOT NULL PRIMARY KEY, Kind NVARCHAR(50) NULL)").await;
    db.execute("INSERT INTO Labelled VALUES (1, 'stays'), (2, 'goes')").await;
    let exporter = db.exporter(LABELLED);
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(&jobs("stays", "ready"), 1.0);
    series.assert(&jobs("goes", "ready"), 1.0);
    db.execute("DELETE FROM Labelled WHERE Id = 2").await;
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(&jobs("stays", "ready"), 1.0);
    assert_eq!(series.get(&jobs("goes", "ready")), None, "no value outlives its rows");
}

async fn duplicate_label_rows(db: Backend) {
    db.execute("CREATE TABLE Labelled (Id BIGINT NOT NULL PRIMARY KEY, Kind NVARCHAR(50) NULL)").await;
    db.execute("INSERT INTO Labelled VALUES (1, 'sms'), (2, 'sms  '), (3, 'mail'), (4, 'MAIL'), (5, NULL)")
        .await;
    // Reading the page already fails when a series appears twice.
    let series = db.sample(LABELLED).await;
    series.assert(&jobs("sms", "ready"), 2.0);
    series.assert(&jobs("", "ready"), 1.0);
    // The column's collation decides whether these two are one queue; no row is lost.
    let mails = ["mail", "MAIL"].iter().filter_map(|name| series.get(&jobs(name, "ready"))).sum::<f64>();
    assert_eq!(mails, 2.0, "{series:?}");
}

async fn false_zero(db: Backend) {
    db.execute("CREATE TABLE Empty (Id BIGINT NOT NULL PRIMARY KEY, Kind NVARCHAR(50) NULL)").await;
    let series = db
        .sample(
            "    queues:
      - { name: gone, table: Nowhere, state: { constant: ready }, lease: { kind: none } }
      - { name: column, table: Empty, queue_label: Nothing, state: { constant: ready }, lease: { kind: none } }
      - { name: empty, table: Empty, state: { constant: ready }, lease: { kind: none } }
",
        )
        .await;
    series.assert(&jobs("empty", "ready"), 0.0);
    for queue in ["gone", "column"] {
        assert_eq!(series.get(&jobs(queue, "ready")), None, "nobody looked");
        let errors = |reason: &str| {
            let name =
                format!(r#"sqlqueue_sample_errors_total{{source="db",queue="{queue}",reason="{reason}"}}"#);
            series.get(&name).unwrap_or_default()
        };
        // Other TDS servers have numbers of their own for it.
        let other = if db.dialect() == Dialect::Mssql { errors("other") } else { 0.0 };
        assert_eq!(errors("missing_object") + other, 1.0, "{series:?}");
    }
}

async fn a_time_is_the_same_in_every_encoding(db: Backend) {
    db.execute(
        "CREATE TABLE Times (Id BIGINT NOT NULL PRIMARY KEY, Utc DATETIME2(7) NULL, Zoned DATETIMEOFFSET(7) \
         NULL, UnixS BIGINT NULL, UnixMs BIGINT NULL, Ticks BIGINT NULL)",
    )
    .await;
    let t = db.present().await;
    db.execute(&format!(
        "INSERT INTO Times VALUES (1, {}, {}, {}, {}, {}), (2, NULL, NULL, NULL, NULL, NULL)",
        t.at(-600),
        t.at_offset(-600, -7),
        t.unix_s(-600),
        t.unix_ms(-600),
        t.ticks(-600)
    ))
    .await;
    for time in [
        "Utc",
        "{ column: Zoned, zone: offset }",
        "{ column: UnixS, encoding: unix_s }",
        "{ column: UnixMs, encoding: unix_ms }",
        "{ column: Ticks, encoding: dotnet_ticks }",
    ] {
        let series = db
            .sample(&format!(
                "    queues:\n      - {{ name: q, table: Times, state: {{ constant: ready }}, lease: {{ kind: \
                 none }}, enqueued_at: {time} }}\n"
            ))
            .await;
        series.assert(&jobs("q", "ready"), 2.0);
        db.assert_age(&series, READY_AGE, 600.0).await;
    }
}

async fn unfinished_rows_are_found_whatever_the_type_of_the_state(db: Backend) {
    for (kind, [ready, failed, done, also_done, unknown]) in [
        ("CHAR(1)", ["R", "F", "D", "X", "Q"]),
        ("NVARCHAR(20)", ["nowe", "błąd", "zrobione", "anulowane", "?"]),
        ("VARCHAR(20)", ["it's new", "failed", "Done", "cancelled", ""]),
        // As a number, 10 comes after 2; as text, before it.
        ("INT", ["1", "3", "2", "10", "5"]),
        ("TINYINT", ["0", "3", "2", "255", "5"]),
    ] {
        db.execute(&format!("CREATE TABLE Stored (Id INT NOT NULL PRIMARY KEY, State {kind} NULL)")).await;
        let values = [ready, done, also_done, also_done, unknown, failed, ready].map(|value| db.text(value));
        let rows: Vec<String> =
            values.iter().enumerate().map(|(id, value)| format!("({id}, {value})")).collect();
        db.execute(&format!("INSERT INTO Stored VALUES {}, (100, NULL)", rows.join(", "))).await;
        let quoted = |text: &str| format!("\"{text}\"");
        let queue = |count_done: bool| {
            format!(
                "    queues:\n      - name: q\n        table: Stored\n        lease: {{ kind: none }}\n        \
                 count_done: {count_done}\n        state: {{ column: State, map: {{ {}: ready, {}: failed, {}: \
                 done, {}: done }} }}\n",
                quoted(ready),
                quoted(failed),
                quoted(done),
                quoted(also_done)
            )
        };
        let series = db.sample(&queue(false)).await;
        series.assert(&jobs("q", "ready"), 2.0);
        series.assert(&jobs("q", "failed"), 1.0);
        series.assert(&jobs("q", "unknown"), 2.0);
        assert_eq!(series.get(&jobs("q", "done")), None, "{kind}");
        let series = db.sample(&queue(true)).await;
        series.assert(&jobs("q", "unknown"), 2.0);
        series.assert(&jobs("q", "done"), 3.0);
        db.execute("DROP TABLE Stored").await;
    }
}

async fn a_row_is_done_when_its_column_is_set(db: Backend) {
    db.execute(
        "CREATE TABLE Outbox (Id BIGINT NOT NULL PRIMARY KEY, Added DATETIME NULL, Sent DATETIME NULL)",
    )
    .await;
    let t = db.present().await;
    let ago = |seconds: i64| t.at(-seconds);
    db.execute(&format!(
        "INSERT INTO Outbox VALUES (1, {}, NULL), (2, {}, NULL), (3, {}, {})",
        ago(60),
        ago(10),
        ago(900),
        ago(800)
    ))
    .await;
    let series = db
        .sample(
            "    queues:
      - { name: q, table: Outbox, state: { done_when_set: Sent }, lease: { kind: none }, enqueued_at: Added }
",
        )
        .await;
    series.assert(&jobs("q", "ready"), 2.0);
    db.assert_age(&series, READY_AGE, 60.0).await;
}

/// A table whose names try to leave their quotes, and the queue in it.
async fn hostile(db: &Backend) -> String {
    // Not all TDS servers know how to double a bracket.
    let bracket = match db {
        Backend::Embedded(_) => "]",
        Backend::Server(_) if db.attempt("SELECT 1 AS [a]]b]").await => "]",
        Backend::Server(_) => {
            unproven("names with a closing bracket: this server does not know how it is quoted");
            "'"
        }
    };
    let names = [format!("Order{bracket}s Queue"), "it's".into(), "x\"y".into(), format!("a{bracket}b [c")];
    let [table, state, at, label] = names.each_ref().map(|name| db.quoted(name));
    db.execute(&format!(
        "CREATE TABLE {table} (Id BIGINT NOT NULL PRIMARY KEY, {state} CHAR(1) NULL, {at} DATETIME2(3) NULL, \
         {label} NVARCHAR(20) NULL)"
    ))
    .await;
    let t = db.present().await;
    let (minute, hour) = (t.at(-60), t.at(-3600));
    db.execute(&format!("INSERT INTO {table} VALUES (1, '''', {minute}, 'q'), (2, 'D', {hour}, 'q')")).await;
    // As the configuration writes them: in brackets, and in quotes for YAML.
    let [table, state, at, label] =
        names.map(|name| format!("[{}]", name.replace(']', "]]")).replace('\'', "''"));
    format!(
        "    queues:
      - name: \"it's\"
        table: '{table}'
        queue_label: '{label}'
        state: {{ column: '{state}', map: {{ \"'\": ready, D: done }} }}
        lease: {{ kind: none }}
        enqueued_at: '{at}'
        where: {{ '{label}': q }}
"
    )
}

async fn names_with_brackets_quotes_and_spaces(db: Backend) {
    let queue = hostile(&db).await;
    let series = db.sample(&queue).await;
    series.assert(&jobs("q", "ready"), 1.0);
    db.assert_age(&series, READY_AGE, 60.0).await;
}

async fn the_index_that_a_sample_seeks_is_found(db: Backend) {
    db.fixture("published_lease").await;
    let published = "    queues:\n      - { name: demo, table: QueueDemo, preset: lease_minimal }\n";
    let found = seek(&db, published).await.unwrap();
    // Other TDS servers add something to the name.
    assert!(found.to_lowercase().starts_with("ix_queuedemo_ready"), "{found}");

    let queue = hostile(&db).await;
    assert_eq!(seek(&db, &queue).await, None);
    let config = db.config(&queue);
    let target = config.sources[0].targets().next().unwrap();
    let create = statement::create_index(db.dialect(), &statement::indexes(target)[0]).unwrap();
    db.execute(&create).await;
    assert!(seek(&db, &queue).await.is_some(), "{create}");
}

async fn an_index_serves_when_finished_rows_lie_outside_of_its_range(db: Backend) {
    let queue = |filter: &str| {
        format!(
            "    queues:\n      - {{ name: q, table: Shared, where: {filter}, state: {{ column: State, map: {{ R: \
             ready, D: done }} }} }}\n"
        )
    };
    let log =
        "    control_tables:\n      - { name: q, table: Shared, id: Id, kind: State, where: { T: a } }\n";
    for (keys, serves_queue, serves_log) in [
        ("T", false, false),
        ("T, State", true, false),
        ("T, U, State", true, false),
        ("T, Other, State", false, false),
        ("Other, State", false, false),
        ("State", true, false),
        ("State, T", true, false),
        ("T, Id", false, false),
        ("Id", false, true),
    ] {
        db.execute(
            "CREATE TABLE Shared (Id INT NOT NULL, T VARCHAR(9) NULL, U VARCHAR(9) NULL, Other INT NULL, State \
             CHAR(1) NULL)",
        )
        .await;
        db.execute(&format!("CREATE INDEX IX_Shared ON Shared ({keys})")).await;
        assert_eq!(seek(&db, &queue("{ T: a, U: b }")).await.is_some(), serves_queue, "{keys}");
        assert_eq!(seek(&db, log).await.is_some(), serves_log, "{keys}");
        db.execute("DROP TABLE Shared").await;
    }
}

#[test]
fn rows_in_flight_are_counted_by_the_row_versions_of_the_table_s_own_database() {
    let db = Backend::embedded();
    let mut config = db.config("    queues:\n      - { name: work, preset: transactional }\n");
    for (name, database) in [("WorkQueue", "DB_ID()"), ("It's.dbo.WorkQueue", "DB_ID('It''s')")] {
        config.sources[0].queues[0].target.table = TableName(name.split('.').map(str::to_owned).collect());
        let target = config.sources[0].targets().next().unwrap();
        let asked = statement::sample(Dialect::Mssql, target, &TailRequest::Head, config.global.lock_timeout);
        let text = asked.unwrap().text;
        assert_eq!(text.matches("DB_ID(").count(), 2, "{text}");
        assert_eq!(text.matches(database).count(), 2, "{text}");
    }
}

/// The index that the statement of `check` finds for the only target, which seeks one.
async fn seek(db: &Backend, target: &str) -> Option<String> {
    let config = db.config(target);
    let target = config.sources[0].targets().next().unwrap();
    let indexes = statement::indexes(target);
    assert_eq!(indexes.len(), 1, "{indexes:?}");
    let statement = statement::seek(db.dialect(), &indexes[0], config.global.lock_timeout).unwrap();
    let rows = db.query(&statement).await.unwrap_or_else(|error| panic!("{error}\n{}", statement.text));
    match rows.rows.as_slice() {
        [row] => match row.as_slice() {
            [Value::Text(name)] => Some(name.clone()),
            [Value::Null] => None,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}
