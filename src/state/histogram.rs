//! A histogram as plain data. Values are whole milliseconds, so that sums are exact.

use serde::{Deserialize, Serialize};

/// Upper bounds of the buckets for the duration of steps and jobs, in milliseconds: from a query
/// that found nothing to a nightly run.
pub const WORK_BOUNDS_MS: &[u64] =
    &[5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 900_000, 3_600_000];

/// Upper bounds of the buckets for the duration of a sample, in milliseconds.
pub const SAMPLE_BOUNDS_MS: &[u64] =
    &[1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000];

/// Counts by bucket. The bounds are a constant of the family, not of the histogram.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    /// Observations in each bucket, not cumulative; one more than there are bounds.
    pub buckets: Vec<u64>,
    /// The sum of all observations, in milliseconds.
    pub sum_ms: u64,
}

impl Histogram {
    /// An empty histogram for these bounds.
    #[must_use]
    pub fn new(bounds_ms: &[u64]) -> Self {
        Self { buckets: vec![0; bounds_ms.len() + 1], sum_ms: 0 }
    }

    /// Adds one observation; a value equal to a bound belongs to its bucket.
    pub fn observe(&mut self, bounds_ms: &[u64], value_ms: u64) {
        let index = bounds_ms.partition_point(|bound| *bound < value_ms);
        if let Some(bucket) = self.buckets.get_mut(index) {
            *bucket += 1;
        }
        self.sum_ms = self.sum_ms.saturating_add(value_ms);
    }

    /// How many observations there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }
}
