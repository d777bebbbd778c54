//! Reloads: switches to a changed configuration while the exporter runs.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tokio::task::spawn_blocking;
use tracing::{error, info};

use crate::config::{Config, ConfigError};
use crate::sampler::Fleet;

/// Reads the configuration again; may block.
pub type ConfigReader = Arc<dyn Fn() -> Result<Config, ConfigError> + Send + Sync>;

/// How the configuration is read again, and what may trigger it.
pub struct Reloading {
    /// Reads the configuration.
    pub read: ConfigReader,
    /// Requests a reload with each message, after a signal for example.
    pub asked: mpsc::Receiver<()>,
    /// Called after each reload, whatever its outcome.
    pub done: Box<dyn Fn() + Send + Sync>,
    /// Whether a POST to `/-/reload` may request one, too.
    pub over_http: bool,
}

/// A reload whose caller waits for the outcome; an error is why it was refused.
pub(super) type Request = oneshot::Sender<Result<(), String>>;

/// The requesting end of [`Reloads`].
#[derive(Debug, Clone)]
pub(super) struct Requester(mpsc::Sender<Request>);

impl Requester {
    /// Requests a reload and waits for its outcome.
    pub(super) async fn request(self) -> Result<(), String> {
        let stopping = || "the exporter is being stopped".to_owned();
        let (answer, answered) = oneshot::channel();
        self.0.send(answer).await.map_err(|_| stopping())?;
        answered.await.unwrap_or_else(|_| Err(stopping()))
    }
}

/// Reloads one at a time, whatever triggers them.
pub(super) struct Reloads {
    reloading: Reloading,
    requests: mpsc::Receiver<Request>,
}

impl Reloads {
    /// The reloads, and their requesting end if they are allowed over HTTP.
    pub(super) fn new(reloading: Reloading) -> (Self, Option<Requester>) {
        let (requester, requests) = mpsc::channel(1);
        let requester = reloading.over_http.then_some(Requester(requester));
        (Self { reloading, requests }, requester)
    }

    /// Reloads at each request, forever.
    pub(super) async fn run(mut self, fleet: &mut Fleet) {
        loop {
            let request = tokio::select! {
                Some(request) = self.requests.recv() => Some(request),
                Some(()) = self.reloading.asked.recv() => None,
                else => std::future::pending().await,
            };
            let outcome = self.reload(fleet).await;
            (self.reloading.done)();
            if let Some(request) = request {
                // The caller may have gone away.
                let _ = request.send(outcome);
            }
        }
    }

    async fn reload(&self, fleet: &mut Fleet) -> Result<(), String> {
        let read = Arc::clone(&self.reloading.read);
        let config = spawn_blocking(move || read())
            .await
            .map_err(|error| format!("reading the configuration was cut short: {error}"))
            .and_then(|config| config.map_err(|error| error.to_string()));
        let outcome = match config {
            Ok(config) => fleet.reload(config).await.map_err(|error| error.to_string()),
            Err(error) => Err(error),
        };
        match &outcome {
            Ok(()) => info!("the configuration is reloaded"),
            Err(error) => {
                fleet.ledger().config_refused();
                error!("the configuration is not reloaded, the one before stays in force: {error}");
            }
        }
        outcome
    }
}
