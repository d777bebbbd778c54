//! What there is to know of each incident: the same for the help, the guidance, the document and the
//! tests.

use std::time::Duration;

use super::Incident;

/// What there is to know of an incident.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// Its name on the command line.
    pub name: &'static str,
    /// What happens.
    pub happens: &'static str,
    /// The series that show it, as Prometheus selects them.
    pub series: &'static str,
    /// The series that those are held against, where there are any.
    pub against: Option<&'static str>,
    /// How long all should go well before it, at speed 1: what is held against the past needs one.
    pub after: Duration,
    /// After how long the condition of the alert holds, at speed 1.
    pub within: Duration,
    /// The alert that it leads to.
    pub alert: &'static str,
}

impl Incident {
    /// What there is to know of it.
    #[must_use]
    pub const fn facts(self) -> Facts {
        let (name, alert, within, happens, series, against) = match self {
            Self::NoWorkers => (
                "no-workers",
                "SqlQueueNoWorker",
                25,
                "every worker is shut down, and jobs keep coming",
                r#"sqlqueue_oldest_ready_age_seconds{queue="jobs"}"#,
                Some(r#"sqlqueue_objective_max_ready_age_seconds{queue="jobs"}"#),
            ),
            Self::StarvingJob => (
                "starving-job",
                "SqlQueueReadyJobTooOld",
                20,
                "one job has a time that workers misread, and they pass over it",
                r#"sqlqueue_oldest_ready_age_seconds{queue="jobs"}"#,
                Some(r#"sqlqueue_objective_max_ready_age_seconds{queue="jobs"}"#),
            ),
            Self::GrowingBacklog => (
                "growing-backlog",
                "SqlQueueBacklogGrowing",
                40,
                "more jobs come than the workers can do",
                r#"sqlqueue_oldest_ready_age_seconds{queue="jobs"}"#,
                Some(r#"sqlqueue_objective_max_ready_age_seconds{queue="jobs"}"#),
            ),
            Self::WorkerCrash => (
                "worker-crash",
                "SqlQueueLeasesLost",
                30,
                "workers die in the middle of many jobs, and are started again",
                r#"sqlqueue_attempts_total{queue="jobs",outcome="lost"}"#,
                Some(r#"sqlqueue_objective_max_lost_ratio{queue="jobs"}"#),
            ),
            Self::NoRecovery => (
                "no-recovery",
                "SqlQueueExpiredLeasesNotRecovered",
                60,
                "nobody takes jobs from workers that died",
                r#"sqlqueue_oldest_expired_lease_seconds{queue="jobs"}"#,
                Some(r#"sqlqueue_objective_max_expired_age_seconds{queue="jobs"}"#),
            ),
            Self::PoisonJob => (
                "poison-job",
                "SqlQueuePoisonJob",
                20,
                "one job fails again and again, and has no bound",
                r#"sqlqueue_max_attempts{queue="jobs"}"#,
                Some(r#"sqlqueue_objective_max_attempts{queue="jobs"}"#),
            ),
            Self::FailedJobs => (
                "failed-jobs",
                "SqlQueueFailedJobs",
                25,
                "every attempt at every job fails, and jobs are given up",
                r#"sqlqueue_jobs{queue="jobs",state="failed"}"#,
                Some(r#"sqlqueue_objective_max_failed_jobs{queue="jobs"}"#),
            ),
            Self::OverlappingRuns => (
                "overlapping-runs",
                "SqlQueueRunsOverlap",
                40,
                "runs take longer than the schedule leaves them",
                r#"sqlqueue_run_steps_total{step="run",outcome="skipped"}"#,
                Some("sqlqueue_objective_max_skip_ratio"),
            ),
            Self::OrphanedLock => (
                "orphaned-lock",
                "SqlQueueEveryRunSkipped",
                20,
                "a run is killed, and its session keeps the lock",
                "sqlqueue_run_consecutive_skips",
                Some("sqlqueue_objective_max_consecutive_skips"),
            ),
            Self::FailingStep => (
                "failing-step",
                "SqlQueueStepFailing",
                10,
                "the step orders fails in every run",
                r#"sqlqueue_run_last_error_timestamp_seconds{step="orders"}"#,
                Some(r#"sqlqueue_run_last_success_timestamp_seconds{step="orders"}"#),
            ),
            Self::SlowStep => (
                "slow-step",
                "SqlQueueStepSlow",
                40,
                "the step comments takes six times as long as before",
                r#"sqlqueue_run_step_duration_seconds_sum{step="comments"}"#,
                Some("sqlqueue_objective_max_slowdown_ratio"),
            ),
            Self::SchedulerStopped => (
                "scheduler-stopped",
                "SqlQueueSchedulerStopped",
                35,
                "nobody starts runs any more",
                "sqlqueue_run_last_start_timestamp_seconds",
                Some("sqlqueue_objective_max_run_gap_seconds"),
            ),
            Self::CapReached => (
                "cap-reached",
                "SqlQueueStepWarnings",
                50,
                "more orders come in than the runs may tell of",
                r#"sqlqueue_run_steps_total{step="orders",outcome="warning"}"#,
                Some("sqlqueue_objective_max_warning_ratio"),
            ),
            Self::RetentionStopped => (
                "retention-stopped",
                "SqlQueueRetentionStopped",
                180,
                "nobody prunes the run log",
                "sqlqueue_run_log_oldest_row_timestamp_seconds",
                Some("sqlqueue_objective_max_log_age_seconds"),
            ),
            Self::ClockSkew => (
                "clock-skew",
                "SqlQueueClockSkew",
                5,
                "the clock of the exporter's host is set ten seconds ahead",
                "sqlqueue_clock_skew_seconds",
                Some("sqlqueue_objective_max_clock_skew_seconds"),
            ),
            Self::BrokenTarget => (
                "broken-target",
                "SqlQueueTargetNotSampled",
                15,
                "a row of WorkQueue has a time that is none, and the table cannot be sampled",
                r#"sqlqueue_last_sample_timestamp_seconds{queue="work"}"#,
                Some(r#"sqlqueue_stale_after_seconds{queue="work"}"#),
            ),
            Self::DatabaseDown => (
                "database-down",
                "SqlQueueDatabaseDown",
                5,
                "the database file is gone from its place",
                "sqlqueue_up",
                None,
            ),
            Self::StateNotSaved => (
                "state-not-saved",
                "SqlQueueStateNotSaved",
                5,
                "a folder is in the place of the exporter's state file",
                "sqlqueue_exporter_state_last_save_successful",
                None,
            ),
        };
        let after = match self {
            Self::SlowStep => 100,
            _ => 30,
        };
        let (after, within) = (Duration::from_secs(after), Duration::from_secs(within));
        Facts { name, happens, series, against, after, within, alert }
    }
}
