//! Histograms as plain data. Values are whole ticks of a unit, so that sums are exact.
//!
//! Each observation is counted in a classic bucket, whose bounds are fixed, and in a native bucket, which
//! Prometheus reads through protobuf only.

use serde::{Deserialize, Serialize};

use super::native_buckets::NativeBuckets;

/// The classic buckets of a histogram family, and the unit of its values.
#[derive(Debug, PartialEq, Eq)]
pub struct Buckets {
    /// Upper bounds, ascending, in ticks; a value equal to a bound belongs to its bucket.
    pub bounds: &'static [u64],
    /// Ticks per second.
    pub ticks_per_second: u32,
}

impl Buckets {
    /// Ticks as seconds.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "exact below 2^53 ticks")]
    pub fn seconds(&self, ticks: u64) -> f64 {
        ticks as f64 / f64::from(self.ticks_per_second)
    }
}

/// For durations of steps and jobs, in milliseconds: from a query without results to a nightly run.
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

/// Counts by bucket. The bounds of the classic buckets are constants of the family.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    /// Observations in each classic bucket, not cumulative; one more than there are bounds.
    pub counts: Vec<u64>,
    /// The sum of all observations, in ticks.
    pub sum: u64,
    /// The same observations in native buckets; states saved by version 0.1 do not have them.
    #[serde(default)]
    pub native: NativeBuckets,
}

impl Histogram {
    /// An empty histogram.
    #[must_use]
    pub fn new(buckets: &Buckets) -> Self {
        Self { counts: vec![0; buckets.bounds.len() + 1], sum: 0, native: NativeBuckets::default() }
    }

    /// Adds one observation, in ticks.
    pub fn observe(&mut self, buckets: &Buckets, value: u64) {
        let index = buckets.bounds.partition_point(|bound| *bound < value);
        if let Some(count) = self.counts.get_mut(index) {
            *count = count.saturating_add(1);
            self.native.observe(buckets.seconds(value), 1);
        }
        self.sum = self.sum.saturating_add(value);
    }

    /// Completes a histogram that was saved: native buckets that do not match the classic ones are rebuilt from
    /// them.
    ///
    /// The counts do not change, so that no counter goes down. Old observations move to the upper bounds of
    /// their classic buckets, and those of the last one, which has none, to just above its lower bound. Later
    /// observations are exact.
    pub(super) fn complete(&mut self, buckets: &Buckets) {
        if self.native.is_sound() && self.native.count() == self.count() {
            return;
        }
        self.native = NativeBuckets::default();
        let above = buckets.bounds.last().map_or(0, |last| last + 1);
        for (value, count) in buckets.bounds.iter().copied().chain([above]).zip(&self.counts) {
            self.native.observe(buckets.seconds(value), *count);
        }
    }

    /// How many observations there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use proptest::prelude::*;

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

    proptest! {
        #[test]
        fn classic_and_native_buckets_hold_the_same_observations(
            values in prop::collection::vec(prop_oneof![0..20_u64, 0..100_000_u64, any::<u64>()], 0..500),
        ) {
            let mut histogram = Histogram::new(&WORK);
            for value in &values {
                histogram.observe(&WORK, *value);
            }
            prop_assert_eq!(histogram.count(), u64::try_from(values.len()).unwrap());
            prop_assert_eq!(histogram.native.count(), histogram.count());
            let sum = values.iter().fold(0_u64, |sum, value| sum.saturating_add(*value));
            prop_assert_eq!(histogram.sum, sum);
            let before = histogram.clone();
            histogram.complete(&WORK);
            prop_assert_eq!(histogram, before, "what is whole is left as it is");
        }
    }

    #[test]
    fn what_was_saved_without_native_buckets_gets_them_from_the_classic_ones() {
        let buckets = Buckets { bounds: &[0, 500, 1_000], ticks_per_second: 1_000 };
        let saved = r#"{"counts":[1,2,3,4],"sum":9000}"#;
        let mut histogram: Histogram = serde_json::from_str(saved).unwrap();
        histogram.complete(&buckets);
        assert_eq!((histogram.count(), histogram.sum), (10, 9_000));
        let mut expected = NativeBuckets::default();
        for (seconds, count) in [(0.0, 1), (0.5, 2), (1.0, 3), (1.001, 4)] {
            expected.observe(seconds, count);
        }
        assert_eq!(histogram.native, expected);
        assert_eq!(expected.count(), 10);

        histogram.observe(&buckets, 20);
        assert_eq!((histogram.count(), histogram.native.count()), (11, 11));
    }

    #[test]
    fn native_buckets_that_do_not_fit_are_made_anew() {
        let mut whole = Histogram::new(&WORK);
        for value in [0, 5, 40, 7_000] {
            whole.observe(&WORK, value);
        }
        for native in [
            r#"{"schema":3,"zero":0,"buckets":{}}"#,
            r#"{"schema":3,"zero":5,"buckets":{}}"#,
            r#"{"schema":99,"zero":4,"buckets":{}}"#,
            r#"{"schema":-128,"zero":4,"buckets":{}}"#,
            r#"{"schema":3,"zero":3,"buckets":{"2147483647":1}}"#,
            r#"{"schema":3,"zero":3,"buckets":{"-2147483648":1}}"#,
            r#"{"schema":3,"zero":18446744073709551615,"buckets":{"1":5}}"#,
        ] {
            let mut histogram = Histogram { native: serde_json::from_str(native).unwrap(), ..whole.clone() };
            histogram.complete(&WORK);
            assert_eq!(histogram.native.count(), 4, "{native}");
            assert!(histogram.native.is_sound(), "{native}");
        }
    }

    #[test]
    fn bounds_ascend() {
        for buckets in [&WORK, &SAMPLE] {
            assert!(buckets.bounds.is_sorted_by(|lower, upper| lower < upper), "{buckets:?}");
        }
    }
}
