//! The command line, as a user sees it: the real binary.

mod check;
mod serve;
mod statements;
mod web_config;

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
        assert!(page.contains(".TH sqlqueue-exporter") && page.contains(option), "{command}: {page}");
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
