//! Attempt logs: counters and histograms by queue.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::histogram::{self, Histogram};
use super::log::{Cell, CountTable, LogKind, LogState, Presentation};
use crate::config::{AttemptLog, AttemptLogObjectives, AttemptOutcome};
use crate::sample::Attempt;

/// What is known of an attempt log as a whole. Nothing of it is saved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempts {
    /// What the table can show; as configured.
    #[serde(skip)]
    pub capabilities: Capabilities,
    /// The objectives of the attempts; as configured.
    #[serde(skip)]
    pub objectives: AttemptLogObjectives,
}

/// What a table with this mapping can show. The rest has no series: 0 would be a measurement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Which attempts were retries.
    pub retries: bool,
    /// How long attempts took.
    pub durations: bool,
    /// How long jobs took from enqueuing to done.
    pub delays: bool,
    /// Which attempts lost their lease.
    pub reclaims: bool,
}

/// Counters of one queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptState {
    /// Attempts by outcome.
    pub outcomes: BTreeMap<AttemptOutcome, u64>,
    /// Attempts that were not the first at their job.
    pub retries: u64,
    /// Durations of attempts, without lost ones.
    pub duration: Histogram,
    /// From enqueuing to done.
    pub completion_delay: Histogram,
}

impl Default for AttemptState {
    fn default() -> Self {
        Self {
            outcomes: AttemptOutcome::ALL.map(|outcome| (outcome, 0)).into(),
            retries: 0,
            duration: Histogram::new(&histogram::WORK),
            completion_delay: Histogram::new(&histogram::WORK),
        }
    }
}

impl LogKind for AttemptLog {
    type Series = AttemptState;
    type Overall = Attempts;

    fn overall(&self) -> Attempts {
        let has_span = self.started_at.is_some() && self.ended_at.is_some();
        let capabilities = Capabilities {
            retries: self.attempt.is_some(),
            durations: self.duration.is_some() || has_span,
            delays: self.enqueued_at.is_some() && self.ended_at.is_some(),
            reclaims: self.outcome.can_be(AttemptOutcome::Lost),
        };
        Attempts { capabilities, objectives: self.objectives }
    }

    fn presentation(log: &LogState<Self>) -> Presentation<'_> {
        let Capabilities { retries, reclaims, .. } = log.overall.capabilities;
        let cells = |queue: &AttemptState| {
            let outcome = |outcome| queue.outcomes.get(outcome).copied().unwrap_or(0);
            let is_told = |outcome: &_| reclaims || *outcome != AttemptOutcome::Lost;
            let outcomes = AttemptOutcome::ALL.iter().map(|it| is_told(it).then(|| outcome(it)));
            outcomes.chain([retries.then_some(queue.retries)]).map(Cell::Count).collect()
        };
        Presentation::Counts(CountTable {
            title: "Attempts",
            caption: "Attempts that ended, by outcome",
            columns: &["Queue", "ok", "error", "lost", "Retries"],
            rows: log.log.series.iter().map(|(name, queue)| (name.as_str(), cells(queue))).collect(),
        })
    }

    fn has_queue_label(&self) -> bool {
        self.queue_label.is_some()
    }

    fn count(queue: &mut AttemptState, attempt: &Attempt) {
        *queue.outcomes.entry(attempt.outcome).or_default() += 1;
        if attempt.number.is_some_and(|number| number > 1) {
            queue.retries += 1;
        }
        // How long a lost attempt ran is unknown, only when its job was taken away.
        if let (AttemptOutcome::Ok | AttemptOutcome::Error, Some(ms)) = (attempt.outcome, attempt.duration_ms)
        {
            queue.duration.observe(&histogram::WORK, ms);
        }
        if let (AttemptOutcome::Ok, Some(ms)) = (attempt.outcome, attempt.delay_ms) {
            queue.completion_delay.observe(&histogram::WORK, ms);
        }
    }

    fn restore(state: &mut LogState<Self>, _: Attempts) {
        for queue in state.log.series.values_mut() {
            queue.duration.complete(&histogram::WORK);
            queue.completion_delay.complete(&histogram::WORK);
        }
    }
}
