//! The demo and its exporter in simulated time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::super::{
    DemoDatabase, DemoError, DemoOptions, DemoSummary, Episode, HostClock, prepare, run_workload,
};
use super::clock::RuntimeClock;
use crate::clock::SharedClock;
use crate::config::{self, Environment};
use crate::exporter::Exporter;
use crate::source;
use crate::web::Format;

/// A demo that runs, and an exporter that samples it when told to. For a runtime whose clock is paused.
pub(in crate::demo) struct Simulation {
    workload: JoinHandle<Result<DemoSummary, DemoError>>,
    stop: oneshot::Sender<()>,
    exporter: Exporter,
    clock: SharedClock,
    _folder: tempfile::TempDir,
}

/// The series of one page, by name with labels as they are written.
#[derive(Debug)]
pub(in crate::demo) struct Page {
    /// Prometheus' clock, in seconds since the epoch.
    pub(in crate::demo) now: f64,
    series: BTreeMap<String, f64>,
}

impl Page {
    pub(in crate::demo) fn get(&self, series: &str) -> Option<f64> {
        self.series.get(series).copied()
    }

    pub(in crate::demo) fn value(&self, series: &str) -> f64 {
        self.get(series).unwrap_or_else(|| panic!("{series} is not among {:#?}", self.series))
    }
}

impl Page {
    /// Whether a selector selects anything: a name, and perhaps labels that must be there.
    pub(in crate::demo) fn selects(&self, selector: &str) -> bool {
        let (name, labels) = selector.split_once('{').unwrap_or((selector, "}"));
        let labels: Vec<&str> = labels.trim_end_matches('}').split(',').collect();
        self.series.keys().any(|series| {
            let (known, known_labels) = series.split_once('{').unwrap_or((series, ""));
            known == name && labels.iter().all(|label| known_labels.contains(label))
        })
    }
}

impl Simulation {
    pub(in crate::demo) fn start(seed: u64, episode: Option<Episode>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = DemoOptions { folder: folder.path().to_path_buf(), seed, speed: 1.0, episode };
        let clock = RuntimeClock::shared();
        let mut database = prepare(&options).unwrap();
        database.clock = Some(Arc::clone(&clock));
        let host_clock = HostClock::new(Arc::clone(&clock));
        let exporter = exporter(&database, &host_clock, &clock);
        let (stop, stopped) = oneshot::channel::<()>();
        let workload = tokio::spawn(async move {
            run_workload(&database, &options, &host_clock, async {
                let _ = stopped.await;
            })
            .await
        });
        Self { workload, stop, exporter, clock, _folder: folder }
    }

    /// The pages of the next so many seconds, one a second.
    pub(in crate::demo) async fn pages(&self, seconds: usize) -> Vec<Page> {
        let mut pages = Vec::new();
        for _ in 0..seconds {
            tokio::time::sleep(Duration::from_secs(1)).await;
            self.exporter.sample_once().await;
            assert!(!self.workload.is_finished(), "ended early");
            pages.push(self.page());
        }
        pages
    }

    fn page(&self) -> Page {
        let text = String::from_utf8(self.exporter.metrics(Format::PrometheusText).unwrap()).unwrap();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let series = lines.map(|line| {
            let (name, value) = line.rsplit_once(' ').expect(line);
            (name.to_owned(), value.parse().expect(line))
        });
        #[allow(clippy::cast_precision_loss, reason = "exact for every time of a test")]
        let now = self.clock.unix_ms() as f64 / 1000.0;
        Page { now, series: series.collect() }
    }

    pub(in crate::demo) async fn stop(self) -> DemoSummary {
        self.stop.send(()).unwrap();
        self.workload.await.unwrap().unwrap()
    }
}

fn exporter(database: &DemoDatabase, host_clock: &Arc<HostClock>, clock: &SharedClock) -> Exporter {
    let config =
        config::parse(database.config_yaml(), &database.config_file(), &Environment::empty()).unwrap();
    let (host_clock, clock) = (Arc::clone(host_clock), Arc::clone(clock));
    Exporter::with_connectors(config, host_clock, move |source, global| {
        source::connector(source, global, Some(Arc::clone(&clock)))
    })
    .unwrap()
}
