//! The configuration: a YAML file becomes validated, plain data.
//!
//! A file is read in two steps. First YAML becomes the raw structs, which know every key and
//! where its value stands; then they are completed by their presets, checked against each other
//! and turned into the [`model`], which the rest of the program trusts.

mod address;
mod duration;
mod environment;
mod error;
mod identifier;
mod locate;
pub mod model;
mod objectives;
mod outcome;
mod presets;
mod raw;
mod secret;
mod setting;
mod suggest;
mod target;
#[cfg(test)]
mod tests;
mod trace;
mod validate;
mod web;
mod yaml;

use std::path::Path;

pub use environment::Environment;
pub use error::{ConfigError, Problem};
pub use model::*;
pub use objectives::{Objectives, QueueObjectives, RunLogObjectives};
pub use outcome::{AttemptOutcome, Outcome, OutcomeRule, OutcomeRules, OutcomeTest, OutcomeWord};
pub use presets::{Preset, TargetKind, presets};
pub use secret::Secret;
pub use target::TargetConfig;
pub use web::{RateLimit, WebConfig, WebConfigFile, WebUser, load_web, parse_web};

/// Reads and checks a configuration file, and reads the secrets that it names.
///
/// # Errors
///
/// When the file cannot be read, or when anything in it is wrong.
pub fn load(path: &Path, env: &Environment) -> Result<Config, ConfigError> {
    parse(&read(path, env)?, path, env)
}

/// The largest configuration file that is read, in bytes: far more than one needs, and far less than
/// a device or a log given by mistake would bring.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// The text of a configuration file.
fn read(path: &Path, env: &Environment) -> Result<String, ConfigError> {
    let unreadable = |error| ConfigError::Unreadable { file: path.to_owned(), error };
    let bytes = env.read(path, MAX_FILE_BYTES).map_err(unreadable)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_FILE_BYTES {
        let limit = format!("it is larger than {} MiB: is it the right file?", MAX_FILE_BYTES / 1024 / 1024);
        return Err(unreadable(std::io::Error::other(limit)));
    }
    String::from_utf8(bytes).map_err(|_| unreadable(std::io::Error::other("it is not UTF-8 text")))
}

/// Checks the text of a configuration file, and reads the secrets that it names.
///
/// `file_name` is the name that errors show; relative paths in the text start from its directory.
///
/// # Errors
///
/// When anything in the text is wrong, or a secret cannot be read.
pub fn parse(yaml: &str, file_name: &Path, env: &Environment) -> Result<Config, ConfigError> {
    let invalid = |problems| ConfigError::Invalid { file: file_name.to_owned(), problems };
    let raw = yaml::read(yaml).map_err(|problem| invalid(vec![problem]))?;
    let directory = file_name.parent().unwrap_or(Path::new(""));
    validate::config(raw, directory, env).map_err(|findings| invalid(validate::problems(&findings, yaml)))
}
