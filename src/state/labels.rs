//! Label values from a table: at most so many are exported under their own name.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// The label value that replaces all values beyond the bound.
pub const OTHER: &str = "other";

/// The values of one label that are exported under their own name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelValues {
    admitted: BTreeSet<String>,
    /// How many times a value was exported as [`OTHER`] because the bound was reached.
    pub dropped: u64,
}

impl LabelValues {
    /// The value to export: the value itself if there is room, else [`OTHER`].
    pub fn admit<'a>(&mut self, value: &'a str, max: usize) -> &'a str {
        if self.admitted.contains(value) {
            value
        } else if self.admitted.len() < max {
            self.admitted.insert(value.to_owned());
            value
        } else {
            self.dropped += 1;
            OTHER
        }
    }

    /// Admits the values of another set regardless of the bound, because they are declared.
    pub fn keep(&mut self, declared: Self) {
        self.admitted.extend(declared.admitted);
    }

    /// Forgets the values that no longer occur, to make room for others. For gauges only: a counter keeps its
    /// series.
    pub fn retain(&mut self, occurs: impl Fn(&str) -> bool) {
        self.admitted.retain(|value| occurs(value));
    }
}
