//! What the templates of the logs that grow by id are given.

use serde::Serialize;

use super::{Base, Time, column, time};
use crate::config::{
    AttemptLog, AttemptOutcome, ControlTable, DurationColumn, DurationUnit, EnqueueLog, Outcome,
    OutcomeRules, OutcomeTest, OutcomeWord, RunLog,
};
use crate::limits::GAPS_PER_SAMPLE;
use crate::statement::Value;
use crate::statement::{Dialect, Parameter, TailRequest, quote};

#[derive(Serialize)]
pub(in crate::statement) struct TailContext {
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
pub(in crate::statement) struct LogContext<T> {
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
pub(in crate::statement) struct AttemptColumns {
    queue_label: Option<String>,
    outcome: OutcomeShape<AttemptOutcome>,
    attempt: Option<String>,
    started_at: Option<Time>,
    ended_at: Option<Time>,
    duration: Option<DurationShape>,
    enqueued_at: Option<Time>,
}

#[derive(Serialize)]
pub(in crate::statement) struct EnqueueColumns {
    queue_label: Option<String>,
    enqueued_at: Option<Time>,
}

#[derive(Serialize)]
pub(in crate::statement) struct RunLogColumns {
    step: String,
    start: Option<Time>,
    end: Option<Time>,
    duration: Option<DurationShape>,
    candidates: Option<String>,
    outcome: OutcomeShape<Outcome>,
    lock: Option<LockShape>,
}

#[derive(Serialize)]
struct DurationShape {
    column: String,
    unit: DurationUnit,
}

#[derive(Serialize)]
struct OutcomeShape<O> {
    column: Option<String>,
    rules: Vec<OutcomeRuleShape<O>>,
    default: O,
}

#[derive(Serialize)]
struct OutcomeRuleShape<O> {
    test: &'static str,
    value: Option<String>,
    outcome: O,
}

#[derive(Serialize)]
struct LockShape {
    resource: String,
}

#[derive(Serialize)]
pub(in crate::statement) struct ControlColumns {
    kind: String,
    at: Option<Time>,
}

/// The part of a log's statement that depends on what was read so far, with its parameters.
pub(in crate::statement) fn tail(request: &TailRequest) -> (TailContext, Vec<Parameter>) {
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

pub(in crate::statement) fn attempt_log(
    dialect: Dialect,
    base: Base,
    tail: TailContext,
    log: &AttemptLog,
) -> LogContext<AttemptColumns> {
    let columns = AttemptColumns {
        queue_label: column(dialect, &log.queue_label),
        outcome: outcome(dialect, &log.outcome),
        attempt: column(dialect, &log.attempt),
        started_at: time(dialect, &log.started_at),
        ended_at: time(dialect, &log.ended_at),
        duration: duration(dialect, &log.duration),
        enqueued_at: time(dialect, &log.enqueued_at),
    };
    LogContext { base, tail, id: quote::column(dialect, &log.id), batch_size: log.batch_size, columns }
}

pub(in crate::statement) fn enqueue_log(
    dialect: Dialect,
    base: Base,
    tail: TailContext,
    log: &EnqueueLog,
) -> LogContext<EnqueueColumns> {
    let columns = EnqueueColumns {
        queue_label: column(dialect, &log.queue_label),
        enqueued_at: time(dialect, &log.enqueued_at),
    };
    LogContext { base, tail, id: quote::column(dialect, &log.id), batch_size: log.batch_size, columns }
}

pub(in crate::statement) fn run_log(
    dialect: Dialect,
    base: Base,
    tail: TailContext,
    log: &RunLog,
) -> LogContext<RunLogColumns> {
    let columns = RunLogColumns {
        step: quote::column(dialect, &log.step),
        start: time(dialect, &log.start),
        end: time(dialect, &log.end),
        duration: duration(dialect, &log.duration),
        candidates: column(dialect, &log.candidates),
        outcome: outcome(dialect, &log.outcome),
        lock: log.lock.as_ref().map(|lock| LockShape { resource: quote::literal(dialect, &lock.resource) }),
    };
    LogContext { base, tail, id: quote::column(dialect, &log.id), batch_size: log.batch_size, columns }
}

pub(in crate::statement) fn control_table(
    dialect: Dialect,
    base: Base,
    tail: TailContext,
    control: &ControlTable,
) -> LogContext<ControlColumns> {
    let columns =
        ControlColumns { kind: quote::column(dialect, &control.kind), at: time(dialect, &control.at) };
    LogContext {
        base,
        tail,
        id: quote::column(dialect, &control.id),
        batch_size: control.batch_size,
        columns,
    }
}

fn duration(dialect: Dialect, duration: &Option<DurationColumn>) -> Option<DurationShape> {
    duration.as_ref().map(|duration| DurationShape {
        column: quote::column(dialect, &duration.column),
        unit: duration.unit,
    })
}

fn outcome<O: OutcomeWord>(dialect: Dialect, outcome: &OutcomeRules<O>) -> OutcomeShape<O> {
    let rules = outcome.rules.iter().map(|rule| {
        let (test, value) = match &rule.test {
            OutcomeTest::IsNull => ("is_null", None),
            OutcomeTest::Equals(value) => ("equals", Some(quote::literal(dialect, value))),
            OutcomeTest::Like(pattern) => ("like", Some(quote::literal(dialect, pattern))),
        };
        OutcomeRuleShape { test, value, outcome: rule.outcome }
    });
    // Rules without a column to look at cannot hold; validation refuses them.
    let column = column(dialect, &outcome.column);
    let rules = if column.is_some() { rules.collect() } else { Vec::new() };
    OutcomeShape { column, rules, default: outcome.default }
}
