//! The present, by both clocks.

use std::time::Duration;

/// The present, by the exporter's clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// The monotonic clock.
    pub monotonic: Duration,
    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub unix_ms: i64,
}
