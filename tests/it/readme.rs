//! The README against the program: metrics, presets, configurations, commands and links.

use std::collections::BTreeSet;
use std::path::Path;

use prometheus_client::metrics::MetricType;
use sqlqueue_exporter::config::{self, Config, Environment};
use sqlqueue_exporter::exposition::families::{self, Family};

use crate::binary::run;
use crate::support::{assert_golden, project_file};

const BEGIN: &str = "<!-- metrics: begin (checked by a test against src/exposition/families.rs) -->\n";
const END: &str = "<!-- metrics: end -->";

fn readme() -> String {
    project_file("README.md")
}

/// The text between two marks, each of which must appear once.
#[track_caller]
fn between<'a>(text: &'a str, begin: &str, end: &str) -> &'a str {
    assert_eq!(text.matches(begin).count(), 1, "{begin}");
    let (_, after) = text.split_once(begin).unwrap();
    after.split_once(end).expect(end).0
}

/// The code blocks of one language.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    text.split(fence.as_str()).skip(1).map(|rest| rest.split_once("```").unwrap().0).collect()
}

/// Everything `in backticks`.
fn code_spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn row(family: &Family) -> String {
    let kind = match family.kind {
        MetricType::Counter => "counter",
        MetricType::Gauge => "gauge",
        MetricType::Histogram => "histogram",
        MetricType::Info => "info",
        MetricType::Unknown => "unknown",
    };
    assert!(!family.help.contains('|'), "{}", family.help);
    format!("| `{}` | {kind} | {} |\n", family.full_name(), family.help)
}

fn parse(yaml: &str) -> Config {
    let environment = Environment::empty().with_file("/run/secrets/db", "secret");
    config::parse(yaml, Path::new("README.yaml"), &environment)
        .unwrap_or_else(|error| panic!("{error}\n---\n{yaml}"))
}

#[test]
fn its_table_of_metrics_is_that_of_the_program() {
    let text = readme();
    let old = between(&text, BEGIN, END);
    let rows: String = families::ALL.iter().map(|family| row(family)).collect();
    let new = format!("\n| Metric | Type | What it says |\n|---|---|---|\n{rows}\n");
    let expected = text.replace(&format!("{BEGIN}{old}{END}"), &format!("{BEGIN}{new}{END}"));
    assert_golden("README.md", &text, &expected);
}

#[test]
fn its_presets_are_those_of_the_program() {
    let text = readme();
    let listed = code_spans(between(&text, "in the form that you would write:", "`field: null`"));
    let listed: Vec<&str> = listed.collect();
    let known: Vec<&str> = config::presets().iter().map(|preset| preset.name).collect();
    assert_eq!(listed, known);
}

#[test]
fn its_configurations_are_valid() {
    let text = readme();
    let configurations = blocks(&text, "yaml");
    assert!(!configurations.is_empty());
    for yaml in configurations {
        parse(yaml);
    }
}

#[test]
fn its_web_configuration_is_valid() {
    let certificates = Environment::empty()
        .with_file("server.crt", project_file("tests/fixtures/tls/server.crt"))
        .with_file("server.key", project_file("tests/fixtures/tls/server.key"));
    let text = readme();
    let web = blocks(&text, "yml");
    assert_eq!(web.len(), 1);
    let web = sqlqueue_exporter::web::config::parse(web[0], Path::new("README.yml"), &certificates).unwrap();
    assert!(web.tls.is_some());
    assert_eq!(web.users.len(), 1);
}

#[test]
fn the_commands_it_shows_are_known_to_the_help() {
    let text = readme();
    let spans = code_spans(&text).collect::<Vec<_>>().join("\n");
    let shown = format!("{}\n{spans}", blocks(&text, "console").concat());
    let shown = shown.replace("cargo run --release -- ", "sqlqueue-exporter ");
    let mut commands = BTreeSet::new();
    for line in shown.lines() {
        let line = line.split('#').next().unwrap();
        let Some((before, arguments)) = line.split_once("sqlqueue-exporter ") else { continue };
        if !matches!(before, "" | "$ ") {
            continue;
        }
        let words: Vec<&str> = arguments.split_whitespace().collect();
        let command = words.iter().find(|word| !word.starts_with('-'));
        commands.extend(command.copied());
        let help = run(&[command.as_slice(), &[&"--help"]].concat().into_iter().copied().collect::<Vec<_>>());
        assert_eq!(help.code, Some(0), "{line}: {}", help.stderr);
        for option in words.iter().filter(|word| word.starts_with("--")) {
            let option = option.split('=').next().unwrap();
            assert!(help.stdout.contains(option), "{line}: {}", help.stdout);
        }
    }
    assert_eq!(commands.into_iter().collect::<Vec<_>>(), ["check", "demo", "sql"]);
}

#[test]
fn the_default_port_and_file_it_gives_are_those_of_the_help() {
    let text = readme();
    let help = run(&["serve", "--help"]).stdout;
    for default in [":10433", "sqlqueue-exporter.yaml"] {
        assert!(
            text.contains(default) && help.contains(&format!("[default: {default}]")),
            "{default}: {help}"
        );
    }
}

#[test]
fn the_files_it_links_to_exist() {
    let text = readme();
    let links: Vec<&str> = text.split("](").skip(1).map(|link| link.split(')').next().unwrap()).collect();
    assert!(!links.is_empty());
    for link in links.into_iter().filter(|link| !link.contains("://") && !link.starts_with('#')) {
        let file = link.split('#').next().unwrap();
        assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(file).exists(), "{link}");
    }
}
