//! Objectives: what a target is meant to keep to. The exporter shows them beside what it measures, so
//! that one alert rule serves every target.

use std::time::Duration;

/// The objectives of whatever has none of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Objectives {
    /// Of sources.
    pub sources: SourceObjectives,
    /// Of queues.
    pub queues: QueueObjectives,
    /// Of attempt logs.
    pub attempt_logs: AttemptLogObjectives,
    /// Of run logs.
    pub run_logs: RunLogObjectives,
}

/// The objectives of a source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SourceObjectives {
    /// How far the database's clock and the exporter's may be apart, either way.
    pub max_clock_skew: Option<Duration>,
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

/// The objectives of an attempt log; `None` as for a queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AttemptLogObjectives {
    /// What share of the attempts may be lost with their lease.
    pub max_lost_ratio: Option<Ratio>,
}

/// The objectives of a run log; `None` where there is none, or where the log could not be held to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunLogObjectives {
    /// How long ago the newest step may have begun.
    pub max_run_gap: Option<Duration>,
    /// How many runs in a row may be skipped.
    pub max_consecutive_skips: Option<u32>,
    /// What share of the runs may be skipped.
    pub max_skip_ratio: Option<Ratio>,
    /// What share of a step's rows may be errors.
    pub max_error_ratio: Option<Ratio>,
    /// What share of a step's rows may be warnings.
    pub max_warning_ratio: Option<Ratio>,
    /// How many times as long as in its own past a step may take.
    pub max_slowdown: Option<Ratio>,
    /// How old the oldest row may become.
    pub max_log_age: Option<Duration>,
}

/// A ratio, to the millionth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ratio {
    millionths: u32,
}

impl Ratio {
    const ONE: u32 = 1_000_000;

    /// A ratio of so many hundredths.
    #[must_use]
    pub const fn percent(hundredths: u16) -> Self {
        Self { millionths: hundredths as u32 * (Self::ONE / 100) }
    }

    /// The ratio next to a number; `None` when it is below 0 or above 4000.
    #[must_use]
    pub fn near(number: f64) -> Option<Self> {
        let millionths = (number * f64::from(Self::ONE)).round();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the range")]
        (0.0..=4e9).contains(&millionths).then_some(Self { millionths: millionths as u32 })
    }

    /// The ratio as a number.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        f64::from(self.millionths) / f64::from(Self::ONE)
    }
}
