//! Build script: passes the commit that the program is built from, where it is known.

use std::path::Path;
use std::process::Command;

/// Sets the commit where there is no repository or another one: for packagers.
const VARIABLE: &str = "SQLQUEUE_EXPORTER_COMMIT";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed={VARIABLE}");
    // Changes with each commit and each switch of branch.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|log| Path::new(log).exists()) {
        println!("cargo:rerun-if-changed={log}");
    }
    let given = std::env::var(VARIABLE).ok();
    let commit =
        given.or_else(|| git(&["rev-parse", "--short=12", "HEAD"])).unwrap_or_else(|| "unknown".to_owned());
    println!("cargo:rustc-env={VARIABLE}={commit}");
}

/// The answer of git, if this is a repository.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}
