//! Histograms for the encoder: classic buckets, and native buckets as spans and deltas.

use std::fmt;

use prometheus_client::encoding::{MetricEncoder, NativeHistogram, NativeHistogramBuckets, NoLabelSet};
use prometheus_client::metrics::histogram::DEFAULT_NATIVE_HISTOGRAM_ZERO_THRESHOLD;

use crate::state::histogram::Buckets;
use crate::state::{Histogram, NativeBuckets};

/// Always encodes both kinds of buckets: the text formats write only the classic ones, and OpenMetrics refuses
/// a page without them.
pub(super) fn encode(
    metric: &mut MetricEncoder<'_>,
    buckets: &Buckets,
    histogram: &Histogram,
) -> fmt::Result {
    let bounds = buckets.bounds.iter().map(|bound| buckets.seconds(*bound)).chain([f64::INFINITY]);
    let counts: Vec<(f64, u64)> = bounds.zip(histogram.counts.iter().copied()).collect();
    let Sparse { spans, deltas } = Sparse::of(&histogram.native);
    let native = NativeHistogram {
        schema: histogram.native.schema.into(),
        // Not 0, or a histogram without observations would be taken for one without native buckets.
        zero_threshold: DEFAULT_NATIVE_HISTOGRAM_ZERO_THRESHOLD,
        zero_count: histogram.native.zero,
        negative: NativeHistogramBuckets { spans: &[], deltas: &[] },
        positive: NativeHistogramBuckets { spans: &spans, deltas: &deltas },
        created: None,
    };
    let sum = buckets.seconds(histogram.sum);
    metric.encode_histogram_with_native::<NoLabelSet>(sum, histogram.count(), &counts, None, native)
}

/// The buckets in use, in the form of the format.
#[derive(Debug, Default, PartialEq)]
struct Sparse {
    /// Runs of consecutive buckets: how many are skipped before it, and its length. For the first run, the index
    /// of its first bucket instead.
    spans: Vec<(i32, u32)>,
    /// The difference of each count to the one before.
    deltas: Vec<i64>,
}

impl Sparse {
    fn of(native: &NativeBuckets) -> Self {
        let mut sparse = Self::default();
        let (mut next, mut before) = (0, 0);
        for (index, count) in &native.buckets {
            let count = i64::try_from(*count).unwrap_or(i64::MAX);
            match sparse.spans.last_mut() {
                Some((_, length)) if next == *index => *length += 1,
                _ => sparse.spans.push((index.saturating_sub(next), 1)),
            }
            sparse.deltas.push(count - before);
            (next, before) = (index.saturating_add(1), count);
        }
        sparse
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_become_spans_and_deltas() {
        let buckets = [(-3, 4), (-2, 1), (0, 7), (1, 7), (40, 2)].into();
        let native = NativeBuckets { buckets, ..NativeBuckets::default() };
        let spans = vec![(-3, 2), (1, 2), (38, 1)];
        assert_eq!(Sparse::of(&native), Sparse { spans, deltas: vec![4, -3, 6, 0, -5] });
        assert_eq!(Sparse::of(&NativeBuckets::default()), Sparse::default());
    }
}
