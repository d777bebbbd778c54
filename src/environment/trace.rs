//! What was read of the disk, so that a change can be seen.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use aws_lc_rs::digest::{SHA256, digest};

use super::disk;

/// Files with what they held. The contents themselves are not kept: some are secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Trace(BTreeMap<PathBuf, Reading>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Reading {
    /// How much of the file was read at most, in bytes.
    limit: u64,
    /// A digest of the content; `None` when it could not be read.
    digest: Option<Vec<u8>>,
}

impl Trace {
    pub(crate) fn note(&mut self, path: &Path, limit: u64, content: Option<&[u8]>) {
        let digest = content.map(|content| digest(&SHA256, content).as_ref().to_vec());
        self.0.insert(path.to_owned(), Reading { limit, digest });
    }

    /// Whether any of the files is not what it was.
    pub(crate) fn is_outdated(&self) -> bool {
        let mut now = Self::default();
        for (path, reading) in &self.0 {
            now.note(path, reading.limit, disk(path, reading.limit).ok().as_deref());
        }
        now != *self
    }
}
