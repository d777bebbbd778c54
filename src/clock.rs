//! Clocks: logic takes a [`Clock`]; only this file reads the machine's.
//!
//! The exporter's clock is never compared with a column of a watched table: ages are computed by the
//! database's own clock. The exporter's serves for freshness, pacing and the skew gauge.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A source of wall-clock and monotonic time.
pub trait Clock: Debug + Send + Sync + 'static {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    fn unix_ms(&self) -> i64;

    /// Time since an arbitrary, fixed moment; never goes backwards.
    fn monotonic(&self) -> Duration;
}

/// A shared clock.
pub type SharedClock = Arc<dyn Clock>;

/// The machine's clock.
#[derive(Debug)]
pub struct SystemClock {
    started: Instant,
}

impl SystemClock {
    /// The machine's clock; its monotonic time starts now.
    #[must_use]
    pub fn shared() -> SharedClock {
        Arc::new(Self { started: Instant::now() })
    }
}

impl Clock for SystemClock {
    fn unix_ms(&self) -> i64 {
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |ms| -ms),
        }
    }

    fn monotonic(&self) -> Duration {
        self.started.elapsed()
    }
}

/// A clock that stands still until it is advanced: for tests and repeatable runs.
#[derive(Debug)]
pub struct ManualClock {
    start_ms: i64,
    elapsed_ms: AtomicI64,
}

impl ManualClock {
    /// A clock that shows `unix_ms` until [`ManualClock::advance`] moves it.
    #[must_use]
    pub fn at(unix_ms: i64) -> Arc<Self> {
        Arc::new(Self { start_ms: unix_ms, elapsed_ms: AtomicI64::new(0) })
    }

    /// Moves both the wall clock and the monotonic clock forward.
    pub fn advance(&self, by: Duration) {
        let ms = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        self.elapsed_ms.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn unix_ms(&self) -> i64 {
        self.start_ms.saturating_add(self.elapsed_ms.load(Ordering::SeqCst))
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(u64::try_from(self.elapsed_ms.load(Ordering::SeqCst)).unwrap_or(0))
    }
}
