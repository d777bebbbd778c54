//! A parser of the protobuf format: it refuses what Prometheus would refuse.

use std::collections::BTreeMap;

use prometheus_client::encoding::prometheus_protobuf::prometheus_data_model::{
    Histogram, Metric, MetricFamily, MetricType,
};
use prost::Message as _;
use sqlqueue_exporter::exporter::Exporter;
use sqlqueue_exporter::web::Format;

use crate::parse::{ParsedFamily, ParsedPage, ParsedSample};

/// A page in protobuf: its classic series, and its native histograms.
#[derive(Debug)]
pub struct ProtobufPage {
    pub classic: ParsedPage,
    /// By name and labels.
    pub native: BTreeMap<(String, Vec<(String, String)>), NativeHistogram>,
}

/// A native histogram, as Prometheus stores it.
#[derive(Debug, PartialEq)]
pub struct NativeHistogram {
    pub count: u64,
    pub sum: f64,
    /// By index, without the zero bucket.
    pub buckets: BTreeMap<i32, u64>,
    pub schema: i32,
}

impl ProtobufPage {
    #[track_caller]
    pub fn of(exporter: &Exporter) -> Self {
        let bytes = exporter.metrics(Format::Protobuf).unwrap();
        let mut rest = bytes.as_slice();
        let mut page = Self { classic: ParsedPage { families: Vec::new() }, native: BTreeMap::new() };
        while !rest.is_empty() {
            let family = MetricFamily::decode_length_delimited(&mut rest).unwrap();
            let kind = family.r#type().as_str_name().to_lowercase();
            let mut parsed = ParsedFamily { kind, help: family.help.clone(), ..ParsedFamily::default() };
            parsed.name.clone_from(&family.name);
            for metric in &family.metric {
                page.read(&family, metric, &mut parsed.samples);
            }
            page.classic.families.push(parsed);
        }
        page
    }

    #[track_caller]
    fn read(&mut self, family: &MetricFamily, metric: &Metric, samples: &mut Vec<ParsedSample>) {
        let labels: Vec<_> =
            metric.label.iter().map(|label| (label.name.clone(), label.value.clone())).collect();
        let mut add = |suffix: &str, bound: Option<f64>, value: f64| {
            let mut labels = labels.clone();
            labels.extend(bound.map(|bound| ("le".to_owned(), bound.to_string())));
            samples.push(ParsedSample { name: format!("{}{suffix}", family.name), labels, value });
        };
        match family.r#type() {
            MetricType::Counter => add("", None, metric.counter.as_ref().unwrap().value),
            MetricType::Gauge => add("", None, metric.gauge.unwrap().value),
            MetricType::Histogram => {
                let histogram = metric.histogram.as_ref().unwrap();
                for bucket in &histogram.bucket {
                    add("_bucket", Some(bucket.upper_bound), number(bucket.cumulative_count));
                }
                add("_sum", None, histogram.sample_sum);
                add("_count", None, number(histogram.sample_count));
                let twice =
                    self.native.insert((family.name.clone(), labels), NativeHistogram::read(histogram));
                assert_eq!(twice, None, "{metric:?} is there twice");
            }
            other => panic!("{other:?} in {family:?}"),
        }
    }
}

impl NativeHistogram {
    #[track_caller]
    fn read(histogram: &Histogram) -> Self {
        assert!((-4..=8).contains(&histogram.schema), "{histogram:?}");
        assert!(histogram.zero_threshold > 0.0, "else an empty one is not taken for native: {histogram:?}");
        let mut deltas = histogram.positive_delta.iter();
        let (mut index, mut count, mut buckets) = (0, 0, BTreeMap::new());
        for (position, span) in histogram.positive_span.iter().enumerate() {
            assert!(position == 0 || span.offset > 0, "spans run into each other: {histogram:?}");
            index += span.offset;
            for _ in 0..span.length {
                count += deltas.next().expect("a delta for each bucket");
                buckets.insert(index, u64::try_from(count).unwrap());
                index += 1;
            }
        }
        assert_eq!(deltas.next(), None, "{histogram:?}");
        let observed = histogram.zero_count + buckets.values().sum::<u64>();
        assert_eq!(observed, histogram.sample_count, "Prometheus refuses it: {histogram:?}");
        Self { count: observed, sum: histogram.sample_sum, buckets, schema: histogram.schema }
    }
}

#[allow(clippy::cast_precision_loss, reason = "exact below 2^53")]
fn number(count: u64) -> f64 {
    count as f64
}
