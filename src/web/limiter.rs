//! Rate limit: a token bucket for requests.

use std::sync::{Mutex, PoisonError};

use tokio::time::Instant;

use super::config::RateLimit;

/// Admits a burst of requests, and then one per interval.
#[derive(Debug)]
pub(super) struct Limiter {
    pub(super) limit: RateLimit,
    /// When the admitted requests would have finished, had each taken one interval; at most a whole
    /// burst ahead of now.
    busy_until: Mutex<Instant>,
}

impl Limiter {
    pub(super) fn new(limit: RateLimit) -> Self {
        Self { limit, busy_until: Mutex::new(Instant::now()) }
    }

    /// Whether to answer a request that arrives at `now`.
    pub(super) fn admits(&self, now: Instant) -> bool {
        let mut busy_until = self.busy_until.lock().unwrap_or_else(PoisonError::into_inner);
        let after = (*busy_until).max(now) + self.limit.interval;
        let admitted = after.duration_since(now) <= self.limit.interval.saturating_mul(self.limit.burst);
        if admitted {
            *busy_until = after;
        }
        admitted
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_burst_is_let_through_and_then_one_with_each_interval() {
        let interval = Duration::from_secs(2);
        let limiter = Limiter::new(RateLimit { interval, burst: 3 });
        let start = Instant::now();
        let admitted = |seconds: f64| limiter.admits(start + Duration::from_secs_f64(seconds));
        let times = [0.0, 0.0, 0.5, 0.5, 1.9, 2.0, 2.1, 4.0, 4.0, 100.0, 100.0, 100.0, 100.0];
        let expected = [true, true, true, false, false, true, false, true, false, true, true, true, false];
        assert_eq!(times.map(admitted), expected);
    }
}
