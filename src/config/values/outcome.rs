//! Outcomes: how a row of a log ended, and the rules that derive it.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{ColumnName, MappedColumn, Value};
use crate::config::scope::Scope;
use crate::words::{Word, words};
use crate::yaml::{self, Checker, Constant, Field, List, Located, Spanned, form};

words! {
    /// The outcome of a step.
    #[cfg_attr(test, derive(schemars::JsonSchema))]
    pub enum Outcome {
        /// All went well.
        Ok = "ok",
        /// It worked, with a remark.
        Warning = "warning",
        /// It failed.
        Error = "error",
        /// It did not run.
        Skipped = "skipped",
    }

    /// The outcome of an attempt at a job.
    #[cfg_attr(test, derive(schemars::JsonSchema))]
    pub enum AttemptOutcome {
        /// The job was done.
        Ok = "ok",
        /// The worker reported a failure.
        Error = "error",
        /// The lease lapsed and the job was taken away.
        Lost = "lost",
    }
}

/// The outcome of a row: that of the first rule that holds, else the default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutcomeRules<O = Outcome> {
    /// The column that the rules test; without one every row has the default outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<ColumnName>,
    /// The rules, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<OutcomeRule<O>>,
    /// The outcome when no rule holds.
    pub default: O,
}

impl<O: Word> OutcomeRules<O> {
    /// Whether any row can have this outcome.
    #[must_use]
    pub fn can_be(&self, outcome: O) -> bool {
        self.default == outcome || self.rules.iter().any(|rule| rule.outcome == outcome)
    }
}

/// One rule: a test on the column, and the outcome when it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutcomeRule<O = Outcome> {
    /// The test.
    #[serde(flatten)]
    pub test: OutcomeTest,
    /// The outcome when it holds.
    pub outcome: O,
}

/// A test on the outcome column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeTest {
    /// The column is NULL.
    #[serde(serialize_with = "yaml::write_true")]
    IsNull,
    /// The column equals a constant.
    Equals(String),
    /// The column matches a LIKE pattern.
    Like(String),
}

form! {
    #[serde(bound(deserialize = "O: DeserializeOwned"))]
    pub struct OutcomeForm<O> {
        /// The column that the rules test.
        column: Field<String>,
        /// The rules; the first one that holds counts.
        rules: Field<List<RuleForm<O>>>,
        /// The outcome of a row that no rule matches.
        #[serde(rename = "default")]
        otherwise: Field<O>,
    }
}

form! {
    #[serde(bound(deserialize = "O: DeserializeOwned"))]
    pub struct RuleForm<O> {
        /// `true`: the column is NULL.
        is_null: Field<bool>,
        /// The column equals this constant.
        equals: Field<Constant>,
        /// The column matches this LIKE pattern.
        like: Field<String>,
        /// The outcome when the test holds.
        outcome: Field<O>,
    }
}

impl<O: Word> Value for OutcomeRules<O> {
    type Yaml = OutcomeForm<O>;

    fn check(checker: &mut Checker<'_>, yaml: Spanned<Self::Yaml>, scope: &Scope) -> Option<Self> {
        let (at, form) = (yaml.location(), yaml.value);
        let remedy = format!("say the outcome of a row that no rule fits: one of {}", O::list());
        let default = checker.required(form.otherwise, at, "default", &remedy);
        let List(given) = form.rules.value_or_default();
        let has_rules = !given.is_empty();
        let rules = given.into_iter().filter_map(|form| rule(checker, form)).collect();
        let column = form.column.location();
        match column {
            Some(_) if !has_rules => checker.missing(at, "rules", "`column` needs rules that look at it"),
            None if has_rules => checker.missing(at, "column", "`rules` need the column that they look at"),
            _ => {}
        }
        let column = checker.optional_value(form.column, scope);
        Some(Self { column, rules, default: default?.value })
    }

    fn columns<'a>(&'a self, _: &'static str, columns: &mut Vec<MappedColumn<'a>>) {
        self.column.iter().for_each(|column| column.columns("outcome.column", columns));
    }
}

fn rule<O: Word>(checker: &mut Checker<'_>, yaml: Spanned<RuleForm<O>>) -> Option<OutcomeRule<O>> {
    let (at, form) = (yaml.location(), yaml.value);
    let remedy = format!("one of {}", O::list());
    let outcome = checker.required(form.outcome, at, "outcome", &remedy);
    let keys = [
        ("is_null", form.is_null.location()),
        ("equals", form.equals.location()),
        ("like", form.like.location()),
    ];
    checker.only_one(&keys, "a rule has one test; make two rules")?;
    let test = match (form.is_null.given(), form.equals.given(), form.like.given()) {
        (Some(is_null), ..) => {
            if !is_null.value {
                checker.report(is_null.location(), "only `is_null: true` is a test; remove the rule");
            }
            Some(OutcomeTest::IsNull)
        }
        (None, Some(equals), _) => checker.constant(&equals).map(OutcomeTest::Equals),
        (None, None, Some(like)) => checker.text(like).map(OutcomeTest::Like),
        (None, None, None) => checker.refuse(at, "has no test; give `is_null: true`, `equals` or `like`"),
    };
    Some(OutcomeRule { test: test?, outcome: outcome?.value })
}
