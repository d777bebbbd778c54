//! The exporter as a whole: one state, a sampler for each database, and the web server.

mod reload;

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};

use prometheus_client::encoding::{prometheus_protobuf, prometheus_text, text};
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

pub use reload::{ConfigReader, Reloading};

use self::reload::{Reloads, Requester};
use crate::clock::SharedClock;
use crate::config::{Config, Global, Source};
use crate::exposition::StateCollector;
use crate::sampler::Fleet;
use crate::source::{self, Connector};
use crate::state::SharedState;
use crate::state_file::OpenError;
use crate::web::page::{self, Now, PageError};
use crate::web::{self, Format, Page, Pages, Reloaded, TelemetryPath};

/// An exporter that is ready to run.
#[derive(Debug)]
pub struct Exporter {
    fleet: Fleet,
    pages: ExporterPages,
}

/// The pages of the web server: encodes the state, and never waits for a database.
#[derive(Debug)]
struct ExporterPages {
    state: SharedState,
    clock: SharedClock,
    registry: Registry,
    telemetry_path: TelemetryPath,
    /// Requests a reload; `None` when reloads over HTTP are not allowed.
    reload: Option<Requester>,
}

impl Exporter {
    /// Prepares to sample what the configuration names. Nothing is sent to a database yet.
    ///
    /// # Errors
    /// When another process uses the state file.
    pub fn new(config: Config, clock: SharedClock) -> Result<Self, OpenError> {
        Self::with_connectors(config, clock, |source, global| source::connector(source, global, None))
    }

    /// The same with other connectors than those of the configuration, for tests.
    ///
    /// # Errors
    /// When another process uses the state file.
    pub fn with_connectors(
        config: Config,
        clock: SharedClock,
        connector: impl Fn(&Source, &Global) -> Arc<dyn Connector> + Send + Sync + 'static,
    ) -> Result<Self, OpenError> {
        let fleet = Fleet::new(config, Arc::clone(&clock), Box::new(connector))?;
        let state = fleet.ledger().state();
        let pages = ExporterPages {
            registry: StateCollector::new(Arc::clone(&state), Arc::clone(&clock)).into_registry(),
            state,
            clock,
            telemetry_path: TelemetryPath::default(),
            reload: None,
        };
        Ok(Self { fleet, pages })
    }

    /// Samples each target of each database once.
    pub async fn sample_once(&self) {
        self.fleet.sample_once().await;
    }

    /// The current metrics page.
    ///
    /// # Errors
    /// When a metric cannot be encoded, which is a defect.
    pub fn metrics(&self, format: Format) -> Result<Vec<u8>, fmt::Error> {
        self.pages.metrics(format)
    }

    /// A current HTML page.
    ///
    /// # Errors
    /// When a template that ships with the program is broken, which is a defect.
    pub fn page(&self, page: Page) -> Result<String, PageError> {
        self.pages.page(page)
    }

    /// Switches to another configuration; the state of targets that remain is kept.
    ///
    /// # Errors
    /// When another process uses the new state file; everything then stays as it was.
    pub async fn reload(&mut self, config: Config) -> Result<(), OpenError> {
        self.fleet.reload(config).await
    }

    /// Samples and serves until `shutdown` resolves, then stops both. Without `reloading` the
    /// configuration stays as it is.
    ///
    /// # Errors
    /// When the web server fails.
    pub async fn run(
        self,
        listeners: Vec<TcpListener>,
        web: web::Options,
        reloading: Option<Reloading>,
        shutdown: impl Future<Output = ()> + Send,
    ) -> io::Result<()> {
        let Self { mut fleet, mut pages } = self;
        pages.telemetry_path = web.telemetry_path.clone();
        let reloads = reloading.map(|reloading| {
            let (reloads, requester) = Reloads::new(reloading);
            pages.reload = requester;
            reloads
        });
        let (ending, ended) = oneshot::channel::<()>();
        let shutdown = async {
            shutdown.await;
            // Requests in flight get their time to finish; nothing new is sent to a database.
            drop(ending);
        };
        let sampling = async {
            fleet.start();
            // Until the exporter is asked to stop, or the server ends by itself.
            match reloads {
                Some(reloads) => tokio::select! {
                    () = reloads.run(&mut fleet) => {}
                    _ = ended => {}
                },
                None => _ = ended.await,
            }
            fleet.stop().await;
        };
        let serving = web::serve(listeners, Arc::new(pages), web, shutdown);
        let (served, ()) = tokio::join!(serving, sampling);
        served
    }
}

impl Pages for ExporterPages {
    fn metrics(&self, format: Format) -> Result<Vec<u8>, fmt::Error> {
        encode(&self.registry, format)
    }

    fn sources(&self) -> Vec<String> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        state.sources.iter().map(|source| source.name.clone()).collect()
    }

    fn probe(&self, source: &str, format: Format) -> Result<Vec<u8>, fmt::Error> {
        let collector = StateCollector::new(Arc::clone(&self.state), Arc::clone(&self.clock));
        encode(&collector.of_source(source).into_registry(), format)
    }

    fn ready(&self) -> Result<(), String> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        if state.first_pass_done() {
            Ok(())
        } else {
            Err("the first pass over the targets is not done".into())
        }
    }

    fn reload(&self) -> Pin<Box<dyn Future<Output = Reloaded> + Send>> {
        let requester = self.reload.clone();
        Box::pin(async move {
            let Some(requester) = requester else { return Reloaded::NotAllowed };
            requester.request().await.map_or_else(Reloaded::Refused, |()| Reloaded::Done)
        })
    }

    fn page(&self, page: Page) -> Result<String, PageError> {
        let now = Now { monotonic: self.clock.monotonic(), unix_ms: self.clock.unix_ms() };
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let prepared = page::prepare(page, &state, now, self.telemetry_path.as_str());
        // Rendering must not keep a sampler waiting.
        drop(state);
        prepared.render()
    }
}

fn encode(registry: &Registry, format: Format) -> Result<Vec<u8>, fmt::Error> {
    let mut page = String::new();
    match format {
        Format::PrometheusText => prometheus_text::encode(&mut page, registry)?,
        Format::OpenMetrics => text::encode(&mut page, registry)?,
        // Its own error stands for a buffer that cannot grow.
        Format::Protobuf => return prometheus_protobuf::encode_to_vec(registry).map_err(|_| fmt::Error),
    }
    Ok(page.into_bytes())
}
