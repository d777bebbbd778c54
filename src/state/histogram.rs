//! A histogram as plain data. Values are whole ticks of a unit, so that sums are exact.

use serde::{Deserialize, Serialize};

/// The buckets of a histogram family, and the unit its values are counted in.
#[derive(Debug, PartialEq, Eq)]
pub struct Buckets {
    /// Upper bounds, ascending, in ticks; a value equal to a bound belongs to its bucket.
    pub bounds: &'static [u64],
    /// How many ticks make one second.
    pub ticks_per_second: u32,
}

/// For the duration of steps and jobs, in milliseconds: from a query that found nothing to a
/// nightly run.
pub static WORK: Buckets = Buckets {
    bounds: &[
        5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 900_000,
        3_600_000,
    ],
    ticks_per_second: 1_000,
};

/// For the duration of a sample, in microseconds.
pub static SAMPLE: Buckets = Buckets {
    bounds: &[
        1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
        5_000_000, 10_000_000, 30_000_000,
    ],
    ticks_per_second: 1_000_000,
};

/// Counts by bucket. Which buckets is a constant of the family, not of the histogram.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    /// Observations in each bucket, not cumulative; one more than there are bounds.
    pub counts: Vec<u64>,
    /// The sum of all observations, in ticks.
    pub sum: u64,
}

impl Histogram {
    /// An empty histogram.
    #[must_use]
    pub fn new(buckets: &Buckets) -> Self {
        Self { counts: vec![0; buckets.bounds.len() + 1], sum: 0 }
    }

    /// Adds one observation, in ticks.
    pub fn observe(&mut self, buckets: &Buckets, value: u64) {
        let index = buckets.bounds.partition_point(|bound| *bound < value);
        if let Some(count) = self.counts.get_mut(index) {
            *count += 1;
        }
        self.sum = self.sum.saturating_add(value);
    }

    /// How many observations there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_equal_to_a_bound_belongs_to_its_bucket_and_the_sum_is_exact() {
        let buckets = Buckets { bounds: &[10, 20], ticks_per_second: 1_000 };
        let mut histogram = Histogram::new(&buckets);
        for value in [0, 10, 11, 20, 21, 9_000] {
            histogram.observe(&buckets, value);
        }
        assert_eq!(histogram.counts, [2, 2, 2]);
        assert_eq!((histogram.count(), histogram.sum), (6, 9_062));
    }

    #[test]
    fn bounds_ascend() {
        for buckets in [&WORK, &SAMPLE] {
            assert!(buckets.bounds.is_sorted_by(|lower, upper| lower < upper), "{buckets:?}");
        }
    }
}
