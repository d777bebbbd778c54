//! Objectives: what a target is meant to keep to. The exporter shows them beside what it measures, so
//! that one alert rule serves every target.

use std::time::Duration;

/// The objectives of targets that have none of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Objectives {
    /// Of queues.
    pub queues: QueueObjectives,
    /// Of run logs.
    pub run_logs: RunLogObjectives,
}

/// The objectives of a queue; `None` where there is none, or where the table could not be held to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueObjectives {
    /// How old the oldest ready job may become.
    pub max_ready_age: Option<Duration>,
    /// How long ago the first of the lapsed leases may have lapsed.
    pub max_expired_age: Option<Duration>,
    /// How often an unfinished job may have been tried.
    pub max_attempts: Option<u32>,
    /// How many failed jobs may lie in the table.
    pub max_failed_jobs: Option<u32>,
}

/// The objectives of a run log; `None` where there is none, or where the log could not be held to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunLogObjectives {
    /// How long ago the newest step may have begun.
    pub max_run_gap: Option<Duration>,
    /// How many runs in a row may be skipped.
    pub max_consecutive_skips: Option<u32>,
    /// How old the oldest row may become.
    pub max_log_age: Option<Duration>,
}
