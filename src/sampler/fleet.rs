//! The samplers of a configuration, and how they change when it does.

use std::fmt;
use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::{Ledger, Sampler};
use crate::clock::SharedClock;
use crate::config::{Config, Global, Source};
use crate::source::Connector;
use crate::state_file::OpenError;

/// Makes the connector of a source.
pub type ConnectorFactory = Box<dyn Fn(&Source, &Global) -> Arc<dyn Connector> + Send + Sync>;

/// All samplers, one for each source of the configuration.
pub struct Fleet {
    config: Config,
    ledger: Arc<Ledger>,
    connector: ConnectorFactory,
    clock: SharedClock,
    running: Vec<Running>,
}

/// A sampler at work.
#[derive(Debug)]
struct Running {
    source: Source,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl fmt::Debug for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fleet").field("config", &self.config).field("running", &self.running).finish()
    }
}

impl Fleet {
    /// The samplers of a configuration; none runs yet.
    ///
    /// # Errors
    /// When the state file is in use by another process.
    pub fn new(config: Config, clock: SharedClock, connector: ConnectorFactory) -> Result<Self, OpenError> {
        let ledger = Arc::new(Ledger::open(&config, Arc::clone(&clock))?);
        Ok(Self { config, ledger, connector, clock, running: Vec::new() })
    }

    /// Where samples go.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn sampler(&self, source: &Source) -> Sampler {
        Sampler {
            source: source.clone(),
            global: self.config.global.clone(),
            connector: (self.connector)(source, &self.config.global),
            ledger: Arc::clone(&self.ledger),
            clock: Arc::clone(&self.clock),
        }
    }

    /// Samples each target of each source once.
    pub async fn sample_once(&self) {
        for source in &self.config.sources {
            self.sampler(source).sample_once().await;
        }
    }

    /// Starts a sampler for each source that has none.
    pub fn start(&mut self) {
        for source in &self.config.sources {
            if self.running.iter().all(|running| running.source.name != source.name) {
                let (stop, stopped) = watch::channel(false);
                let task = tokio::spawn(self.sampler(source).run(stopped));
                self.running.push(Running { source: source.clone(), stop, task });
            }
        }
    }

    /// Goes over to another configuration. Sources that stay as they are go on sampling over the
    /// connection that they have; what is known about targets that stay is kept.
    ///
    /// # Errors
    /// When the other state file is in use by another process; everything stays as it was.
    pub async fn reload(&mut self, config: Config) -> Result<(), OpenError> {
        let prepared = self.ledger.prepare(&config).await?;
        let is_same_for_all =
            self.config.global == config.global && self.config.state_file == config.state_file;
        let (stay, go) = std::mem::take(&mut self.running)
            .into_iter()
            .partition(|running| is_same_for_all && config.sources.contains(&running.source));
        self.running = stay;
        stop(go).await;
        self.ledger.take_over(&self.config, &config, prepared);
        self.config = config;
        self.start();
        Ok(())
    }

    /// Stops every sampler. What is under way is abandoned.
    pub async fn stop(self) {
        stop(self.running).await;
    }
}

async fn stop(samplers: Vec<Running>) {
    for running in &samplers {
        running.stop.send_replace(true);
    }
    for running in samplers {
        // A sampler that panicked outside of a sample has ended, too.
        let _ = running.task.await;
    }
}
