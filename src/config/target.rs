//! A target of any kind, as configured.

use super::{AttemptLog, ControlTable, EnqueueLog, Queue, RunLog, Source, Target};

/// One thing that is sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetConfig<'a> {
    /// A queue.
    Queue(&'a Queue),
    /// An attempt log.
    AttemptLog(&'a AttemptLog),
    /// An enqueue log.
    EnqueueLog(&'a EnqueueLog),
    /// A run log.
    RunLog(&'a RunLog),
    /// A control table.
    ControlTable(&'a ControlTable),
}

impl Source {
    /// The targets of the source: queues, then attempt logs, then enqueue logs, then run logs, then
    /// control tables.
    pub fn targets(&self) -> impl Iterator<Item = TargetConfig<'_>> {
        let queues = self.queues.iter().map(TargetConfig::Queue);
        let attempt_logs = self.attempt_logs.iter().map(TargetConfig::AttemptLog);
        let enqueue_logs = self.enqueue_logs.iter().map(TargetConfig::EnqueueLog);
        let run_logs = self.run_logs.iter().map(TargetConfig::RunLog);
        let control_tables = self.control_tables.iter().map(TargetConfig::ControlTable);
        queues.chain(attempt_logs).chain(enqueue_logs).chain(run_logs).chain(control_tables)
    }
}

impl<'a> TargetConfig<'a> {
    /// Name, table and pace.
    #[must_use]
    pub const fn target(self) -> &'a Target {
        match self {
            Self::Queue(queue) => &queue.target,
            Self::AttemptLog(log) => &log.target,
            Self::EnqueueLog(log) => &log.target,
            Self::RunLog(log) => &log.target,
            Self::ControlTable(control) => &control.target,
        }
    }

    /// The column of the row's key: of a log always, of a queue where the mapping names it.
    #[must_use]
    pub fn id(self) -> Option<&'a str> {
        match self {
            Self::Queue(queue) => queue.id.as_deref(),
            Self::AttemptLog(log) => Some(&log.id),
            Self::EnqueueLog(log) => Some(&log.id),
            Self::RunLog(log) => Some(&log.id),
            Self::ControlTable(control) => Some(&control.id),
        }
    }

    /// The label that names targets of this kind; also the kind's name in messages.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Queue(_) => "queue",
            Self::AttemptLog(_) => "attempt_log",
            Self::EnqueueLog(_) => "enqueue_log",
            Self::RunLog(_) => "run_log",
            Self::ControlTable(_) => "control_table",
        }
    }
}
