//! A queue table.

use std::collections::BTreeMap;

use serde_saphyr::Spanned;

use super::checker::Checker;
use super::column::constant;
use super::lease;
use super::objectives::{self, QueueSight};
use super::target::{Scope, or_preset};
use crate::config::TargetKind;
use crate::config::model::{
    Attempts, AttemptsCount, Lease, Lookup, MappedState, MaxAttempts, Queue, RowState, Target,
};
use crate::config::raw::{RawAttempts, RawLookup, RawMaxAttempts, RawQueue, RawState};
use crate::config::setting::{Constant, Entries, Field, Placed, Short, Spot};

/// More attempts than this are a typing error.
const MOST_ATTEMPTS: i128 = 1_000_000;

/// Why an id is of no use without these.
const FOLLOWED_BY_ATTEMPTS: &str = "`id` is for counting jobs whose lease lapsed and that were claimed again; that needs a lease of \
     `kind: until` or `kind: since`, and `attempts` with `counts: claims`; add them or remove `id`";

/// Why rows that somebody has locked have no label.
const COUNTED_TOGETHER: &str = "`queue_label` contradicts `lease: { kind: rowlock }`: rows in flight are locked, so they are counted and \
     their columns are not read; give each queue a target of its own with `where`, or do without rows in flight with \
     `lease: { kind: none }`";

pub(super) fn queue(
    checker: &mut Checker<'_>,
    raw: Spanned<RawQueue>,
    scope: &Scope,
    target: Option<Target>,
) -> Option<Queue> {
    let at = raw.spot();
    let raw = raw.value;
    let (id_at, label_at) = (raw.id.spot(), raw.queue_label.spot());
    let id = checker.optional_column(raw.id);
    let queue_label = checker.optional_column(raw.queue_label);
    let remedy = or_preset("say what state a row is in", TargetKind::Queue);
    let has_lookup = matches!(raw.lookup, Field::Set(_));
    let lookup = raw.lookup.given().and_then(|raw| lookup(checker, raw, scope));
    let state = checker.required(raw.state, at, "state", &remedy).and_then(|raw| state(checker, raw));
    let lease = lease::lease(checker, raw.lease, scope);
    let has_age = matches!(raw.available_at, Field::Set(_)) || matches!(raw.enqueued_at, Field::Set(_));
    let claimed_at = checker.time(raw.claimed_at, scope.backend);
    let available_at = checker.time(raw.available_at, scope.backend);
    let enqueued_at = checker.time(raw.enqueued_at, scope.backend);
    if !has_lookup && [&claimed_at, &available_at, &enqueued_at].into_iter().flatten().any(|time| time.lookup)
    {
        checker.missing(at, "lookup", "a time with `lookup: true` needs `lookup: { table, key, column }`");
    }
    let counts_attempts = matches!(raw.attempts, Field::Set(_));
    let attempts = attempts(checker, raw.attempts);
    let max_attempts = max_attempts(checker, raw.max_attempts, counts_attempts);
    if let (Some(at), Some(lease)) = (id_at, &lease) {
        let counts_claims = attempts.as_ref().is_some_and(|counted| counted.counts == AttemptsCount::Claims);
        if !counts_claims || !matches!(lease, Lease::Until { .. } | Lease::Since { .. }) {
            checker.report(at, FOLLOWED_BY_ATTEMPTS);
        }
    }
    if let (Some(at), Some(Lease::RowLock)) = (label_at, &lease) {
        checker.report(at, COUNTED_TOGETHER);
    }
    let count_done = count_done(checker, raw.count_done, state.as_ref());
    let sight = QueueSight {
        ready_age: has_age,
        // What is wrong with the lease or the state itself comes first.
        expired_age: matches!(lease, None | Some(Lease::Until { .. } | Lease::Since { .. })),
        attempts: counts_attempts,
        failed_jobs: state.as_ref().is_none_or(|state| state.can_tell(MappedState::Failed)),
    };
    let own = objectives::given(raw.objectives);
    let objectives = objectives::queue(checker, own, scope.objectives.queues, sight);
    Some(Queue {
        target: target?,
        id,
        queue_label,
        lookup,
        state: state?,
        lease: lease?,
        claimed_at,
        available_at,
        enqueued_at,
        attempts,
        max_attempts,
        count_done,
        objectives,
    })
}

fn lookup(checker: &mut Checker<'_>, raw: Spanned<RawLookup>, scope: &Scope) -> Option<Lookup> {
    let at = raw.spot();
    let raw = raw.value;
    let table = checker.required(raw.table, at, "table", "name the table that holds the times");
    let table = table.and_then(|value| checker.table(&value, scope.backend));
    let key = checker.required(raw.key, at, "key", "name its unique key");
    let key = key.and_then(|value| checker.column(&value));
    let column = checker.required(raw.column, at, "column", "name the queue's column that holds that key");
    let column = column.and_then(|value| checker.column(&value));
    Some(Lookup { table: table?, key: key?, column: column? })
}

fn state(checker: &mut Checker<'_>, raw: Spanned<RawState>) -> Option<RowState> {
    let at = raw.spot();
    let raw = raw.value;
    let (column, constant, done_when_set) =
        (raw.column.given(), raw.constant.given(), raw.done_when_set.given());
    let map = raw.map.given();
    let first = if column.is_some() || map.is_some() { "column" } else { "constant" };
    match (column, constant, done_when_set) {
        (Some(column), None, None) => {
            let name = checker.column(&column);
            let remedy =
                "say what the values of the column mean, for example `map: { R: ready, W: running }`";
            let Some(map) = map else {
                checker.missing(at, "map", remedy);
                return None;
            };
            let map = state_map(checker, map)?;
            Some(RowState::Column { column: name?, map })
        }
        (None, _, _) if map.is_some() => {
            checker.missing(at, "column", "`map` needs the column whose values it maps");
            None
        }
        (None, Some(state), None) => constant_state(checker, &state),
        (None, None, Some(column)) => checker.column(&column).map(RowState::DoneWhenSet),
        (None, None, None) => {
            let remedy = "give `column` with `map`, or `constant`, or `done_when_set`";
            checker.missing(at, "column", remedy);
            None
        }
        (_, constant, done_when_set) => {
            let second = done_when_set
                .map(|value| ("done_when_set", value.spot()))
                .or(constant.map(|value| ("constant", value.spot())));
            if let Some((key, at)) = second {
                checker.report(
                    at,
                    format!("`{key}` contradicts `{first}`: a row has one state; remove one of them"),
                );
            }
            None
        }
    }
}

/// The state of a whole table. What would make every row the same and say nothing is refused.
fn constant_state(checker: &mut Checker<'_>, state: &Spanned<MappedState>) -> Option<RowState> {
    let remedy = match state.value {
        MappedState::Ready | MappedState::Scheduled | MappedState::Retrying | MappedState::Failed => {
            return Some(RowState::Constant(state.value));
        }
        MappedState::Running => {
            "that somebody works on a row is for `lease` to tell: use `constant: ready` and a lease"
        }
        MappedState::Done => {
            "finished rows are no queue: remove it, or say with `column` and `map` which rows are done"
        }
    };
    checker
        .report(state.spot(), format!("a whole table can be ready, scheduled, retrying or failed; {remedy}"));
    None
}

fn state_map(
    checker: &mut Checker<'_>,
    entries: Spanned<Entries<Constant, MappedState>>,
) -> Option<BTreeMap<String, MappedState>> {
    let at = entries.spot();
    if entries.value.0.is_empty() {
        checker.report(at, "is empty; map at least one value to a state");
        return None;
    }
    let mut map = BTreeMap::new();
    for (key, state) in entries.value.0 {
        match constant(&key.value) {
            Ok(value) => {
                if map.insert(value.clone(), state.value).is_some() {
                    checker.report_key(key.spot(), format!("the value `{value}` is mapped twice"));
                }
            }
            Err(message) => checker.report_key(key.spot(), message),
        }
    }
    Some(map)
}

fn attempts(checker: &mut Checker<'_>, field: Field<Short<RawAttempts>>) -> Option<Attempts> {
    let setting = field.given()?;
    match checker.column_or(setting, "`column` and `counts`")? {
        Ok(column) => Some(Attempts { column, counts: AttemptsCount::default() }),
        Err((raw, at)) => {
            let counts = raw.counts.given().map(|counts| counts.value).unwrap_or_default();
            let column = checker.required_column(raw.column, at, "name the column that counts attempts")?;
            Some(Attempts { column, counts })
        }
    }
}

fn max_attempts(
    checker: &mut Checker<'_>,
    field: Field<Short<RawMaxAttempts>>,
    counts_attempts: bool,
) -> Option<MaxAttempts> {
    let setting = field.given()?;
    let at = setting.spot();
    if !counts_attempts {
        checker.report(
            at,
            "`max_attempts` needs `attempts`: without a count there is nothing to hold against it; name the \
             column, or set `max_attempts: null`",
        );
    }
    max_attempts_value(checker, setting.value, at)
}

fn max_attempts_value(
    checker: &mut Checker<'_>,
    value: Short<RawMaxAttempts>,
    at: Spot,
) -> Option<MaxAttempts> {
    let message = match value {
        Short::Integer(number) if (1..=MOST_ATTEMPTS).contains(&number) => {
            return u32::try_from(number).ok().map(MaxAttempts::Constant);
        }
        Short::Integer(number) => format!("{number} is not between 1 and {MOST_ATTEMPTS}"),
        Short::Mapping(raw) => {
            let column = checker.required_column(raw.column, at, "name the column that holds the bound")?;
            return Some(MaxAttempts::Column(column));
        }
        Short::Text(name) => format!("expected a whole number; for a column write {{ column: {name} }}"),
        other => format!("expected a whole number or {{ column: NAME }}, found {}", other.found()),
    };
    checker.report(at, message);
    None
}

/// Whether finished rows are counted; a promise that only a mapping with `done` can keep.
fn count_done(checker: &mut Checker<'_>, field: Field<bool>, state: Option<&RowState>) -> bool {
    let Some(value) = field.given().filter(|value| value.value) else { return false };
    let no_effect = |key: &str| {
        format!(
            "`count_done: true` has no effect beside `{key}`: only values of a state column are counted as done; \
             remove `count_done`"
        )
    };
    let message = match state {
        Some(state @ RowState::Column { .. }) if state.can_tell(MappedState::Done) => {
            return true;
        }
        Some(RowState::Column { .. }) => {
            "`count_done: true` contradicts `state`, where nothing is `done`; map a value to `done`, or remove \
             `count_done`"
                .to_owned()
        }
        Some(RowState::Constant(_)) => no_effect("constant"),
        Some(RowState::DoneWhenSet(_)) => no_effect("done_when_set"),
        // What is wrong with the state comes first.
        None => return true,
    };
    checker.report(value.spot(), message);
    true
}
