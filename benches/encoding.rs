//! Cost of one scrape: encodes 100, 1 000 and 10 000 series in each format.
//!
//! Run with `cargo bench --bench encoding`. Prints the median time of a page and its cost per series as
//! a ratio to the smallest page. A growing ratio means that the cost grows faster than the number of
//! series; above 3 the benchmark fails.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark prints, and may panic on anything unexpected"
)]

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sqlqueue_exporter::clock::ManualClock;
use sqlqueue_exporter::config::{self, Environment};
use sqlqueue_exporter::exporter::Exporter;
use sqlqueue_exporter::web::Format;

const MAX_GROWTH: f64 = 3.0;
const ROUNDS: usize = 51;

fn main() {
    for format in [Format::PrometheusText, Format::OpenMetrics, Format::Protobuf] {
        let mut base = None;
        for wanted in [100, 1_000, 10_000] {
            let exporter = exporter_with(wanted);
            // Counted as lines of the text, whatever the format.
            let text = String::from_utf8(exporter.metrics(Format::PrometheusText).unwrap()).unwrap();
            let series = text.lines().filter(|line| !line.starts_with('#')).count();
            let page = exporter.metrics(format).unwrap();
            let median = measure(|| exporter.metrics(format).unwrap().len());
            let per_series = median.as_secs_f64() / f64::from(u32::try_from(series).unwrap());
            let growth = per_series / *base.get_or_insert(per_series);
            println!(
                "{format:?}: {series:>6} series, {:>8} bytes: median {median:?}, per series x{growth:.2}",
                page.len()
            );
            assert!(growth <= MAX_GROWTH, "the cost per series grew x{growth:.2}");
        }
    }
}

/// An exporter whose page has at least `series` series: a run log with declared steps, whose series
/// exist before anything is sampled.
fn exporter_with(series: usize) -> Exporter {
    // A step has 4 outcomes, a histogram of 17 buckets with sum and count, and its candidates.
    let steps = series / 24 + 1;
    let mut yaml = String::from(
        "global: { max_label_values: 10000 }\nsources:\n  - name: bench\n    sqlite: { file: bench.db }\n    run_logs:\n      - { name: log, preset: notification_run_log, steps: [",
    );
    for step in 0..steps {
        write!(yaml, "step-{step}, ").unwrap();
    }
    yaml.push_str("] }\n");
    let config = config::parse(&yaml, Path::new("bench.yaml"), &Environment::empty()).unwrap();
    Exporter::new(config, ManualClock::at(0) as Arc<_>).unwrap()
}

fn measure(work: impl Fn() -> usize) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let started = Instant::now();
            assert!(std::hint::black_box(work()) > 0);
            started.elapsed()
        })
        .collect();
    times.sort();
    times[ROUNDS / 2]
}
