//! Configuration files: one file, the YAML files of a folder, or those that match a pattern.

use std::io;
use std::path::{Path, PathBuf};

use crate::yaml::ConfigError;

/// The endings of configuration files in a folder.
const ENDINGS: [&str; 2] = ["yaml", "yml"];

/// The files of a path, at least one, sorted by name.
///
/// # Errors
/// When a folder or a pattern has none, or cannot be searched.
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
