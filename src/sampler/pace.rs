//! Pace: when a target is sampled next.

use std::time::Duration;

/// The longest pause after repeated failures, unless the interval itself is longer.
const MAX_PAUSE: Duration = Duration::from_secs(300);

/// The pause between two batches of a log that has more to read: a few batches a second.
const CATCH_UP_PAUSE: Duration = Duration::from_millis(250);

/// Draws a jitter between 0 and 1. Injected, so that tests can fix it.
pub type Jitter<'a> = &'a mut (dyn FnMut() -> f64 + Send);

/// The pace of one target: its interval while samples are good, exponential backoff while they fail.
#[derive(Debug, Clone)]
pub(super) struct Pace {
    interval: Duration,
    failures: u32,
    /// The next sample is due at this reading of the monotonic clock.
    pub(super) due: Duration,
}

impl Pace {
    /// Due at once, because `/-/ready` waits for the first pass.
    pub(super) const fn new(interval: Duration, now: Duration) -> Self {
        Self { interval, failures: 0, due: now }
    }

    /// A good sample ended at `now`. Slots that passed meanwhile are skipped, not made up for.
    pub(super) fn succeeded(&mut self, now: Duration, jitter: Jitter<'_>) {
        self.failures = 0;
        // Up to a tenth earlier or later, so that many targets do not stay in step.
        self.due = now + self.interval.mul_f64(0.9 + 0.2 * jitter());
    }

    /// A good sample ended at `now` and there is more to read: continue soon.
    pub(super) fn continues(&mut self, now: Duration) {
        self.failures = 0;
        self.due = now + self.interval.min(CATCH_UP_PAUSE);
    }

    /// A sample failed at `now`: the pause doubles with each failure, up to a ceiling.
    pub(super) fn failed(&mut self, now: Duration, jitter: Jitter<'_>) {
        let doubled = self.interval.saturating_mul(1 << self.failures.min(16));
        let pause = doubled.min(MAX_PAUSE.max(self.interval));
        self.failures = self.failures.saturating_add(1);
        // Between half and all of the pause, so that a recovering server is not stormed.
        self.due = now + pause.mul_f64(0.5 + 0.5 * jitter());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_good_sample_is_followed_by_one_interval_give_or_take_a_tenth() {
        let mut pace = Pace::new(SECOND * 10, Duration::ZERO);
        pace.succeeded(SECOND, &mut || 0.0);
        assert_eq!(pace.due, SECOND * 10);
        pace.succeeded(SECOND, &mut || 1.0);
        assert_eq!(pace.due, SECOND * 12);
    }

    #[test]
    fn pauses_double_up_to_the_ceiling_and_reset_with_the_first_good_sample() {
        let mut pace = Pace::new(SECOND * 15, Duration::ZERO);
        let mut pauses = Vec::new();
        for _ in 0..7 {
            pace.failed(Duration::ZERO, &mut || 1.0);
            pauses.push(pace.due.as_secs());
        }
        assert_eq!(pauses, [15, 30, 60, 120, 240, 300, 300]);
        pace.succeeded(Duration::ZERO, &mut || 0.5);
        pace.failed(Duration::ZERO, &mut || 1.0);
        assert_eq!(pace.due, SECOND * 15);
    }

    #[test]
    fn an_interval_above_the_ceiling_is_kept() {
        let mut pace = Pace::new(SECOND * 3600, Duration::ZERO);
        pace.failed(Duration::ZERO, &mut || 1.0);
        assert_eq!(pace.due, SECOND * 3600);
    }
}
