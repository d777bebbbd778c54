//! Change detection: the files that were read, with a digest of each.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use aws_lc_rs::digest::{SHA256, digest};

/// The files that were read, and digests of their contents. The contents are not kept: some are secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Trace(BTreeMap<PathBuf, Reading>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Reading {
    /// The maximum that was read of the file, in bytes.
    limit: u64,
    /// A digest of the content; `None` when it could not be read.
    digest: Option<Vec<u8>>,
}

impl Trace {
    pub(crate) fn note(&mut self, path: &Path, limit: u64, content: Option<&[u8]>) {
        let digest = content.map(|content| digest(&SHA256, content).as_ref().to_vec());
        self.0.insert(path.to_owned(), Reading { limit, digest });
    }

    /// Whether any of the files has changed.
    pub(crate) fn is_outdated(&self) -> bool {
        let mut now = Self::default();
        for (path, reading) in &self.0 {
            now.note(path, reading.limit, disk(path, reading.limit).ok().as_deref());
        }
        now != *self
    }
}

/// The first `limit` bytes of a file on the disk, and one more if there are more.
pub(super) fn disk(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    File::open(path)?.take(limit.saturating_add(1)).read_to_end(&mut content)?;
    Ok(content)
}
