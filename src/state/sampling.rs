//! How the sampling of a target goes.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::histogram::{self, Histogram};
use crate::source::Reason;

/// Counters about the sampling of one target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SamplingState {
    /// Good samples.
    pub samples: u64,
    /// Failed samples, by reason; every reason is there.
    pub errors: BTreeMap<Reason, u64>,
    /// How long samples took, good or not, connecting left out.
    pub duration: Histogram,
    /// When the last good sample was taken, by the exporter's clock, ms since the epoch.
    pub last_good_ms: Option<i64>,
    /// The same by the monotonic clock; a saved state does not carry it over.
    #[serde(skip)]
    pub last_good: Option<Duration>,
}

impl Default for SamplingState {
    fn default() -> Self {
        Self {
            samples: 0,
            errors: Reason::ALL.into_iter().map(|reason| (reason, 0)).collect(),
            duration: Histogram::new(&histogram::SAMPLE),
            last_good_ms: None,
            last_good: None,
        }
    }
}

impl SamplingState {
    /// Counts a good sample that took `duration` and ended at these readings of the clock.
    pub fn good(&mut self, duration: Duration, unix_ms: i64, monotonic: Duration) {
        self.samples += 1;
        self.observe(duration);
        self.last_good_ms = Some(unix_ms);
        self.last_good = Some(monotonic);
    }

    /// Counts a failed sample; `duration` is `None` when no statement was sent.
    pub fn failed(&mut self, reason: Reason, duration: Option<Duration>) {
        *self.errors.entry(reason).or_default() += 1;
        if let Some(duration) = duration {
            self.observe(duration);
        }
    }

    /// Whether a sample was tried.
    #[must_use]
    pub fn attempted(&self) -> bool {
        self.samples > 0 || self.errors.values().any(|count| *count > 0)
    }

    fn observe(&mut self, duration: Duration) {
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        self.duration.observe(&histogram::SAMPLE, micros);
    }
}
