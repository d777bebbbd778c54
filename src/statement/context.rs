//! What the templates are given: the mapping with every name and constant already quoted.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use super::{Dialect, GAPS_PER_SAMPLE, Parameter, TailRequest, quote};
use crate::config::{
    AttemptsCount, ControlTable, DurationUnit, Lease, MappedState, MaxAttempts, Outcome, OutcomeTest, Queue,
    RowState, RunLog, Target, TargetConfig, TimeColumn, TimeEncoding, TimeZone,
};
use crate::source::Value;

#[derive(Serialize)]
struct Time {
    column: String,
    encoding: TimeEncoding,
    zone: &'static str,
    zone_name: Option<String>,
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
    lock_timeout_ms: u64,
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
    queue_label: Option<String>,
    state: State,
    lease: LeaseShape,
    claimed_at: Option<Time>,
    available_at: Option<Time>,
    enqueued_at: Option<Time>,
    attempts: Option<AttemptsShape>,
    max_attempts: Option<String>,
}

#[derive(Serialize)]
pub(super) struct TailContext {
    mode: &'static str,
    after: &'static str,
    gaps: Vec<GapNames>,
}

#[derive(Serialize)]
struct GapNames {
    from: String,
    to: String,
}

#[derive(Serialize)]
pub(super) struct LogContext<T> {
    #[serde(flatten)]
    base: Base,
    #[serde(flatten)]
    tail: TailContext,
    id: String,
    batch_size: u32,
    #[serde(flatten)]
    columns: T,
}

#[derive(Serialize)]
pub(super) struct RunLogColumns {
    step: String,
    start: Option<Time>,
    end: Option<Time>,
    duration: Option<DurationShape>,
    candidates: Option<String>,
    outcome: OutcomeShape,
    lock: Option<LockShape>,
}

#[derive(Serialize)]
struct DurationShape {
    column: String,
    unit: DurationUnit,
}

#[derive(Serialize)]
struct OutcomeShape {
    column: Option<String>,
    rules: Vec<OutcomeRuleShape>,
    default: Outcome,
}

#[derive(Serialize)]
struct OutcomeRuleShape {
    test: &'static str,
    value: Option<String>,
    outcome: Outcome,
}

#[derive(Serialize)]
struct LockShape {
    resource: String,
}

#[derive(Serialize)]
pub(super) struct ControlColumns {
    kind: String,
    at: Option<Time>,
}

pub(super) fn queue(dialect: Dialect, base: Base, queue: &Queue) -> QueueContext {
    let column = |name: &String| quote::column(dialect, name);
    let time = |time: &Option<TimeColumn>| time.as_ref().map(|time| time_shape(dialect, time));
    QueueContext {
        base,
        database: match queue.target.table.0.as_slice() {
            [database, _, _] => Some(quote::literal(dialect, database)),
            _ => None,
        },
        queue_label: queue.queue_label.as_ref().map(column),
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
            MaxAttempts::Constant(bound) => bound.to_string(),
            MaxAttempts::Column(name) => quote::column(dialect, name),
        }),
    }
}

pub(super) fn run_log(
    dialect: Dialect,
    base: Base,
    tail: TailContext,
    log: &RunLog,
) -> LogContext<RunLogColumns> {
    let time = |time: &Option<TimeColumn>| time.as_ref().map(|time| time_shape(dialect, time));
    let columns = RunLogColumns {
        step: quote::column(dialect, &log.step),
        start: time(&log.start),
        end: time(&log.end),
        duration: log.duration.as_ref().map(|duration| DurationShape {
            column: quote::column(dialect, &duration.column),
            unit: duration.unit,
        }),
        candidates: log.candidates.as_ref().map(|name| quote::column(dialect, name)),
        outcome: outcome(dialect, log),
        lock: log.lock.as_ref().map(|lock| LockShape { resource: quote::literal(dialect, &lock.resource) }),
    };
    LogContext { base, tail, id: quote::column(dialect, &log.id), batch_size: log.batch_size, columns }
}

pub(super) fn control_table(
    dialect: Dialect,
    base: Base,
    tail: TailContext,
    control: &ControlTable,
) -> LogContext<ControlColumns> {
    let columns = ControlColumns {
        kind: quote::column(dialect, &control.kind),
        at: control.at.as_ref().map(|time| time_shape(dialect, time)),
    };
    LogContext {
        base,
        tail,
        id: quote::column(dialect, &control.id),
        batch_size: control.batch_size,
        columns,
    }
}

#[derive(Serialize)]
pub(super) struct SeekContext {
    catalog: Catalog,
    /// Columns that the predicate fixes, as text constants.
    columns: Vec<String>,
    lock_timeout_ms: u64,
}

/// How the catalog names a table.
#[derive(Serialize)]
struct Catalog {
    prefix: String,
    object: String,
}

#[derive(Serialize)]
pub(super) struct IndexContext {
    index: String,
    table: String,
    column: String,
}

/// The column that the sample of a target seeks by. A queue without stored states is read whole:
/// every row of it is unfinished.
fn seek_column(target: TargetConfig<'_>) -> Option<&String> {
    match target {
        TargetConfig::Queue(Queue { state: RowState::Column { column, map }, count_done: false, .. }) => {
            map.values().any(|state| *state == MappedState::Done).then_some(column)
        }
        TargetConfig::Queue(Queue { state: RowState::DoneWhenSet(column), .. }) => Some(column),
        TargetConfig::Queue(_) => None,
        TargetConfig::RunLog(log) => Some(&log.id),
        TargetConfig::ControlTable(control) => Some(&control.id),
    }
}

pub(super) fn seek(
    dialect: Dialect,
    target: TargetConfig<'_>,
    lock_timeout: Duration,
) -> Option<SeekContext> {
    let column = seek_column(target)?;
    let filtered = target.target().filter.keys();
    let columns = std::iter::once(column).chain(filtered).map(|name| quote::literal(dialect, name)).collect();
    let name = &target.target().table;
    let catalog = match (dialect, name.0.as_slice()) {
        (Dialect::Mssql, parts) => Catalog {
            prefix: match parts {
                [database, _, _] => format!("{}.", quote::identifier(dialect, database)),
                _ => String::new(),
            },
            object: quote::literal(dialect, &quote::table(dialect, name)),
        },
        (Dialect::Sqlite, [.., schema, table]) => Catalog {
            prefix: format!(", {}", quote::literal(dialect, schema)),
            object: quote::literal(dialect, table),
        },
        (Dialect::Sqlite, parts) => Catalog {
            prefix: String::new(),
            object: quote::literal(dialect, parts.first().map_or("", String::as_str)),
        },
    };
    Some(SeekContext { catalog, columns, lock_timeout_ms: millis(lock_timeout) })
}

pub(super) fn create_index(dialect: Dialect, target: TargetConfig<'_>) -> Option<IndexContext> {
    let column = seek_column(target)?;
    let name = &target.target().table;
    let bare = name.0.last().map_or("", String::as_str);
    Some(IndexContext {
        index: quote::identifier(dialect, &format!("IX_{bare}_{column}")),
        table: quote::table(dialect, name),
        column: quote::identifier(dialect, column),
    })
}

/// The part of a log's statement that depends on what was read so far, with its parameters.
pub(super) fn tail(request: &TailRequest) -> (TailContext, Vec<Parameter>) {
    match request {
        TailRequest::Head => (TailContext { mode: "head", after: "", gaps: Vec::new() }, Vec::new()),
        TailRequest::After { watermark, gaps } => {
            let mut parameters =
                vec![Parameter { meaning: "the highest id read so far", value: Value::Int(*watermark) }];
            let mut names = Vec::with_capacity(GAPS_PER_SAMPLE);
            // An unused range ends before it begins, so it matches nothing.
            let unused = std::iter::repeat((1, 0));
            for (from, to) in gaps.iter().copied().chain(unused).take(GAPS_PER_SAMPLE) {
                parameters.push(Parameter { meaning: "missing ids from", value: Value::Int(from) });
                let from = format!("@P{}", parameters.len());
                parameters.push(Parameter { meaning: "missing ids to", value: Value::Int(to) });
                names.push(GapNames { from, to: format!("@P{}", parameters.len()) });
            }
            (TailContext { mode: "tail", after: "@P1", gaps: names }, parameters)
        }
    }
}

pub(super) fn base(dialect: Dialect, target: &Target, lock_timeout: Duration) -> Base {
    let filter = target.filter.iter().map(|(column, value)| Condition {
        column: quote::column(dialect, column),
        value: quote::literal(dialect, value),
    });
    Base {
        table: quote::table(dialect, &target.table),
        filter: filter.collect(),
        lock_timeout_ms: millis(lock_timeout),
    }
}

fn time_shape(dialect: Dialect, time: &TimeColumn) -> Time {
    let (zone, zone_name) = match &time.zone {
        TimeZone::Utc => ("utc", None),
        TimeZone::Offset => ("offset", None),
        TimeZone::Server => ("server", None),
        TimeZone::Named(name) => ("named", Some(quote::literal(dialect, name))),
    };
    Time { column: quote::column(dialect, &time.column), encoding: time.encoding, zone, zone_name }
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

/// The stored values of one state, quoted, in ascending order: as numbers when all are, since
/// the column then most likely is one too. (A wrong guess costs time, not rows.)
fn values_of(dialect: Dialect, map: &BTreeMap<String, MappedState>, wanted: MappedState) -> Vec<String> {
    let mut values: Vec<&str> =
        map.iter().filter(|(_, state)| **state == wanted).map(|(value, _)| value.as_str()).collect();
    let numbers: Option<Vec<i64>> = values.iter().map(|value| value.parse().ok()).collect();
    if numbers.is_some() {
        values.sort_by_key(|value| value.parse::<i64>().unwrap_or_default());
    }
    values.into_iter().map(|value| quote::literal(dialect, value)).collect()
}

fn lease(dialect: Dialect, lease: &Lease) -> LeaseShape {
    let mut shape = LeaseShape { kind: "none", time: None, extension_ms: 0, token: None, owner: None };
    match lease {
        Lease::Until { column, token, tolerance } => {
            shape.kind = "until";
            shape.time = Some(time_shape(dialect, column));
            shape.extension_ms = millis(*tolerance);
            shape.token = token.as_ref().map(|name| quote::column(dialect, name));
        }
        Lease::Since { column, timeout, tolerance } => {
            shape.kind = "since";
            shape.time = Some(time_shape(dialect, column));
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

fn outcome(dialect: Dialect, log: &RunLog) -> OutcomeShape {
    let rules = log.outcome.rules.iter().map(|rule| {
        let (test, value) = match &rule.test {
            OutcomeTest::IsNull => ("is_null", None),
            OutcomeTest::Equals(value) => ("equals", Some(quote::literal(dialect, value))),
            OutcomeTest::Like(pattern) => ("like", Some(quote::literal(dialect, pattern))),
        };
        OutcomeRuleShape { test, value, outcome: rule.outcome }
    });
    // Rules without a column to look at cannot hold; validation refuses them.
    let column = log.outcome.column.as_ref().map(|name| quote::column(dialect, name));
    let rules = if column.is_some() { rules.collect() } else { Vec::new() };
    OutcomeShape { column, rules, default: log.outcome.default }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
