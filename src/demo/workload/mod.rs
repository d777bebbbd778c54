//! The workload: starts the actors that work on the demo's tables, and stops them.

mod actor;
mod director;
mod jobs;
mod runs;
mod script;
mod summary;
#[cfg(test)]
mod tests;
mod variation;
mod work;

use std::future::Future;
use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::JoinSet;

use self::actor::{Actor, Conditions};
pub use self::summary::DemoSummary;
use super::{DemoDatabase, DemoError, DemoOptions, HostClock, check_speed};
use crate::source::sqlite::is_locked;

pub(super) const WORKERS: usize = 4;
pub(super) const CONSUMERS: i64 = 2;
pub(super) const SCHEDULERS: usize = 2;

/// Runs the workload on a prepared database until `shutdown` resolves, and returns a summary.
///
/// Every actor stops at its next pause: transactions end, the notification lock is released, consumers
/// roll back, an incident ends. Jobs in progress keep their leases until those lapse, like the jobs of
/// any worker that is shut down. An incident may set `host_clock`, the exporter's clock.
///
/// # Errors
/// When the database fails; a locked one is waited for. All actors have stopped by then.
pub async fn run_workload(
    database: &DemoDatabase,
    options: &DemoOptions,
    host_clock: &Arc<HostClock>,
    shutdown: impl Future<Output = ()>,
) -> Result<DemoSummary, DemoError> {
    check_speed(options.speed)?;
    let (announce, incident) = watch::channel(None);
    let conditions = Conditions::new(options.seed, options.speed, incident);
    let mut crew = Crew { database, conditions, actors: JoinSet::new() };
    crew.start("enqueuer".to_owned(), jobs::enqueuer);
    for number in 1..=WORKERS {
        crew.start(format!("worker-{number}"), move |actor| jobs::worker(actor, number));
    }
    crew.start("recoverer".to_owned(), jobs::recoverer);
    crew.start("purger".to_owned(), jobs::purger);
    crew.start("producer".to_owned(), work::producer);
    for number in 1..=CONSUMERS {
        crew.start(format!("consumer-{number}"), move |actor| work::consumer(actor, number, CONSUMERS));
    }
    crew.start("event-writer".to_owned(), runs::event_writer);
    for number in 1..=SCHEDULERS {
        crew.start(format!("scheduler-{number}"), move |actor| runs::scheduler(actor, number));
    }
    if let Some(episode) = options.episode {
        let (database, host_clock) = (database.clone(), Arc::clone(host_clock));
        crew.start("director".to_owned(), move |actor| {
            director::director(actor, episode, database, host_clock, announce)
        });
    }
    crew.until(shutdown).await
}

/// One notification run in the name of `holder`, like those of the workload's schedulers but without
/// pauses: it takes the lock or is skipped, runs and logs each step, logs itself, prunes the log and
/// releases the lock.
///
/// # Errors
/// When the database fails outside a step; a failure in a step is a row of the log.
pub async fn run_notifications(database: &DemoDatabase, holder: &str) -> Result<DemoSummary, DemoError> {
    let (_, incident) = watch::channel(None);
    let conditions = Conditions::new(0, 1.0, incident);
    let actor = Actor::enter(database, holder.to_owned(), conditions)?;
    runs::run(&actor, script::RunPlan::default()).await
}

/// The actors that are running.
struct Crew<'a> {
    database: &'a DemoDatabase,
    conditions: Conditions,
    actors: JoinSet<Result<DemoSummary, DemoError>>,
}

impl Crew<'_> {
    fn start<B, F>(&mut self, name: String, body: B)
    where
        B: FnOnce(Actor) -> F + Send + 'static,
        F: Future<Output = Result<DemoSummary, DemoError>> + Send + 'static,
    {
        let (database, conditions) = (self.database.clone(), self.conditions.clone());
        let stop = conditions.stop.clone();
        self.actors.spawn(async move {
            let life = async {
                let name = name.clone();
                let entered = tokio::task::spawn_blocking(move || Actor::enter(&database, name, conditions));
                body(entered.await??).await
            };
            match life.await {
                // It did not get the write lock before the end; nobody misses its work.
                Err(DemoError::Database(error)) if stop.is_cancelled() && is_locked(&error) => {
                    Ok(DemoSummary::default())
                }
                Err(error) => Err(DemoError::Actor { actor: name, source: Box::new(error) }),
                Ok(summary) => Ok(summary),
            }
        });
    }

    /// Waits for `shutdown` or the first failure, then for every actor to end.
    async fn until(mut self, shutdown: impl Future<Output = ()>) -> Result<DemoSummary, DemoError> {
        let mut summary = DemoSummary::default();
        let mut failure = None;
        let mut shutdown = std::pin::pin!(shutdown);
        loop {
            let ended = tokio::select! {
                () = &mut shutdown, if !self.conditions.stop.is_cancelled() => {
                    self.conditions.stop.cancel();
                    continue;
                }
                ended = self.actors.join_next() => ended,
            };
            match ended.map(|ended| ended.unwrap_or_else(|error| Err(error.into()))) {
                None => return failure.map_or(Ok(summary), Err),
                Some(Ok(part)) => summary += part,
                Some(Err(error)) => {
                    failure.get_or_insert(error);
                    self.conditions.stop.cancel();
                }
            }
        }
    }
}
