//! What every actor has: a name, a connection, a generator, a pace and a sign to stop.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fastrand::Rng;
use rusqlite::Connection;
use tokio_util::sync::CancellationToken;

use super::super::{DemoDatabase, DemoError, schema};
use super::script;

/// Turns times of the script into times of the clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace(pub(super) f64);

impl Pace {
    /// `ms` milliseconds at speed 1.
    pub(super) fn of(self, ms: u64) -> Duration {
        self.of_duration(Duration::from_millis(ms))
    }

    fn of_duration(self, duration: Duration) -> Duration {
        duration.div_f64(self.0)
    }
}

/// One simulated party: a process of its own with its own connection.
#[derive(Debug)]
pub(super) struct Actor {
    pub(super) name: String,
    pub(super) pace: Pace,
    seed: u64,
    connection: Arc<Mutex<Connection>>,
    stop: CancellationToken,
}

impl Actor {
    pub(super) fn enter(
        database: &DemoDatabase,
        name: String,
        seed: u64,
        pace: Pace,
        stop: CancellationToken,
    ) -> Result<Self, DemoError> {
        let connection = Arc::new(Mutex::new(database.connect()?));
        Ok(Self { name, pace, seed, connection, stop })
    }

    /// The actor's decision stream, from its beginning.
    pub(super) fn generator(&self) -> Rng {
        script::generator(self.seed, &self.name)
    }

    pub(super) fn stopping(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Waits `ms` script milliseconds; `false` when the demo stops meanwhile.
    pub(super) async fn pause(&self, ms: u64) -> bool {
        self.pause_for(Duration::from_millis(ms)).await
    }

    /// Waits for a duration at speed 1; `false` when the demo stops meanwhile.
    pub(super) async fn pause_for(&self, duration: Duration) -> bool {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => false,
            () = tokio::time::sleep(self.pace.of_duration(duration)) => true,
        }
    }

    /// Runs `work` on the actor's connection, in a thread that may block.
    ///
    /// Another writer that holds the file for long only delays the demo: `work` is tried again until
    /// it is time to stop. So it must be one statement or one transaction.
    pub(super) async fn database<T, F>(&self, work: F) -> Result<T, DemoError>
    where
        T: Send + 'static,
        F: Fn(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        let connection = Arc::clone(&self.connection);
        let stop = self.stop.clone();
        tokio::task::spawn_blocking(move || {
            // A panic in another call rolled its transaction back; the connection is still good.
            let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
            loop {
                match work(&mut connection) {
                    Err(busy) if schema::is_busy(&busy) && !stop.is_cancelled() => {}
                    result => return result.map_err(DemoError::from),
                }
            }
        })
        .await?
    }
}
