//! What there is to know of each incident: the same for the help, the guidance and the tests.

use std::time::Duration;

use super::Incident;

/// What there is to know of an incident.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// Its name on the command line.
    pub name: &'static str,
    /// What happens.
    pub happens: &'static str,
    /// What to look at.
    pub shows: &'static str,
    /// After how long it shows there, at speed 1.
    pub within: Duration,
    /// The alert that it leads to.
    pub alert: &'static str,
}

impl Incident {
    /// What there is to know of it.
    #[must_use]
    pub const fn facts(self) -> Facts {
        let (name, alert, seconds, happens, shows) = match self {
            Self::NoWorkers => (
                "no-workers",
                "SqlQueueNoWorker",
                25,
                "every worker is shut down, and jobs keep coming",
                "sqlqueue_oldest_ready_age_seconds of queue jobs above sqlqueue_objective_max_ready_age_seconds, while no job runs",
            ),
            Self::StarvingJob => (
                "starving-job",
                "SqlQueueReadyJobTooOld",
                20,
                "one job has a time that workers misread, and they pass over it",
                "sqlqueue_oldest_ready_age_seconds of queue jobs above sqlqueue_objective_max_ready_age_seconds, while others run",
            ),
            Self::GrowingBacklog => (
                "growing-backlog",
                "SqlQueueBacklogGrowing",
                60,
                "more jobs come than the workers can do",
                "sqlqueue_oldest_ready_age_seconds of queue jobs grows, at last above sqlqueue_objective_max_ready_age_seconds",
            ),
            Self::WorkerCrash => (
                "worker-crash",
                "SqlQueueLeasesLost",
                40,
                "workers die in the middle of many jobs, and are started again",
                "the share of outcome lost in sqlqueue_attempts_total of queue jobs above sqlqueue_objective_max_lost_ratio",
            ),
            Self::NoRecovery => (
                "no-recovery",
                "SqlQueueExpiredLeasesNotRecovered",
                60,
                "nobody takes jobs from workers that died",
                "sqlqueue_oldest_expired_lease_seconds of queue jobs above sqlqueue_objective_max_expired_age_seconds",
            ),
            Self::PoisonJob => (
                "poison-job",
                "SqlQueuePoisonJob",
                30,
                "one job fails again and again, and has no bound",
                "sqlqueue_max_attempts of queue jobs above sqlqueue_objective_max_attempts",
            ),
            Self::FailedJobs => (
                "failed-jobs",
                "SqlQueueFailedJobs",
                40,
                "every attempt at every job fails, and jobs are given up",
                "sqlqueue_jobs{state=\"failed\"} of queue jobs above sqlqueue_objective_max_failed_jobs",
            ),
            Self::OverlappingRuns => (
                "overlapping-runs",
                "SqlQueueRunsOverlap",
                60,
                "runs take longer than the schedule leaves them",
                "the share of outcome skipped in sqlqueue_run_steps_total of step run above sqlqueue_objective_max_skip_ratio",
            ),
            Self::OrphanedLock => (
                "orphaned-lock",
                "SqlQueueEveryRunSkipped",
                30,
                "a run is killed, and its session keeps the lock",
                "sqlqueue_run_consecutive_skips above sqlqueue_objective_max_consecutive_skips, and sqlqueue_run_lock_held_seconds grows",
            ),
            Self::FailingStep => (
                "failing-step",
                "SqlQueueStepFailing",
                10,
                "the step orders fails in every run",
                "sqlqueue_run_last_error_timestamp_seconds of step orders above sqlqueue_run_last_success_timestamp_seconds",
            ),
            Self::SlowStep => (
                "slow-step",
                "SqlQueueStepSlow",
                60,
                "the step comments takes six times as long as before",
                "the mean of sqlqueue_run_step_duration_seconds of step comments above sqlqueue_objective_max_slowdown_ratio times its past",
            ),
            Self::SchedulerStopped => (
                "scheduler-stopped",
                "SqlQueueSchedulerStopped",
                40,
                "nobody starts runs any more",
                "time() - sqlqueue_run_last_start_timestamp_seconds above sqlqueue_objective_max_run_gap_seconds",
            ),
            Self::CapReached => (
                "cap-reached",
                "SqlQueueStepWarnings",
                60,
                "more orders come in than the runs may tell of",
                "the share of outcome warning in sqlqueue_run_steps_total of step orders above sqlqueue_objective_max_warning_ratio",
            ),
            Self::RetentionStopped => (
                "retention-stopped",
                "SqlQueueRetentionStopped",
                460,
                "nobody prunes the run log",
                "time() - sqlqueue_run_log_oldest_row_timestamp_seconds above sqlqueue_objective_max_log_age_seconds",
            ),
            Self::ClockSkew => (
                "clock-skew",
                "SqlQueueClockSkew",
                5,
                "the clock of the exporter's host is set ten seconds ahead",
                "sqlqueue_clock_skew_seconds further from 0 than sqlqueue_objective_max_clock_skew_seconds",
            ),
            Self::BrokenTarget => (
                "broken-target",
                "SqlQueueTargetNotSampled",
                15,
                "a row of WorkQueue has a time that is none, and the table cannot be sampled",
                "time() - sqlqueue_last_sample_timestamp_seconds of queue work above sqlqueue_stale_after_seconds",
            ),
            Self::DatabaseDown => (
                "database-down",
                "SqlQueueDatabaseDown",
                5,
                "the database file is gone from its place",
                "sqlqueue_up is 0",
            ),
            Self::StateNotSaved => (
                "state-not-saved",
                "SqlQueueStateNotSaved",
                5,
                "a folder is in the place of the exporter's state file",
                "sqlqueue_exporter_state_last_save_successful is 0",
            ),
        };
        Facts { name, happens, shows, within: Duration::from_secs(seconds), alert }
    }
}
