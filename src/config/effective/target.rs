//! The targets of a source, column by column.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Serialize, Serializer};

use super::yaml::{Mapping, Yaml};
use super::{objectives, time};
use crate::config::model::{
    AttemptLog, Attempts, AttemptsCount, ControlTable, DurationColumn, DurationUnit, EnqueueLog, Lease,
    MappedState, MaxAttempts, Probe, Queue, ReadMode, RowState, RunLog, TableName, Target, TimeColumn,
    TimeEncoding, TimeZone,
};
use crate::config::outcome::{OutcomeRule, OutcomeRules, OutcomeTest, OutcomeWord};
use crate::config::{TargetConfig, identifier};

impl Serialize for TargetConfig<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mapping = match self {
            Self::Queue(config) => queue(config),
            Self::AttemptLog(log) => attempt_log(log),
            Self::EnqueueLog(log) => enqueue_log(log),
            Self::RunLog(log) => run_log(log),
            Self::ControlTable(control) => control_table(control),
        };
        mapping.serialize(serializer)
    }
}

pub(super) fn queue(queue: &Queue) -> Mapping {
    let lookup = queue.lookup.as_ref().map(|lookup| {
        Mapping::default()
            .with("table", table(&lookup.table))
            .with("key", column(&lookup.key))
            .with("column", column(&lookup.column))
    });
    common(&queue.target)
        .with("id", queue.id.as_deref().map(column))
        .with("queue_label", queue.queue_label.as_deref().map(column))
        .with("lookup", lookup)
        .with("state", state(&queue.state))
        .with("lease", lease(&queue.lease))
        .with("claimed_at", queue.claimed_at.as_ref().map(time_column))
        .with("available_at", queue.available_at.as_ref().map(time_column))
        .with("enqueued_at", queue.enqueued_at.as_ref().map(time_column))
        .with("attempts", queue.attempts.as_ref().map(attempts))
        .with("max_attempts", queue.max_attempts.as_ref().map(max_attempts))
        .with("count_done", queue.count_done)
        .with("objectives", objectives::of_queue(&queue.objectives))
}

pub(super) fn attempt_log(log: &AttemptLog) -> Mapping {
    let mapping = common(&log.target)
        .with("id", column(&log.id))
        .with("queue_label", log.queue_label.as_deref().map(column))
        .with("outcome", outcome(&log.outcome))
        .with("attempt", log.attempt.as_deref().map(column))
        .with("started_at", log.started_at.as_ref().map(time_column))
        .with("ended_at", log.ended_at.as_ref().map(time_column))
        .with("duration", log.duration.as_ref().map(duration_column))
        .with("enqueued_at", log.enqueued_at.as_ref().map(time_column))
        .with("objectives", objectives::of_attempt_log(&log.objectives));
    tail(mapping, log.batch_size, log.late_window)
}

pub(super) fn enqueue_log(log: &EnqueueLog) -> Mapping {
    let mapping = common(&log.target)
        .with("id", column(&log.id))
        .with("queue_label", log.queue_label.as_deref().map(column))
        .with("enqueued_at", log.enqueued_at.as_ref().map(time_column));
    tail(mapping, log.batch_size, log.late_window)
}

pub(super) fn run_log(log: &RunLog) -> Mapping {
    let lock = log.lock.as_ref().map(|lock| Mapping::default().with("resource", &lock.resource));
    let mapping = common(&log.target)
        .with("id", column(&log.id))
        .with("step", column(&log.step))
        .with("run_step", log.run_step.as_ref())
        .with("steps", Yaml::list(&log.declared_steps))
        .with("start", log.start.as_ref().map(time_column))
        .with("end", log.end.as_ref().map(time_column))
        .with("duration", log.duration.as_ref().map(duration_column))
        .with("candidates", log.candidates.as_deref().map(column))
        .with("outcome", outcome(&log.outcome))
        .with("mutable", log.mutable.is_some())
        .with("open_window", log.mutable.map(|rows| time(rows.open_window)))
        .with("lock", lock)
        .with("objectives", objectives::of_run_log(&log.objectives));
    tail(mapping, log.batch_size, log.late_window)
}

pub(super) fn control_table(control: &ControlTable) -> Mapping {
    let mapping = common(&control.target)
        .with("id", column(&control.id))
        .with("kind", column(&control.kind))
        .with("kinds", Yaml::list(&control.declared_kinds))
        .with("at", control.at.as_ref().map(time_column));
    tail(mapping, control.batch_size, control.late_window)
}

/// What every target has.
fn common(target: &Target) -> Mapping {
    Mapping::default()
        .with("name", &target.name)
        .with("table", table(&target.table))
        .with("where", filter(&target.filter))
        .with("probe", target.probe.as_ref().map(probe))
        .with("read_mode", read_mode(target.read_mode))
        .with("sample_interval", time(target.sample_interval))
}

pub(super) fn read_mode(mode: ReadMode) -> &'static str {
    match mode {
        ReadMode::ReadPast => "readpast",
        ReadMode::ReadCommitted => "read_committed",
    }
}

fn tail(mapping: Mapping, batch_size: u32, late_window: Duration) -> Mapping {
    mapping.with("batch_size", batch_size).with("late_window", time(late_window))
}

fn filter(filter: &BTreeMap<String, String>) -> Option<Mapping> {
    let columns = filter.iter();
    let mapping =
        columns.fold(Mapping::default(), |mapping, (name, value)| mapping.with(column(name), value));
    (!mapping.is_empty()).then_some(mapping)
}

fn probe(probe: &Probe) -> Mapping {
    let base = probe.base_table.as_ref();
    Mapping::default()
        .with("base_table", base.map(|base| table(&base.table)))
        .with("where", base.and_then(|base| filter(&base.filter)))
        .with("role", probe.role.as_ref())
}

fn state(state: &RowState) -> Mapping {
    match state {
        RowState::Column { column: name, map } => {
            let values = map.iter();
            let map = values.fold(Mapping::default(), |map, (value, state)| map.with(value, word(*state)));
            Mapping::default().with("column", column(name)).with("map", map)
        }
        RowState::Constant(state) => Mapping::default().with("constant", word(*state)),
        RowState::DoneWhenSet(name) => Mapping::default().with("done_when_set", column(name)),
    }
}

fn word(state: MappedState) -> &'static str {
    match state {
        MappedState::Ready => "ready",
        MappedState::Scheduled => "scheduled",
        MappedState::Retrying => "retrying",
        MappedState::Running => "running",
        MappedState::Failed => "failed",
        MappedState::Done => "done",
    }
}

fn lease(lease: &Lease) -> Mapping {
    let kind = |kind| Mapping::default().with("kind", kind);
    match lease {
        Lease::Until { column: end, token, tolerance } => kind("until")
            .with("column", time_column(end))
            .with("token", token.as_deref().map(column))
            .with("tolerance", time(*tolerance)),
        Lease::Since { column, timeout, tolerance } => kind("since")
            .with("column", time_column(column))
            .with("timeout", time(*timeout))
            .with("tolerance", time(*tolerance)),
        Lease::Owner { column: owner } => kind("owner").with("column", column(owner)),
        Lease::RowLock => kind("rowlock"),
        Lease::None => kind("none"),
    }
}

fn attempts(attempts: &Attempts) -> Mapping {
    let counts = match attempts.counts {
        AttemptsCount::Claims => "claims",
        AttemptsCount::Failures => "failures",
    };
    Mapping::default().with("column", column(&attempts.column)).with("counts", counts)
}

fn max_attempts(max_attempts: &MaxAttempts) -> Yaml {
    match max_attempts {
        MaxAttempts::Constant(number) => (*number).into(),
        MaxAttempts::Column(name) => Mapping::default().with("column", column(name)).into(),
    }
}

fn time_column(time: &TimeColumn) -> Mapping {
    let encoding = match time.encoding {
        TimeEncoding::Native => "native",
        TimeEncoding::UnixS => "unix_s",
        TimeEncoding::UnixMs => "unix_ms",
        TimeEncoding::DotnetTicks => "dotnet_ticks",
    };
    let zone = match &time.zone {
        TimeZone::Utc => "utc",
        TimeZone::Offset => "offset",
        TimeZone::Server => "server",
        TimeZone::Named(name) => name,
    };
    Mapping::default()
        .with("column", column(&time.column))
        .with("encoding", encoding)
        .with("zone", zone)
        .with("sentinels", Yaml::list(&time.sentinels))
        .with("lookup", time.lookup.then_some(true))
}

fn duration_column(duration: &DurationColumn) -> Mapping {
    let unit = match duration.unit {
        DurationUnit::Ms => "ms",
        DurationUnit::S => "s",
        DurationUnit::Hhmmss => "hhmmss",
    };
    Mapping::default().with("column", column(&duration.column)).with("unit", unit)
}

fn outcome<O: OutcomeWord>(outcome: &OutcomeRules<O>) -> Mapping {
    Mapping::default()
        .with("column", outcome.column.as_deref().map(column))
        .with("rules", Yaml::list(outcome.rules.iter().map(rule)))
        .with("default", outcome.default.as_str())
}

fn rule<O: OutcomeWord>(rule: &OutcomeRule<O>) -> Mapping {
    let mapping = match &rule.test {
        OutcomeTest::IsNull => Mapping::default().with("is_null", true),
        OutcomeTest::Equals(value) => Mapping::default().with("equals", value),
        OutcomeTest::Like(pattern) => Mapping::default().with("like", pattern),
    };
    mapping.with("outcome", rule.outcome.as_str())
}

fn column(name: &str) -> String {
    identifier::written(name)
}

fn table(table: &TableName) -> String {
    let parts: Vec<String> = table.0.iter().map(|part| identifier::written(part)).collect();
    parts.join(".")
}
