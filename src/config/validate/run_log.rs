//! A run-log table.

use std::time::Duration;

use serde_saphyr::Spanned;

use super::DAY;
use super::checker::{Bounds, Checker, Names};
use super::column::constant;
use super::target::{Common, Scope, or_preset};
use crate::config::model::{
    AppLock, DurationColumn, DurationUnit, MutableRows, OutcomeRule, OutcomeRules, OutcomeTest, RunLog,
};
use crate::config::presets::TargetKind;
use crate::config::raw::{RawDuration, RawLock, RawOutcome, RawRule, RawRunLog};
use crate::config::setting::{Field, Placed, Short, Spot};

const BATCH_SIZE: u32 = 1000;
const LATE_WINDOW: Duration = Duration::from_secs(600);
/// Zero has a meaning: a row that commits late is not waited for.
const LATE_WINDOWS: Bounds = Bounds { least: Duration::ZERO, most: DAY };

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
    names: &mut Names,
) -> Option<RunLog> {
    let at = raw.spot();
    let raw = raw.value;
    let common = Common {
        at,
        name: raw.name,
        table: raw.table,
        filter: raw.filter,
        sample_interval: raw.sample_interval,
    };
    let kind = TargetKind::RunLog;
    let target = checker.target(common, kind, scope, names);
    let id = key_column(checker, raw.id, at, "id", "name the ascending id column", kind);
    let step = key_column(checker, raw.step, at, "step", "name the column that names the step", kind);
    let run_step = raw.run_step.given().and_then(|value| checker.text(value));
    let declared_steps = checker.declared(raw.steps, scope);
    let start = checker.time(raw.start, scope.backend);
    let end = checker.time(raw.end, scope.backend);
    let duration = raw.duration.given().and_then(|value| duration(checker, value));
    let candidates = checker.optional_column(raw.candidates);
    let remedy = or_preset("say how a row's outcome is told, at least `outcome: { default: ok }`", kind);
    let outcome = checker.required(raw.outcome, at, "outcome", &remedy).and_then(|raw| outcome(checker, raw));
    let mutable = mutable(checker, raw.mutable, raw.open_window, at, end.is_some());
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
        mutable,
        lock,
        batch_size,
        late_window,
    })
}

/// A column that a target must have.
pub(super) fn key_column(
    checker: &mut Checker<'_>,
    field: Field<String>,
    parent: Spot,
    key: &str,
    remedy: &str,
    kind: TargetKind,
) -> Option<String> {
    let value = checker.required(field, parent, key, &or_preset(remedy, kind))?;
    checker.column(&value)
}

/// How the rows of a table are followed: rows per sample, and the wait for late ones.
pub(super) fn tail(
    checker: &mut Checker<'_>,
    batch_size: Field<u32>,
    late_window: Field<String>,
) -> (u32, Duration) {
    let batch_size = checker.number(batch_size, 1, 100_000).unwrap_or(BATCH_SIZE);
    (batch_size, checker.duration_or(late_window, LATE_WINDOWS, LATE_WINDOW))
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

fn duration(checker: &mut Checker<'_>, setting: Spanned<Short<RawDuration>>) -> Option<DurationColumn> {
    match checker.column_or(setting, "`column` and `unit`")? {
        Ok(column) => Some(DurationColumn { column, unit: DurationUnit::default() }),
        Err((raw, at)) => {
            let unit = raw.unit.given().map(|unit| unit.value).unwrap_or_default();
            let column =
                checker.required_column(raw.column, at, "name the column that holds the duration")?;
            Some(DurationColumn { column, unit })
        }
    }
}

fn outcome(checker: &mut Checker<'_>, raw: Spanned<RawOutcome>) -> Option<OutcomeRules> {
    let at = raw.spot();
    let raw = raw.value;
    let remedy = "say the outcome of a row that no rule fits: ok, warning, error or skipped";
    let default = checker.required(raw.otherwise, at, "default", remedy);
    let given = raw.rules.given().map(|rules| rules.value).unwrap_or_default();
    let has_rules = !given.is_empty();
    let rules = given.into_iter().filter_map(|raw| rule(checker, raw)).collect();
    let column = match raw.column.given() {
        Some(column) if !has_rules => {
            checker.missing(at, "rules", "`column` needs rules that look at it");
            checker.column(&column)
        }
        Some(column) => checker.column(&column),
        None => {
            if has_rules {
                checker.missing(at, "column", "`rules` need the column that they look at");
            }
            None
        }
    };
    Some(OutcomeRules { column, rules, default: default?.value })
}

fn rule(checker: &mut Checker<'_>, raw: Spanned<RawRule>) -> Option<OutcomeRule> {
    let at = raw.spot();
    let raw = raw.value;
    let outcome = checker.required(raw.outcome, at, "outcome", "one of ok, warning, error, skipped");
    let test = match (raw.is_null.given(), raw.equals.given(), raw.like.given()) {
        (Some(is_null), None, None) => {
            if !is_null.value {
                checker.report(is_null.spot(), "only `is_null: true` is a test; remove the rule");
            }
            Some(OutcomeTest::IsNull)
        }
        (None, Some(equals), None) => match constant(&equals.value) {
            Ok(value) => Some(OutcomeTest::Equals(value)),
            Err(message) => {
                checker.report(equals.spot(), message);
                None
            }
        },
        (None, None, Some(like)) => checker.text(like).map(OutcomeTest::Like),
        (None, None, None) => {
            checker.report(at, "has no test; give `is_null: true`, `equals` or `like`");
            None
        }
        (_, equals, like) => {
            let first = if equals.is_some() && like.is_some() { "equals" } else { "is_null" };
            let second =
                like.map(|like| ("like", like.spot())).or(equals.map(|equals| ("equals", equals.spot())));
            if let Some((key, at)) = second {
                checker.report(
                    at,
                    format!("`{key}` contradicts `{first}`: a rule has one test; make two rules"),
                );
            }
            None
        }
    };
    Some(OutcomeRule { test: test?, outcome: outcome?.value })
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
