//! Incidents: things that go wrong with queues and runs, on purpose.
//!
//! An incident is a variation of the workload: somebody stops working, works badly, or leaves
//! something in a table or a folder. The exporter is unchanged and knows nothing of it.

pub(super) mod files;

use std::time::Duration;

/// An incident with its start and its end, in real time whatever the demo's speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Episode {
    /// What goes wrong.
    pub incident: Incident,
    /// How long all goes well first.
    pub after: Duration,
    /// How long it lasts; `None`: until the demo is stopped.
    pub lasting: Option<Duration>,
}

/// The facts about one incident.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// Its name on the command line.
    pub name: &'static str,
    /// What happens.
    pub happens: &'static str,
    /// The series that show it, as Prometheus selects them.
    pub series: &'static str,
    /// The series they are compared with, if any.
    pub against: Option<&'static str>,
    /// How long all should go well first, at speed 1: some alerts compare with the past.
    pub after: Duration,
    /// How long it takes for the alert's condition to hold, at speed 1.
    pub within: Duration,
    /// The alert it leads to.
    pub alert: &'static str,
}

/// The enum of incidents and the facts about each; times are in seconds at speed 1.
macro_rules! incidents {
    ($($incident:ident $name:literal: $happens:literal, shown by $series:literal against $against:expr,
        alert $alert:literal within $within:literal after $after:literal;)+) => {
        /// Something that goes wrong.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Incident {
            $(#[doc = $happens] $incident,)+
        }

        impl Incident {
            /// Every incident, in the order of the help.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$incident),+];

            /// The facts about this incident.
            #[must_use]
            pub const fn facts(self) -> Facts {
                match self {
                    $(Self::$incident => Facts {
                        name: $name,
                        happens: $happens,
                        series: $series,
                        against: $against,
                        after: Duration::from_secs($after),
                        within: Duration::from_secs($within),
                        alert: $alert,
                    },)+
                }
            }
        }
    };
}

incidents! {
    NoWorkers "no-workers": "every worker is shut down while jobs keep coming",
        shown by r#"sqlqueue_oldest_ready_age_seconds{queue="jobs"}"#
        against Some(r#"sqlqueue_objective_max_ready_age_seconds{queue="jobs"}"#),
        alert "SqlQueueNoWorker" within 25 after 30;
    StarvingJob "starving-job": "workers misread the time of one job and pass it over",
        shown by r#"sqlqueue_oldest_ready_age_seconds{queue="jobs"}"#
        against Some(r#"sqlqueue_objective_max_ready_age_seconds{queue="jobs"}"#),
        alert "SqlQueueReadyJobTooOld" within 20 after 30;
    GrowingBacklog "growing-backlog": "more jobs arrive than the workers can handle",
        shown by r#"sqlqueue_oldest_ready_age_seconds{queue="jobs"}"#
        against Some(r#"sqlqueue_objective_max_ready_age_seconds{queue="jobs"}"#),
        alert "SqlQueueBacklogGrowing" within 40 after 30;
    WorkerCrash "worker-crash": "workers die in the middle of many jobs and are restarted",
        shown by r#"sqlqueue_attempts_total{queue="jobs",outcome="lost"}"#
        against Some(r#"sqlqueue_objective_max_lost_ratio{queue="jobs"}"#),
        alert "SqlQueueLeasesLost" within 30 after 30;
    NoRecovery "no-recovery": "nobody recovers the jobs of workers that died",
        shown by r#"sqlqueue_oldest_expired_lease_seconds{queue="jobs"}"#
        against Some(r#"sqlqueue_objective_max_expired_age_seconds{queue="jobs"}"#),
        alert "SqlQueueExpiredLeasesNotRecovered" within 60 after 30;
    PoisonJob "poison-job": "one job fails again and again, with no limit on its attempts",
        shown by r#"sqlqueue_max_attempts{queue="jobs"}"#
        against Some(r#"sqlqueue_objective_max_attempts{queue="jobs"}"#),
        alert "SqlQueuePoisonJob" within 20 after 30;
    FailedJobs "failed-jobs": "every attempt at every job fails, and jobs are given up",
        shown by r#"sqlqueue_jobs{queue="jobs",state="failed"}"#
        against Some(r#"sqlqueue_objective_max_failed_jobs{queue="jobs"}"#),
        alert "SqlQueueFailedJobs" within 25 after 30;
    OverlappingRuns "overlapping-runs": "runs take longer than the schedule allows",
        shown by r#"sqlqueue_run_steps_total{step="run",outcome="skipped"}"#
        against Some("sqlqueue_objective_max_skip_ratio"),
        alert "SqlQueueRunsOverlap" within 40 after 30;
    OrphanedLock "orphaned-lock": "a run is killed, and its session keeps the lock",
        shown by "sqlqueue_run_consecutive_skips" against Some("sqlqueue_objective_max_consecutive_skips"),
        alert "SqlQueueEveryRunSkipped" within 20 after 30;
    FailingStep "failing-step": "the step orders fails in every run",
        shown by r#"sqlqueue_run_last_error_timestamp_seconds{step="orders"}"#
        against Some(r#"sqlqueue_run_last_success_timestamp_seconds{step="orders"}"#),
        alert "SqlQueueStepFailing" within 10 after 30;
    SlowStep "slow-step": "the step comments takes six times as long as before",
        shown by r#"sqlqueue_run_step_duration_seconds_sum{step="comments"}"#
        against Some("sqlqueue_objective_max_slowdown_ratio"),
        alert "SqlQueueStepSlow" within 40 after 100;
    SchedulerStopped "scheduler-stopped": "nobody starts runs any more",
        shown by "sqlqueue_run_last_start_timestamp_seconds"
        against Some("sqlqueue_objective_max_run_gap_seconds"),
        alert "SqlQueueSchedulerStopped" within 35 after 30;
    CapReached "cap-reached": "more orders come in than a run may announce",
        shown by r#"sqlqueue_run_steps_total{step="orders",outcome="warning"}"#
        against Some("sqlqueue_objective_max_warning_ratio"),
        alert "SqlQueueStepWarnings" within 50 after 30;
    RetentionStopped "retention-stopped": "nobody prunes the run log",
        shown by "sqlqueue_run_log_oldest_row_timestamp_seconds"
        against Some("sqlqueue_objective_max_log_age_seconds"),
        alert "SqlQueueRetentionStopped" within 180 after 30;
    ClockSkew "clock-skew": "the clock of the exporter's host is set ten seconds ahead",
        shown by "sqlqueue_clock_skew_seconds" against Some("sqlqueue_objective_max_clock_skew_seconds"),
        alert "SqlQueueClockSkew" within 5 after 30;
    BrokenTarget "broken-target": "a row of WorkQueue holds an invalid time, and the table cannot be sampled",
        shown by r#"sqlqueue_last_sample_timestamp_seconds{queue="work"}"#
        against Some(r#"sqlqueue_stale_after_seconds{queue="work"}"#),
        alert "SqlQueueTargetNotSampled" within 15 after 30;
    DatabaseDown "database-down": "the database file is moved away",
        shown by "sqlqueue_up" against None,
        alert "SqlQueueDatabaseDown" within 5 after 30;
    StateNotSaved "state-not-saved": "a folder stands where the exporter's state file belongs",
        shown by "sqlqueue_exporter_state_last_save_successful" against None,
        alert "SqlQueueStateNotSaved" within 5 after 30;
}
