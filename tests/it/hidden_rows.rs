//! Hidden rows: a view that filters by login raises no error, and the result looks like an empty table. A
//! probe distinguishes the two.

use crate::backend::{Backend, on_both_databases};
use crate::support::Series;

on_both_databases! {
    a_view_that_filters_by_login_over_a_full_table_is_an_error_and_no_zero
    a_view_over_an_empty_table_is_zero
    rows_that_the_view_need_not_show_are_left_out_of_the_probe
    a_log_behind_a_view_that_filters_by_login_is_an_error_too
}

/// A table of jobs and a view that shows each login its own.
async fn filtered_by_login(db: &Backend) {
    let login = match db {
        // A SQLite file has no logins.
        Backend::Embedded(_) => "'watcher'",
        Backend::Server(_) => "SUSER_SNAME()",
    };
    db.execute(
        "CREATE TABLE Job (Id BIGINT NOT NULL PRIMARY KEY, Owner NVARCHAR(100) NOT NULL, State \
         NVARCHAR(10) NOT NULL, Hidden INT NOT NULL)",
    )
    .await;
    db.execute(&format!("CREATE VIEW MyJob AS SELECT Id, Owner, State FROM Job WHERE Owner = {login}")).await;
}

fn queue(probe: &str) -> String {
    format!(
        "    queues:
      - {{ name: q, table: MyJob, state: {{ column: State, map: {{ R: ready, D: done }} }}, probe: {probe} }}
      - {{ name: other, table: Job, state: {{ column: State, map: {{ R: ready, D: done }} }} }}
"
    )
}

fn errors(queue: &str) -> String {
    format!(r#"sqlqueue_sample_errors_total{{source="db",queue="{queue}",reason="permission"}}"#)
}

fn ready(queue: &str) -> String {
    format!(r#"sqlqueue_jobs{{source="db",queue="{queue}",state="ready"}}"#)
}

async fn a_view_that_filters_by_login_over_a_full_table_is_an_error_and_no_zero(db: Backend) {
    filtered_by_login(&db).await;
    db.execute("INSERT INTO Job VALUES (1, 'somebody else', 'R', 0), (2, 'somebody else', 'R', 0)").await;
    let series = db.sample(&queue("{ base_table: Job }")).await;
    series.assert(&errors("q"), 1.0);
    assert_eq!(series.get(&ready("q")), None, "nothing is known of it");
    series.assert(r#"sqlqueue_samples_total{source="db",queue="q"}"#, 0.0);
    series.assert(&ready("other"), 2.0);
}

async fn a_view_over_an_empty_table_is_zero(db: Backend) {
    filtered_by_login(&db).await;
    let series = db.sample(&queue("{ base_table: Job }")).await;
    series.assert(&ready("q"), 0.0);
    series.assert(&errors("q"), 0.0);
}

async fn rows_that_the_view_need_not_show_are_left_out_of_the_probe(db: Backend) {
    filtered_by_login(&db).await;
    db.execute("INSERT INTO Job VALUES (1, 'somebody else', 'R', 1)").await;
    let probe = "{ base_table: Job, where: { Hidden: 0 } }";
    let series = db.sample(&queue(probe)).await;
    series.assert(&ready("q"), 0.0);
    db.execute("INSERT INTO Job VALUES (2, 'somebody else', 'R', 0)").await;
    let series = db.sample(&queue(probe)).await;
    assert_eq!(series.get(&ready("q")), None);
    series.assert(&errors("q"), 1.0);
}

async fn a_log_behind_a_view_that_filters_by_login_is_an_error_too(db: Backend) {
    filtered_by_login(&db).await;
    db.execute("INSERT INTO Job VALUES (7, 'somebody else', 'ok', 0)").await;
    let exporter = db.exporter(
        "    run_logs:
      - { name: runs, table: MyJob, id: Id, step: Owner, outcome: { default: ok }, probe: { base_table: Job } }
",
    );
    let errors = r#"sqlqueue_sample_errors_total{source="db",run_log="runs",reason="permission"}"#;
    // The first sample and later ones use different statements.
    exporter.sample_once().await;
    Series::of(&exporter).assert(errors, 1.0);
    db.execute("DELETE FROM Job").await;
    exporter.sample_once().await;
    db.execute("INSERT INTO Job VALUES (8, 'somebody else', 'ok', 0)").await;
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(errors, 2.0);
    series.assert(r#"sqlqueue_samples_total{source="db",run_log="runs"}"#, 1.0);
}
