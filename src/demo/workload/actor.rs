//! Actors: each has a name, a connection, a generator, a pace and a signal to stop.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fastrand::Rng;
use rusqlite::Connection;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::super::incident::Incident;
use super::super::{DemoDatabase, DemoError};
use super::script;
use crate::source::sqlite::is_locked;

/// Conditions shared by all actors.
#[derive(Debug, Clone)]
pub(super) struct Conditions {
    pub(super) seed: u64,
    /// Divides the times of the script.
    pub(super) speed: f64,
    /// The current incident, if any.
    pub(super) incident: watch::Receiver<Option<Incident>>,
    pub(super) stop: CancellationToken,
}

impl Conditions {
    /// The conditions at the start: nobody is asked to stop yet.
    pub(super) fn new(seed: u64, speed: f64, incident: watch::Receiver<Option<Incident>>) -> Self {
        Self { seed, speed, incident, stop: CancellationToken::new() }
    }
}

/// One simulated process with its own connection.
#[derive(Debug)]
pub(super) struct Actor {
    pub(super) name: String,
    pub(super) conditions: Conditions,
    connection: Arc<Mutex<Connection>>,
}

impl Actor {
    pub(super) fn enter(
        database: &DemoDatabase,
        name: String,
        conditions: Conditions,
    ) -> Result<Self, DemoError> {
        let connection = Arc::new(Mutex::new(database.connect()?));
        Ok(Self { name, conditions, connection })
    }

    /// The actor's decision stream, from its start.
    pub(super) fn generator(&self) -> Rng {
        script::generator(self.conditions.seed, &self.name)
    }

    pub(super) fn stopping(&self) -> bool {
        self.conditions.stop.is_cancelled()
    }

    /// The current incident, if any.
    pub(super) fn incident(&self) -> Option<Incident> {
        *self.conditions.incident.borrow()
    }

    /// What `ms` milliseconds at speed 1 take.
    pub(super) fn real_time(&self, ms: u64) -> Duration {
        Duration::from_millis(ms).div_f64(self.conditions.speed)
    }

    /// Waits while this incident lasts; `false` when the demo stops first.
    pub(super) async fn sit_out(&self, incident: Incident) -> bool {
        let mut present = self.conditions.incident.clone();
        tokio::select! {
            biased;
            () = self.conditions.stop.cancelled() => false,
            // An error means that the director is gone, and the incident with it.
            _ = present.wait_for(|present| *present != Some(incident)) => true,
        }
    }

    /// Waits `ms` milliseconds at speed 1; `false` when the demo stops first.
    pub(super) async fn pause(&self, ms: u64) -> bool {
        self.wait(self.real_time(ms)).await
    }

    /// Waits for a duration at speed 1; `false` when the demo stops first.
    pub(super) async fn pause_for(&self, duration: Duration) -> bool {
        self.wait(duration.div_f64(self.conditions.speed)).await
    }

    /// Waits for a duration in real time; `false` when the demo stops first.
    pub(super) async fn wait(&self, duration: Duration) -> bool {
        tokio::select! {
            biased;
            () = self.conditions.stop.cancelled() => false,
            () = tokio::time::sleep(duration) => true,
        }
    }

    /// Runs `work` on the actor's connection, on a thread that may block.
    ///
    /// A writer that holds the file for long only delays the demo: `work` is retried until the demo
    /// stops. So it must be one statement or one transaction.
    pub(super) async fn database<T, F>(&self, work: F) -> Result<T, DemoError>
    where
        T: Send + 'static,
        F: Fn(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        let connection = Arc::clone(&self.connection);
        let stop = self.conditions.stop.clone();
        tokio::task::spawn_blocking(move || {
            // A panic in another call rolled its transaction back; the connection is still usable.
            let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
            loop {
                match work(&mut connection) {
                    Err(busy) if is_locked(&busy) && !stop.is_cancelled() => {}
                    result => return result.map_err(DemoError::from),
                }
            }
        })
        .await?
    }
}
