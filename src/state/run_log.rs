//! Run logs: counters and histograms by step, and facts of the newest rows.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::histogram::{self, Histogram};
use super::log::{LogKind, LogState, Presentation};
use crate::config::{Outcome, RunLog, RunLogObjectives};
use crate::sample::{LogSample, StepEntry};

/// The most runs that are kept.
const MOST_RUNS: usize = 60;

/// The state of a run-log target, by step.
pub type RunLogState = LogState<RunLog>;

/// What is known of a run log as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSummary {
    /// Runs skipped since the last one that was not; `None` before the first run.
    pub consecutive_skips: Option<u64>,
    /// The last runs that ended, by id; in a log without a run step, each row is one. A skipped run has no duration.
    #[serde(skip)]
    pub runs: BTreeMap<i64, StepEntry>,
    /// The id of the newest run's row. Late rows do not change [`Self::consecutive_skips`].
    newest_run_id: Option<i64>,
    /// The application lock; `None` when none is configured. Not saved: it was not watched while the exporter
    /// was down.
    #[serde(skip)]
    pub lock: Option<LockState>,
    /// The step that stands for the whole run; as configured.
    #[serde(skip)]
    pub run_step: Option<String>,
    /// Whether rows are written when a step begins; as configured.
    #[serde(skip)]
    pub mutable: bool,
    /// The objectives of the runs; as configured.
    #[serde(skip)]
    pub objectives: RunLogObjectives,
    /// The database's clock at the last sample, in milliseconds since the epoch.
    #[serde(skip)]
    pub now_ms: i64,
}

/// Counters of one step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepState {
    /// Rows by outcome.
    pub outcomes: BTreeMap<Outcome, u64>,
    /// Durations, without skipped rows.
    pub duration: Histogram,
    /// Candidates found.
    pub candidates: u64,
    /// Start of the newest row, skipped ones included, ms since the epoch.
    pub last_start_ms: Option<i64>,
    /// End of the newest row that is ok or a warning, ms since the epoch.
    pub last_success_ms: Option<i64>,
    /// End of the newest row that is an error, ms since the epoch.
    #[serde(default)]
    pub last_error_ms: Option<i64>,
    /// The ids of the rows of the first two times: the newest row has the highest id, whatever its times.
    newest_ids: (Option<i64>, Option<i64>),
    /// The id of the row of the third time.
    #[serde(default)]
    newest_error_id: Option<i64>,
}

/// The application lock, as the samples found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockState {
    /// Whether it was held at the last sample.
    pub held: bool,
    /// How long every sample has found it held, by the database's clock, in milliseconds. Consecutive runs
    /// between two samples look like one.
    pub held_ms: u64,
    /// When it was first found held, ms since the epoch.
    since_ms: Option<i64>,
}

impl Default for StepState {
    fn default() -> Self {
        Self {
            outcomes: Outcome::ALL.map(|outcome| (outcome, 0)).into(),
            duration: Histogram::new(&histogram::WORK),
            candidates: 0,
            last_start_ms: None,
            last_success_ms: None,
            last_error_ms: None,
            newest_ids: (None, None),
            newest_error_id: None,
        }
    }
}

impl LogKind for RunLog {
    type Series = StepState;
    type Overall = RunSummary;

    fn overall(&self) -> RunSummary {
        RunSummary {
            run_step: self.run_step.clone(),
            mutable: self.mutable,
            objectives: self.objectives,
            ..RunSummary::default()
        }
    }

    fn presentation(log: &LogState<Self>) -> Presentation<'_> {
        Presentation::RunLog(log)
    }

    /// The run's own step first, so that no bound can push it out.
    fn declared(&self) -> Vec<&String> {
        self.run_step.iter().chain(self.steps.iter().flatten()).collect()
    }

    fn open_window(&self) -> Duration {
        self.open_window.map_or(Duration::ZERO, |window| window.0)
    }

    fn observe(runs: &mut RunSummary, sample: &LogSample<StepEntry>) {
        runs.now_ms = sample.now_ms;
        runs.lock = sample.lock_held.map(|held| LockState::after(runs.lock, held, sample.now_ms));
    }

    fn remember(&self, runs: &mut RunSummary, step: &mut StepState, entry: &StepEntry) {
        let is_run = self.run_step.as_ref().is_none_or(|run_step| *run_step == entry.step);
        if is_run && !entry.open {
            runs.remember(entry);
        }
        step.remember(entry);
    }

    fn count(step: &mut StepState, entry: &StepEntry) {
        *step.outcomes.entry(entry.outcome).or_default() += 1;
        if entry.outcome != Outcome::Skipped
            && let Some(duration_ms) = entry.duration_ms
        {
            step.duration.observe(&histogram::WORK, duration_ms);
        }
        step.candidates = step.candidates.saturating_add(entry.candidates.unwrap_or(0));
    }

    /// The next row is the newest one although earlier ids were higher. What the earlier rows said stays
    /// until then.
    fn start_over(state: &mut RunLogState) {
        state.overall.runs.clear();
        state.overall.newest_run_id = None;
        for step in state.log.series.values_mut() {
            step.newest_ids = (None, None);
            step.newest_error_id = None;
        }
    }

    fn restore(state: &mut RunLogState, saved: RunSummary) {
        state.overall.consecutive_skips = saved.consecutive_skips;
        state.overall.newest_run_id = saved.newest_run_id;
        state.log.series.values_mut().for_each(|step| step.duration.complete(&histogram::WORK));
    }
}

impl RunSummary {
    /// Takes a run that ended.
    fn remember(&mut self, entry: &StepEntry) {
        let duration_ms = entry.duration_ms.filter(|_| entry.outcome != Outcome::Skipped);
        self.runs.insert(entry.id, StepEntry { duration_ms, ..entry.clone() });
        while self.runs.len() > MOST_RUNS {
            self.runs.pop_first();
        }
        if self.newest_run_id.is_none_or(|newest| newest < entry.id) {
            self.newest_run_id = Some(entry.id);
            self.consecutive_skips = Some(match entry.outcome {
                Outcome::Skipped => self.consecutive_skips.unwrap_or(0) + 1,
                Outcome::Ok | Outcome::Warning | Outcome::Error => 0,
            });
        }
    }
}

impl RunLogState {
    /// How long the longest-running row of each step has been running, by the database's clock; 0 for steps that
    /// are not running. Empty for a log whose rows are written when steps end, and without steps whose start is
    /// unknown.
    pub fn in_progress_ms(&self) -> impl Iterator<Item = (&str, u64)> {
        let steps = self.log.series.keys().filter(|_| self.overall.mutable);
        steps.filter_map(|step| {
            let mut open = self.log.open.iter().filter(move |entry| entry.step == *step).peekable();
            if open.peek().is_none() {
                return Some((step.as_str(), 0));
            }
            let started_ms = open.filter_map(|entry| entry.start_ms).min()?;
            Some((step.as_str(), u64::try_from(self.overall.now_ms.saturating_sub(started_ms)).unwrap_or(0)))
        })
    }
}

impl StepState {
    fn remember(&mut self, entry: &StepEntry) {
        let (newest, newest_success) = &mut self.newest_ids;
        if *newest <= Some(entry.id) {
            *newest = Some(entry.id);
            self.last_start_ms = entry.start_ms.or(self.last_start_ms);
        }
        let (newest, last_end_ms) = match entry.outcome {
            Outcome::Ok | Outcome::Warning => (newest_success, &mut self.last_success_ms),
            Outcome::Error => (&mut self.newest_error_id, &mut self.last_error_ms),
            Outcome::Skipped => return,
        };
        if !entry.open && *newest <= Some(entry.id) {
            *newest = Some(entry.id);
            *last_end_ms = entry.end_ms.or(entry.start_ms).or(*last_end_ms);
        }
    }
}

impl LockState {
    fn after(before: Option<Self>, held: bool, now_ms: i64) -> Self {
        if !held {
            return Self { held, held_ms: 0, since_ms: None };
        }
        let since_ms = before.and_then(|before| before.since_ms).unwrap_or(now_ms);
        let held_ms = u64::try_from(now_ms.saturating_sub(since_ms)).unwrap_or(0);
        Self { held, held_ms, since_ms: Some(since_ms) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: i64, outcome: Outcome) -> StepEntry {
        StepEntry {
            id,
            step: "run".to_owned(),
            outcome,
            start_ms: Some(id * 1_000),
            end_ms: Some(id * 1_000 + 5),
            duration_ms: Some(5),
            candidates: None,
            open: false,
        }
    }

    #[test]
    fn the_newest_runs_are_kept_in_the_order_of_their_ids() {
        let mut summary = RunSummary::default();
        for id in (1..=100).filter(|id| *id != 99).chain([99, 3]) {
            summary.remember(&entry(id, Outcome::Ok));
        }
        let ids = summary.runs.values().map(|run| run.id);
        assert_eq!(ids.collect::<Vec<_>>(), (41..=100).collect::<Vec<_>>());
    }

    #[test]
    fn a_run_that_is_seen_again_is_one_run() {
        let mut summary = RunSummary::default();
        summary.remember(&entry(1, Outcome::Ok));
        summary.remember(&entry(1, Outcome::Error));
        assert_eq!(summary.runs.values().map(|run| run.outcome).collect::<Vec<_>>(), [Outcome::Error]);
    }

    #[test]
    fn a_skipped_run_has_no_duration() {
        let mut summary = RunSummary::default();
        summary.remember(&entry(1, Outcome::Skipped));
        assert_eq!(summary.runs.values().map(|run| run.duration_ms).collect::<Vec<_>>(), [None]);
    }
}
