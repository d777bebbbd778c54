//! How a row's outcome is told.

use serde_saphyr::Spanned;

use super::checker::Checker;
use super::column::constant;
use super::target::or_preset;
use crate::config::TargetKind;
use crate::config::outcome::{OutcomeRule, OutcomeRules, OutcomeTest, OutcomeWord};
use crate::config::raw::{RawOutcome, RawRule};
use crate::config::setting::{Field, Placed, Spot};

/// How a row's outcome is told, which a log must say.
pub(super) fn outcome<O: OutcomeWord>(
    checker: &mut Checker<'_>,
    field: Field<RawOutcome<O>>,
    parent: Spot,
    kind: TargetKind,
) -> Option<OutcomeRules<O>> {
    let remedy = or_preset("say how a row's outcome is told, at least `outcome: { default: ok }`", kind);
    let raw = checker.required(field, parent, "outcome", &remedy)?;
    let at = raw.spot();
    let raw = raw.value;
    let remedy = format!("say the outcome of a row that no rule fits: one of {}", words::<O>());
    let default = checker.required(raw.otherwise, at, "default", &remedy);
    let given = raw.rules.given().map(|rules| rules.value).unwrap_or_default();
    let has_rules = !given.is_empty();
    let rules = given.into_iter().filter_map(|raw| rule(checker, raw)).collect();
    let column = match raw.column.given() {
        Some(column) if !has_rules => {
            checker.missing(at, "rules", "`column` needs rules that look at it");
            checker.column(&column)
        }
        Some(column) => checker.column(&column),
        None => {
            if has_rules {
                checker.missing(at, "column", "`rules` need the column that they look at");
            }
            None
        }
    };
    Some(OutcomeRules { column, rules, default: default?.value })
}

fn rule<O: OutcomeWord>(checker: &mut Checker<'_>, raw: Spanned<RawRule<O>>) -> Option<OutcomeRule<O>> {
    let at = raw.spot();
    let raw = raw.value;
    let remedy = format!("one of {}", words::<O>());
    let outcome = checker.required(raw.outcome, at, "outcome", &remedy);
    let test = match (raw.is_null.given(), raw.equals.given(), raw.like.given()) {
        (Some(is_null), None, None) => {
            if !is_null.value {
                checker.report(is_null.spot(), "only `is_null: true` is a test; remove the rule");
            }
            Some(OutcomeTest::IsNull)
        }
        (None, Some(equals), None) => match constant(&equals.value) {
            Ok(value) => Some(OutcomeTest::Equals(value)),
            Err(message) => {
                checker.report(equals.spot(), message);
                None
            }
        },
        (None, None, Some(like)) => checker.text(like).map(OutcomeTest::Like),
        (None, None, None) => {
            checker.report(at, "has no test; give `is_null: true`, `equals` or `like`");
            None
        }
        (_, equals, like) => {
            let first = if equals.is_some() && like.is_some() { "equals" } else { "is_null" };
            let second =
                like.map(|like| ("like", like.spot())).or(equals.map(|equals| ("equals", equals.spot())));
            if let Some((key, at)) = second {
                checker.report(
                    at,
                    format!("`{key}` contradicts `{first}`: a rule has one test; make two rules"),
                );
            }
            None
        }
    };
    Some(OutcomeRule { test: test?, outcome: outcome?.value })
}

/// The outcomes that there are, for an error.
fn words<O: OutcomeWord>() -> String {
    O::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>().join(", ")
}
