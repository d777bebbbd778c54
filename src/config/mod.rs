//! The configuration: YAML files, checked and turned into plain data that the rest of the program trusts.
//!
//! Each kind of target is one table of keys in `kinds/`. From it, the macro in `mapping.rs` makes the form as
//! written, the overlay of a preset, the checked model, its columns, and the YAML of the configuration in
//! force. What a key can hold is a type in `values/`.

mod common_keys;
mod files;
mod global;
mod kinds;
mod log;
mod mapping;
mod mssql;
mod objectives;
mod presets;
mod scope;
mod source;
#[cfg(test)]
mod tests;
mod values;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Serialize, Serializer};

pub use self::common_keys::Target;
pub use self::global::{Global, ReadMode};
pub(crate) use self::kinds::for_each_log_kind;
pub use self::kinds::*;
pub use self::log::{BatchSize, LateWindow, OpenWindow};
pub use self::mssql::{ApplicationIntent, Encryption, Endpoint, Mssql, PasswordSource, Trust};
pub use self::objectives::{
    AttemptLogObjectives, Objective, Objectives, QueueObjectives, Ratio, RunLogObjectives, SourceObjectives,
};
pub use self::presets::{Preset, presets};
pub use self::source::{Database, Source, Sqlite};
pub(crate) use self::values::identifier;
pub use self::values::{
    AppLock, AttemptOutcome, Attempts, AttemptsCount, ColumnName, ColumnOwner, DurationColumn, DurationUnit,
    Filter, Lease, Lookup, MappedColumn, MappedState, MaxAttempts, Outcome, OutcomeRule, OutcomeRules,
    OutcomeTest, Probe, RowState, TableName, TimeColumn, TimeEncoding, TimeZone,
};
pub(crate) use crate::duration;
pub use crate::environment::Environment;
pub use crate::secret::Secret;
use crate::yaml;
pub use crate::yaml::{ConfigError, InvalidFile, Problem};

use self::global::GlobalForm;
use self::source::SourceForm;
use crate::duration::DAY;
use crate::yaml::{Bounds, Checker, Field, List, Located, Location, Names, form};

/// A shorter interval is a load test, and a longer one reports too late.
const SAMPLE_INTERVALS: Bounds = Bounds { least: Duration::from_millis(100), most: DAY };

/// Everything one exporter process does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Config {
    /// Settings that hold for every target unless it says otherwise.
    pub global: Global,
    /// Where counters and the position in each log are kept across restarts.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "optional_path_text")]
    pub state_file: Option<PathBuf>,
    /// The databases, in the order of the file; their names are unique.
    pub sources: Vec<Source>,
}

form! {
    pub struct ConfigForm {
        /// Settings that hold for every target unless it says otherwise.
        global: Field<GlobalForm>,
        /// Where counters and the position in each log are kept across restarts.
        state_file: Field<String>,
        /// The databases.
        sources: Field<List<SourceForm>>,
    }
}

/// The configuration could not be written, which is a defect.
#[derive(Debug, thiserror::Error)]
#[error("the configuration cannot be written as YAML: {0}")]
pub struct UnwritableConfig(String);

impl Config {
    /// The configuration in force, as YAML: in the form of a configuration file, with every default and
    /// preset filled in. Reading it gives the same configuration again. It holds no secrets; for a password,
    /// only where it is read from.
    ///
    /// # Errors
    /// When it cannot be written, which is a defect.
    pub fn to_yaml(&self) -> Result<String, UnwritableConfig> {
        yaml::write(self).map_err(UnwritableConfig)
    }
}

/// A path as text. Anything that is not UTF-8 is replaced.
fn path_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

fn optional_path_text<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    path_text(path.as_deref().unwrap_or(Path::new("")), serializer)
}

/// Reads and checks a configuration, and reads the secrets that it names. `path` is a file, a folder of YAML
/// files, or a pattern such as `/etc/exporter/*.yaml`; several files together are one configuration.
///
/// # Errors
/// When a file cannot be read, or when anything in it is wrong.
pub fn load(path: &Path, env: &Environment) -> Result<Config, ConfigError> {
    let mut texts = Vec::new();
    for file in files::find(path)? {
        let text = yaml::read_file(&file, env)?;
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
/// When anything in the text is wrong, or a secret cannot be read.
pub fn parse(yaml: &str, file_name: &Path, env: &Environment) -> Result<Config, ConfigError> {
    parse_all(&[(file_name, yaml)], env)
}

/// The same for several files, each given by name and text, that together are one configuration. The settings
/// for all sources are in one of them, and each has sources of its own.
///
/// # Errors
/// When anything in the texts is wrong, or a secret cannot be read.
pub fn parse_all(texts: &[(&Path, &str)], env: &Environment) -> Result<Config, ConfigError> {
    let mut invalid = Vec::new();
    let mut files = Vec::new();
    for (name, text) in texts {
        match yaml::read::<ConfigForm>(text) {
            Ok(form) => {
                let (at, form) = (form.location(), form.value);
                files.push(File { checker: Checker::new(env, name), text, at, form });
            }
            Err(problem) => invalid.push(InvalidFile { file: name.to_path_buf(), problems: vec![problem] }),
        }
    }
    // While one file cannot be read, the others could seem to lack its contents.
    if invalid.is_empty() { check(files) } else { Err(invalid) }.map_err(ConfigError::Invalid)
}

/// A file of the configuration while it is being checked.
struct File<'a> {
    checker: Checker<'a>,
    text: &'a str,
    at: Location,
    form: ConfigForm,
}

/// Checks the files of a configuration. Findings are collected, so that one run shows all there is to
/// correct; a check that fails returns `None`, and its callers carry on.
fn check(mut files: Vec<File<'_>>) -> Result<Config, Vec<InvalidFile>> {
    let (place, global) = only_one(&mut files, "global", |form| &mut form.global);
    let (global, stale_after) = match files.get_mut(place) {
        Some(file) => Global::check(&mut file.checker, global),
        None => return Err(Vec::new()), // without a file there is nothing to check
    };
    let (place, state_file) = only_one(&mut files, "state_file", |form| &mut form.state_file);
    let state_file = match (files.get_mut(place), state_file.given()) {
        (Some(file), Some(value)) => file.checker.path(value),
        _ => None,
    };
    let is_one_file = files.len() == 1;
    let mut sources = Vec::new();
    let mut are_named = false;
    let mut names = Names::new("sources");
    for File { checker, form, .. } in &mut files {
        let Some(list) = std::mem::take(&mut form.sources).given() else { continue };
        let at = list.location();
        if list.value.0.is_empty() && is_one_file {
            checker.report(at, "is empty; at least one source is needed");
        }
        are_named |= is_one_file || !list.value.0.is_empty();
        let List(items) = list.value;
        sources.extend(
            items
                .into_iter()
                .filter_map(|source| Source::check(checker, source, &global, stale_after, &mut names)),
        );
    }
    if let (false, Some(file)) = (are_named, files.first_mut()) {
        file.checker.missing(file.at, "sources", "at least one source is needed");
    }
    let invalid: Vec<InvalidFile> =
        files.into_iter().filter_map(|file| file.checker.invalid_file(file.text)).collect();
    if invalid.is_empty() { Ok(Config { global, state_file, sources }) } else { Err(invalid) }
}

/// A setting for all sources, which only one file may have, and the number of that file; the first when none
/// has it.
fn only_one<T>(
    files: &mut [File<'_>],
    key: &str,
    field: impl Fn(&mut ConfigForm) -> &mut Field<T>,
) -> (usize, Field<T>) {
    let mut first: Option<(usize, &Path, Field<T>)> = None;
    for (number, file) in files.iter_mut().enumerate() {
        let Field::Set(value) = std::mem::take(field(&mut file.form)) else { continue };
        match &first {
            None => first = Some((number, file.checker.file(), Field::Set(value))),
            Some((_, other, _)) => {
                let message =
                    format!("`{key}` is for all sources, and {} has it, too; keep one", other.display());
                file.checker.report_key_of(value.location(), message);
            }
        }
    }
    first.map_or((0, Field::Absent), |(number, _, field)| (number, field))
}
