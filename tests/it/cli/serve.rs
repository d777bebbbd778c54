//! `serve` and `demo`: a server that answers and shuts down cleanly.

use std::collections::BTreeSet;
use std::process::Stdio;

use rusqlite::Connection;

use crate::binary::{Running, run, wait_for};
use crate::page::SCHEMA;
use crate::parse::ParsedPage;
use crate::support::project_file;

#[test]
fn serve_answers_on_the_address_it_logs_and_ends_well_when_told_to() {
    let folder = tempfile::tempdir().unwrap();
    let database = Connection::open(folder.path().join("queue.db")).unwrap();
    database.execute_batch(SCHEMA).unwrap();
    let file = folder.path().join("config.yaml");
    std::fs::write(
        &file,
        "global: { query_timeout: 1h }
sources: [{ name: db, sqlite: { file: queue.db }, queues: [{ name: jobs, preset: lease }] }]",
    )
    .unwrap();
    let server = Running::start(&[&format!("--config.file={}", file.display())], Stdio::null());
    wait_for("the first pass", || {
        let (head, body) = server.get("/-/ready", "*/*");
        if head.starts_with("HTTP/1.1 200 ") { Ok(()) } else { Err(body) }
    });

    let page = ParsedPage::prometheus(&server.metrics());
    assert_eq!(page.named("sqlqueue_up").next().map(|sample| sample.value), Some(1.0));
    let (head, body) = server.get("/metrics", "application/openmetrics-text;version=1.0.0");
    assert!(head.to_lowercase().contains("content-type: application/openmetrics-text"), "{head}");
    ParsedPage::openmetrics(&body);
    let overview = server.get("/", "text/html").1;
    assert!(overview.contains("metrics\">"), "a link to the metrics, in {overview}");

    assert_eq!(server.terminate().code(), Some(0));
}

#[test]
fn an_address_that_is_taken_is_told_at_once() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let option = format!("--web.listen-address={}", taken.local_addr().unwrap());
    let ended = run(&["demo", &option]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("the address is in use"), "{ended:?}");
}

#[test]
fn the_demo_feeds_every_family_and_its_values_move() {
    let folder = tempfile::tempdir().unwrap();
    let option = format!("--folder={}", folder.path().display());
    // What it prints is not read, and must not stop it.
    let demo = Running::start(&["demo", "--speed=20", &option], Stdio::null());
    let golden = project_file("tests/golden/families.txt");
    let golden: BTreeSet<&str> = golden.lines().filter_map(|line| line.split(' ').next()).collect();
    // Each has its reason.
    let absent = project_file("tests/golden/not_in_the_demo.txt");
    let absent: Vec<&str> = absent.lines().filter_map(|line| line.split(": ").next()).collect();
    assert!(absent.iter().all(|name| golden.contains(name)), "{absent:?}");
    let expected: BTreeSet<&str> = golden
        .into_iter()
        .filter(|name| !absent.contains(name))
        .filter(|name| cfg!(target_os = "linux") || !name.starts_with("process_"))
        .collect();
    wait_for("a page with every family", || {
        let page = ParsedPage::prometheus(&demo.metrics());
        let shown: BTreeSet<&str> = page.families.iter().map(|family| family.name.as_str()).collect();
        let differs: Vec<&str> = expected.symmetric_difference(&shown).copied().collect();
        if differs.is_empty() { Ok(()) } else { Err(format!("{differs:?}")) }
    });

    // Everything that the demo's actors do shows up sooner or later.
    let sum = |page: &ParsedPage, name: &str| page.named(name).map(|sample| sample.value).sum::<f64>();
    let mut still: BTreeSet<&str> = BTreeSet::from([
        "sqlqueue_samples_total",
        "sqlqueue_attempts_total",
        "sqlqueue_retries_total",
        "sqlqueue_run_steps_total",
        "sqlqueue_run_step_candidates_total",
        "sqlqueue_run_step_duration_seconds_count",
        "sqlqueue_notifications_total",
        "sqlqueue_oldest_ready_age_seconds",
        "sqlqueue_longest_running_seconds",
        "sqlqueue_jobs",
    ]);
    let first = ParsedPage::prometheus(&demo.metrics());
    wait_for("values that change", || {
        let page = ParsedPage::prometheus(&demo.metrics());
        still.retain(|name| sum(&page, name) == sum(&first, name));
        if still.is_empty() { Ok(()) } else { Err(still.clone()) }
    });
    // On a busy machine a sample may come too late, which is no defect; a later one is in time.
    let page = wait_for("a sample in time", || {
        let page = ParsedPage::prometheus(&demo.metrics());
        if sum(&page, "sqlqueue_up") == 1.0 { Ok(page) } else { Err("the source is down") }
    });
    let errors = page.named("sqlqueue_sample_errors_total").filter(|errors| errors.value > 0.0);
    let reasons: BTreeSet<_> = errors.filter_map(|errors| errors.label("reason")).collect();
    assert!(reasons.iter().all(|reason| ["timeout", "lock_timeout"].contains(reason)), "{reasons:?}");
    assert_eq!(demo.terminate().code(), Some(0));
}

#[cfg(unix)]
#[test]
fn a_demo_whose_output_nobody_reads_goes_on() {
    use std::os::unix::net::UnixStream;

    let (output, reader) = UnixStream::pair().unwrap();
    drop(reader);
    let folder = tempfile::tempdir().unwrap();
    let option = format!("--folder={}", folder.path().display());
    let demo = Running::start(&["demo", &option], Stdio::from(std::os::fd::OwnedFd::from(output)));
    demo.metrics();
    assert_eq!(demo.terminate().code(), Some(0));
}
