//! How long whoever finds a queue empty waits before it asks again.

use std::time::Duration;

/// The bounded pause after an empty claim. It doubles with each one, so that an idle queue costs
/// little, up to a ceiling, so that the next job does not wait for long, and a claim that found
/// something sets it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdlePause {
    next: Duration,
}

impl IdlePause {
    /// After the first empty claim.
    pub const SHORTEST: Duration = Duration::from_millis(50);

    /// The ceiling.
    pub const LONGEST: Duration = Duration::from_millis(400);

    /// For a queue that was not asked yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { next: Self::SHORTEST }
    }

    /// The pause after one more empty claim.
    pub fn after_nothing(&mut self) -> Duration {
        let pause = self.next;
        self.next = pause.saturating_mul(2).min(Self::LONGEST);
        pause
    }

    /// Something was claimed.
    pub const fn reset(&mut self) {
        *self = Self::new();
    }
}

impl Default for IdlePause {
    fn default() -> Self {
        Self::new()
    }
}
