//! Files that an incident moves away. If the demo is killed in between, the next start undoes it.

use std::io;
use std::path::{Path, PathBuf};

use super::super::DemoError;
use crate::files::beside;

/// Moves a file away from its name.
pub(in crate::demo) fn move_away(file: &Path) -> Result<(), DemoError> {
    std::fs::rename(file, away(file)).map_err(|error| cannot_write(file, error))
}

/// Moves it back to its name.
pub(in crate::demo) fn move_back(file: &Path) -> Result<(), DemoError> {
    std::fs::rename(away(file), file).map_err(|error| cannot_write(file, error))
}

/// Puts a folder in the place of the state file: no file can replace a folder, not even as root. The
/// saved state is kept beside it.
pub(in crate::demo) fn block(state_file: &Path) -> Result<(), DemoError> {
    unless_missing(std::fs::rename(state_file, away(state_file)))
        .and_then(|()| std::fs::create_dir(state_file))
        .map_err(|error| cannot_write(state_file, error))
}

/// Removes the folder. The state saved before is not restored: the exporter has a newer one, and saves
/// it at once.
pub(in crate::demo) fn unblock(state_file: &Path) -> Result<(), DemoError> {
    std::fs::remove_dir(state_file).map_err(|error| cannot_write(state_file, error))
}

/// Undoes the incident of a demo that was killed.
pub(in crate::demo) fn undo(database_file: &Path, state_file: &Path) -> Result<(), DemoError> {
    if state_file.is_dir() {
        unblock(state_file)?;
    }
    for file in [database_file, state_file] {
        let undone = if file.exists() {
            unless_missing(std::fs::remove_file(away(file)))
        } else {
            unless_missing(std::fs::rename(away(file), file))
        };
        undone.map_err(|error| cannot_write(file, error))?;
    }
    Ok(())
}

fn away(file: &Path) -> PathBuf {
    beside(file, ".away")
}

fn unless_missing(outcome: io::Result<()>) -> io::Result<()> {
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn cannot_write(path: &Path, source: io::Error) -> DemoError {
    DemoError::Io { path: path.to_path_buf(), source }
}
