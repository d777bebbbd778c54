//! What the templates are given: the mapping with every name and constant already quoted.

mod index;
mod log;

pub(super) use index::{create_index, seek};
pub(super) use log::{attempt_log, control_table, enqueue_log, run_log, tail};

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use super::{Dialect, quote};
use crate::config::{
    AttemptsCount, Lease, Lookup, MappedState, MaxAttempts, Queue, ReadMode, RowState, Target, TimeColumn,
    TimeEncoding, TimeZone,
};
use crate::limits::CLAIMS_PER_SAMPLE;

#[derive(Serialize)]
struct Time {
    column: String,
    encoding: TimeEncoding,
    zone: &'static str,
    zone_name: Option<String>,
    /// Stored values that are read as NULL.
    sentinels: Vec<String>,
    /// The related table that the column belongs to.
    lookup: Option<LookupShape>,
}

#[derive(Serialize)]
struct Condition {
    column: String,
    value: String,
}

#[derive(Serialize)]
pub(super) struct Base {
    table: String,
    filter: Vec<Condition>,
    probe: Option<ProbeShape>,
    read_mode: ReadMode,
    lock_timeout_ms: u64,
}

/// What must hold for the answer to be believed.
#[derive(Serialize)]
struct ProbeShape {
    base_table: Option<String>,
    filter: Vec<Condition>,
    role: Option<String>,
}

#[derive(Serialize)]
struct StateRule {
    value: String,
    state: MappedState,
}

#[derive(Serialize)]
struct State {
    kind: &'static str,
    column: Option<String>,
    map: Vec<StateRule>,
    /// Stored values that mean a claim.
    running: Vec<String>,
    /// Stored values that are not read at all, in the order their ranges are built in.
    done: Vec<String>,
    constant: Option<MappedState>,
    open_when_null: Option<String>,
}

#[derive(Serialize)]
struct LeaseShape {
    kind: &'static str,
    time: Option<Time>,
    /// Added to the stored time to get the moment at which the claim lapses.
    extension_ms: u64,
    token: Option<String>,
    owner: Option<String>,
}

#[derive(Serialize)]
struct LookupShape {
    table: String,
    key: String,
    column: String,
}

#[derive(Serialize)]
struct AttemptsShape {
    column: String,
    counts: AttemptsCount,
}

#[derive(Serialize)]
pub(super) struct QueueContext {
    #[serde(flatten)]
    base: Base,
    /// The database of the table, as a text constant, where its name says which.
    database: Option<String>,
    id: Option<String>,
    /// How many claimed rows are listed at most.
    claims_per_sample: usize,
    queue_label: Option<String>,
    state: State,
    lease: LeaseShape,
    claimed_at: Option<Time>,
    available_at: Option<Time>,
    enqueued_at: Option<Time>,
    attempts: Option<AttemptsShape>,
    max_attempts: Option<Bound>,
}

/// A number that is the same for every row, or the column that holds it.
#[derive(Serialize)]
#[serde(untagged)]
enum Bound {
    Constant(u32),
    Column(String),
}

pub(super) fn queue(dialect: Dialect, base: Base, queue: &Queue) -> QueueContext {
    let lookup = queue.lookup.as_ref();
    let time = |time: &Option<TimeColumn>| time.as_ref().map(|time| time_shape(dialect, time, lookup));
    QueueContext {
        base,
        database: match queue.target.table.0.as_slice() {
            [database, _, _] => Some(quote::literal(dialect, database)),
            _ => None,
        },
        id: column(dialect, &queue.id),
        claims_per_sample: CLAIMS_PER_SAMPLE,
        queue_label: column(dialect, &queue.queue_label),
        state: state(dialect, &queue.state, queue.count_done),
        lease: lease(dialect, &queue.lease),
        claimed_at: time(&queue.claimed_at),
        available_at: time(&queue.available_at),
        enqueued_at: time(&queue.enqueued_at),
        attempts: queue.attempts.as_ref().map(|attempts| AttemptsShape {
            column: quote::column(dialect, &attempts.column),
            counts: attempts.counts,
        }),
        max_attempts: queue.max_attempts.as_ref().map(|bound| match bound {
            MaxAttempts::Constant(bound) => Bound::Constant(*bound),
            MaxAttempts::Column(name) => Bound::Column(quote::column(dialect, name)),
        }),
    }
}

pub(super) fn base(dialect: Dialect, target: &Target, lock_timeout: Duration) -> Base {
    Base {
        table: quote::table(dialect, &target.table),
        filter: conditions(dialect, &target.filter),
        probe: target.probe.as_ref().map(|probe| ProbeShape {
            base_table: probe.base_table.as_ref().map(|base| quote::table(dialect, &base.table)),
            filter: probe.base_table.iter().flat_map(|base| conditions(dialect, &base.filter)).collect(),
            role: probe.role.as_ref().map(|role| quote::literal(dialect, role)),
        }),
        read_mode: target.read_mode,
        lock_timeout_ms: millis(lock_timeout),
    }
}

fn conditions(dialect: Dialect, filter: &BTreeMap<String, String>) -> Vec<Condition> {
    let condition = |(column, value): (&String, &String)| Condition {
        column: quote::column(dialect, column),
        value: quote::literal(dialect, value),
    };
    filter.iter().map(condition).collect()
}

fn column(dialect: Dialect, name: &Option<String>) -> Option<String> {
    name.as_ref().map(|name| quote::column(dialect, name))
}

fn time(dialect: Dialect, time: &Option<TimeColumn>) -> Option<Time> {
    time.as_ref().map(|time| time_shape(dialect, time, None))
}

/// A time; `lookup` is the related table of the queue, if it has one.
fn time_shape(dialect: Dialect, time: &TimeColumn, lookup: Option<&Lookup>) -> Time {
    let (zone, zone_name) = match &time.zone {
        TimeZone::Utc => ("utc", None),
        TimeZone::Offset => ("offset", None),
        TimeZone::Server => ("server", None),
        TimeZone::Named(name) => ("named", Some(quote::literal(dialect, name))),
    };
    let lookup = lookup.filter(|_| time.lookup);
    let column = if lookup.is_some() {
        quote::lookup_column(dialect, &time.column)
    } else {
        quote::column(dialect, &time.column)
    };
    let lookup = lookup.map(|lookup| LookupShape {
        table: quote::table(dialect, &lookup.table),
        key: quote::lookup_column(dialect, &lookup.key),
        column: quote::column(dialect, &lookup.column),
    });
    let sentinels = time.sentinels.iter().map(|value| quote::literal(dialect, value)).collect();
    Time { column, encoding: time.encoding, zone, zone_name, sentinels, lookup }
}

fn state(dialect: Dialect, state: &RowState, count_done: bool) -> State {
    let mut shape = State {
        kind: "constant",
        column: None,
        map: Vec::new(),
        running: Vec::new(),
        done: Vec::new(),
        constant: None,
        open_when_null: None,
    };
    match state {
        RowState::Column { column, map } => {
            shape.kind = "column";
            shape.column = Some(quote::column(dialect, column));
            shape.map = map
                .iter()
                .map(|(value, state)| StateRule { value: quote::literal(dialect, value), state: *state })
                .collect();
            shape.running = values_of(dialect, map, MappedState::Running);
            if !count_done {
                shape.done = values_of(dialect, map, MappedState::Done);
            }
        }
        RowState::Constant(state) => shape.constant = Some(*state),
        RowState::DoneWhenSet(column) => {
            shape.constant = Some(MappedState::Ready);
            shape.open_when_null = Some(quote::column(dialect, column));
        }
    }
    shape
}

/// The stored values of one state, quoted, in the ascending order of the column: as numbers when all
/// are, since the column then most likely is one too; else as the usual collation of the database
/// sorts text, which ignores case on SQL Server and compares bytes in the embedded one. (A wrong
/// guess costs time, not rows: two ranges that overlap read what lies between them.)
fn values_of(dialect: Dialect, map: &BTreeMap<String, MappedState>, wanted: MappedState) -> Vec<String> {
    let mut values: Vec<&str> =
        map.iter().filter(|(_, state)| **state == wanted).map(|(value, _)| value.as_str()).collect();
    let numbers: Option<Vec<i64>> = values.iter().map(|value| value.parse().ok()).collect();
    if numbers.is_some() {
        values.sort_by_key(|value| value.parse::<i64>().unwrap_or_default());
    } else if dialect == Dialect::Mssql {
        values.sort_by_key(|value| value.to_lowercase());
    }
    values.into_iter().map(|value| quote::literal(dialect, value)).collect()
}

fn lease(dialect: Dialect, lease: &Lease) -> LeaseShape {
    let mut shape = LeaseShape { kind: "none", time: None, extension_ms: 0, token: None, owner: None };
    match lease {
        Lease::Until { column, token, tolerance } => {
            shape.kind = "until";
            shape.time = Some(time_shape(dialect, column, None));
            shape.extension_ms = millis(*tolerance);
            shape.token = token.as_ref().map(|name| quote::column(dialect, name));
        }
        Lease::Since { column, timeout, tolerance } => {
            shape.kind = "since";
            shape.time = Some(time_shape(dialect, column, None));
            shape.extension_ms = millis(timeout.saturating_add(*tolerance));
        }
        Lease::Owner { column } => {
            shape.kind = "owner";
            shape.owner = Some(quote::column(dialect, column));
        }
        Lease::RowLock => shape.kind = "rowlock",
        Lease::None => {}
    }
    shape
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
