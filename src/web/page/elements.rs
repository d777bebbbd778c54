//! Page elements: the values that templates render.

use minijinja::Value;
use minijinja::value::Serde;
use serde::Serialize;

/// A generator of HTML ids for one page.
#[derive(Debug, Default)]
pub(super) struct Ids(u32);

impl Ids {
    /// The next id.
    pub(super) fn next(&mut self) -> String {
        self.0 += 1;
        format!("e{}", self.0)
    }
}

/// A number with its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Fact {
    pub(super) name: String,
    pub(super) value: String,
    /// A remark beside the value, such as a date.
    pub(super) note: String,
    /// The objective that the value exceeds; empty if it does not.
    pub(super) exceeds: String,
    /// Its prominence as a CSS class: `large`, `plain` or `minor`.
    pub(super) rank: &'static str,
}

impl Fact {
    pub(super) fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
            note: String::new(),
            exceeds: String::new(),
            rank: "plain",
        }
    }

    pub(super) fn large(self) -> Self {
        Self { rank: "large", ..self }
    }

    pub(super) fn minor(self) -> Self {
        Self { rank: "minor", ..self }
    }

    pub(super) fn noted(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }
}

impl From<Fact> for Value {
    fn from(fact: Fact) -> Self {
        Self::from(Serde(fact))
    }
}
