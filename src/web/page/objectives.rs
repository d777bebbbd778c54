//! Objectives on the page: facts marked when they exceed one, and the problem that this is.

use super::elements::Fact;
use super::problem::{Problem, Severity};
use super::quantity::value;
use crate::config::Objective;

/// Something that objectives limit.
pub(super) trait Measured {
    /// What the objective `key` limits, in seconds or as a number; `None` where one sample cannot tell.
    fn measure(&self, key: &str) -> Option<f64>;

    /// The problem of exceeding it with `value`: a sentence for the limit to end, the sentence after that,
    /// and the remedy.
    fn exceeded(&self, key: &str, value: &str) -> Option<(String, String, &'static str)>;
}

/// The value that the objective `key` limits, under a name.
pub(super) fn fact(
    measured: &impl Measured,
    mut objectives: impl Iterator<Item = (&'static Objective, Option<f64>)>,
    key: &str,
    name: &'static str,
) -> Option<Fact> {
    let (objective, limit) = objectives.find(|(objective, _)| objective.key == key)?;
    let shown = |number| value(number, objective.is_duration);
    let number = measured.measure(key)?;
    let exceeds = limit.filter(|limit| number > *limit).map(shown).unwrap_or_default();
    Some(Fact { exceeds, ..Fact::new(name, shown(number)) })
}

/// The objectives that are exceeded.
pub(super) fn problems(
    measured: &impl Measured,
    objectives: impl Iterator<Item = (&'static Objective, Option<f64>)>,
    subject: &str,
) -> Vec<Problem> {
    let problem = |(objective, limit): (&'static Objective, Option<f64>)| {
        let limit = limit?;
        let shown = |number| value(number, objective.is_duration);
        let number = measured.measure(objective.key).filter(|number| *number > limit)?;
        let (what, context, remedy) = measured.exceeded(objective.key, &shown(number))?;
        let what = format!("{what}; the objective is at most {}.{context}", shown(limit));
        let severity = if objective.pages { Severity::Problem } else { Severity::Notice };
        Some(Problem::new(severity, subject, what, remedy))
    };
    objectives.filter_map(problem).collect()
}
