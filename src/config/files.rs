//! The files of a configuration: one, the YAML files of a folder, or those that a pattern matches.

use std::io;
use std::path::{Path, PathBuf};

use super::{ConfigError, Environment};

/// The largest configuration file that is read, in bytes: far more than one needs, and far less than
/// a device or a log given by mistake would bring.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// What ends the name of a configuration file in a folder.
const ENDINGS: [&str; 2] = ["yaml", "yml"];

/// The files that a path stands for, in the order of their names; at least one.
///
/// # Errors
/// When a folder or a pattern has none, or cannot be looked through.
pub(super) fn find(path: &Path) -> Result<Vec<PathBuf>, ConfigError> {
    let unreadable = |error| ConfigError::Unreadable { file: path.to_owned(), error };
    let pattern = path.to_str().filter(|text| text.contains(['*', '?', '[']));
    let (mut files, wanted) = if path.is_dir() {
        (files_of(path).map_err(unreadable)?, "the folder has no file whose name ends in .yaml or .yml")
    } else if let Some(pattern) = pattern.filter(|_| !path.exists()) {
        (matches(pattern).map_err(unreadable)?, "no file has a name of this pattern")
    } else {
        return Ok(vec![path.to_owned()]);
    };
    if files.is_empty() {
        return Err(unreadable(io::Error::other(wanted)));
    }
    files.sort();
    Ok(files)
}

/// The YAML files of a folder. Hidden ones are left out: editors keep copies in them, and Kubernetes
/// the versions of a mounted ConfigMap.
fn files_of(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let is_hidden = path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
        let ends_well = ENDINGS.iter().any(|ending| path.extension().is_some_and(|found| found == *ending));
        if ends_well && !is_hidden && path.is_file() {
            files.push(path);
        }
    }
    Ok(files)
}

fn matches(pattern: &str) -> io::Result<Vec<PathBuf>> {
    let options = glob::MatchOptions { require_literal_leading_dot: true, ..glob::MatchOptions::new() };
    let paths = glob::glob_with(pattern, options).map_err(io::Error::other)?;
    paths.map(|path| path.map_err(io::Error::from)).collect()
}

/// The text of a configuration file.
///
/// # Errors
/// When it cannot be read, is not text, or is too large to be one.
pub(super) fn read(path: &Path, env: &Environment) -> Result<String, ConfigError> {
    let unreadable = |error| ConfigError::Unreadable { file: path.to_owned(), error };
    let bytes = env.read_configuration(path, MAX_FILE_BYTES).map_err(unreadable)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_FILE_BYTES {
        let limit = format!("it is larger than {} MiB: is it the right file?", MAX_FILE_BYTES / 1024 / 1024);
        return Err(unreadable(io::Error::other(limit)));
    }
    String::from_utf8(bytes).map_err(|_| unreadable(io::Error::other("it is not UTF-8 text")))
}
