//! The configuration: a YAML file becomes validated, plain data.
//!
//! A file is read in two steps. First YAML becomes the raw structs, which know every key and
//! where its value stands; then they are completed by their presets, checked against each other
//! and turned into the [`model`], which the rest of the program trusts.

mod address;
pub(crate) mod duration;
mod effective;
mod environment;
mod error;
mod files;
mod identifier;
mod locate;
mod mapped;
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
mod time_zone;
mod trace;
mod validate;
mod web;
mod yaml;

use std::path::Path;

pub use effective::UnwritableConfig;
pub use environment::Environment;
pub use error::{ConfigError, InvalidFile, Problem};
pub use mapped::{MappedColumn, Place};
pub use model::*;
pub use objectives::{
    AttemptLogObjectives, Objectives, QueueObjectives, Ratio, RunLogObjectives, SourceObjectives,
};
pub use outcome::{AttemptOutcome, Outcome, OutcomeRule, OutcomeRules, OutcomeTest, OutcomeWord};
pub use presets::{Preset, presets};
pub use secret::Secret;
pub(crate) use target::for_each_log_kind;
pub use target::{LogConfig, TargetConfig, TargetKind};
pub use web::{RateLimit, WebConfig, WebConfigFile, WebUser, load_web, parse_web};

/// Reads and checks a configuration, and reads the secrets that it names. `path` is a file, a folder
/// whose YAML files are read, or a pattern such as `/etc/exporter/*.yaml`; together the files are one
/// configuration.
///
/// # Errors
///
/// When a file cannot be read, or when anything in it is wrong.
pub fn load(path: &Path, env: &Environment) -> Result<Config, ConfigError> {
    let mut texts = Vec::new();
    for file in files::find(path)? {
        let text = files::read(&file, env)?;
        texts.push((file, text));
    }
    let texts: Vec<(&Path, &str)> =
        texts.iter().map(|(file, text)| (file.as_path(), text.as_str())).collect();
    parse_all(&texts, env)
}

/// Checks the text of a configuration file, and reads the secrets that it names.
///
/// `file_name` is the name that errors show; relative paths in the text start from its directory.
///
/// # Errors
///
/// When anything in the text is wrong, or a secret cannot be read.
pub fn parse(yaml: &str, file_name: &Path, env: &Environment) -> Result<Config, ConfigError> {
    parse_all(&[(file_name, yaml)], env)
}

/// The same of several files, each given by its name and its text, that are one configuration: the
/// settings for all sources stand in one of them, and each has sources of its own.
///
/// # Errors
///
/// When anything in the texts is wrong, or a secret cannot be read.
pub fn parse_all(texts: &[(&Path, &str)], env: &Environment) -> Result<Config, ConfigError> {
    let mut invalid = Vec::new();
    let mut files = Vec::new();
    for (name, yaml) in texts {
        match yaml::read(yaml) {
            Ok(raw) => files.push(validate::File { name, yaml, raw }),
            Err(problem) => invalid.push(InvalidFile { file: name.to_path_buf(), problems: vec![problem] }),
        }
    }
    // Without a file that cannot be read the others could seem to lack what stands in it.
    if !invalid.is_empty() {
        return Err(ConfigError::Invalid(invalid));
    }
    validate::config(files, env).map_err(ConfigError::Invalid)
}
