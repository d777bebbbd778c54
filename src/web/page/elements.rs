//! Page elements: the values that templates render.

use serde::Serialize;

use super::chart::Line;

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
    pub(super) rank: Rank,
}

/// The prominence of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Rank {
    Large,
    Plain,
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

/// A chart with its captions.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Figure {
    pub(super) id: String,
    pub(super) class: &'static str,
    pub(super) title: String,
    pub(super) note: String,
    /// A description of the chart.
    pub(super) description: String,
    pub(super) line: Line,
    /// The height of the line of the objective, if it is drawn.
    pub(super) objective_y: Option<String>,
    pub(super) window: &'static str,
    pub(super) since: &'static str,
}
