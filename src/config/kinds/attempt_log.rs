//! Attempt logs: the attempt history of a lease queue.

use crate::config::mapping::mapping;
use crate::config::objectives::AttemptLogObjectives;
use crate::config::values::{AttemptOutcome, DurationColumn, OutcomeRules};

mapping! {
    /// The attempt history of a lease queue: one row per attempt, written when it ends.
    pub struct AttemptLog as AttemptLogForm {
        /// An ascending, unique integer column, the primary key.
        maps required id: ColumnName = "name the ascending id column";
        /// The column whose value becomes the label `queue`; without it the label is the target's name.
        maps optional queue_label: ColumnName;
        /// The rules that give the outcome of a row: `ok`, `error` or `lost`.
        maps required outcome: OutcomeRules<AttemptOutcome> =
            "say how to derive a row's outcome, at least `outcome: { default: ok }`";
        /// The column with the number of the attempt, 1 for the first of a job.
        maps optional attempt: ColumnName;
        /// When the attempt began.
        maps optional started_at: TimeColumn;
        /// When the attempt ended.
        maps optional ended_at: TimeColumn;
        /// How long the attempt took; without it, `ended_at` minus `started_at`.
        maps optional duration: DurationColumn;
        /// When the job was put into its queue.
        maps optional enqueued_at: TimeColumn;
        /// The [objectives](#objectives) of the attempts.
        keeps objectives objectives: AttemptLogObjectives;
        /// The most rows that one sample examines.
        keeps default batch_size: BatchSize = BatchSize::DEFAULT;
        /// How long samples keep asking for a missing id.
        keeps default late_window: LateWindow = LateWindow::DEFAULT;
    }
}

fn cross_check(_: &mut Draft, at: &Locations, checker: &mut Checker<'_>, _: &Scope, _: Option<&Target>) {
    if let (Some(at), None) = (at.enqueued_at, at.ended_at) {
        checker.report(
            at,
            "`enqueued_at` needs `ended_at`: the completion delay lies between the two; name that column, or \
             set `enqueued_at: null`",
        );
    }
}

/// Whether the log can be held to an objective. True when `outcome` is wrong, which is an error of its own.
fn can_measure(draft: &Draft, _: &Locations, what: Observation) -> bool {
    match what {
        Observation::LostAttempts => {
            draft.outcome.as_ref().is_none_or(|outcome| outcome.can_be(AttemptOutcome::Lost))
        }
        _ => true,
    }
}
