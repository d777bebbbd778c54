//! The clock of the exporter's host: an incident can set it wrong.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use crate::clock::{Clock, SharedClock};

/// A clock that can be set ahead of another.
#[derive(Debug)]
pub struct HostClock {
    right: SharedClock,
    ahead_ms: AtomicI64,
}

impl HostClock {
    /// A clock that shows the same time as the right one.
    #[must_use]
    pub fn new(right: SharedClock) -> Arc<Self> {
        Arc::new(Self { right, ahead_ms: AtomicI64::new(0) })
    }

    /// Sets the wall clock ahead by `ms` milliseconds; 0 sets it right again.
    pub(super) fn set_ahead(&self, ms: i64) {
        self.ahead_ms.store(ms, Ordering::SeqCst);
    }
}

impl Clock for HostClock {
    fn unix_ms(&self) -> i64 {
        self.right.unix_ms().saturating_add(self.ahead_ms.load(Ordering::SeqCst))
    }

    fn monotonic(&self) -> Duration {
        self.right.monotonic()
    }
}
