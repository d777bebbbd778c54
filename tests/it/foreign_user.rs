//! Foreign users: files that the exporter's user may not touch. Only root can make such a file, and root may
//! touch everything, so the exporter runs as another user here. Without root, the tests report that they were
//! skipped.

use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// `nobody`, on every Linux.
pub const NOBODY: u32 = 65_534;

/// A folder owned by root, with a copy of the exporter that `nobody` can start. `None`, with a message, where
/// the tests do not run as root.
pub fn folder_of_root(test: &str) -> Option<TempDir> {
    let folder = TempDir::new().unwrap();
    if chown(folder.path(), Some(0), Some(0)).is_err() {
        let skipped = "only root can give a file to somebody else";
        let line = format!("SKIPPED it::{test}: {skipped}\n");
        let _ = std::io::stderr().write_all(line.as_bytes());
        return None;
    }
    set_mode(folder.path(), 0o755);
    // The build folder may be closed to others. Another process makes the copy: a file that this one opens
    // for writing is open in the children that other tests are just starting, too, and cannot be run while it
    // is.
    let built = env!("CARGO_BIN_EXE_sqlqueue-exporter");
    let copied = Command::new("cp").arg(built).arg(folder.path().join("exporter")).status().unwrap();
    assert!(copied.success());
    Some(folder)
}

/// The copy, run by `nobody` in the folder with this command's arguments.
pub fn as_nobody(folder: &Path, own: &Command) -> Command {
    let mut command = Command::new(folder.join("exporter"));
    command.args(own.get_args()).current_dir(folder).uid(NOBODY).gid(NOBODY);
    command
}

pub fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}
