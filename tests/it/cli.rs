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
    assert_eq!(run(&["--version"]).stdout, format!("sqlqueue-exporter {}\n", env!("CARGO_PKG_VERSION")));
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
