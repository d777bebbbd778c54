//! Queues: the gauges of the last sample, and reclaims counted over all samples.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::labels::LabelValues;
use super::reclaims::Reclaims;
use super::trend::{self, Trend};
use crate::config::{Queue, QueueObjectives};
use crate::sample::{QueueFacts, QueueSample};

/// The state of a queue target. What each sample measures again is not saved.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueState {
    /// The queues of the last sample, by value of the label `queue`. A queue without rows is not exported.
    #[serde(skip)]
    pub queues: BTreeMap<String, QueueFacts>,
    /// Bounds the values of the label.
    #[serde(skip)]
    pub labels: LabelValues,
    /// The last hour of each queue that was sampled within it, by value of the label `queue`. In memory only.
    #[serde(skip)]
    pub trends: BTreeMap<String, Trend>,
    /// Jobs claimed again after their lease lapsed; `None` when the mapping names no id.
    pub reclaims: Option<Reclaims>,
    /// Whether the values of the label come from the table; otherwise the only one is the target's name. As
    /// configured.
    #[serde(skip)]
    pub labelled: bool,
    /// The objectives of the queues; as configured.
    #[serde(skip)]
    pub objectives: QueueObjectives,
}

impl QueueState {
    /// The state before the first sample.
    #[must_use]
    pub fn new(queue: &Queue, max_label_values: usize) -> Self {
        let labelled = queue.queue_label.is_some();
        let reclaims = queue.id.is_some().then(|| {
            let mut reclaims = Reclaims::default();
            if !labelled {
                reclaims.declare([&queue.target.name], max_label_values);
            }
            reclaims
        });
        Self { reclaims, labelled, objectives: queue.objectives, ..Self::default() }
    }

    /// Takes over what was saved, if reclaims are still counted.
    pub(super) fn restore(&mut self, saved: Self) {
        if let (Some(reclaims), Some(saved)) = (&mut self.reclaims, saved.reclaims) {
            *reclaims = saved;
        }
    }

    /// Takes a sample that was taken at `at`, a reading of the monotonic clock.
    pub(super) fn apply(&mut self, sample: QueueSample, at: Option<Duration>, max_label_values: usize) {
        let QueueSample { queues: sampled, claims, .. } = sample;
        if let (Some(reclaims), Some(claims)) = (&mut self.reclaims, claims) {
            reclaims.declare(sampled.keys(), max_label_values);
            reclaims.apply(&claims, max_label_values);
        }
        self.labels.retain(|value| sampled.contains_key(value));
        self.queues.clear();
        for (queue, facts) in sampled {
            let queue = self.labels.admit(&queue, max_label_values).to_owned();
            self.queues.entry(queue).or_default().add(facts);
        }
        if let Some(at) = at {
            // One more for the queues that share the value `other`.
            trend::record(&mut self.trends, &self.queues, at, max_label_values.saturating_add(1));
        }
    }
}
