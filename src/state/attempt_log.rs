//! What is exported about an attempt log: counters and histograms by queue.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::histogram::{self, Histogram};
use super::log::{Limits, Log, LogRow};
use super::tail::{Progress, Reading};
use crate::config::{AttemptLog, AttemptLogObjectives, AttemptOutcome, OutcomeWord};
use crate::sample::{Attempt, LogSample};

/// The state of an attempt-log target.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptLogState {
    /// Counters by queue.
    pub log: Log<Attempt, AttemptState>,
    /// Whether the table names the queues, so that it can come to speak of any; as configured.
    #[serde(skip)]
    pub labelled: bool,
    /// What the table can tell; as configured.
    #[serde(skip)]
    pub told: Told,
    /// What the attempts are meant to keep to; as configured.
    #[serde(skip)]
    pub objectives: AttemptLogObjectives,
}

/// What a table mapped like this can tell. What it cannot tell has no series: 0 would claim that
/// somebody looked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Told {
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

impl AttemptLogState {
    /// The state before the first sample. The target's own name is there, at 0, unless the names of
    /// the queues come from the table.
    #[must_use]
    pub fn new(log: &AttemptLog, max_label_values: usize) -> Self {
        let labelled = log.queue_label.is_some();
        let declared = (!labelled).then_some(&log.target.name);
        let log_state = Log::new(declared, max_label_values);
        Self { log: log_state, labelled, told: Told::by(log), objectives: log.objectives }
    }

    /// Takes over what was saved.
    pub(super) fn restore(&mut self, saved: Self) {
        self.log.restore(saved.log);
        for queue in self.log.series.values_mut() {
            queue.duration.restored(&histogram::WORK);
            queue.completion_delay.restored(&histogram::WORK);
        }
    }

    pub(super) fn apply(
        &mut self,
        log: &AttemptLog,
        sample: LogSample<Attempt>,
        max_label_values: usize,
    ) -> Progress {
        let reading = Reading::of(&log.target, log.late_window.0, Duration::ZERO, log.batch_size.0);
        let limits = Limits { reading, max_label_values };
        self.log.apply(sample, limits, |_, _| {}, AttemptState::count)
    }
}

impl Told {
    fn by(log: &AttemptLog) -> Self {
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
