//! The objectives of the configuration, beside the gauges that they limit.

use super::families;
use super::page::{Label, Page, Value};
use crate::config::Objective;

/// Adds the objectives that a target has.
pub(super) fn add_objectives<'a>(
    page: &mut Page<'a>,
    labels: &[Label<'a>],
    objectives: impl Iterator<Item = (&'static Objective, Option<f64>)>,
) {
    for (objective, limit) in objectives {
        if let (Some(limit), Some(family)) = (limit, families::of_objective(objective)) {
            page.add(family, labels.to_vec(), Value::Number(limit));
        }
    }
}
