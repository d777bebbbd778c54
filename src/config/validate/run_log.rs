//! A run-log table.

use std::time::Duration;

use serde_saphyr::Spanned;

use super::DAY;
use super::checker::{Bounds, Checker};
use super::log::{duration, key_column, tail};
use super::objectives::{self, RunLogSight};
use super::outcome::outcome;
use super::target::{Scope, unseen_locks};
use crate::config::TargetKind;
use crate::config::model::{AppLock, MutableRows, RunLog, Target};
use crate::config::outcome::{Outcome, OutcomeRules};
use crate::config::raw::{RawLock, RawRunLog};
use crate::config::setting::{Field, Placed, Spot};

/// A step that runs for longer than a day is more likely a row that nobody ended.
const OPEN_WINDOW: Duration = DAY;
const OPEN_WINDOWS: Bounds =
    Bounds { least: Duration::from_secs(1), most: Duration::from_secs(90 * 24 * 3600) };

/// The longest name of an application lock, in characters.
const MAX_RESOURCE: usize = 255;

pub(super) fn run_log(
    checker: &mut Checker<'_>,
    raw: Spanned<RawRunLog>,
    scope: &Scope,
    target: Option<Target>,
) -> Option<RunLog> {
    let at = raw.spot();
    let raw = raw.value;
    let kind = TargetKind::RunLog;
    let id = key_column(checker, raw.id, at, "id", "name the ascending id column", kind);
    let step = key_column(checker, raw.step, at, "step", "name the column that names the step", kind);
    let run_step = raw.run_step.given().and_then(|value| checker.text(value));
    let declared_steps = checker.declared(raw.steps, scope);
    let has_start = matches!(raw.start, Field::Set(_));
    let has_duration =
        matches!(raw.duration, Field::Set(_)) || (has_start && matches!(raw.end, Field::Set(_)));
    let start = checker.own_time(raw.start, scope.backend);
    let end = checker.own_time(raw.end, scope.backend);
    let duration = duration(checker, raw.duration);
    let candidates = checker.optional_column(raw.candidates);
    let outcome = outcome(checker, raw.outcome, at, kind);
    let mutable = mutable(checker, raw.mutable, raw.open_window, at, end.is_some());
    let lock = raw.lock.given().and_then(|raw| lock(checker, raw, scope, target.as_ref()));
    // What is wrong with the outcome itself comes first.
    let tells = |word| outcome.as_ref().is_none_or(|outcome: &OutcomeRules| outcome.can_tell(word));
    let sight = RunLogSight {
        start: has_start,
        duration: has_duration,
        skipped: tells(Outcome::Skipped),
        error: tells(Outcome::Error),
        warning: tells(Outcome::Warning),
    };
    let own = objectives::given(raw.objectives);
    let objectives = objectives::run_log(checker, own, scope.objectives.run_logs, sight);
    let (batch_size, late_window) = tail(checker, raw.batch_size, raw.late_window);
    Some(RunLog {
        target: target?,
        id: id?,
        step: step?,
        run_step,
        declared_steps,
        start,
        end,
        duration,
        candidates,
        outcome: outcome?,
        mutable,
        lock,
        objectives,
        batch_size,
        late_window,
    })
}

/// Rows that are written at the start of a step: they end when their `end` is set.
fn mutable(
    checker: &mut Checker<'_>,
    mutable: Field<bool>,
    open_window: Field<String>,
    parent: Spot,
    has_end: bool,
) -> Option<MutableRows> {
    if !mutable.given().is_some_and(|given| given.value) {
        if let Some(window) = open_window.given() {
            checker
                .report_key(window.spot(), "has no meaning without `mutable: true`; take one of them away");
        }
        return None;
    }
    if !has_end {
        checker.missing(parent, "end", "`mutable: true` needs the column that is set when a step ends");
    }
    Some(MutableRows { open_window: checker.duration_or(open_window, OPEN_WINDOWS, OPEN_WINDOW) })
}

fn lock(
    checker: &mut Checker<'_>,
    raw: Spanned<RawLock>,
    scope: &Scope,
    target: Option<&Target>,
) -> Option<AppLock> {
    let remedy = "name the lock, the @Resource of sp_getapplock";
    let at = raw.spot();
    if scope.reads_secondary {
        let message = unseen_locks("lock", "this one would always look free");
        checker.report(at, format!("{message}, or remove `lock`"));
    }
    if let Some(target) = target
        && let Some(own) = &scope.database
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
    let resource = checker.required(raw.value.resource, at, "resource", remedy)?;
    let at = resource.spot();
    let resource = checker.text(resource)?;
    if resource.encode_utf16().count() > MAX_RESOURCE {
        checker.report(at, format!("has more than {MAX_RESOURCE} characters, the limit of sp_getapplock"));
        return None;
    }
    Some(AppLock { resource })
}
