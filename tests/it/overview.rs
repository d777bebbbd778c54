//! The status page on real rows. Unit tests and the step `browser` of tests/run check how it looks.

use std::time::Duration;

use sqlqueue_exporter::exporter::Exporter;
use sqlqueue_exporter::web::Page;

use crate::support::{Bench, Series};

const TABLES: &str = "CREATE TABLE Work (Id INTEGER PRIMARY KEY, Queue TEXT, At TEXT);
    CREATE TABLE Log (Id INTEGER PRIMARY KEY, Step TEXT, At TEXT, Ms INTEGER, Outcome TEXT);";

const TARGETS: &str = "    queues:
      - { name: work, table: Work, queue_label: Queue, state: { constant: ready }, enqueued_at: At }
    run_logs:
      - name: log
        table: Log
        id: Id
        step: Step
        run_step: run
        start: At
        duration: Ms
        outcome: { column: Outcome, rules: [{ equals: x, outcome: error }], default: ok }
";

fn overview(exporter: &Exporter) -> String {
    exporter.page(Page::Overview).unwrap()
}

#[tokio::test]
async fn the_overview_says_what_the_metrics_say() {
    let bench = Bench::new(&[]);
    bench.execute(TABLES);
    let exporter = bench.exporter(TARGETS);
    exporter.sample_once().await;
    bench.execute(
        "INSERT INTO Work (Queue, At) VALUES ('mail', '2026-11-30 11:58:57'), ('mail', '2026-11-30 11:59:57');
        INSERT INTO Log (Step, At, Ms, Outcome)
            VALUES ('run', '2026-11-30 11:59:00', 1500, 'x'), ('run', '2026-11-30 11:59:30', 2500, NULL)",
    );
    exporter.sample_once().await;
    exporter.sample_once().await;

    let series = Series::of(&exporter);
    series.assert(r#"sqlqueue_jobs{source="db",queue="mail",state="ready"}"#, 2.0);
    series.assert(r#"sqlqueue_oldest_ready_age_seconds{source="db",queue="mail"}"#, 63.0);
    let steps = r#"sqlqueue_run_steps_total{source="db",run_log="log",step="run""#;
    series.assert(&format!("{steps},outcome=\"ok\"}}"), 1.0);
    series.assert(&format!("{steps},outcome=\"error\"}}"), 1.0);

    let page = overview(&exporter);
    for expected in [
        "<bdi>mail</bdi>",
        "<dt>Ready</dt>\n<dd>2",
        "<dt>Oldest ready</dt>\n<dd>1 min 3 s",
        "1 ok, 1 error; longest 2.5 s. The last one ended as ok.",
        "<td class=\"number\">2 s</td>", // the mean of the two
        "30 s ago",
    ] {
        assert!(page.contains(expected), "{expected} is not in: {page}");
    }
}

#[tokio::test]
async fn what_a_table_holds_is_text_whatever_it_is() {
    let bench = Bench::new(&[]);
    bench.execute(TABLES);
    for value in ["<script>alert(1)</script>", "\" onclick=\"alert(1)\" x='", "</svg></style>"] {
        bench.database.execute("INSERT INTO Work (Queue) VALUES (?1)", [value]).unwrap();
        bench.database.execute("INSERT INTO Log (Step, Ms) VALUES (?1, 1)", [value]).unwrap();
    }
    let exporter = bench.exporter(TARGETS);
    exporter.sample_once().await;
    let page = overview(&exporter);
    assert_eq!(page.matches("&lt;script&gt;alert(1)").count(), 2, "a queue and a step: {page}");
    assert!(
        !page.contains("<script") && !page.contains("onclick=\"") && page.matches("</style>").count() == 1
    );
}

#[tokio::test]
async fn a_database_that_is_gone_is_told_in_plain_words() {
    let bench = Bench::new(&[]);
    bench.execute(TABLES);
    let exporter = bench.exporter(TARGETS);
    exporter.sample_once().await;
    assert!(overview(&exporter).contains("Nothing needs attention"));

    bench.execute("DROP TABLE Work");
    exporter.sample_once().await;
    let page = overview(&exporter);
    for expected in ["1 notice", "missing_object", "no such table: Work", "check --connect names"] {
        assert!(page.contains(expected), "{expected} is not in: {page}");
    }
    bench.clock.advance(Duration::from_secs(61));
    exporter.sample_once().await;
    let page = overview(&exporter);
    assert!(page.contains("1 problem"), "{page}");
    assert!(page.contains("the last good sample is 1 min 1 s old"), "{page}");
}

#[tokio::test]
async fn the_configuration_shown_is_the_one_in_force() {
    let bench = Bench::new(&[]);
    bench.execute(TABLES);
    let mut exporter = bench.exporter(TARGETS);
    let shown = |exporter: &Exporter| exporter.page(Page::Configuration).unwrap();
    assert!(shown(&exporter).contains("sample_interval: 15s"));
    assert!(shown(&exporter).contains("max_ready_age: 15m"));
    exporter.reload(bench.config(&TARGETS.replace("enqueued_at: At", "sample_interval: 7s"))).await.unwrap();
    assert!(shown(&exporter).contains("sample_interval: 7s"));
}
