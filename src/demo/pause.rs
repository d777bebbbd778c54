//! Idle pauses: how long a consumer waits after it found the queue empty.

use std::time::Duration;

/// The pause after an empty claim. It doubles with each one, so that an idle queue costs little, up to a
/// limit, so that the next job does not wait for long. A claim that finds something resets it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IdlePause {
    empty_claims: u32,
}

impl IdlePause {
    /// The pause after the first empty claim.
    pub const SHORTEST: Duration = Duration::from_millis(50);

    /// The longest pause.
    pub const LONGEST: Duration = Duration::from_millis(400);

    /// Returns the pause after one more empty claim.
    pub fn after_nothing(&mut self) -> Duration {
        let pause = Self::SHORTEST.saturating_mul(1 << self.empty_claims.min(8)).min(Self::LONGEST);
        self.empty_claims = self.empty_claims.saturating_add(1);
        pause
    }

    /// Resets the pause: something was claimed.
    pub fn reset(&mut self) {
        *self = Self::default();
    }
}
