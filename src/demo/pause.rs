//! Idle pauses: how long a consumer waits after it found the queue empty.

use std::time::Duration;

/// The pause after an empty claim. It doubles with each one, so that an idle queue costs little, up to a
/// limit, so that the next job does not wait for long. A claim that finds something resets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdlePause {
    next: Duration,
}

impl IdlePause {
    /// The pause after the first empty claim.
    pub const SHORTEST: Duration = Duration::from_millis(50);

    /// The longest pause.
    pub const LONGEST: Duration = Duration::from_millis(400);

    /// The pause before the first claim.
    #[must_use]
    pub const fn new() -> Self {
        Self { next: Self::SHORTEST }
    }

    /// Returns the pause after one more empty claim.
    pub fn after_nothing(&mut self) -> Duration {
        let pause = self.next;
        self.next = pause.saturating_mul(2).min(Self::LONGEST);
        pause
    }

    /// Resets the pause: something was claimed.
    pub const fn reset(&mut self) {
        *self = Self::new();
    }
}

impl Default for IdlePause {
    fn default() -> Self {
        Self::new()
    }
}
