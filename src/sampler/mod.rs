//! Samplers: one task per database, which keeps one connection and runs one statement at a time.
//!
//! A target that fails costs no other target its sample. Samples never overlap and never queue up: those
//! that are overdue are skipped.

mod carry_over;
mod fleet;
mod ledger;
mod pace;

pub use fleet::{CONCURRENT_SOURCES, ConnectorFactory, Fleet};
pub use ledger::Ledger;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;
use tracing::{Instrument as _, debug, info, info_span, warn};

use self::pace::Pace;
use crate::clock::SharedClock;
use crate::config::{Global, Source, TargetConfig};
use crate::sample::Sample;
use crate::source::{Connection, Connector, Reason, SourceError};
use crate::state::{AnotherKind, Progress};
use crate::statement;

/// How long past its deadline a driver may take: it has a second to stop the statement. After that the
/// sample is given up, so that a driver that hangs costs one sample and not all the following ones.
const OVERRUN: Duration = Duration::from_secs(2);

/// What one sampler needs.
#[derive(Debug)]
pub struct Sampler {
    /// The database and its targets, as configured.
    pub source: Source,
    /// Limits and deadlines.
    pub global: Global,
    /// Opens connections.
    pub connector: Arc<dyn Connector>,
    /// Where samples go.
    pub ledger: Arc<Ledger>,
    /// The exporter's clock.
    pub clock: SharedClock,
    /// How long after the start the first sample is due.
    pub first_after: Duration,
    /// Bounds how many sources are sampled at the same time.
    pub turns: Arc<Semaphore>,
}

/// A failed sample.
struct Failure {
    error: SourceError,
    /// How long the statement took; `None` when none was sent.
    took: Option<Duration>,
    /// Whether there was a session. Without one the database counts as down for any reason.
    connected: bool,
}

impl Failure {
    const fn of_connecting(error: SourceError) -> Self {
        Self { error, took: None, connected: false }
    }

    const fn of_sample(error: SourceError, took: Option<Duration>) -> Self {
        Self { error, took, connected: true }
    }
}

/// An event at the level `warn` when it is news to an operator, else at `debug`.
macro_rules! warn_if {
    ($is_news:expr, $($event:tt)+) => {
        if $is_news { warn!($($event)+) } else { debug!($($event)+) }
    };
}

impl Sampler {
    /// Samples until `shutdown` turns true. A sample in progress is abandoned, which closes its connection.
    pub async fn run(self, mut shutdown: watch::Receiver<bool>) {
        let span = info_span!("source", source = %self.source.name);
        async move {
            tokio::select! {
                () = self.sample_for_ever() => {}
                _ = shutdown.wait_for(|stop| *stop) => {}
            }
            debug!("stopped");
        }
        .instrument(span)
        .await;
    }

    /// Samples each target once, successfully or not.
    pub async fn sample_once(&self) {
        let mut connection = None;
        for (position, target) in self.source.targets().enumerate() {
            match self.connect(&mut connection).await {
                Ok(()) => _ = self.sample(&mut connection, position, target).await,
                Err(error) => self.reject(position, target, &Failure::of_connecting(error)),
            }
        }
    }

    async fn sample_for_ever(&self) {
        let targets: Vec<TargetConfig<'_>> = self.source.targets().collect();
        let now = self.clock.monotonic() + self.first_after;
        let mut paces: Vec<Pace> =
            targets.iter().map(|target| Pace::new(target.target().sample_interval, now)).collect();
        let mut reconnect = Pace::new(self.global.sample_interval, now);
        let mut connection = None;
        loop {
            let next = paces.iter().enumerate().min_by_key(|(_, pace)| pace.due);
            let Some((position, due)) = next.map(|(position, pace)| (position, pace.due)) else {
                return; // no targets; the configuration does not allow it
            };
            tokio::time::sleep(due.saturating_sub(self.clock.monotonic())).await;
            // The semaphore is never closed.
            let _turn = self.turns.acquire().await.ok();
            if let Err(error) = self.connect(&mut connection).await {
                // One attempt counts for every target that is due: a database that is down gets one
                // connection attempt per pause, however many targets it has.
                reconnect.failed(self.clock.monotonic(), &mut fastrand::f64);
                let failure = Failure::of_connecting(error);
                let mut waited = Vec::new();
                for (position, (pace, target)) in paces.iter_mut().zip(&targets).enumerate() {
                    if pace.due <= reconnect.due {
                        waited.push((position, *target));
                        pace.due = reconnect.due;
                    }
                }
                self.reject_all(&waited, &failure);
                continue;
            }
            reconnect.succeeded(self.clock.monotonic(), &mut fastrand::f64);
            let (Some(target), Some(pace)) = (targets.get(position), paces.get_mut(position)) else {
                return;
            };
            let progress = self.sample(&mut connection, position, *target).await;
            let now = self.clock.monotonic();
            match progress {
                // The log has more to read at once than one sample may.
                Some(progress) if progress.more && !progress.waits => pace.continues(now),
                Some(_) => pace.succeeded(now, &mut fastrand::f64),
                None => pace.failed(now, &mut fastrand::f64),
            }
        }
    }

    /// Opens the connection if there is none.
    async fn connect(&self, connection: &mut Option<Box<dyn Connection>>) -> Result<(), SourceError> {
        if connection.is_none() {
            let deadline = self.global.query_timeout;
            *connection = Some(contain(deadline, async { self.connector.connect(deadline).await }).await?);
            debug!(database = %self.connector.describe(), "connected");
        }
        Ok(())
    }

    /// Takes one sample of one target; `None` when it failed.
    async fn sample(
        &self,
        connection: &mut Option<Box<dyn Connection>>,
        position: usize,
        target: TargetConfig<'_>,
    ) -> Option<Progress> {
        let open = connection.as_mut()?;
        match self.try_sample(open.as_mut(), position, target).await {
            Ok(progress) => Some(progress),
            Err(failure) => {
                if failure.error.connection_lost {
                    *connection = None;
                }
                self.reject(position, target, &failure);
                None
            }
        }
    }

    async fn try_sample(
        &self,
        connection: &mut dyn Connection,
        position: usize,
        target: TargetConfig<'_>,
    ) -> Result<Progress, Failure> {
        let request = self.ledger.request(&self.source.name, position, target).map_err(defect);
        let request = request.map_err(|error| Failure::of_sample(error, None))?;
        let statement =
            statement::sample(self.connector.dialect(), target, &request, self.global.lock_timeout)
                .map_err(|error| SourceError::new(Reason::Other, error.to_string()))
                .map_err(|error| Failure::of_sample(error, None))?;
        let (started, started_ms) = (self.clock.monotonic(), self.clock.unix_ms());
        let asking =
            async { Sample::read(target, connection.query(&statement, self.global.query_timeout).await) };
        let answered = contain(self.global.query_timeout, asking).await;
        let took = self.clock.monotonic().saturating_sub(started);
        let sample = answered.map_err(|error| Failure::of_sample(error, Some(took)))?;
        // The database's clock was read between the start and the end of the statement.
        let half_way = i64::try_from(took.as_millis() / 2).unwrap_or(0);
        let skew_ms = sample.now_ms().saturating_sub(started_ms.saturating_add(half_way));
        self.accept(position, target, sample, took, skew_ms).await
    }

    /// Applies, saves and shows a good sample.
    async fn accept(
        &self,
        position: usize,
        target: TargetConfig<'_>,
        sample: Sample,
        took: Duration,
        skew_ms: i64,
    ) -> Result<Progress, Failure> {
        // The only writer of this target is this task, so it can change a copy and commit that.
        let Some(mut after) = self.ledger.target(&self.source.name, position) else {
            return Ok(Progress::default());
        };
        let (first, failed_before) = (after.sampling.samples == 0, after.sampling.failed_in_a_row);
        after.sampling.good(took, self.clock.unix_ms(), self.clock.monotonic());
        let apply = AssertUnwindSafe(|| after.apply(target, sample, self.global.max_label_values));
        let applied = catch_unwind(apply).map_err(|_| SourceError::new(Reason::Other, PANICKED));
        let progress = applied
            .and_then(|applied| applied.map_err(defect))
            .map_err(|error| Failure::of_sample(error, Some(took)))?;
        let crowded = after.sampling.crowded(!progress.crowded_out.is_empty());
        self.ledger.commit(&self.source, position, target, after, skew_ms).await;
        if first {
            info!(kind = target.label(), target = %target.target().name, "first sample is good");
        } else if failed_before > 0 {
            info!(kind = target.label(), target = %target.target().name, failed_before, "sampled again");
        }
        report(target, &progress, crowded);
        Ok(progress)
    }

    /// Counts and logs a failed sample.
    fn reject(&self, position: usize, target: TargetConfig<'_>, failure: &Failure) {
        let streak = self.count_failure(position, failure);
        let (kind, name, database) = (target.label(), &target.target().name, self.connector.describe());
        let (error, reason, in_a_row) = (&failure.error, failure.error.reason.as_str(), streak.failures);
        warn_if!(streak.is_news(), kind, target = %name, database = %database, reason, in_a_row, %error, "sample failed");
    }

    /// Counts a failed sample of each of these targets after a failed attempt to connect, and logs the attempt
    /// once.
    fn reject_all(&self, targets: &[(usize, TargetConfig<'_>)], failure: &Failure) {
        let streaks = targets.iter().map(|(position, _)| self.count_failure(*position, failure));
        let Some(streak) = streaks.reduce(Streak::newest) else {
            return;
        };
        let (database, targets) = (self.connector.describe(), targets.len());
        let (error, reason, in_a_row) = (&failure.error, failure.error.reason.as_str(), streak.failures);
        warn_if!(streak.is_news(), database = %database, reason, targets, in_a_row, %error, "no connection for these samples");
    }

    fn count_failure(&self, position: usize, failure: &Failure) -> Streak {
        let Failure { error, took, connected } = failure;
        let now_ms = self.clock.unix_ms();
        let mut streak = Streak { failures: 1, is_other_reason: true };
        self.ledger.change(&self.source.name, |source| {
            // A statement that was cancelled properly was answered, too.
            let answered = error.reason.database_answered() || !error.connection_lost;
            source.up = Some(*connected && answered);
            if let Some(known) = source.targets.get_mut(position) {
                let before = known.sampling.last_error.as_ref().map(|last| last.reason);
                known.sampling.failed(error, *took, now_ms);
                let failures = known.sampling.failed_in_a_row;
                streak = Streak { failures, is_other_reason: before != Some(error.reason) };
            }
        });
        streak
    }
}

/// Consecutive failed samples of a target.
#[derive(Debug, Clone, Copy)]
struct Streak {
    failures: u64,
    /// The last failure has another reason than the one before.
    is_other_reason: bool,
}

impl Streak {
    /// Whether an operator wants to know: at once, and then less and less often while nothing changes.
    const fn is_news(self) -> bool {
        self.is_other_reason || is_news(self.failures)
    }

    const fn newest(self, other: Self) -> Self {
        if other.is_news() { other } else { self }
    }
}

/// Whether an event that occurred so many times in a row is worth another warning.
const fn is_news(in_a_row: u64) -> bool {
    in_a_row.is_power_of_two()
}

/// The message of a panic's error; the panic's own message is on standard error.
const PANICKED: &str = "the sampler panicked; this is a defect of the exporter";

/// The error of what the code should make impossible.
fn defect(error: AnotherKind) -> SourceError {
    SourceError::new(
        Reason::Other,
        format!("a sample does not fit its target: {error}; this is a defect of the exporter"),
    )
}

/// Turns a panic in a driver or a decoder, and a driver that misses its deadline, into an error of the
/// sample: neither ends the process or the sampling.
async fn contain<T>(
    deadline: Duration,
    work: impl Future<Output = Result<T, SourceError>>,
) -> Result<T, SourceError> {
    let limit = deadline.saturating_add(OVERRUN);
    match timeout(limit, AssertUnwindSafe(work).catch_unwind()).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_panic)) => Err(SourceError::lost(Reason::Other, PANICKED)),
        Err(_elapsed) => {
            let message = format!("the driver did not come back within {} ms", limit.as_millis());
            Err(SourceError::lost(Reason::Timeout, message))
        }
    }
}

/// Logs what an operator should know about a log that was read. `crowded`: how many samples in a row had
/// no room for all missing ids.
fn report(target: TargetConfig<'_>, progress: &Progress, crowded: u64) {
    let name = &target.target().name;
    let kind = target.label();
    if progress.reset {
        warn!(kind, target = %name, "ids went backwards: the table was truncated or reseeded, reading from its start");
    }
    if progress.lost_end {
        warn!(kind, target = %name, "the newest rows are not there, locked or deleted: should their ids be given out again, those rows are not counted");
    }
    if progress.late > 0 {
        debug!(kind, target = %name, rows = progress.late, "rows became visible late");
    }
    if !progress.stale.is_empty() {
        let (rows, some) = (progress.stale.len(), some(&progress.stale));
        warn!(kind, target = %name, rows, ids = ?some, "rows that did not end, or are gone, were given up");
    }
    if !progress.abandoned.is_empty() {
        let (ranges, some) = (progress.abandoned.len(), some(&progress.abandoned));
        debug!(kind, target = %name, ranges, first = ?some, "missing ids given up");
    }
    if let Some((_, up_to)) = progress.crowded_out.last() {
        let (ranges, in_a_row) = (progress.crowded_out.len(), crowded);
        warn_if!(is_news(crowded), kind, target = %name, ranges, up_to, in_a_row, "{CROWDED_OUT}");
    }
}

/// Why ids are given up early, and what helps.
const CROWDED_OUT: &str = "too many ids are missing, so some were given up before late_window was over: rows that get \
                           them now are not counted; a shorter late_window or a larger batch_size may help";

/// The first few, for a line of the log.
fn some<T>(all: &[T]) -> &[T] {
    all.get(..10).unwrap_or(all)
}
