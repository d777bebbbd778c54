//! Run logs: one row per step, and one per run.

use crate::config::OpenWindow;
use crate::config::mapping::mapping;
use crate::config::objectives::RunLogObjectives;
use crate::config::values::{AppLock, DurationColumn, Outcome, OutcomeRules};

mapping! {
    /// A run log: one row per step, and one per run.
    pub struct RunLog as RunLogForm {
        /// An ascending, unique integer column, the primary key.
        maps required id: ColumnName = "name the ascending id column";
        /// The column that names the step.
        maps required step: ColumnName = "name the column that names the step";
        /// The step that stands for a whole run.
        maps optional run_step: String;
        /// Steps that are exported from the start, at 0.
        keeps optional steps: Vec<String>;
        /// When the step began.
        maps optional start: TimeColumn;
        /// When the step ended.
        maps optional end: TimeColumn;
        /// How long the step took; without it, `end` minus `start`.
        maps optional duration: DurationColumn;
        /// The column with the number of candidates that the step found.
        maps optional candidates: ColumnName;
        /// The rules that give the outcome of a row: `ok`, `warning`, `error` or `skipped`.
        maps required outcome: OutcomeRules = "say how to derive a row's outcome, at least `outcome: { default: ok }`";
        /// Whether rows are written when a step begins and updated when it ends: a row counts once its
        /// `end` is set.
        maps default mutable: bool = false;
        /// How long a row without an end counts as running before it is given up. Only with `mutable: true`;
        /// then `24h` by default.
        keeps optional open_window: OpenWindow;
        /// The application lock that a run holds, `{ resource: notifications }`. It is looked up in the
        /// database that the source logs in to, so a log in another database (a table name of three parts)
        /// needs a source of its own for it. On SQLite, a table `application_lock (resource, …)` stands in
        /// for it.
        keeps optional lock: AppLock;
        /// The [objectives](#objectives) of the runs, such as `{ max_run_gap: 25h }`.
        keeps objectives objectives: RunLogObjectives;
        /// The most rows that one sample examines.
        keeps default batch_size: BatchSize = BatchSize::DEFAULT;
        /// How long samples keep asking for a missing id.
        keeps default late_window: LateWindow = LateWindow::DEFAULT;
    }
}

fn cross_check(
    draft: &mut Draft,
    at: &Locations,
    checker: &mut Checker<'_>,
    scope: &Scope,
    target: Option<&Target>,
) {
    if draft.mutable == Some(true) {
        if draft.end.is_none() {
            let remedy = "`mutable: true` needs the column that is set when a step ends";
            checker.missing(at.target, "end", remedy);
        }
        draft.open_window.get_or_insert(OpenWindow::DEFAULT);
    } else if let Some(at) = at.open_window {
        checker.report_key(at, "has no meaning without `mutable: true`; take one of them away");
    }
    if let (Some(at), Some(target), Some(own)) = (at.lock, target, &scope.database)
        && let [database, _, _] = target.table.0.as_slice()
        && database.to_lowercase() != own.to_lowercase()
    {
        let message = format!(
            "`lock` contradicts the table {}: an application lock belongs to a database and is looked for in `{own}`, \
             which the source logs in to, so this one would always look free; watch it through a source of its own \
             with `database: {database}`, or remove `lock`",
            target.table
        );
        checker.report(at, message);
    }
}

/// Whether the log can be held to an objective. True when `outcome` is wrong, which is an error of its own.
fn can_measure(draft: &Draft, at: &Locations, what: Observation) -> bool {
    let can_be = |outcome| draft.outcome.as_ref().is_none_or(|rules| rules.can_be(outcome));
    match what {
        Observation::StepStart => at.start.is_some(),
        Observation::StepDuration => at.duration.is_some() || (at.start.is_some() && at.end.is_some()),
        Observation::SkippedRuns => can_be(Outcome::Skipped),
        Observation::StepErrors => can_be(Outcome::Error),
        Observation::StepWarnings => can_be(Outcome::Warning),
        _ => true,
    }
}
