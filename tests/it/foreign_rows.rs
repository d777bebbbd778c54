//! Foreign rows: logs read through a predicate, in a table that belongs mostly to others.

use crate::backend::{Backend, on_both_databases};
use crate::support::Series;

on_both_databases! {
    a_sample_looks_at_one_batch_of_rows_however_few_of_them_fit
    what_foreign_rows_hold_is_not_looked_at
    a_row_that_commits_late_among_foreign_ones_is_counted
}

const LOG: &str = "    run_logs:
      - name: log
        table: SharedLog
        where: { Owner: mine }
        id: Id
        step: Step
        steps: [s]
        start: Began
        duration: { column: Took, unit: ms }
        outcome: { column: Took, rules: [{ equals: 13, outcome: error }], default: ok }
        batch_size: 100
";

fn steps(outcome: &str) -> String {
    format!(r#"sqlqueue_run_steps_total{{source="db",run_log="log",step="s",outcome="{outcome}"}}"#)
}

async fn shared_log(db: &Backend) {
    db.execute(
        "CREATE TABLE SharedLog (Id BIGINT NOT NULL PRIMARY KEY, Owner NVARCHAR(20) NOT NULL, Step NVARCHAR(50) NULL, \
         Took NVARCHAR(20) NULL, Began NVARCHAR(50) NULL)",
    )
    .await;
}

/// Rows that belong to others, with these ids.
async fn foreign(db: &Backend, ids: std::ops::RangeInclusive<i64>) {
    let rows: Vec<String> = ids.map(|id| format!("({id}, 'theirs', NULL, 'soon', 'one day')")).collect();
    db.execute(&format!("INSERT INTO SharedLog (Id, Owner, Step, Took, Began) VALUES {}", rows.join(", ")))
        .await;
}

async fn own(db: &Backend, id: i64, took: &str) {
    db.execute(&format!(
        "INSERT INTO SharedLog (Id, Owner, Step, Took, Began) VALUES ({id}, 'mine', 's', '{took}', '2026-11-30T11:00:00')"
    ))
    .await;
}

async fn a_sample_looks_at_one_batch_of_rows_however_few_of_them_fit(db: Backend) {
    shared_log(&db).await;
    own(&db, 1, "5").await;
    let exporter = db.exporter(LOG);
    exporter.sample_once().await;
    foreign(&db, 2..=251).await;
    own(&db, 252, "5").await;
    // Rows 2 to 101, 102 to 201, and the rest.
    for counted in [0.0, 0.0, 1.0, 1.0] {
        exporter.sample_once().await;
        Series::of(&exporter).assert(&steps("ok"), counted);
    }
    Series::of(&exporter).assert(r#"sqlqueue_samples_total{source="db",run_log="log"}"#, 5.0);
}

async fn what_foreign_rows_hold_is_not_looked_at(db: Backend) {
    shared_log(&db).await;
    // Retention has left someone else's row as the oldest.
    foreign(&db, 0..=0).await;
    own(&db, 1, "5").await;
    foreign(&db, 2..=3).await;
    let exporter = db.exporter(LOG);
    exporter.sample_once().await;
    foreign(&db, 4..=5).await;
    own(&db, 6, "13").await;
    own(&db, 7, "20").await;
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(&steps("error"), 1.0);
    series.assert(&steps("ok"), 1.0);
    series.assert(r#"sqlqueue_run_step_duration_seconds_sum{source="db",run_log="log",step="s"}"#, 0.033);
    series.assert(r#"sqlqueue_samples_total{source="db",run_log="log"}"#, 2.0);
}

async fn a_row_that_commits_late_among_foreign_ones_is_counted(db: Backend) {
    shared_log(&db).await;
    own(&db, 1, "5").await;
    let exporter = db.exporter(LOG);
    exporter.sample_once().await;
    foreign(&db, 2..=150).await;
    foreign(&db, 152..=300).await;
    for _ in 0..4 {
        exporter.sample_once().await;
    }
    own(&db, 151, "5").await;
    for _ in 0..2 {
        exporter.sample_once().await;
        let series = Series::of(&exporter);
        series.assert(&steps("ok"), 1.0);
        series.assert(r#"sqlqueue_late_rows_total{source="db",run_log="log"}"#, 1.0);
    }
}
