//! The metrics page as a whole: its content, and that Prometheus can read it.

mod hostile_values;
mod objectives;
mod protobuf;
mod withdrawal;

use sqlqueue_exporter::exporter::Exporter;
use sqlqueue_exporter::exposition::families;
use sqlqueue_exporter::web::Format;

use crate::parse::ParsedPage;
use crate::support::{Bench, assert_golden, project_file, text_page};

/// The demo's tables.
pub const SCHEMA: &str = include_str!("../../sql/sqlite/schema.sql");

/// Targets that together feed every family.
const EVERYTHING: &str = "    queues:
      - { name: jobs, preset: lease }
    attempt_logs:
      - { name: jobs, preset: attempt_log }
    enqueue_logs:
      - { name: jobs, preset: enqueue_log }
    run_logs:
      - { name: runs, preset: notification_run_log, lock: { resource: run } }
      - { name: live, preset: notification_run_log, table: LiveLog, mutable: true }
    control_tables:
      - { name: events, preset: notification_control, kinds: [comment] }
";

/// An exporter that has sampled rows for every family.
async fn full_exporter(bench: &Bench) -> Exporter {
    bench.execute(SCHEMA);
    bench.execute(
        "CREATE TABLE LiveLog (RunLogId INTEGER PRIMARY KEY, Step TEXT, StartedAt TEXT, EndedAt TEXT,
            DurationMs INTEGER, Candidates INTEGER, Outcome TEXT);
        INSERT INTO LiveLog (Step, StartedAt) VALUES ('run', '2026-11-30 11:59:00.000');
        INSERT INTO JobQueue (State, AvailableAt, EnqueuedAt, Attempts, MaxAttempts, Payload)
            VALUES ('R', '2026-11-30 11:59:00.000', '2026-11-30 11:59:00.000', 1, 5, 'a');
        INSERT INTO RunLog (Step, StartedAt, EndedAt, DurationMs, Candidates, Outcome)
            VALUES ('run', '2026-11-30 11:59:00.000', '2026-11-30 11:59:01.500', 1500, 2, 'ok'),
                ('sync', '2026-11-30 11:59:00.000', '2026-11-30 11:59:01.500', 1500, 2, 'error');
        INSERT INTO NotificationControl (Kind, Key, CreatedAt)
            VALUES ('comment', 1, '2026-11-30 11:59:00.000');
        INSERT INTO application_lock VALUES ('run', 'somebody', '2026-11-30 11:59:00.000')",
    );
    let state_file = bench.file.with_extension("state");
    let exporter = bench.exporter(&format!("{EVERYTHING}state_file: '{}'\n", state_file.display()));
    exporter.sample_once().await;
    exporter
}

fn pages(exporter: &Exporter) -> (ParsedPage, ParsedPage) {
    let page = |format| text_page(exporter, format);
    (
        ParsedPage::prometheus(&page(Format::PrometheusText)),
        ParsedPage::openmetrics(&page(Format::OpenMetrics)),
    )
}

#[tokio::test]
#[cfg_attr(not(target_os = "linux"), ignore = "process_* is read from /proc")]
async fn the_page_has_the_families_of_the_golden_list() {
    let bench = Bench::new(&[]);
    let exporter = full_exporter(&bench).await;
    let (page, _) = pages(&exporter);
    let shown: Vec<&str> = page.families.iter().map(|family| family.name.as_str()).collect();
    let declared: Vec<String> = families::ALL.iter().map(|family| family.full_name()).collect();
    assert_eq!(shown, declared, "every family is on the page, in its order");

    let list: String =
        page.families.iter().map(|family| format!("{} {}\n", family.name, family.kind)).collect();
    assert_golden("tests/golden/families.txt", &project_file("tests/golden/families.txt"), &list);
}

#[tokio::test]
async fn both_formats_are_well_formed_and_say_the_same() {
    let bench = Bench::new(&[]);
    let exporter = full_exporter(&bench).await;
    let (prometheus, openmetrics) = pages(&exporter);
    assert_eq!(prometheus.families.len(), openmetrics.families.len());
    assert_eq!(comparable(&prometheus), comparable(&openmetrics));
}

/// The samples that cannot change between two pages, sorted: the formats write bounds differently (`1` and
/// `1.0`) and order histograms differently.
fn comparable(page: &ParsedPage) -> Vec<String> {
    let samples = page.samples().filter(|sample| !sample.name.starts_with("process_"));
    let mut lines: Vec<String> = samples
        .map(|sample| {
            let bound = sample.label("le").map(|bound| bound.parse::<f64>().unwrap());
            let labels: Vec<_> = sample.labels.iter().filter(|(name, _)| name != "le").collect();
            format!("{} {bound:?} {labels:?} {}", sample.name, sample.value)
        })
        .collect();
    lines.sort();
    lines
}

#[tokio::test]
async fn an_exporter_that_has_not_sampled_yet_has_a_well_formed_page_too() {
    let bench = Bench::new(&[]);
    let (page, _) = pages(&bench.exporter(EVERYTHING));
    for sampled in ["sqlqueue_up", "sqlqueue_jobs"] {
        assert_eq!(page.named(sampled).next(), None, "nobody has looked");
    }
    let steps: Vec<_> = page.named("sqlqueue_run_steps_total").collect();
    assert_eq!(steps.len(), 8, "the declared step of two logs, by outcome: {steps:?}");
    assert!(steps.iter().all(|sample| sample.value == 0.0), "{steps:?}");
}

#[test]
fn a_help_text_is_one_line_that_needs_no_escaping() {
    for family in families::ALL.iter() {
        assert!(!family.help.contains(['\n', '"', '\\']), "{family:?}");
        assert!(family.help.ends_with('.'), "{family:?}");
    }
}
