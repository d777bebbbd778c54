//! The fleet: all samplers of a configuration, started, reloaded and stopped together.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;

use super::{Ledger, Sampler};
use crate::clock::SharedClock;
use crate::config::{Config, Global, Source};
use crate::source::Connector;
use crate::state_file::OpenError;

/// How many sources are sampled at the same time. Each takes a thread if it is a SQLite file, and memory for
/// its answer. A source that hangs keeps its turn until its deadline.
pub const CONCURRENT_SOURCES: usize = 32;

/// The time between the first samples of two sources that start together, so that a process with many
/// sources does not connect to all of them at once; less if they would not all fit in one interval.
const START_STEP: Duration = Duration::from_millis(50);

/// Makes the connector of a source.
pub type ConnectorFactory = Box<dyn Fn(&Source, &Global) -> Arc<dyn Connector> + Send + Sync>;

/// All samplers, one for each source of the configuration.
pub struct Fleet {
    config: Config,
    ledger: Arc<Ledger>,
    connector: ConnectorFactory,
    clock: SharedClock,
    turns: Arc<Semaphore>,
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
        let turns = Arc::new(Semaphore::new(CONCURRENT_SOURCES));
        Ok(Self { config, ledger, connector, clock, turns, running: Vec::new() })
    }

    /// The ledger that takes the samples.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn sampler(&self, source: &Source, first_after: Duration) -> Sampler {
        Sampler {
            source: source.clone(),
            global: self.config.global.clone(),
            connector: (self.connector)(source, &self.config.global),
            ledger: Arc::clone(&self.ledger),
            clock: Arc::clone(&self.clock),
            first_after,
            turns: Arc::clone(&self.turns),
        }
    }

    /// Samples each target of each source once.
    pub async fn sample_once(&self) {
        for source in &self.config.sources {
            self.sampler(source, Duration::ZERO).sample_once().await;
        }
    }

    /// Starts a sampler for each source that has none.
    pub fn start(&mut self) {
        let runs = |source: &Source| self.running.iter().any(|running| running.source.name == source.name);
        let idle: Vec<&Source> = self.config.sources.iter().filter(|source| !runs(source)).collect();
        let step = start_step(idle.len(), self.config.global.sample_interval);
        let mut started = Vec::with_capacity(idle.len());
        for (place, source) in (0_u32..).zip(idle) {
            let (stop, stopped) = watch::channel(false);
            let first_after = step.saturating_mul(place) + step.mul_f64(fastrand::f64());
            let task = tokio::spawn(self.sampler(source, first_after).run(stopped));
            started.push(Running { source: source.clone(), stop, task });
        }
        self.running.extend(started);
    }

    /// Switches to another configuration. Unchanged sources keep sampling over their connection, and what is
    /// known about targets that stay is kept.
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

    /// Stops every sampler. Samples in progress are abandoned.
    pub async fn stop(self) {
        stop(self.running).await;
    }
}

/// The time between the first samples of `sources` sources. One alone starts at once.
fn start_step(sources: usize, interval: Duration) -> Duration {
    match u32::try_from(sources) {
        Ok(0 | 1) => Duration::ZERO,
        Ok(sources) => START_STEP.min(interval / sources),
        Err(_) => Duration::ZERO,
    }
}

async fn stop(samplers: Vec<Running>) {
    for running in &samplers {
        running.stop.send_replace(true);
    }
    for running in samplers {
        // A sampler that panicked outside a sample has ended, too.
        let _ = running.task.await;
    }
}
