//! Untyped values: SQLite lets a column hold values of other types. One that contradicts the mapping is an
//! error, never 0 and never a believable number.

use crate::support::{Bench, Series};

/// The page of one table whose column `V` holds these values, under this mapping.
async fn page_of(values: &[&str], targets: &str) -> Series {
    let bench = Bench::new(&[]);
    bench.execute("CREATE TABLE T (Id INTEGER PRIMARY KEY, V)");
    let exporter = bench.exporter(targets);
    exporter.sample_once().await;
    for value in values {
        bench.execute(&format!("INSERT INTO T (V) VALUES ({value})"));
    }
    exporter.sample_once().await;
    Series::of(&exporter)
}

fn queue(mapping: &str) -> String {
    format!("    queues:\n      - {{ name: q, table: T, state: {{ constant: ready }}, {mapping} }}\n")
}

fn run_log(mapping: &str) -> String {
    format!(
        "    run_logs:\n      - {{ name: q, table: T, id: Id, step: Id, outcome: {{ default: ok }}, {mapping} }}\n"
    )
}

#[track_caller]
fn assert_refused(series: &Series, value: &str) {
    assert_eq!(series.sum("sqlqueue_sample_errors_total", r#"reason="decode""#), 1.0, "{value}");
}

fn of_queue(family: &str) -> String {
    format!(r#"sqlqueue_{family}{{source="db",queue="q"}}"#)
}

#[tokio::test]
async fn what_is_no_time_is_an_error_and_no_age() {
    for (encoding, values) in [
        ("native", ["'30.11.2026 11:00'", "0", "2461375.5", "'2026'", "'now'", "''", "x'32'"].as_slice()),
        ("unix_s", &["'2026-11-30 11:00:00'", "'garbage'", "''", "x'31'", "'18:00'", "'1.2.3'", "'-'"]),
        ("unix_ms", &["'2026-11-30 11:00:00'", "''"]),
        ("dotnet_ticks", &["'2026-11-30 11:00:00'", "''"]),
    ] {
        let targets = queue(&format!("enqueued_at: {{ column: V, encoding: {encoding} }}"));
        for value in values {
            let series = page_of(&[value], &targets).await;
            assert_refused(&series, value);
        }
        let series = page_of(&["NULL"], &targets).await;
        assert_eq!(series.sum("sqlqueue_sample_errors_total", ""), 0.0, "NULL is not known, and no error");
    }
}

#[tokio::test]
async fn a_number_is_one_as_text_too() {
    for value in
        ["1796039940", "'1796039940'", "1796039940.7", "'1796039940.5'", "'01796039940'", "'+1796039940'"]
    {
        let series = page_of(&[value], &queue("enqueued_at: { column: V, encoding: unix_s }")).await;
        series.assert(&of_queue("oldest_ready_age_seconds"), 60.0);
    }
}

#[tokio::test]
async fn attempts_that_are_text_are_compared_as_numbers() {
    let targets = queue("attempts: { column: V, counts: failures }, max_attempts: 5");
    let series = page_of(&["'10'", "'2'"], &targets).await;
    let jobs = |state: &str| format!(r#"sqlqueue_jobs{{source="db",queue="q",state="{state}"}}"#);
    series.assert(&jobs("exhausted"), 1.0);
    series.assert(&jobs("ready"), 1.0);
    series.assert(&of_queue("max_attempts"), 10.0);
    for value in ["'many'", "''", "x'31'"] {
        assert_refused(&page_of(&[value], &targets).await, value);
    }
    let bound = queue("attempts: { column: Id, counts: failures }, max_attempts: { column: V }");
    assert_refused(&page_of(&["'many'"], &bound).await, "many");
}

#[tokio::test]
async fn a_duration_that_is_no_number_is_not_observed_as_nothing() {
    for (mapping, value) in [
        ("duration: { column: V, unit: hhmmss }", "'00:00:05'"),
        ("duration: { column: V, unit: ms }", "'abc'"),
        ("duration: { column: V, unit: s }", "x'35'"),
        ("candidates: V", "'none'"),
    ] {
        assert_refused(&page_of(&[value], &run_log(mapping)).await, value);
    }
}

#[tokio::test]
async fn an_id_is_a_whole_number_though_its_column_keeps_fractions() {
    let bench = Bench::new(&[]);
    bench.execute("CREATE TABLE T (Id REAL PRIMARY KEY)");
    let exporter = bench.exporter("    enqueue_logs:\n      - { name: q, table: T, id: Id }\n");
    exporter.sample_once().await;
    bench.execute("INSERT INTO T VALUES (1), (2.0), (3)");
    exporter.sample_once().await;
    Series::of(&exporter).assert(&of_queue("enqueued_total"), 3.0);
}

#[tokio::test]
async fn a_log_whose_id_is_no_whole_number_is_not_read() {
    for value in ["'abc'", "'10'", "1.5"] {
        let targets = run_log("start: null").replace("id: Id, step: Id", "id: V, step: Id");
        assert_refused(&page_of(&[value], &targets).await, value);
    }
}
