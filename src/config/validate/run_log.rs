//! A run-log table.

use serde_saphyr::Spanned;

use super::checker::Checker;
use super::log::{duration, key_column, tail};
use super::outcome::outcome;
use super::target::Scope;
use crate::config::model::{AppLock, RunLog, Target};
use crate::config::presets::TargetKind;
use crate::config::raw::{RawLock, RawRunLog};
use crate::config::setting::Placed;

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
    let start = checker.time(raw.start, scope.backend);
    let end = checker.time(raw.end, scope.backend);
    let duration = duration(checker, raw.duration);
    let candidates = checker.optional_column(raw.candidates);
    let outcome = outcome(checker, raw.outcome, at, kind);
    let lock = raw.lock.given().and_then(|raw| lock(checker, raw));
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
        lock,
        batch_size,
        late_window,
    })
}

fn lock(checker: &mut Checker<'_>, raw: Spanned<RawLock>) -> Option<AppLock> {
    let remedy = "name the lock, the @Resource of sp_getapplock";
    let at = raw.spot();
    let resource = checker.required(raw.value.resource, at, "resource", remedy)?;
    let at = resource.spot();
    let resource = checker.text(resource)?;
    if resource.encode_utf16().count() > MAX_RESOURCE {
        checker.report(at, format!("has more than {MAX_RESOURCE} characters, the limit of sp_getapplock"));
        return None;
    }
    Some(AppLock { resource })
}
