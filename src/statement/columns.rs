//! The columns that the sample of a target reads.

use std::collections::HashSet;

use crate::config::{
    AttemptLog, ControlTable, EnqueueLog, Lease, MappedState, MaxAttempts, Queue, RowState, RunLog, Target,
    TargetConfig, TimeColumn,
};

/// The columns of the target's own table, each once.
pub(super) fn own(target: TargetConfig<'_>) -> Vec<&str> {
    once(match target {
        TargetConfig::Queue(queue) => of_queue(queue),
        TargetConfig::AttemptLog(log) => of_attempt_log(log),
        TargetConfig::EnqueueLog(log) => of_enqueue_log(log),
        TargetConfig::RunLog(log) => of_run_log(log),
        TargetConfig::ControlTable(control) => of_control_table(control),
    })
}

/// The columns of the related table that hold times, each once; none when no time is looked up.
pub(super) fn related(queue: &Queue) -> Vec<&str> {
    once(looked_up(queue).map(|time| time.column.as_str()).collect())
}

/// The names without those that name a column again: names of columns ignore case in SQLite, and by
/// the usual collations of SQL Server.
fn once(names: Vec<&str>) -> Vec<&str> {
    let mut seen = HashSet::new();
    names.into_iter().filter(|name| seen.insert(name.to_lowercase())).collect()
}

/// The times of a queue that are not in its lease.
fn times(queue: &Queue) -> impl Iterator<Item = &TimeColumn> {
    [&queue.claimed_at, &queue.available_at, &queue.enqueued_at].into_iter().flatten()
}

fn looked_up(queue: &Queue) -> impl Iterator<Item = &TimeColumn> {
    times(queue).filter(|time| queue.lookup.is_some() && time.lookup)
}

fn of_queue(queue: &Queue) -> Vec<&str> {
    // A stored state that says so decides who holds a row, and then nothing else is asked.
    let state_tells_claims =
        matches!(queue.state, RowState::Column { .. }) && queue.state.can_tell(MappedState::Running);
    let mut names = Vec::new();
    match &queue.state {
        RowState::Column { column, .. } | RowState::DoneWhenSet(column) => names.push(column.as_str()),
        RowState::Constant(_) => {}
    }
    names.extend(filter(&queue.target));
    names.extend(queue.id.as_deref());
    names.extend(queue.queue_label.as_deref());
    match &queue.lease {
        Lease::Until { column, token, .. } => {
            names.push(&column.column);
            names.extend(token.as_deref().filter(|_| !state_tells_claims));
        }
        Lease::Since { column, .. } => names.push(&column.column),
        Lease::Owner { column } if !state_tells_claims => names.push(column),
        Lease::Owner { .. } | Lease::RowLock | Lease::None => {}
    }
    if let Some(lookup) = queue.lookup.as_ref().filter(|_| looked_up(queue).next().is_some()) {
        names.push(&lookup.column);
    }
    names.extend(times(queue).filter(|time| !time.lookup).map(|time| time.column.as_str()));
    names.extend(queue.attempts.as_ref().map(|attempts| attempts.column.as_str()));
    if let Some(MaxAttempts::Column(column)) = &queue.max_attempts {
        names.push(column);
    }
    names
}

fn of_attempt_log(log: &AttemptLog) -> Vec<&str> {
    let mut names = of_log(&log.target, &log.id);
    names.extend(log.queue_label.as_deref());
    names.extend(log.outcome.column.as_deref());
    names.extend(log.attempt.as_deref());
    names.extend(log.duration.as_ref().map(|duration| duration.column.as_str()));
    names.extend(columns([&log.started_at, &log.ended_at, &log.enqueued_at]));
    names
}

fn of_enqueue_log(log: &EnqueueLog) -> Vec<&str> {
    let mut names = of_log(&log.target, &log.id);
    names.extend(log.queue_label.as_deref());
    names.extend(columns([&log.enqueued_at]));
    names
}

fn of_run_log(log: &RunLog) -> Vec<&str> {
    let mut names = of_log(&log.target, &log.id);
    names.push(&log.step);
    names.extend(log.outcome.column.as_deref());
    names.extend(log.candidates.as_deref());
    names.extend(log.duration.as_ref().map(|duration| duration.column.as_str()));
    names.extend(columns([&log.start, &log.end]));
    names
}

fn of_control_table(control: &ControlTable) -> Vec<&str> {
    let mut names = of_log(&control.target, &control.id);
    names.push(&control.kind);
    names.extend(columns([&control.at]));
    names
}

fn of_log<'a>(target: &'a Target, id: &'a str) -> Vec<&'a str> {
    std::iter::once(id).chain(filter(target)).collect()
}

fn filter(target: &Target) -> impl Iterator<Item = &str> {
    target.filter.keys().map(String::as_str)
}

fn columns<const N: usize>(times: [&Option<TimeColumn>; N]) -> impl Iterator<Item = &str> {
    times.into_iter().flatten().map(|time| time.column.as_str())
}
