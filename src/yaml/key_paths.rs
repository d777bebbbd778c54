//! Key paths: from a location in the file to the key there, such as `sources[0].queues[1].lease`.
//!
//! The deserializer reports lines and columns but no paths. So when there is an error, and only
//! then, the file is read a second time into a bare tree of nodes.

use serde::Deserialize;
use serde_saphyr::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{Location as Position, Spanned};

use super::types::{Entries, Located, Location, ScalarOr};

/// The locations of a file's keys and values.
#[derive(Default)]
pub(crate) struct KeyPaths {
    /// Of values, from the outside in.
    values: Vec<Entry>,
    /// Of keys.
    keys: Vec<Entry>,
}

struct Entry {
    at: Location,
    path: String,
    found: &'static str,
}

impl KeyPaths {
    /// Reads the locations.
    ///
    /// # Errors
    /// When the file is not YAML, or has keys that are not scalars.
    pub(crate) fn of(yaml: &str) -> Result<Self, serde_saphyr::Error> {
        // Nothing is refused here: this tree only finds paths.
        let options = serde_saphyr::options! {
            with_snippet: false,
            budget: super::budget(),
            duplicate_keys: DuplicateKeyPolicy::PassThrough,
            non_finite_float_policy: NonFiniteFloatPolicy::AsString,
            null_as_string: true,
        };
        let root = serde_saphyr::from_str_with_options::<Spanned<Node>>(yaml, options)?;
        let mut paths = Self::default();
        paths.collect(&root, String::new());
        Ok(paths)
    }

    /// The path of the value at a location; empty for the whole file.
    pub(crate) fn value_path(&self, at: Location) -> Option<&str> {
        self.values.iter().find(|entry| entry.at == at).map(|entry| entry.path.as_str())
    }

    /// The path of the key at a location.
    pub(crate) fn key_path(&self, at: Location) -> Option<&str> {
        self.keys.iter().find(|entry| entry.at == at).map(|entry| entry.path.as_str())
    }

    /// The location of the key of a path.
    pub(crate) fn key_location(&self, path: &str) -> Option<Location> {
        self.keys.iter().find(|entry| entry.path == path).map(|entry| entry.at)
    }

    /// The path of the value at a position that an error of the deserializer names. Behind an alias
    /// this is the outermost value.
    pub(crate) fn value_path_at(&self, at: Position) -> Option<&str> {
        self.values.iter().find(|entry| entry.at.is_at(at)).map(|entry| entry.path.as_str())
    }

    /// The path of the key at a position that an error of the deserializer names.
    pub(crate) fn key_path_at(&self, at: Position, key: Option<&str>) -> Option<&str> {
        let mut paths = self.keys.iter().filter(|entry| entry.at.is_at(at)).map(|entry| entry.path.as_str());
        match key {
            // Behind an alias, all keys are at one entry.
            Some(key) => {
                paths.find(|path| path.strip_suffix(key).is_some_and(|p| p.is_empty() || p.ends_with('.')))
            }
            None => paths.next(),
        }
    }

    /// What kind of value is at a position that an error of the deserializer names.
    pub(crate) fn found_at(&self, at: Position) -> Option<&'static str> {
        self.values.iter().find(|entry| entry.at.is_at(at)).map(|entry| entry.found)
    }

    fn collect(&mut self, node: &Spanned<Node>, path: String) {
        let Node(value) = &node.value;
        self.values.push(Entry { at: node.location(), path: path.clone(), found: value.found() });
        match value {
            ScalarOr::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.collect(item, format!("{path}[{index}]"));
                }
            }
            ScalarOr::Mapping(Entries(entries)) => {
                for (key, value) in entries {
                    let path = child(&path, &key.value);
                    self.keys.push(Entry { at: key.location(), path: path.clone(), found: "a key" });
                    self.collect(value, path);
                }
            }
            _ => {}
        }
    }
}

/// The path of a key in the mapping at `parent`.
pub(crate) fn child(parent: &str, key: &str) -> String {
    if parent.is_empty() { key.to_owned() } else { format!("{parent}.{key}") }
}

/// A YAML node. Only the kind of a scalar matters.
#[derive(Deserialize)]
#[serde(transparent)]
struct Node(ScalarOr<Entries<String, Self>, Vec<Spanned<Self>>>);
