//! The last runs of a run log.

use std::collections::VecDeque;

use crate::config::Outcome;
use crate::sample::StepEntry;

/// The most runs that are kept.
const MOST_RUNS: usize = 60;

/// The last runs, ascending by id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Runs(VecDeque<Run>);

/// One run that ended. Times are the database's, in milliseconds since the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The id of its row.
    pub id: i64,
    /// How it ended.
    pub outcome: Outcome,
    /// When it began.
    pub start_ms: Option<i64>,
    /// When it ended.
    pub end_ms: Option<i64>,
    /// How long it took; `None` for a skipped run.
    pub duration_ms: Option<u64>,
}

impl Runs {
    /// The runs, the oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Run> + ExactSizeIterator {
        self.0.iter()
    }

    /// Takes a run that ended, in the order of ids. A row that was known is replaced.
    pub(in crate::state) fn add(&mut self, entry: &StepEntry) {
        let run = Run {
            id: entry.id,
            outcome: entry.outcome,
            start_ms: entry.start_ms,
            end_ms: entry.end_ms,
            duration_ms: entry.duration_ms.filter(|_| entry.outcome != Outcome::Skipped),
        };
        match self.0.binary_search_by_key(&run.id, |run| run.id) {
            Ok(index) => {
                if let Some(known) = self.0.get_mut(index) {
                    *known = run;
                }
            }
            Err(index) => self.0.insert(index, run),
        }
        let excess = self.0.len().saturating_sub(MOST_RUNS);
        self.0.drain(..excess);
    }

    /// Forgets all runs, because the ids to come are lower.
    pub(in crate::state) fn start_over(&mut self) {
        self.0.clear();
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
        let mut runs = Runs::default();
        for id in (1..=100).filter(|id| *id != 99).chain([99, 3]) {
            runs.add(&entry(id, Outcome::Ok));
        }
        assert_eq!(runs.iter().map(|run| run.id).collect::<Vec<_>>(), (41..=100).collect::<Vec<_>>());
    }

    #[test]
    fn a_run_that_is_seen_again_is_one_run() {
        let mut runs = Runs::default();
        runs.add(&entry(1, Outcome::Ok));
        runs.add(&entry(1, Outcome::Error));
        assert_eq!(runs.iter().map(|run| run.outcome).collect::<Vec<_>>(), [Outcome::Error]);
    }

    #[test]
    fn a_skipped_run_has_no_duration() {
        let mut runs = Runs::default();
        runs.add(&entry(1, Outcome::Skipped));
        assert_eq!(runs.iter().map(|run| run.duration_ms).collect::<Vec<_>>(), [None]);
    }
}
