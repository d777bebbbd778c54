//! Objectives as they are written. Numbers are taken as constants, because `none` is one.

use serde::Deserialize;

use crate::yaml::{Constant, Field};

/// The objectives of every kind of target.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(in crate::config) struct RawObjectives {
    pub(in crate::config) max_ready_age: Field<String>,
    pub(in crate::config) max_expired_age: Field<String>,
    pub(in crate::config) max_attempts: Field<Constant>,
    pub(in crate::config) max_failed_jobs: Field<Constant>,
    pub(in crate::config) max_lost_ratio: Field<Constant>,
    pub(in crate::config) max_run_gap: Field<String>,
    pub(in crate::config) max_consecutive_skips: Field<Constant>,
    pub(in crate::config) max_skip_ratio: Field<Constant>,
    pub(in crate::config) max_error_ratio: Field<Constant>,
    pub(in crate::config) max_warning_ratio: Field<Constant>,
    pub(in crate::config) max_slowdown: Field<Constant>,
    pub(in crate::config) max_log_age: Field<String>,
    pub(in crate::config) max_clock_skew: Field<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(in crate::config) struct RawSourceObjectives {
    pub(in crate::config) max_clock_skew: Field<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(in crate::config) struct RawQueueObjectives {
    pub(in crate::config) max_ready_age: Field<String>,
    pub(in crate::config) max_expired_age: Field<String>,
    pub(in crate::config) max_attempts: Field<Constant>,
    pub(in crate::config) max_failed_jobs: Field<Constant>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(in crate::config) struct RawAttemptLogObjectives {
    pub(in crate::config) max_lost_ratio: Field<Constant>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(in crate::config) struct RawRunLogObjectives {
    pub(in crate::config) max_run_gap: Field<String>,
    pub(in crate::config) max_consecutive_skips: Field<Constant>,
    pub(in crate::config) max_skip_ratio: Field<Constant>,
    pub(in crate::config) max_error_ratio: Field<Constant>,
    pub(in crate::config) max_warning_ratio: Field<Constant>,
    pub(in crate::config) max_slowdown: Field<Constant>,
    pub(in crate::config) max_log_age: Field<String>,
}

/// The objectives of every kind, each kind's own.
pub(in crate::config) struct RawByKind {
    pub(in crate::config) sources: RawSourceObjectives,
    pub(in crate::config) queues: RawQueueObjectives,
    pub(in crate::config) attempt_logs: RawAttemptLogObjectives,
    pub(in crate::config) run_logs: RawRunLogObjectives,
}

impl RawObjectives {
    pub(in crate::config) fn by_kind(self) -> RawByKind {
        RawByKind {
            sources: RawSourceObjectives { max_clock_skew: self.max_clock_skew },
            queues: RawQueueObjectives {
                max_ready_age: self.max_ready_age,
                max_expired_age: self.max_expired_age,
                max_attempts: self.max_attempts,
                max_failed_jobs: self.max_failed_jobs,
            },
            attempt_logs: RawAttemptLogObjectives { max_lost_ratio: self.max_lost_ratio },
            run_logs: RawRunLogObjectives {
                max_run_gap: self.max_run_gap,
                max_consecutive_skips: self.max_consecutive_skips,
                max_skip_ratio: self.max_skip_ratio,
                max_error_ratio: self.max_error_ratio,
                max_warning_ratio: self.max_warning_ratio,
                max_slowdown: self.max_slowdown,
                max_log_age: self.max_log_age,
            },
        }
    }
}
