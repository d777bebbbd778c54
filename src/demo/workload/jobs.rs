//! Actors of the lease queue: enqueuer, workers, recoverer and purger.

use super::super::DemoError;
use super::super::incident::Incident;
use super::super::notifications;
use super::super::pause::IdlePause;
use super::super::queue::{self, Claim, Finished, Ownership};
use super::DemoSummary;
use super::actor::Actor;
use super::script::{self, Attempt, Fate, WorkerScript};
use super::variation;

/// How long a claim lasts without a heartbeat.
const LEASE: u64 = 5000;

/// How long the recoverer leaves a lapsed lease alone. Longer than the exporter's sample interval, so
/// that each lapsed lease is sampled.
const GRACE: u64 = 1200;

/// The interval of the recoverer.
const RECOVER_EVERY: u64 = 3000;

/// How long it takes to restart a crashed worker.
const RESTART: u64 = 800;

/// How long finished jobs and their attempts are kept. A failed job is kept until somebody has looked
/// at it, which is soon while there are few.
const KEEP_DONE: u64 = 3 * 60 * 1000;
const KEEP_FAILED: u64 = 30 * 1000;
const KEEP_ATTEMPTS: u64 = 15 * 60 * 1000;

/// The number of events and messages that are kept.
const KEEP_EVENTS: u32 = 2000;

/// The most rows that one recovery or purge touches.
const BATCH: u32 = 200;

pub(super) async fn enqueuer(actor: Actor) -> Result<DemoSummary, DemoError> {
    let mut summary = DemoSummary::default();
    let mut rng = actor.generator();
    for n in 0.. {
        let delivery = variation::delivery(actor.incident(), script::delivery(&mut rng, n));
        let delay = actor.real_time(delivery.delay);
        for _ in 0..delivery.jobs {
            let (payload, max_attempts) = (delivery.payload, delivery.max_attempts);
            actor.database(move |db| queue::enqueue(db, payload, delay, max_attempts)).await?;
            summary.jobs_enqueued += 1;
        }
        if !actor.pause(delivery.then).await {
            break;
        }
    }
    Ok(summary)
}

pub(super) async fn worker(actor: Actor, number: usize) -> Result<DemoSummary, DemoError> {
    let mut summary = DemoSummary::default();
    let mut script = WorkerScript::new(actor.generator(), number);
    let lease = actor.real_time(LEASE);
    let mut idle = IdlePause::default();
    while actor.sit_out(Incident::NoWorkers).await {
        let Some(claim) = actor.database(move |db| queue::claim(db, lease)).await? else {
            actor.pause_for(idle.after_nothing()).await;
            continue;
        };
        idle.reset();
        summary.jobs_claimed += 1;
        let attempt = script.attempt(&claim.payload);
        let attempt = variation::attempt(actor.incident(), &claim.payload, attempt);
        try_job(&actor, &claim, attempt, &mut summary).await?;
    }
    Ok(summary)
}

/// One attempt at a job. A worker that crashes or is stopped in the middle reports nothing: its lease lapses.
async fn try_job(
    actor: &Actor,
    claim: &Claim,
    attempt: Attempt,
    summary: &mut DemoSummary,
) -> Result<(), DemoError> {
    let is_worked = match attempt.fate {
        Fate::Crash => {
            if actor.pause(attempt.work).await {
                summary.workers_crashed += 1;
                actor.pause(RESTART).await;
            }
            false
        }
        // Past the lease, the grace and a whole interval of the recoverer.
        Fate::Stall => actor.pause(LEASE + GRACE + RECOVER_EVERY + attempt.work).await,
        Fate::Success | Fate::Failure => work(actor, claim, attempt.work).await?,
    };
    if !is_worked {
        return Ok(());
    }
    let (job_id, token) = (claim.job_id, claim.token.clone());
    let (ownership, counter) = if attempt.fate == Fate::Failure {
        let backoff = actor.real_time(script::backoff(&claim.payload, claim.attempts));
        let error = format!("cannot {}: unexpected end of input", claim.payload);
        let ownership = actor.database(move |db| queue::fail(db, job_id, &token, &error, backoff)).await?;
        (ownership, &mut summary.attempts_failed)
    } else {
        let ownership = actor.database(move |db| queue::complete(db, job_id, &token)).await?;
        (ownership, &mut summary.jobs_done)
    };
    // When somebody else owns the job by now, this worker's result does not count.
    *counter += u64::from(ownership == Ownership::Held);
    Ok(())
}

/// Works for `left` milliseconds, outside any transaction, with a heartbeat every third of the lease.
/// `false` when the demo stops or the job changes hands first.
async fn work(actor: &Actor, claim: &Claim, mut left: u64) -> Result<bool, DemoError> {
    let lease = actor.real_time(LEASE);
    loop {
        let slice = left.min(LEASE / 3);
        if !actor.pause(slice).await {
            return Ok(false);
        }
        left -= slice;
        if left == 0 {
            return Ok(true);
        }
        let (job_id, token) = (claim.job_id, claim.token.clone());
        if actor.database(move |db| queue::heartbeat(db, job_id, &token, lease)).await? == Ownership::Lost {
            return Ok(false);
        }
    }
}

pub(super) async fn recoverer(actor: Actor) -> Result<DemoSummary, DemoError> {
    let mut summary = DemoSummary::default();
    let grace = actor.real_time(GRACE);
    while actor.pause(RECOVER_EVERY).await && actor.sit_out(Incident::NoRecovery).await {
        let recovered = actor.database(move |db| queue::recover(db, grace, BATCH)).await?;
        summary.jobs_recovered += recovered.ready + recovered.failed;
    }
    Ok(summary)
}

/// Keeps every table from growing forever, except the run log: each run prunes it.
pub(super) async fn purger(actor: Actor) -> Result<DemoSummary, DemoError> {
    let [done, failed, attempts] = [KEEP_DONE, KEEP_FAILED, KEEP_ATTEMPTS].map(|ms| actor.real_time(ms));
    while actor.pause(5000).await {
        actor.database(move |db| queue::purge(db, Finished::Done, done, BATCH)).await?;
        actor.database(move |db| queue::purge(db, Finished::Failed, failed, BATCH)).await?;
        actor.database(move |db| queue::purge_attempts(db, attempts, BATCH)).await?;
        actor.database(|db| notifications::purge_history(db, KEEP_EVENTS, BATCH)).await?;
    }
    Ok(DemoSummary::default())
}
