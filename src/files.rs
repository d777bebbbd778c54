//! Files: names beside another file, and what distinguishes two files of the same name.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// The path of a file beside another one, which has its name with another ending.
pub fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Device and inode, which distinguish a file from another one of the same name. `None` where the system has
/// none; there an open file can be neither removed nor replaced.
#[cfg(unix)]
pub fn identity(metadata: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
pub fn identity(_metadata: &Metadata) -> Option<(u64, u64)> {
    None
}
