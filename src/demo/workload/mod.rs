//! The parties that work on the demo's tables, and their life and end.

mod actor;
mod jobs;
mod runs;
mod script;
#[cfg(test)]
mod tests;
mod work;

use std::fmt;
use std::future::Future;
use std::ops::AddAssign;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use self::actor::{Actor, Pace};
use super::{DemoDatabase, DemoError, DemoOptions, check_speed};

pub(super) const WORKERS: usize = 4;
pub(super) const CONSUMERS: i64 = 2;
pub(super) const SCHEDULERS: usize = 2;

/// What happened while the workload ran.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DemoSummary {
    /// Jobs put into the lease queue.
    pub jobs_enqueued: u64,
    /// Claims of jobs.
    pub jobs_claimed: u64,
    /// Jobs completed by who owned them.
    pub jobs_done: u64,
    /// Attempts reported as failed by who owned the job.
    pub attempts_failed: u64,
    /// Workers that vanished with a job.
    pub workers_crashed: u64,
    /// Completions, failures and heartbeats refused because the job had another owner by then.
    pub ownership_lost: u64,
    /// Jobs taken from an owner whose lease had lapsed.
    pub jobs_recovered: u64,
    /// Rows put into the transactional queue.
    pub work_enqueued: u64,
    /// Rows of the transactional queue that were consumed.
    pub work_committed: u64,
    /// Rows of the transactional queue that were put back.
    pub work_rolled_back: u64,
    /// Comments written.
    pub comments_written: u64,
    /// Orders written.
    pub orders_written: u64,
    /// Notification runs started, skipped ones included.
    pub runs_started: u64,
    /// Notification runs that found the lock taken.
    pub runs_skipped: u64,
    /// Steps that failed.
    pub step_errors: u64,
    /// Steps that worked with a remark.
    pub step_warnings: u64,
    /// Notifications written.
    pub notifications: u64,
    /// Rows that retention deleted.
    pub rows_purged: u64,
}

impl fmt::Display for DemoSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "jobs: {} enqueued, {} claimed, {} done, {} attempts failed, {} workers crashed, {} recovered",
            self.jobs_enqueued,
            self.jobs_claimed,
            self.jobs_done,
            self.attempts_failed,
            self.workers_crashed,
            self.jobs_recovered,
        )?;
        writeln!(
            f,
            "work: {} enqueued, {} committed, {} rolled back",
            self.work_enqueued, self.work_committed, self.work_rolled_back,
        )?;
        write!(
            f,
            "runs: {} started, {} skipped, {} steps failed, {} notifications",
            self.runs_started, self.runs_skipped, self.step_errors, self.notifications,
        )
    }
}

impl AddAssign for DemoSummary {
    fn add_assign(&mut self, other: Self) {
        // Taken apart, so that a field that is not added up does not compile.
        let Self {
            jobs_enqueued,
            jobs_claimed,
            jobs_done,
            attempts_failed,
            workers_crashed,
            ownership_lost,
            jobs_recovered,
            work_enqueued,
            work_committed,
            work_rolled_back,
            comments_written,
            orders_written,
            runs_started,
            runs_skipped,
            step_errors,
            step_warnings,
            notifications,
            rows_purged,
        } = other;
        self.jobs_enqueued += jobs_enqueued;
        self.jobs_claimed += jobs_claimed;
        self.jobs_done += jobs_done;
        self.attempts_failed += attempts_failed;
        self.workers_crashed += workers_crashed;
        self.ownership_lost += ownership_lost;
        self.jobs_recovered += jobs_recovered;
        self.work_enqueued += work_enqueued;
        self.work_committed += work_committed;
        self.work_rolled_back += work_rolled_back;
        self.comments_written += comments_written;
        self.orders_written += orders_written;
        self.runs_started += runs_started;
        self.runs_skipped += runs_skipped;
        self.step_errors += step_errors;
        self.step_warnings += step_warnings;
        self.notifications += notifications;
        self.rows_purged += rows_purged;
    }
}

/// Runs the workload on a prepared database until `shutdown` is ready, and returns what happened.
///
/// Every actor stops at its next pause: transactions end, the notification lock is given back,
/// consumers roll back. Jobs being worked on keep their leases until those lapse, like the jobs of
/// any worker that is shut down.
///
/// # Errors
///
/// When the database fails; one that is only locked by somebody else is waited for. All actors are
/// stopped by then.
pub async fn run_workload(
    database: &DemoDatabase,
    options: &DemoOptions,
    shutdown: impl Future<Output = ()>,
) -> Result<DemoSummary, DemoError> {
    check_speed(options.speed)?;
    let mut crew = Crew {
        database,
        seed: options.seed,
        pace: Pace(options.speed),
        stop: CancellationToken::new(),
        actors: JoinSet::new(),
    };
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
    crew.until(shutdown).await
}

/// One notification run in the name of `holder`, as the schedulers of the workload do it but without
/// their pauses: it takes the lock or is skipped, runs and logs each step and itself, prunes the log
/// and gives the lock back.
///
/// # Errors
///
/// When the database fails outside of a step; what goes wrong in one is a row of the log.
pub async fn run_notifications(database: &DemoDatabase, holder: &str) -> Result<DemoSummary, DemoError> {
    let (pace, stop) = (Pace(1.0), CancellationToken::new());
    let actor = Actor::enter(database, holder.to_owned(), 0, pace, stop)?;
    runs::run(&actor, script::RunPlan::default()).await
}

/// The actors that are running.
struct Crew<'a> {
    database: &'a DemoDatabase,
    seed: u64,
    pace: Pace,
    stop: CancellationToken,
    actors: JoinSet<Result<DemoSummary, DemoError>>,
}

impl Crew<'_> {
    fn start<B, F>(&mut self, name: String, body: B)
    where
        B: FnOnce(Actor) -> F + Send + 'static,
        F: Future<Output = Result<DemoSummary, DemoError>> + Send + 'static,
    {
        let (database, seed, pace, stop) = (self.database.clone(), self.seed, self.pace, self.stop.clone());
        self.actors.spawn(async move {
            let life = async {
                let (stop, name) = (stop.clone(), name.clone());
                let entered =
                    tokio::task::spawn_blocking(move || Actor::enter(&database, name, seed, pace, stop));
                body(entered.await??).await
            };
            match life.await {
                // It did not get the write lock before the end: what it was about to do is not missed.
                Err(DemoError::Database(error)) if stop.is_cancelled() && super::schema::is_busy(&error) => {
                    Ok(DemoSummary::default())
                }
                Err(error) => Err(DemoError::Actor { actor: name, source: Box::new(error) }),
                Ok(summary) => Ok(summary),
            }
        });
    }

    /// Waits for `shutdown` or the first failure, then for every actor's end.
    async fn until(mut self, shutdown: impl Future<Output = ()>) -> Result<DemoSummary, DemoError> {
        let mut summary = DemoSummary::default();
        let mut failure = None;
        let mut shutdown = std::pin::pin!(shutdown);
        loop {
            let ended = tokio::select! {
                () = &mut shutdown, if !self.stop.is_cancelled() => {
                    self.stop.cancel();
                    continue;
                }
                ended = self.actors.join_next() => ended,
            };
            match ended {
                None => break,
                Some(Ok(Ok(part))) => summary += part,
                Some(Ok(Err(error))) => {
                    failure.get_or_insert(error);
                    self.stop.cancel();
                }
                Some(Err(error)) => {
                    failure.get_or_insert(DemoError::Task(error));
                    self.stop.cancel();
                }
            }
        }
        failure.map_or(Ok(summary), Err)
    }
}
