//! Metric families: name, unit, type and help of each, and nowhere else.
//!
//! Names are given without the suffixes that the encoder adds: the unit, and `_total` for counters.

use std::sync::LazyLock;

use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Unit;

use crate::config::{Objective, Objectives};
use crate::state::histogram::{self, Buckets};

/// One metric family.
#[derive(Debug)]
pub struct Family {
    /// The name, without unit and `_total`.
    pub name: &'static str,
    /// The unit.
    pub unit: Option<Unit>,
    /// The type.
    pub kind: MetricType,
    /// The HELP text. One line, without quotes and backslashes, which the OpenMetrics encoder does not escape.
    pub help: &'static str,
    /// The buckets of a histogram.
    pub buckets: Option<&'static Buckets>,
}

impl Family {
    /// The name of its samples, as Prometheus shows it (a histogram's without `_bucket` and such).
    #[must_use]
    pub fn full_name(&self) -> String {
        let unit = self.unit.as_ref().map(|unit| format!("_{}", unit.as_str())).unwrap_or_default();
        let suffix = match self.kind {
            MetricType::Counter => "_total",
            MetricType::Info => "_info",
            MetricType::Gauge | MetricType::Histogram | MetricType::Unknown => "",
        };
        format!("{}{unit}{suffix}", self.name)
    }
}

/// Every family, in the order of the page.
pub static ALL: LazyLock<Vec<&'static Family>> =
    LazyLock::new(|| MEASURED.iter().copied().chain(OBJECTIVES.iter()).collect());

/// The families of the objectives, one for each objective of the configuration.
static OBJECTIVES: LazyLock<Vec<Family>> = LazyLock::new(|| {
    let objectives = Objectives::ALL.iter().flat_map(|(_, objectives)| objectives.iter());
    objectives
        .map(|objective| Family {
            name: objective.metric,
            unit: objective.is_duration.then_some(Unit::Seconds),
            kind: MetricType::Gauge,
            help: objective.help,
            buckets: None,
        })
        .collect()
});

/// The family of an objective.
pub(super) fn of_objective(objective: &Objective) -> Option<&'static Family> {
    OBJECTIVES.iter().find(|family| family.name == objective.metric)
}

/// The family of a gauge of [`QueueFacts`](crate::sample::QueueFacts).
pub(super) fn of_gauge(gauge: &str) -> Option<&'static Family> {
    let name = gauge.trim_end_matches("_ms");
    MEASURED.iter().copied().find(|family| family.name.strip_prefix("sqlqueue_") == Some(name))
}

macro_rules! families {
    ($( $(#[$meta:meta])* $id:ident = $kind:ident $name:literal $([$unit:expr])? $({$buckets:expr})? : $help:literal; )*) => {
        $(
            #[doc = $help]
            pub static $id: Family = Family {
                name: $name,
                unit: families!(@some $($unit)?),
                kind: MetricType::$kind,
                help: $help,
                buckets: families!(@some $($buckets)?),
            };
        )*
        /// Every family but those of the objectives.
        static MEASURED: &[&Family] = &[$(&$id),*];
    };
    (@some) => { None };
    (@some $value:expr) => { Some($value) };
}

families! {
    JOBS = Gauge "sqlqueue_jobs":
        "Jobs by state, as derived from their rows. A state that the table cannot show has no series.";
    OLDEST_READY_AGE = Gauge "sqlqueue_oldest_ready_age" [Unit::Seconds]:
        "Age of the oldest ready job since it was both enqueued and available, by the database's clock. 0 when none is ready; absent when the table stores no time.";
    EXPIRED_LEASES = Gauge "sqlqueue_expired_leases":
        "Unfinished jobs whose lease has lapsed, regardless of their attempts.";
    OLDEST_EXPIRED_LEASE = Gauge "sqlqueue_oldest_expired_lease" [Unit::Seconds]:
        "Time since the earliest of the lapsed leases lapsed. 0 when there are none.";
    LONGEST_RUNNING = Gauge "sqlqueue_longest_running" [Unit::Seconds]:
        "Age of the longest-running attempt. 0 when nothing is running; absent when the table does not store when attempts begin.";
    RETRYING_JOBS = Gauge "sqlqueue_retrying_jobs":
        "Unfinished jobs that were tried before, whatever their current state.";
    MAX_ATTEMPTS = Gauge "sqlqueue_max_attempts":
        "The highest attempt count among unfinished jobs. 0 when there are none.";
    FUTURE_TIMESTAMP_ROWS = Gauge "sqlqueue_future_timestamp_rows":
        "Unfinished jobs whose enqueue time is in the future, which points to a wrong time zone or clock.";
    ENQUEUED = Counter "sqlqueue_enqueued":
        "Jobs enqueued, each counted once.";
    ATTEMPTS = Counter "sqlqueue_attempts":
        "Finished attempts at jobs by outcome, each counted once.";
    RETRIES = Counter "sqlqueue_retries":
        "Finished attempts that were not the first at their job.";
    COMPLETION_DELAY = Histogram "sqlqueue_completion_delay" [Unit::Seconds] {&histogram::WORK}:
        "Time from the enqueuing of a job to the end of its successful attempt.";
    ATTEMPT_DURATION = Histogram "sqlqueue_attempt_duration" [Unit::Seconds] {&histogram::WORK}:
        "Duration of attempts with the outcome ok or error. Lost attempts are excluded.";
    LEASE_RECLAIMS = Counter "sqlqueue_lease_reclaims":
        "Jobs taken away from a worker because their lease lapsed: all of them if there is an attempt history, otherwise those found by comparing samples.";
    RUN_STEPS = Counter "sqlqueue_run_steps":
        "Run-log rows by step and outcome, each counted once.";
    RUN_STEP_DURATION = Histogram "sqlqueue_run_step_duration" [Unit::Seconds] {&histogram::WORK}:
        "Duration of steps. Skipped steps are excluded.";
    RUN_STEP_CANDIDATES = Counter "sqlqueue_run_step_candidates":
        "Candidates found by steps.";
    RUN_CONSECUTIVE_SKIPS = Gauge "sqlqueue_run_consecutive_skips":
        "Runs skipped since the last run that was not skipped.";
    RUN_LAST_START = Gauge "sqlqueue_run_last_start_timestamp" [Unit::Seconds]:
        "Start time of the newest row of a step, skipped or not. Shows whether the scheduler is alive.";
    RUN_LAST_SUCCESS = Gauge "sqlqueue_run_last_success_timestamp" [Unit::Seconds]:
        "End time of the newest row of a step with the outcome ok or warning.";
    RUN_LAST_ERROR = Gauge "sqlqueue_run_last_error_timestamp" [Unit::Seconds]:
        "End time of the newest row of a step with the outcome error. Absent when there is none.";
    RUN_IN_PROGRESS = Gauge "sqlqueue_run_in_progress" [Unit::Seconds]:
        "How long the longest-running execution of a step has been running, for logs that write a row when a step begins. 0 when the step is not running.";
    RUN_LOCK_HELD = Gauge "sqlqueue_run_lock_held":
        "1 when the application lock of the runs is held, else 0.";
    RUN_LOCK_HELD_DURATION = Gauge "sqlqueue_run_lock_held" [Unit::Seconds]:
        "How long every sample has found the application lock held. 0 when it is free.";
    RUN_LOG_OLDEST_ROW = Gauge "sqlqueue_run_log_oldest_row_timestamp" [Unit::Seconds]:
        "Start time of the oldest row in the run log. Shows whether retention works.";
    NOTIFICATIONS = Counter "sqlqueue_notifications":
        "Notifications written to the control table, each counted once.";
    NOTIFICATION_LAST = Gauge "sqlqueue_notification_last_timestamp" [Unit::Seconds]:
        "Time of the newest notification of a kind.";
    UP = Gauge "sqlqueue_up":
        "1 when the database answered the last time it was queried, else 0. Absent before the first query.";
    SAMPLES = Counter "sqlqueue_samples":
        "Successful samples of a target.";
    SAMPLE_ERRORS = Counter "sqlqueue_sample_errors":
        "Failed samples of a target by reason.";
    SAMPLE_DURATION = Histogram "sqlqueue_sample_duration" [Unit::Seconds] {&histogram::SAMPLE}:
        "Duration of the statement of a target, successful or not.";
    LAST_SAMPLE = Gauge "sqlqueue_last_sample_timestamp" [Unit::Seconds]:
        "Time of the last successful sample of a target, by the exporter's clock.";
    STALE_AFTER = Gauge "sqlqueue_stale_after" [Unit::Seconds]:
        "Age of the last successful sample above which the gauges of a target are withdrawn, as configured.";
    CLOCK_SKEW = Gauge "sqlqueue_clock_skew" [Unit::Seconds]:
        "The database's clock minus the exporter's.";
    LATE_ROWS = Counter "sqlqueue_late_rows":
        "Log rows that became visible after a row with a higher id was read.";
    DROPPED_LABEL_VALUES = Counter "sqlqueue_dropped_label_values":
        "Times a label value was exported as other because the target has too many values.";
    BUILD_INFO = Info "sqlqueue_exporter_build":
        "Version of the exporter and the commit it was built from.";
    CONFIG_RELOAD_SUCCESSFUL = Gauge "sqlqueue_exporter_config_last_reload_successful":
        "1 when the configuration was last loaded successfully, else 0.";
    CONFIG_RELOAD_TIMESTAMP = Gauge "sqlqueue_exporter_config_last_reload_success_timestamp" [Unit::Seconds]:
        "Time of the last successful load of the configuration.";
    STATE_SAVE_SUCCESSFUL = Gauge "sqlqueue_exporter_state_last_save_successful":
        "1 when the state file was last read or saved successfully, else 0. Absent without a state file.";
    STATE_SAVE_TIMESTAMP = Gauge "sqlqueue_exporter_state_last_save_success_timestamp" [Unit::Seconds]:
        "Time of the last successful save of the state file.";
    PROCESS_CPU = Counter "process_cpu" [Unit::Seconds]:
        "Total user and system CPU time spent in seconds.";
    PROCESS_OPEN_FDS = Gauge "process_open_fds":
        "Number of open file descriptors.";
    PROCESS_MAX_FDS = Gauge "process_max_fds":
        "Maximum number of open file descriptors.";
    PROCESS_VIRTUAL_MEMORY = Gauge "process_virtual_memory" [Unit::Bytes]:
        "Virtual memory size in bytes.";
    PROCESS_RESIDENT_MEMORY = Gauge "process_resident_memory" [Unit::Bytes]:
        "Resident memory size in bytes.";
    PROCESS_START_TIME = Gauge "process_start_time" [Unit::Seconds]:
        "Start time of the process since unix epoch in seconds.";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::QueueFacts;

    #[test]
    fn every_gauge_of_a_queue_has_a_family() {
        for (gauge, _) in QueueFacts::default().gauges() {
            let unit = of_gauge(gauge).map(|family| family.unit.is_some());
            assert_eq!(unit, Some(gauge.ends_with("_ms")), "{gauge}");
        }
    }
}
