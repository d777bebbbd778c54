//! Taking over a changed configuration while everything runs.

use std::fmt;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tokio::task::spawn_blocking;
use tracing::{error, info};

use crate::config::{Config, ConfigError};
use crate::sampler::Fleet;

/// Reads the configuration anew; may block.
pub type ConfigReader = Box<dyn Fn() -> Result<Config, ConfigError> + Send + Sync>;

/// Where the configuration comes from, and who may ask for it to be read again.
pub struct Reloading {
    /// Reads it.
    pub read: ConfigReader,
    /// Asks for a reload with each message: a signal, for example.
    pub asked: mpsc::Receiver<()>,
    /// Is told when a reload is over, whatever came of it.
    pub done: Box<dyn Fn() + Send + Sync>,
    /// Whether a POST to `/-/reload` may ask, too.
    pub over_http: bool,
}

impl fmt::Debug for Reloading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reloading").field("over_http", &self.over_http).finish_non_exhaustive()
    }
}

/// A reload that somebody waits for; the answer is why it was refused, if it was.
pub(super) type Request = oneshot::Sender<Result<(), String>>;

/// The other end of [`Reloads`], for those who ask.
#[derive(Debug, Clone)]
pub(super) struct Asker(mpsc::Sender<Request>);

impl Asker {
    /// Asks, and waits for what comes of it.
    pub(super) async fn ask(self) -> Result<(), String> {
        let stopping = || "the exporter is being stopped".to_owned();
        let (answer, answered) = oneshot::channel();
        self.0.send(answer).await.map_err(|_| stopping())?;
        answered.await.unwrap_or_else(|_| Err(stopping()))
    }
}

/// Reloads one after the other, whoever asks.
pub(super) struct Reloads {
    read: Arc<ConfigReader>,
    done: Box<dyn Fn() + Send + Sync>,
    asked: mpsc::Receiver<()>,
    requests: mpsc::Receiver<Request>,
}

impl Reloads {
    /// Also whom to ask over HTTP, if that is allowed.
    pub(super) fn new(reloading: Reloading) -> (Self, Option<Asker>) {
        let Reloading { read, asked, done, over_http } = reloading;
        let (asker, requests) = mpsc::channel(1);
        (Self { read: Arc::new(read), done, asked, requests }, over_http.then_some(Asker(asker)))
    }

    /// Reloads whenever somebody asks, for ever.
    pub(super) async fn run(mut self, fleet: &mut Fleet) {
        loop {
            let request = tokio::select! {
                Some(request) = self.requests.recv() => Some(request),
                Some(()) = self.asked.recv() => None,
                else => std::future::pending().await,
            };
            let outcome = self.reload(fleet).await;
            (self.done)();
            if let Some(request) = request {
                // Who asked may have gone away.
                let _ = request.send(outcome);
            }
        }
    }

    async fn reload(&self, fleet: &mut Fleet) -> Result<(), String> {
        let read = Arc::clone(&self.read);
        let config = match spawn_blocking(move || read()).await {
            Ok(config) => config.map_err(|error| error.to_string()),
            Err(error) => Err(format!("reading the configuration was cut short: {error}")),
        };
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
