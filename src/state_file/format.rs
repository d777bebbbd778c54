//! File format: a version, and each target's data under its key.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::state::TargetData;

const FORMAT: &str = "sqlqueue-exporter state";
const VERSION: u32 = 1;

/// The target of an entry, including the rows that it reads: a target that is pointed at another database,
/// table, id or predicate starts from scratch.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TargetKey {
    /// The source's name.
    pub source: String,
    /// The label of the target's kind.
    pub kind: String,
    /// The target's name.
    pub name: String,
    /// The database: host, endpoint and name, or a file.
    pub database: String,
    /// The parts of the table's name.
    pub table: Vec<String>,
    /// The id column.
    pub id: Option<String>,
    /// The fixed predicate.
    pub filter: BTreeMap<String, String>,
}

/// The file in memory. Entries stay as they were written until they are replaced, even if their targets are no
/// longer configured: removing a target by mistake loses nothing.
#[derive(Debug, Default)]
pub(super) struct Document {
    targets: BTreeMap<TargetKey, Box<RawValue>>,
}

/// Why this version cannot use a file.
#[derive(Debug, thiserror::Error)]
pub(super) enum DocumentError {
    #[error("is corrupt: {0}")]
    Corrupt(#[from] serde_json::Error),
    #[error("is not a state file of this program")]
    Foreign,
    #[error("was written by a newer version of this program (format {0}, this one knows {VERSION})")]
    Newer(u32),
}

#[derive(Deserialize)]
struct Header {
    format: String,
    version: u32,
}

#[derive(Serialize, Deserialize)]
struct Body<'a> {
    format: &'a str,
    version: u32,
    targets: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    #[serde(rename = "target")]
    key: TargetKey,
    data: Box<RawValue>,
}

impl Document {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, DocumentError> {
        // The header first: a newer format may have another body.
        let header: Header = serde_json::from_slice(bytes)?;
        if header.format != FORMAT {
            return Err(DocumentError::Foreign);
        }
        if header.version > VERSION {
            return Err(DocumentError::Newer(header.version));
        }
        let body: Body<'_> = serde_json::from_slice(bytes)?;
        let document =
            Self { targets: body.targets.into_iter().map(|entry| (entry.key, entry.data)).collect() };
        for data in document.targets.values() {
            serde_json::from_str::<TargetData>(data.get())?;
        }
        Ok(document)
    }

    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
        let targets = self.targets.iter().map(|(key, data)| Entry { key: key.clone(), data: data.clone() });
        let mut bytes =
            serde_json::to_vec(&Body { format: FORMAT, version: VERSION, targets: targets.collect() })?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    pub(super) fn target(&self, key: &TargetKey) -> Result<Option<TargetData>, serde_json::Error> {
        self.targets.get(key).map(|data| serde_json::from_str(data.get())).transpose()
    }

    /// Replaces an entry and returns the one before.
    pub(super) fn put(
        &mut self,
        key: TargetKey,
        data: &TargetData,
    ) -> Result<Option<Box<RawValue>>, serde_json::Error> {
        let data = serde_json::value::to_raw_value(data)?;
        Ok(self.targets.insert(key, data))
    }

    /// Whether an entry is this text.
    pub(super) fn holds(&self, key: &TargetKey, data: Option<&RawValue>) -> bool {
        data.is_some() && self.targets.get(key).map(|entry| entry.get()) == data.map(RawValue::get)
    }

    /// Puts an entry back as it was.
    pub(super) fn restore(&mut self, key: TargetKey, before: Option<Box<RawValue>>) {
        match before {
            Some(data) => _ = self.targets.insert(key, data),
            None => _ = self.targets.remove(&key),
        }
    }
}
