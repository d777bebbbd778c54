//! Native buckets as plain data: sparse, and fine enough for quantiles that are exact to a few per cent.
//!
//! Bucket `i` of schema `s` holds the values above `2^((i - 1) / 2^s)` seconds, up to and including
//! `2^(i / 2^s)`. Every second bound of a schema is also one of the next coarser schema, so that buckets can be
//! merged in pairs without knowing the observations.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The schema that a histogram begins with. Each bound is 1.09 times the one before.
const FINEST: i8 = 3;

/// The coarsest schema that Prometheus reads. Each bound is 65 536 times the one before.
const COARSEST: i8 = -4;

/// The most buckets in use; beyond it buckets are merged. A hundred buckets of the finest schema reach from
/// 1 ms to 5.8 s, and of the next one to nine hours.
const MAX_BUCKETS: usize = 100;

/// The greatest distance of an index from 0, in any schema: 2^64 ticks are less than 2^64 s, and one tick is
/// more than 2^-64 s.
const MAX_INDEX: u32 = 64 << FINEST;

/// Counts by bucket, at the finest resolution that the bound on their number allows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NativeBuckets {
    /// The resolution.
    pub schema: i8,
    /// Observations of exactly 0.
    pub zero: u64,
    /// Observations above 0 by the index of their bucket; none of the counts is 0.
    pub buckets: BTreeMap<i32, u64>,
}

impl Default for NativeBuckets {
    fn default() -> Self {
        Self { schema: FINEST, zero: 0, buckets: BTreeMap::new() }
    }
}

impl NativeBuckets {
    /// Adds `count` observations of a duration in seconds, which is not negative.
    pub(super) fn observe(&mut self, seconds: f64, count: u64) {
        if count == 0 {
            return;
        }
        if seconds <= 0.0 {
            self.zero = self.zero.saturating_add(count);
            return;
        }
        add(&mut self.buckets, coarser(finest_index(seconds), FINEST.abs_diff(self.schema)), count);
        while self.buckets.len() > MAX_BUCKETS && self.schema > COARSEST {
            self.schema -= 1;
            for (index, count) in std::mem::take(&mut self.buckets) {
                add(&mut self.buckets, coarser(index, 1), count);
            }
        }
    }

    /// How many observations there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets.values().fold(self.zero, |sum, count| sum.saturating_add(*count))
    }

    /// Whether observations can have led to this. A file may hold anything.
    pub(super) fn is_sound(&self) -> bool {
        (COARSEST..=FINEST).contains(&self.schema)
            && self.buckets.len() <= MAX_BUCKETS
            && self.buckets.keys().all(|index| index.unsigned_abs() <= MAX_INDEX)
    }
}

fn add(buckets: &mut BTreeMap<i32, u64>, index: i32, count: u64) {
    let entry = buckets.entry(index).or_default();
    *entry = entry.saturating_add(count);
}

/// The bucket of a positive value in the finest schema.
#[allow(clippy::cast_possible_truncation, reason = "the logarithm of a finite number is below 1100")]
fn finest_index(seconds: f64) -> i32 {
    (seconds.log2() * f64::from(1_u8 << FINEST)).ceil() as i32
}

/// The bucket that holds this one, so many schemas coarser: the index is halved each time and rounded up.
fn coarser(index: i32, steps: u8) -> i32 {
    (index + (1 << steps) - 1) >> steps
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

    use prometheus_client::encoding::prometheus_protobuf::{self, prometheus_data_model as proto};
    use prometheus_client::metrics::histogram::{Histogram, NativeHistogramConfig};
    use prometheus_client::registry::Registry;
    use proptest::prelude::*;

    use super::*;

    /// What the histogram of the client library makes of the same values.
    fn of_the_library(values: &[f64]) -> NativeBuckets {
        let config = NativeHistogramConfig::with_schema(FINEST).max_buckets(MAX_BUCKETS);
        let histogram = Histogram::new_native(config);
        values.iter().for_each(|value| histogram.observe(*value));
        let mut registry = Registry::default();
        registry.register("h", "h", histogram);
        let families = prometheus_protobuf::encode(&registry).unwrap();
        let metric = families.first().and_then(|family| family.metric.first()).unwrap();
        read(metric.histogram.as_ref().unwrap())
    }

    /// Spans and deltas as counts by index.
    fn read(histogram: &proto::Histogram) -> NativeBuckets {
        let mut deltas = histogram.positive_delta.iter();
        let (mut index, mut count, mut buckets) = (0, 0, BTreeMap::new());
        for span in &histogram.positive_span {
            index += span.offset;
            for _ in 0..span.length {
                count += deltas.next().unwrap();
                // The library bridges small gaps with empty buckets.
                if count != 0 {
                    buckets.insert(index, u64::try_from(count).unwrap());
                }
                index += 1;
            }
        }
        assert_eq!(deltas.next(), None);
        NativeBuckets { schema: histogram.schema.try_into().unwrap(), zero: histogram.zero_count, buckets }
    }

    #[allow(clippy::cast_precision_loss, reason = "as the exporter does")]
    fn seconds(ms: u64) -> f64 {
        ms as f64 / 1_000.0
    }

    proptest! {
        #[test]
        fn every_value_is_where_the_client_library_puts_it(
            ms in prop::collection::vec(prop_oneof![0..5_u64, 0..10_000_u64, 0..1_000_000_000_u64, any::<u64>()], 0..400),
        ) {
            let values: Vec<f64> = ms.into_iter().map(seconds).collect();
            let mut ours = NativeBuckets::default();
            values.iter().for_each(|value| ours.observe(*value, 1));
            prop_assert!(ours.buckets.len() <= MAX_BUCKETS);
            prop_assert!(ours.is_sound());
            prop_assert_eq!(ours, of_the_library(&values));
        }
    }

    #[test]
    fn a_value_equal_to_a_bound_belongs_to_its_bucket() {
        for exponent in -20..=60 {
            let value = f64::from(exponent).exp2();
            for (value, index) in [(value, exponent << 3), (value * 1.000_001, (exponent << 3) + 1)] {
                let mut ours = NativeBuckets::default();
                ours.observe(value, 1);
                assert_eq!(ours.buckets.keys().collect::<Vec<_>>(), [&index], "{value}");
                assert_eq!(ours, of_the_library(&[value]), "{value}");
            }
        }
    }

    #[test]
    fn resolution_is_given_up_for_the_bound_on_the_number_of_buckets_and_nothing_else() {
        let mut ours = NativeBuckets::default();
        let mut observed = 0;
        for ms in 1..=200_000 {
            ours.observe(seconds(ms), 1);
            observed += 1;
            assert!(ours.buckets.len() <= MAX_BUCKETS && ours.count() == observed);
        }
        assert_eq!(ours.schema, 2, "from 1 ms to 200 s");
        ours.observe(seconds(u64::MAX), 7);
        assert_eq!(ours.count(), observed + 7);
    }
}
