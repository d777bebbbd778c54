//! Sampling statistics: the successes, failures and durations of a target's samples.

use std::collections::BTreeMap;
use std::time::Duration;

use super::histogram::{self, Histogram};
use crate::source::{Reason, SourceError};

/// The sampling statistics of one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SamplingState {
    /// Successful samples.
    pub samples: u64,
    /// Failed samples, by reason; every reason is there.
    pub errors: BTreeMap<Reason, u64>,
    /// How long samples took, successful or not, without connecting.
    pub duration: Histogram,
    /// When the last good sample was taken, by the exporter's clock, ms since the epoch.
    pub last_good_ms: Option<i64>,
    /// The same by the monotonic clock; not saved.
    pub last_good: Option<Duration>,
    /// Failed samples since the last good one.
    pub failed_in_a_row: u64,
    /// Good samples in a row that had no room for all missing ids.
    pub crowded_in_a_row: u64,
    /// The last failed sample.
    pub last_error: Option<LastError>,
}

/// Why a sample failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastError {
    /// The kind of failure.
    pub reason: Reason,
    /// The server's message: it can name things of the configuration and of the server, but never holds a
    /// secret. `None` if it may quote a stored row, which only the log may show.
    pub message: Option<String>,
    /// When it failed, by the exporter's clock, ms since the epoch.
    pub at_ms: i64,
}

impl Default for SamplingState {
    fn default() -> Self {
        Self {
            samples: 0,
            errors: Reason::ALL.into_iter().map(|reason| (reason, 0)).collect(),
            duration: Histogram::new(&histogram::SAMPLE),
            last_good_ms: None,
            last_good: None,
            failed_in_a_row: 0,
            crowded_in_a_row: 0,
            last_error: None,
        }
    }
}

impl SamplingState {
    /// Counts a good sample that took `duration` and ended at these readings of the clocks.
    pub fn good(&mut self, duration: Duration, unix_ms: i64, monotonic: Duration) {
        self.samples += 1;
        self.observe(duration);
        self.last_good_ms = Some(unix_ms);
        self.last_good = Some(monotonic);
        self.failed_in_a_row = 0;
    }

    /// Counts a sample that failed at `unix_ms`; `duration` is `None` when no statement was sent.
    pub fn failed(&mut self, error: &SourceError, duration: Option<Duration>, unix_ms: i64) {
        *self.errors.entry(error.reason).or_default() += 1;
        self.failed_in_a_row += 1;
        // The server quotes values that it cannot convert, and the decoder unexpected ones.
        let may_quote_a_row = matches!(error.reason, Reason::Decode | Reason::Other);
        let message = (!may_quote_a_row).then(|| error.message.clone());
        self.last_error = Some(LastError { reason: error.reason, message, at_ms: unix_ms });
        if let Some(duration) = duration {
            self.observe(duration);
        }
    }

    /// Notes whether a good sample had no room for all missing ids, and returns how many in a row had none.
    pub(crate) const fn crowded(&mut self, is_crowded: bool) -> u64 {
        self.crowded_in_a_row = if is_crowded { self.crowded_in_a_row + 1 } else { 0 };
        self.crowded_in_a_row
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_quote_a_row_is_not_kept() {
        for reason in Reason::ALL {
            let mut sampling = SamplingState::default();
            sampling.failed(&SourceError::new(reason, "the words"), None, 7);
            let kept = sampling.last_error.as_ref().and_then(|error| error.message.as_deref());
            let expected =
                if matches!(reason, Reason::Decode | Reason::Other) { None } else { Some("the words") };
            assert_eq!(kept, expected, "{reason:?}");
        }
    }

    #[test]
    fn a_good_sample_ends_a_row_of_failed_ones_and_keeps_the_last_error() {
        let mut sampling = SamplingState::default();
        let error = SourceError::new(Reason::Timeout, "too slow");
        sampling.failed(&error, None, 1);
        sampling.failed(&error, None, 2);
        assert_eq!(sampling.failed_in_a_row, 2);
        sampling.good(Duration::ZERO, 3, Duration::ZERO);
        assert_eq!(sampling.failed_in_a_row, 0);
        assert_eq!(sampling.last_error.map(|error| error.at_ms), Some(2));
    }
}
