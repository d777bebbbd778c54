//! What the templates are given: texts that are ready to be escaped, and paths.

use serde::Serialize;

use super::chart::Line;

/// Hands out the ids of a page.
#[derive(Debug, Default)]
pub(super) struct Ids(u32);

impl Ids {
    /// One that was not given before.
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
    /// Beside the value: a date, a reservation.
    pub(super) note: String,
    /// The objective that the value exceeds, or nothing.
    pub(super) exceeds: String,
    pub(super) rank: Rank,
}

/// How much a fact is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Rank {
    /// To be looked at first.
    Large,
    Plain,
    /// For those who look closer.
    Minor,
}

impl Fact {
    pub(super) fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
            note: String::new(),
            exceeds: String::new(),
            rank: Rank::Plain,
        }
    }

    pub(super) fn large(self) -> Self {
        Self { rank: Rank::Large, ..self }
    }

    pub(super) fn minor(self) -> Self {
        Self { rank: Rank::Minor, ..self }
    }

    pub(super) fn noted(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }
}

/// A chart with what is written around it.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Figure {
    pub(super) id: String,
    pub(super) class: &'static str,
    pub(super) title: String,
    pub(super) note: String,
    /// The chart in words.
    pub(super) description: String,
    pub(super) line: Line,
    /// Where the objective runs, if it is drawn.
    pub(super) objective_y: Option<String>,
    pub(super) window: &'static str,
    pub(super) since: &'static str,
}
