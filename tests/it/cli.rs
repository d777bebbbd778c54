//! The command line as users see it, with the real binary.

mod check;
mod serve;
mod statements;
mod web_config;

use std::collections::BTreeSet;
use std::io::Read as _;
use std::process::Stdio;

use crate::binary::{command, run};

#[test]
fn an_unknown_option_is_refused_with_the_nearest_one() {
    let ended = run(&["check", "--conect"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("--connect"), "{}", ended.stderr);
}

#[test]
fn the_version_is_that_of_the_package() {
    let version = run(&["--version"]).stdout;
    let prefix = format!("sqlqueue-exporter {} (commit ", env!("CARGO_PKG_VERSION"));
    let commit = version.strip_prefix(&prefix).and_then(|rest| rest.strip_suffix(")\n"));
    let is_commit = |text: &str| text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    assert!(commit.is_some_and(|commit| commit == "unknown" || is_commit(commit)), "{version}");
}

/// The long options that a sub-command lists.
fn options_of(command: &str) -> BTreeSet<String> {
    let ended = run(&[command, "--help"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let lines = ended.stdout.lines().filter_map(|line| line.trim_start().strip_prefix("--"));
    lines.map(|line| line.split([' ', '=', '[']).next().unwrap().to_owned()).collect()
}

#[test]
fn a_sub_command_has_the_options_that_do_something_there_and_no_others() {
    let log = ["log.level", "log.format"];
    let web = ["web.listen-address", "web.telemetry-path", "web.config.file"];
    let demo = ["seed", "speed", "incident", "incident-after", "incident-for", "folder"];
    let serve = ["config.file", "web.systemd-socket", "web.enable-lifecycle"];
    let of = |options: &[&[&str]]| -> BTreeSet<String> {
        options.concat().into_iter().map(str::to_owned).collect()
    };
    let without_help = |command| options_of(command).into_iter().filter(|name| name != "help").collect();
    let found: [BTreeSet<String>; 6] =
        ["serve", "check", "sql", "demo", "completions", "man"].map(without_help);
    let expected = [
        of(&[&serve, &web, &log]),
        of(&[&["config.file", "web.config.file", "connect"], &log]),
        of(&[&["config.file"]]),
        of(&[&demo, &web, &log]),
        of(&[]),
        of(&[]),
    ];
    assert_eq!(found, expected);
}

#[test]
fn an_option_that_does_nothing_is_refused_before_and_after_the_sub_command() {
    for arguments in [
        ["demo", "--config.file=x"],
        ["--config.file=x", "demo"],
        ["man", "--log.level=debug"],
        ["completions", "--web.enable-lifecycle"],
        ["--web.listen-address=:0", "sql"],
        ["check", "--web.systemd-socket"],
    ] {
        let ended = run(&arguments);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{arguments:?}: {ended:?}");
        assert!(ended.stderr.contains("unexpected argument"), "{ended:?}");
    }
}

#[test]
fn an_option_may_stand_before_the_sub_command_that_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.yaml");
    std::fs::write(&file, "sources: [{ name: db, sqlite: { file: x }, queues: [{ name: q }] }]").unwrap();
    let (path, option) = (file.to_str().unwrap(), format!("--config.file={}", file.display()));
    for arguments in [
        vec![option.as_str(), "check"],
        vec!["check", option.as_str()],
        vec!["--config.file", path, "--log.level", "debug", "check"],
        vec![option.as_str(), "sql"],
    ] {
        let ended = run(&arguments);
        assert_eq!(ended.code, Some(0), "{arguments:?}: {ended:?}");
    }
}

#[test]
fn a_missing_configuration_comes_with_two_ways_on() {
    let ended = run(&["--config.file=/does/not/exist.yaml"]);
    for part in ["/does/not/exist.yaml: cannot read", "--config.file", "`sqlqueue-exporter demo`"] {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
}

#[test]
fn the_demo_leaves_a_configuration_alone_that_it_did_not_write() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sqlqueue-exporter.yaml");
    std::fs::write(&file, "sources: []\n").unwrap();
    let ended = run(&["demo", &format!("--folder={}", folder.path().display())]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{ended:?}");
    assert!(ended.stderr.contains(file.to_str().unwrap()), "{ended:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "sources: []\n");
    assert!(run(&["demo", "--help"]).stdout.contains("sqlqueue-exporter.yaml"));
}

#[test]
fn a_command_line_that_is_wrong_ends_with_2_and_anything_else_with_1() {
    assert_eq!(run(&["--no-such-flag"]).code, Some(2));
    assert_eq!(run(&["--config.file=/does/not/exist.yaml"]).code, Some(1));
    let help = run(&["--help"]).stdout;
    assert!(help.contains("with 2 when the command line is wrong"), "{help}");
}

#[test]
fn every_shell_gets_its_completions_and_every_sub_command_a_page_of_the_manual() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ended = run(&["completions", shell]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert!(ended.stdout.contains("web.listen-address"), "{shell}: {}", ended.stdout);
    }
    for (command, option) in [("", "config.file"), ("check", "connect"), ("demo", "seed")] {
        let arguments: Vec<&str> = ["man", command].into_iter().filter(|word| !word.is_empty()).collect();
        let page = run(&arguments).stdout;
        let dashed = if command.is_empty() { String::new() } else { format!("-{command}") };
        let version = env!("CARGO_PKG_VERSION");
        let title = format!(".TH sqlqueue-exporter{dashed} 1  \"sqlqueue-exporter {version} (commit ");
        assert!(page.contains(&title) && page.contains(option), "{command}: {page}");
    }
    let ended = run(&["man", "chek"]);
    assert_eq!(ended.code, Some(1));
    assert!(
        ended.stderr.contains("there is no sub-command `chek`; there are serve, check"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.yaml");
    // Far more statements than a pipe holds.
    let queues: String = (0..200).map(|n| format!("      - {{ name: q{n}, preset: lease }}\n")).collect();
    std::fs::write(
        &file,
        format!("sources:\n  - name: db\n    sqlite: {{ file: x }}\n    queues:\n{queues}"),
    )
    .unwrap();
    let option = format!("--config.file={}", file.display());
    for arguments in [vec!["sql", option.as_str()], vec!["check", option.as_str()], vec!["--help"]] {
        let mut child = command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""), "{arguments:?}");
    }
}
