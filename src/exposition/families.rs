//! The metric families: name, unit, type and help of each, and nowhere else.
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
    /// What the type is.
    pub kind: MetricType,
    /// What a reader of `/metrics` is told. One line, without quotes and backslashes: the
    /// OpenMetrics encoder does not escape them.
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

/// The families of the objectives, one for each of the configuration's table.
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
                unit: families!(@unit $($unit)?),
                kind: MetricType::$kind,
                help: $help,
                buckets: families!(@buckets $($buckets)?),
            };
        )*
        /// Every family but those of the objectives.
        static MEASURED: &[&Family] = &[$(&$id),*];
    };
    (@unit) => { None };
    (@unit $unit:expr) => { Some($unit) };
    (@buckets) => { None };
    (@buckets $buckets:expr) => { Some($buckets) };
}

families! {
    JOBS = Gauge "sqlqueue_jobs":
        "Jobs by state, as derived from their rows. A state that the table cannot show has no series.";
    OLDEST_READY_AGE = Gauge "sqlqueue_oldest_ready_age" [Unit::Seconds]:
        "Age of the oldest ready job since it was both enqueued and available, by the database's clock. 0 when none is ready, absent when the table has no time.";
    EXPIRED_LEASES = Gauge "sqlqueue_expired_leases":
        "Unfinished jobs whose lease has lapsed, whatever their attempts.";
    OLDEST_EXPIRED_LEASE = Gauge "sqlqueue_oldest_expired_lease" [Unit::Seconds]:
        "Time since the first of the lapsed leases lapsed. 0 when none has.";
    LONGEST_RUNNING = Gauge "sqlqueue_longest_running" [Unit::Seconds]:
        "Age of the longest running attempt. 0 when nothing runs, absent when the table does not say when attempts begin.";
    RETRYING_JOBS = Gauge "sqlqueue_retrying_jobs":
        "Unfinished jobs that were tried before, in whatever state they are now.";
    MAX_ATTEMPTS = Gauge "sqlqueue_max_attempts":
        "The highest attempt count among unfinished jobs. 0 when there are none.";
    FUTURE_TIMESTAMP_ROWS = Gauge "sqlqueue_future_timestamp_rows":
        "Unfinished jobs that claim to have been enqueued in the future: a wrong time zone or clock.";
    ENQUEUED = Counter "sqlqueue_enqueued":
        "Jobs put into the queue, each counted once.";
    ATTEMPTS = Counter "sqlqueue_attempts":
        "Attempts at jobs that ended, by outcome, each counted once.";
    RETRIES = Counter "sqlqueue_retries":
        "Attempts that ended and were not the first at their job.";
    COMPLETION_DELAY = Histogram "sqlqueue_completion_delay" [Unit::Seconds] {&histogram::WORK}:
        "Time from the enqueuing of a job to the end of the attempt that did it.";
    ATTEMPT_DURATION = Histogram "sqlqueue_attempt_duration" [Unit::Seconds] {&histogram::WORK}:
        "Duration of attempts that ended ok or with an error. Lost attempts are not durations.";
    LEASE_RECLAIMS = Counter "sqlqueue_lease_reclaims":
        "Jobs taken away because their lease lapsed: every one where there is an attempt history, else those that two samples tell of.";
    RUN_STEPS = Counter "sqlqueue_run_steps":
        "Rows of the run log by step and outcome, each counted once.";
    RUN_STEP_DURATION = Histogram "sqlqueue_run_step_duration" [Unit::Seconds] {&histogram::WORK}:
        "Duration of steps that ran. Skipped runs are not durations.";
    RUN_STEP_CANDIDATES = Counter "sqlqueue_run_step_candidates":
        "Candidates that steps found.";
    RUN_CONSECUTIVE_SKIPS = Gauge "sqlqueue_run_consecutive_skips":
        "Runs skipped since the last run that was not.";
    RUN_LAST_START = Gauge "sqlqueue_run_last_start_timestamp" [Unit::Seconds]:
        "Start of the newest row of a step, skipped ones included: it tells that the scheduler lives.";
    RUN_LAST_SUCCESS = Gauge "sqlqueue_run_last_success_timestamp" [Unit::Seconds]:
        "End of the newest row of a step that ended ok or with a warning.";
    RUN_LAST_ERROR = Gauge "sqlqueue_run_last_error_timestamp" [Unit::Seconds]:
        "End of the newest row of a step that ended with an error. Absent when there is none.";
    RUN_IN_PROGRESS = Gauge "sqlqueue_run_in_progress" [Unit::Seconds]:
        "For logs that write a row when a step begins: for how long the longest running step has been running. 0 when it is not.";
    RUN_LOCK_HELD = Gauge "sqlqueue_run_lock_held":
        "1 when somebody holds the application lock of the runs, else 0.";
    RUN_LOCK_HELD_DURATION = Gauge "sqlqueue_run_lock_held" [Unit::Seconds]:
        "For how long every sample has found the application lock held. 0 when it is free.";
    RUN_LOG_OLDEST_ROW = Gauge "sqlqueue_run_log_oldest_row_timestamp" [Unit::Seconds]:
        "Start of the oldest row that the run log holds: it tells that retention works.";
    NOTIFICATIONS = Counter "sqlqueue_notifications":
        "Notifications written to the control table, each counted once.";
    NOTIFICATION_LAST = Gauge "sqlqueue_notification_last_timestamp" [Unit::Seconds]:
        "When the newest notification of a kind was written.";
    UP = Gauge "sqlqueue_up":
        "1 when the database answered the last time it was asked, else 0. Absent before the first time.";
    SAMPLES = Counter "sqlqueue_samples":
        "Good samples of a target.";
    SAMPLE_ERRORS = Counter "sqlqueue_sample_errors":
        "Failed samples of a target, by reason.";
    SAMPLE_DURATION = Histogram "sqlqueue_sample_duration" [Unit::Seconds] {&histogram::SAMPLE}:
        "How long the statement of a target took, good or not.";
    LAST_SAMPLE = Gauge "sqlqueue_last_sample_timestamp" [Unit::Seconds]:
        "When the last good sample of a target was taken, by the exporter's clock.";
    STALE_AFTER = Gauge "sqlqueue_stale_after" [Unit::Seconds]:
        "As configured: how old the last good sample of a target may be before its gauges are withdrawn.";
    CLOCK_SKEW = Gauge "sqlqueue_clock_skew" [Unit::Seconds]:
        "The database's clock minus the exporter's.";
    LATE_ROWS = Counter "sqlqueue_late_rows":
        "Log rows that became visible after a row with a higher id was read.";
    DROPPED_LABEL_VALUES = Counter "sqlqueue_dropped_label_values":
        "Times a label value was exported as other because the target has too many of them.";
    BUILD_INFO = Info "sqlqueue_exporter_build":
        "The version of this program and the commit that it was built from.";
    CONFIG_RELOAD_SUCCESSFUL = Gauge "sqlqueue_exporter_config_last_reload_successful":
        "1 when the last reading of the configuration went well, else 0.";
    CONFIG_RELOAD_TIMESTAMP = Gauge "sqlqueue_exporter_config_last_reload_success_timestamp" [Unit::Seconds]:
        "When the configuration was last read with success.";
    STATE_SAVE_SUCCESSFUL = Gauge "sqlqueue_exporter_state_last_save_successful":
        "1 when the state file was last read or saved well, else 0. Absent without a state file.";
    STATE_SAVE_TIMESTAMP = Gauge "sqlqueue_exporter_state_last_save_success_timestamp" [Unit::Seconds]:
        "When the state file was last saved with success.";
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
