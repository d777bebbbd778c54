//! Attempt logs: counters and histograms by queue.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::histogram::{self, Histogram};
use super::log::{Cell, CountTable, LogKind, LogRow, LogState, Presentation};
use crate::config::{AttemptLog, AttemptLogObjectives, AttemptOutcome, OutcomeWord};
use crate::sample::Attempt;

/// The state of an attempt-log target, by queue.
pub type AttemptLogState = LogState<AttemptLog>;

/// What is known of an attempt log as a whole: nothing that is saved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempts {
    /// What the table can show; as configured.
    #[serde(skip)]
    pub capabilities: Capabilities,
    /// The objectives of the attempts; as configured.
    #[serde(skip)]
    pub objectives: AttemptLogObjectives,
}

/// What a table with this mapping can show. What it cannot show has no series: 0 would claim that somebody
/// looked.
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
    /// Durations of attempts, lost ones left out.
    pub duration: Histogram,
    /// From enqueuing to done.
    pub completion_delay: Histogram,
}

impl Default for AttemptState {
    fn default() -> Self {
        Self {
            outcomes: AttemptOutcome::ALL.iter().map(|outcome| (*outcome, 0)).collect(),
            retries: 0,
            duration: Histogram::new(&histogram::WORK),
            completion_delay: Histogram::new(&histogram::WORK),
        }
    }
}

impl LogRow for Attempt {
    fn id(&self) -> i64 {
        self.id
    }

    fn label(&mut self) -> &mut String {
        &mut self.queue
    }
}

impl LogKind for AttemptLog {
    type Series = AttemptState;
    type Overall = Attempts;

    fn overall(&self) -> Attempts {
        Attempts { capabilities: Capabilities::of(self), objectives: self.objectives }
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

    /// The target's own name, unless the names of the queues come from the table.
    fn declared(&self) -> Vec<&String> {
        if self.queue_label.is_none() { vec![&self.target.name] } else { Vec::new() }
    }

    fn has_queue_label(&self) -> bool {
        self.queue_label.is_some()
    }

    fn count(series: &mut AttemptState, attempt: &Attempt) {
        series.count(attempt);
    }

    fn restore_series(queue: &mut AttemptState) {
        queue.duration.restored(&histogram::WORK);
        queue.completion_delay.restored(&histogram::WORK);
    }
}

impl Capabilities {
    fn of(log: &AttemptLog) -> Self {
        Self {
            retries: log.attempt.is_some(),
            durations: log.duration.is_some() || (log.started_at.is_some() && log.ended_at.is_some()),
            delays: log.enqueued_at.is_some() && log.ended_at.is_some(),
            reclaims: log.outcome.can_be(AttemptOutcome::Lost),
        }
    }
}

impl AttemptState {
    /// Attempts whose lease lapsed, so that the job was taken away.
    #[must_use]
    pub fn reclaims(&self) -> u64 {
        self.outcomes.get(&AttemptOutcome::Lost).copied().unwrap_or(0)
    }

    fn count(&mut self, attempt: &Attempt) {
        *self.outcomes.entry(attempt.outcome).or_default() += 1;
        if attempt.number.is_some_and(|number| number > 1) {
            self.retries += 1;
        }
        // How long a lost attempt worked is not known, only when its job was taken away.
        if let (AttemptOutcome::Ok | AttemptOutcome::Error, Some(ms)) = (attempt.outcome, attempt.duration_ms)
        {
            self.duration.observe(&histogram::WORK, ms);
        }
        if let (AttemptOutcome::Ok, Some(ms)) = (attempt.outcome, attempt.delay_ms) {
            self.completion_delay.observe(&histogram::WORK, ms);
        }
    }
}
