//! `demo --incident`: what it prints, and that it begins and ends.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use sqlqueue_exporter::demo::Incident;

use crate::binary::{Running, run, wait_for};
use crate::parse::ParsedPage;
use crate::support::{assert_golden, project_file};

const DOCUMENT: &str = "docs/demo.md";
const BEGIN: &str = "<!-- incidents: begin (checked by a test against src/demo/incident.rs) -->\n";
const END: &str = "<!-- incidents: end -->";

#[test]
fn the_document_lists_every_incident() {
    let text = project_file(DOCUMENT);
    let old = text.split_once(BEGIN).unwrap().1.split_once(END).unwrap().0;
    let rows: String = Incident::ALL
        .iter()
        .map(|incident| {
            let facts = incident.facts();
            let against = facts.against.map(|series| format!("`{series}`")).unwrap_or_default();
            format!(
                "| `{}` | {} | `{}` | {against} | {} s | `{}` |\n",
                facts.name,
                facts.happens,
                facts.series,
                facts.within.as_secs(),
                facts.alert
            )
        })
        .collect();
    let head = "| Incident | What happens | What shows it | Held against | Within | Alert |\n|---|---|---|---|---|---|\n";
    let new = format!("\n{head}{rows}\n");
    assert_golden(
        DOCUMENT,
        &text,
        &text.replace(&format!("{BEGIN}{old}{END}"), &format!("{BEGIN}{new}{END}")),
    );
}

#[test]
fn the_help_names_every_incident_with_its_alert() {
    let help = run(&["demo", "--help"]);
    assert_eq!(help.code, Some(0));
    for incident in Incident::ALL {
        let facts = incident.facts();
        let line = help.stdout.lines().find(|line| line.contains(&format!("- {}:", facts.name)));
        assert!(line.is_some_and(|line| line.contains(facts.alert)), "{}: {}", facts.name, help.stdout);
    }
}

#[test]
fn an_unknown_incident_is_answered_with_the_nearest() {
    let ended = run(&["demo", "--incident", "orphan-lock"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("'orphaned-lock'"), "{}", ended.stderr);
}

#[test]
fn times_of_an_incident_need_one_and_need_a_unit() {
    let ended = run(&["demo", "--incident-for", "5s"]);
    assert!(ended.code == Some(2) && ended.stderr.contains("--incident <NAME>"), "{}", ended.stderr);
    let ended = run(&["demo", "--incident", "no-workers", "--incident-after", "5"]);
    assert!(ended.code == Some(2) && ended.stderr.contains("write `5s` for seconds"), "{}", ended.stderr);
}

fn start(folder: &Path, arguments: &[&str]) -> Running {
    let folder = format!("--folder={}", folder.display());
    let all = [&["demo", "--speed=4", &folder], arguments].concat();
    Running::start(&all, Stdio::null())
}

fn await_value(demo: &Running, series: &str, value: f64) {
    wait_for(series, || {
        let page = ParsedPage::prometheus(&demo.metrics());
        let found: Vec<f64> = page.named(series).map(|sample| sample.value).collect();
        if found == [value] { Ok(()) } else { Err(found) }
    });
}

#[test]
fn an_incident_begins_and_ends_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--incident=state-not-saved", "--incident-after=2s", "--incident-for=1s"];
    let demo = start(folder.path(), &arguments);
    demo.wait_for_line("the incident begins");
    demo.wait_for_line("the incident ends");
    await_value(&demo, "sqlqueue_exporter_state_last_save_successful", 1.0);
    assert_eq!(demo.terminate().code(), Some(0));
}

#[test]
fn an_incident_that_is_under_way_is_ended_with_the_demo() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("demo.sqlite");
    let demo = start(folder.path(), &["--incident=database-down", "--incident-after=1s"]);
    demo.wait_for_line("the incident begins");
    await_value(&demo, "sqlqueue_up", 0.0);
    assert!(!file.exists());
    assert_eq!(demo.terminate().code(), Some(0));
    assert!(file.exists());
}

#[test]
fn a_demo_that_was_killed_in_an_incident_can_be_continued() {
    let folder = tempfile::tempdir().unwrap();
    let (file, state) = (folder.path().join("demo.sqlite"), folder.path().join("state.json"));
    for incident in ["--incident=database-down", "--incident=state-not-saved"] {
        let demo = start(folder.path(), &[incident, "--incident-after=2s"]);
        demo.wait_for_line("the incident begins");
        drop(demo);
        assert!(!file.exists() || state.is_dir(), "{incident}");
    }
    let demo = start(folder.path(), &[]);
    await_value(&demo, "sqlqueue_up", 1.0);
    await_value(&demo, "sqlqueue_exporter_state_last_save_successful", 1.0);
    assert!(fs::metadata(&file).unwrap().is_file() && fs::metadata(&state).unwrap().is_file());
    assert_eq!(demo.terminate().code(), Some(0));
}
