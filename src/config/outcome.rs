//! Outcomes: the words for how a row of a log ended, and how a table tells them.

use serde::{Deserialize, Serialize};

/// The outcomes that one kind of log knows: the values of the label `outcome`.
pub trait OutcomeWord: Copy + Ord + Serialize + 'static {
    /// Every outcome, in the order of the exposition.
    const ALL: &'static [Self];

    /// The label value; also the name in the statement.
    fn as_str(self) -> &'static str;
}

/// The outcome of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// All went well.
    Ok,
    /// It worked, with a remark.
    Warning,
    /// It failed.
    Error,
    /// It did not run.
    Skipped,
}

impl OutcomeWord for Outcome {
    const ALL: &'static [Self] = &[Self::Ok, Self::Warning, Self::Error, Self::Skipped];

    fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Skipped => "skipped",
        }
    }
}

/// The outcome of an attempt at a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptOutcome {
    /// The job was done.
    Ok,
    /// The worker reported a failure.
    Error,
    /// The lease lapsed and the job was taken away.
    Lost,
}

impl OutcomeWord for AttemptOutcome {
    const ALL: &'static [Self] = &[Self::Ok, Self::Error, Self::Lost];

    fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Lost => "lost",
        }
    }
}

/// How a row's outcome is told: the first rule that holds, else the default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutcomeRules<O = Outcome> {
    /// The column the rules look at; without one every row has the default outcome.
    pub column: Option<String>,
    /// The rules, in order.
    pub rules: Vec<OutcomeRule<O>>,
    /// The outcome when no rule holds.
    pub default: O,
}

impl<O: OutcomeWord> OutcomeRules<O> {
    /// Whether any row can have this outcome.
    #[must_use]
    pub fn can_tell(&self, outcome: O) -> bool {
        self.default == outcome || self.rules.iter().any(|rule| rule.outcome == outcome)
    }
}

/// One rule: what the column must look like, and what that means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutcomeRule<O = Outcome> {
    /// The test.
    pub test: OutcomeTest,
    /// The outcome when it holds.
    pub outcome: O,
}

/// A test on the outcome column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutcomeTest {
    /// The column is NULL.
    IsNull,
    /// The column equals a constant.
    Equals(String),
    /// The column matches a LIKE pattern.
    Like(String),
}
