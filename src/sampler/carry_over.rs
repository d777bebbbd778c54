//! Reload: carries over what is still valid when the configuration changes.

use std::collections::BTreeMap;

use tracing::error;

use crate::config::{Config, Source, TargetConfig};
use crate::state::{State, TargetState};
use crate::state_file::TargetKey;

/// The rows that a target reads. What is known about it holds for those rows only.
pub(super) fn key(source: &Source, target: TargetConfig<'_>) -> TargetKey {
    TargetKey {
        source: source.name.clone(),
        kind: target.label().to_owned(),
        name: target.target().name.clone(),
        database: source.database.to_string(),
        table: target.target().table.0.clone(),
        id: target.id().map(ToString::to_string),
        filter: target
            .target()
            .filter
            .iter()
            .map(|(column, value)| (column.to_string(), value.clone()))
            .collect(),
    }
}

/// Moves what is known under the configuration `before` into `next`, the state of `after`: everything about
/// a target that did not change, and the counters of one that reads the same rows in another way.
pub(super) fn carry_over(next: &mut State, after: &Config, known: State, before: &Config) {
    let is_same_bound = before.global.max_label_values == after.global.max_label_values;
    let mut targets: BTreeMap<TargetKey, (TargetConfig<'_>, TargetState)> = BTreeMap::new();
    for (source, known) in before.sources.iter().zip(known.sources) {
        if let Some((next, _)) = next
            .sources
            .iter_mut()
            .zip(&after.sources)
            .find(|(_, after)| after.name == source.name && after.database == source.database)
        {
            next.up = known.up;
            next.clock_skew_ms = known.clock_skew_ms;
        }
        for (target, known) in source.targets().zip(known.targets) {
            targets.insert(key(source, target), (target, known));
        }
    }
    for (next, source) in next.sources.iter_mut().zip(&after.sources) {
        for (next, target) in next.targets.iter_mut().zip(source.targets()) {
            let Some((before, known)) = targets.remove(&key(source, target)) else {
                continue;
            };
            if before == target && is_same_bound {
                *next = known;
                // Its sampler may be new and then begins with a sample.
                next.interrupt();
            } else {
                if let Err(error) = next.restore(known.data) {
                    error!(kind = target.label(), target = %target.target().name, %error, "not carried over; this is a defect of the exporter");
                }
                // Its gauges were read in another way, so they wait for the next sample.
                next.sampling = known.sampling;
                next.sampling.last_good = None;
            }
        }
    }
}
