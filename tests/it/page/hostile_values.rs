//! Hostile label values: whatever a table holds, the page stays readable.

use crate::parse::ParsedPage;
use crate::support::{Bench, Series};

use super::pages;

const LABELLED: &str = "CREATE TABLE Work (Id INTEGER PRIMARY KEY, Queue TEXT);
    CREATE TABLE Log (Id INTEGER PRIMARY KEY, Step TEXT, Ms INTEGER);";

const TARGETS: &str = "    queues:
      - { name: work, table: Work, queue_label: Queue, state: { constant: ready }, lease: { kind: none } }
    run_logs:
      - { name: log, table: Log, id: Id, step: Step, duration: { column: Ms }, outcome: { default: ok } }
";

fn values<'a>(page: &'a ParsedPage, name: &'a str, label: &'a str) -> Vec<&'a str> {
    page.named(name).map(|sample| sample.label(label).unwrap()).collect()
}

#[tokio::test]
async fn quotes_backslashes_and_line_breaks_are_escaped() {
    let bench = Bench::new(&[]);
    bench.execute(LABELLED);
    let hostile = ["a\"b", "a\\b", "a\nb", "\\\"\n\\", "a\\nb", "{x=\"y\"} 1", "żółw 🐢", "", "# EOF"];
    for value in hostile {
        bench.database.execute("INSERT INTO Work (Queue) VALUES (?1)", [value]).unwrap();
        bench.database.execute("INSERT INTO Log (Step, Ms) VALUES (?1, 1)", [value]).unwrap();
    }
    let exporter = bench.exporter(TARGETS);
    exporter.sample_once().await;
    let (prometheus, openmetrics) = pages(&exporter);
    for page in [prometheus, openmetrics] {
        let mut queues = values(&page, "sqlqueue_jobs", "queue");
        let mut expected = hostile;
        queues.sort_unstable();
        expected.sort_unstable();
        assert_eq!(queues, expected);
        let steps = values(&page, "sqlqueue_run_step_candidates_total", "step");
        assert_eq!(steps, expected, "in their order, as both are sorted");
    }
}

#[tokio::test]
async fn names_from_the_configuration_are_escaped_too() {
    let bench = Bench::new(&[]);
    bench.execute(LABELLED);
    let name = r#"the "real" \ queue"#;
    let targets = format!(
        "    queues:\n      - {{ name: '{name}', table: Work, state: {{ constant: ready }}, lease: {{ kind: none }} }}\n"
    );
    let exporter = bench.exporter(&targets);
    exporter.sample_once().await;
    let (prometheus, openmetrics) = pages(&exporter);
    for page in [prometheus, openmetrics] {
        assert_eq!(values(&page, "sqlqueue_jobs", "queue"), [name]);
        assert_eq!(values(&page, "sqlqueue_samples_total", "queue"), [name]);
    }
}

#[tokio::test]
async fn values_that_differ_in_trailing_spaces_are_one() {
    let bench = Bench::new(&[]);
    bench.execute(LABELLED);
    bench.execute(
        "INSERT INTO Work (Queue) VALUES ('mail'), ('mail '), ('mail   '), (' mail'), (NULL), (' ');
        INSERT INTO Log (Step, Ms) VALUES ('send', 1), ('send ', 1)",
    );
    let exporter = bench.exporter(TARGETS);
    exporter.sample_once().await;
    let jobs = |queue: &str| format!(r#"sqlqueue_jobs{{source="db",queue="{queue}",state="ready"}}"#);
    let series = Series::of(&exporter);
    series.assert(&jobs("mail"), 3.0);
    series.assert(&jobs(" mail"), 1.0);
    series.assert(&jobs(""), 2.0);
    bench.execute("INSERT INTO Log (Step, Ms) VALUES ('send', 1), ('send  ', 1)");
    exporter.sample_once().await;
    let (page, _) = pages(&exporter);
    assert_eq!(values(&page, "sqlqueue_run_step_candidates_total", "step"), ["send"]);
    Series::of(&exporter)
        .assert(r#"sqlqueue_run_steps_total{source="db",run_log="log",step="send",outcome="ok"}"#, 2.0);
}

#[tokio::test]
async fn two_targets_that_find_the_same_queue_do_not_show_it_twice() {
    let bench = Bench::new(&[]);
    bench.execute(
        "CREATE TABLE One (Queue TEXT); CREATE TABLE Two (Queue TEXT);
        INSERT INTO One VALUES ('mail'), ('one'); INSERT INTO Two VALUES ('mail'), ('mail'), ('two')",
    );
    let exporter = bench.exporter(
        "    queues:
      - { name: first, table: One, queue_label: Queue, state: { constant: ready }, lease: { kind: none } }
      - { name: second, table: Two, queue_label: Queue, state: { constant: ready }, lease: { kind: none } }
      - { name: one, table: Two, state: { constant: ready }, lease: { kind: none } }
",
    );
    exporter.sample_once().await;
    let (page, _) = pages(&exporter);
    assert_eq!(values(&page, "sqlqueue_jobs", "queue"), ["mail", "two", "one"]);
    Series::of(&exporter).assert(r#"sqlqueue_jobs{source="db",queue="mail",state="ready"}"#, 1.0);
}

#[tokio::test]
async fn a_row_cannot_take_a_configured_queue_off_the_page() {
    let bench = Bench::new(&[]);
    bench.execute(
        "CREATE TABLE Many (Queue TEXT); CREATE TABLE Own (Id INTEGER);
        INSERT INTO Many VALUES ('other'); INSERT INTO Own VALUES (1), (2)",
    );
    let exporter = bench.exporter(
        "    queues:
      - { name: many, table: Many, queue_label: Queue, state: { constant: ready }, lease: { kind: none } }
      - { name: own, table: Own, state: { constant: ready }, lease: { kind: none } }
",
    );
    for _ in 0..2 {
        exporter.sample_once().await;
        let series = Series::of(&exporter);
        series.assert(r#"sqlqueue_jobs{source="db",queue="own",state="ready"}"#, 2.0);
        series.assert(r#"sqlqueue_jobs{source="db",queue="other",state="ready"}"#, 1.0);
        bench.execute("INSERT INTO Many VALUES ('own')");
    }
}

#[tokio::test]
async fn values_beyond_the_bound_are_counted_as_other() {
    let bench = Bench::new(&[]);
    bench.execute(LABELLED);
    let exporter = bench.exporter(&format!("{TARGETS}global: {{ max_label_values: 3 }}\n"));
    exporter.sample_once().await;
    bench.execute(
        "INSERT INTO Log (Step, Ms) VALUES ('a', 1), ('b', 1), ('c', 1), ('d', 1), ('e', 1), ('d', 1);
        INSERT INTO Work (Queue) VALUES ('a'), ('b'), ('c'), ('d'), ('e')",
    );
    // New series are at 0 for one sample before their rows are counted.
    exporter.sample_once().await;
    exporter.sample_once().await;
    let (page, openmetrics) = pages(&exporter);
    assert_eq!(page.named("sqlqueue_jobs").count(), openmetrics.named("sqlqueue_jobs").count());
    assert_eq!(values(&page, "sqlqueue_run_step_candidates_total", "step"), ["a", "b", "c", "other"]);
    let series = Series::of(&exporter);
    let steps = |step: &str| {
        format!(r#"sqlqueue_run_steps_total{{source="db",run_log="log",step="{step}",outcome="ok"}}"#)
    };
    series.assert(&steps("a"), 1.0);
    series.assert(&steps("other"), 3.0);
    series.assert(r#"sqlqueue_dropped_label_values_total{source="db",run_log="log"}"#, 3.0);

    assert_eq!(values(&page, "sqlqueue_jobs", "queue"), ["a", "b", "c", "other"]);
    series.assert(r#"sqlqueue_jobs{source="db",queue="other",state="ready"}"#, 2.0);
    // Two values in each of two samples.
    series.assert(r#"sqlqueue_dropped_label_values_total{source="db",queue="work"}"#, 4.0);
}
