//! Which keys of a target name which columns.

use std::collections::BTreeMap;

use super::TargetConfig;
use super::model::{
    AttemptLog, Attempts, ControlTable, DurationColumn, EnqueueLog, Lease, MaxAttempts, Queue, RowState,
    RunLog, Target, TimeColumn,
};

/// A column that a key of a target names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MappedColumn<'a> {
    /// The key within the target, such as `lease.column`; the short form of one (`enqueued_at: CreatedAt`)
    /// where there is no other column under it.
    pub key: &'static str,
    /// The column, unquoted.
    pub column: &'a str,
    /// Which table it is in.
    pub place: Place,
}

/// The tables that a target reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The target's own table.
    Own,
    /// The related table of a queue, its `lookup`.
    Related,
    /// The table behind a view, which a `probe` looks at.
    Base,
}

impl<'a> TargetConfig<'a> {
    /// Every column that the target names, in the order of the documentation. One that a preset gives is
    /// there, too.
    #[must_use]
    pub fn columns(self) -> Vec<MappedColumn<'a>> {
        let mut columns = Columns(Vec::new());
        match self {
            Self::Queue(queue) => columns.queue(queue),
            Self::AttemptLog(log) => columns.attempt_log(log),
            Self::EnqueueLog(log) => columns.enqueue_log(log),
            Self::RunLog(log) => columns.run_log(log),
            Self::ControlTable(control) => columns.control_table(control),
        }
        columns.target(self.target());
        columns.0
    }
}

/// Collects them; an absent column has no key.
struct Columns<'a>(Vec<MappedColumn<'a>>);

impl<'a> Columns<'a> {
    fn add(&mut self, key: &'static str, column: impl Into<Option<&'a str>>) {
        self.add_in(Place::Own, key, column);
    }

    fn add_in(&mut self, place: Place, key: &'static str, column: impl Into<Option<&'a str>>) {
        self.0.extend(column.into().map(|column| MappedColumn { key, column, place }));
    }

    fn time(&mut self, key: &'static str, time: Option<&'a TimeColumn>) {
        if let Some(time) = time {
            let place = if time.lookup { Place::Related } else { Place::Own };
            self.add_in(place, key, time.column.as_str());
        }
    }

    fn duration(&mut self, duration: Option<&'a DurationColumn>) {
        self.add("duration", duration.map(|duration| duration.column.as_str()));
    }

    fn filter(&mut self, place: Place, key: &'static str, filter: &'a BTreeMap<String, String>) {
        self.0.extend(filter.keys().map(|column| MappedColumn { key, column, place }));
    }

    fn target(&mut self, target: &'a Target) {
        self.filter(Place::Own, "where", &target.filter);
        if let Some(base) = target.probe.as_ref().and_then(|probe| probe.base_table.as_ref()) {
            self.filter(Place::Base, "probe.where", &base.filter);
        }
    }

    fn queue(&mut self, queue: &'a Queue) {
        match &queue.state {
            RowState::Column { column, .. } => self.add("state.column", column.as_str()),
            RowState::DoneWhenSet(column) => self.add("state.done_when_set", column.as_str()),
            RowState::Constant(_) => {}
        }
        match &queue.lease {
            Lease::Until { column, token, .. } => {
                self.time("lease.column", Some(column));
                self.add("lease.token", token.as_deref());
            }
            Lease::Since { column, .. } => self.time("lease.column", Some(column)),
            Lease::Owner { column } => self.add("lease.column", column.as_str()),
            Lease::RowLock | Lease::None => {}
        }
        self.time("claimed_at", queue.claimed_at.as_ref());
        self.time("available_at", queue.available_at.as_ref());
        self.time("enqueued_at", queue.enqueued_at.as_ref());
        self.add("attempts", queue.attempts.as_ref().map(|Attempts { column, .. }| column.as_str()));
        if let Some(MaxAttempts::Column(column)) = &queue.max_attempts {
            self.add("max_attempts.column", column.as_str());
        }
        self.add("id", queue.id.as_deref());
        self.add("queue_label", queue.queue_label.as_deref());
        if let Some(lookup) = &queue.lookup {
            self.add_in(Place::Related, "lookup.key", lookup.key.as_str());
            self.add("lookup.column", lookup.column.as_str());
        }
    }

    fn attempt_log(&mut self, log: &'a AttemptLog) {
        self.add("id", log.id.as_str());
        self.add("queue_label", log.queue_label.as_deref());
        self.add("outcome.column", log.outcome.column.as_deref());
        self.add("attempt", log.attempt.as_deref());
        self.time("started_at", log.started_at.as_ref());
        self.time("ended_at", log.ended_at.as_ref());
        self.duration(log.duration.as_ref());
        self.time("enqueued_at", log.enqueued_at.as_ref());
    }

    fn enqueue_log(&mut self, log: &'a EnqueueLog) {
        self.add("id", log.id.as_str());
        self.add("queue_label", log.queue_label.as_deref());
        self.time("enqueued_at", log.enqueued_at.as_ref());
    }

    fn run_log(&mut self, log: &'a RunLog) {
        self.add("id", log.id.as_str());
        self.add("step", log.step.as_str());
        self.time("start", log.start.as_ref());
        self.time("end", log.end.as_ref());
        self.duration(log.duration.as_ref());
        self.add("candidates", log.candidates.as_deref());
        self.add("outcome.column", log.outcome.column.as_deref());
    }

    fn control_table(&mut self, control: &'a ControlTable) {
        self.add("id", control.id.as_str());
        self.add("kind", control.kind.as_str());
        self.time("at", control.at.as_ref());
    }
}
