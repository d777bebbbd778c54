//! The lease queue: one row a job, owned by whoever holds its current claim token until the lease
//! lapses.
//!
//! Every change of owner is one conditional statement. A claim within the caller's transaction is
//! refused: the work happens outside of any. What ends an attempt is a transaction of its own, which
//! also writes the attempt into the history. The functions that act for an owner say what came of
//! it: [`Ownership::Lost`] must never be taken for a success.

use std::time::Duration;

use rusqlite::{
    Connection, OptionalExtension, Params, Result, Transaction, TransactionBehavior, named_params,
};

use super::ms;

/// A job that was claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The job.
    pub job_id: i64,
    /// Proof of ownership, fresh for each claim.
    pub token: String,
    /// How often the job was claimed, this claim included.
    pub attempts: u32,
    /// What to do.
    pub payload: String,
}

/// What an owner's statement found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "what was not owned was not done"]
pub enum Ownership {
    /// The caller owned the job, and the statement did what it says.
    Held,
    /// The job is somebody else's by now, or nobody's: nothing was changed.
    Lost,
}

impl Ownership {
    /// A job has one row, so nothing but 0 or 1 can be `changed`.
    const fn of(changed: usize) -> Self {
        if changed == 0 { Self::Lost } else { Self::Held }
    }
}

/// What became of a job with a business key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enqueued {
    /// It is a new job, with this id.
    New(i64),
    /// The job with this id has the key already.
    Known(i64),
}

/// What a recovery did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Jobs that are ready again.
    pub ready: u64,
    /// Jobs given up because their attempts were used up.
    pub failed: u64,
}

/// A finished state, whose rows can be purged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finished {
    /// The work was done.
    Done,
    /// The job was given up.
    Failed,
}

/// Adds a job that becomes claimable after `delay`, and returns its id.
pub fn enqueue(connection: &Connection, payload: &str, delay: Duration, max_attempts: u32) -> Result<i64> {
    match insert(connection, None, payload, delay, max_attempts)? {
        Some(job_id) => Ok(job_id),
        // Only a business key can be refused.
        None => Err(rusqlite::Error::QueryReturnedNoRows),
    }
}

/// Adds a job unless there is one with this business key, in whatever state. So the same thing may be
/// enqueued again and again, and is done once, until its job is purged.
pub fn enqueue_once(
    connection: &Connection,
    business_key: &str,
    payload: &str,
    delay: Duration,
    max_attempts: u32,
) -> Result<Enqueued> {
    loop {
        if let Some(job_id) = insert(connection, Some(business_key), payload, delay, max_attempts)? {
            return Ok(Enqueued::New(job_id));
        }
        let known = connection
            .prepare_cached(include_str!("../../sql/sqlite/job_queue/find.sql"))?
            .query_one(named_params! { ":business_key": business_key }, |row| row.get("JobId"))
            .optional()?;
        // None: it was purged between the two statements, and the key is free again.
        if let Some(job_id) = known {
            return Ok(Enqueued::Known(job_id));
        }
    }
}

fn insert(
    connection: &Connection,
    business_key: Option<&str>,
    payload: &str,
    delay: Duration,
    max_attempts: u32,
) -> Result<Option<i64>> {
    // query_one runs the statement to its end and so reports a commit that failed.
    connection
        .prepare_cached(include_str!("../../sql/sqlite/job_queue/enqueue.sql"))?
        .query_one(
            named_params! {
                ":delay_ms": ms(delay),
                ":max_attempts": max_attempts,
                ":business_key": business_key,
                ":payload": payload,
            },
            |row| row.get("JobId"),
        )
        .optional()
}

/// Claims one job for `lease`. `None`: nothing was claimable for this attempt; pause, then ask again.
pub fn claim(connection: &Connection, lease: Duration) -> Result<Option<Claim>> {
    Ok(claim_batch(connection, lease, 1)?.pop())
}

/// Claims at most `batch` jobs for `lease`, each with a token of its own, in no particular order.
pub fn claim_batch(connection: &Connection, lease: Duration, batch: u32) -> Result<Vec<Claim>> {
    let transaction = write_transaction(connection)?;
    let claims = transaction
        .prepare_cached(include_str!("../../sql/sqlite/job_queue/claim.sql"))?
        .query_map(named_params! { ":lease_ms": ms(lease), ":batch": batch }, |row| {
            Ok(Claim {
                job_id: row.get("JobId")?,
                token: row.get("ClaimToken")?,
                attempts: row.get("Attempts")?,
                payload: row.get("Payload")?,
            })
        })?
        .collect::<Result<Vec<_>>>()?;
    transaction.commit()?;
    Ok(claims)
}

/// How an attempt ended, as the history has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Ok,
    Error,
    Lost,
}

impl Ending {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Lost => "lost",
        }
    }
}

/// Reports a job as done.
pub fn complete(connection: &Connection, job_id: i64, token: &str) -> Result<Ownership> {
    let statement = include_str!("../../sql/sqlite/job_queue/complete.sql");
    end_attempt(
        connection,
        job_id,
        Ending::Ok,
        statement,
        named_params! { ":job_id": job_id, ":token": token },
    )
}

/// Prolongs the lease to `lease` from now.
pub fn heartbeat(connection: &Connection, job_id: i64, token: &str, lease: Duration) -> Result<Ownership> {
    connection
        .prepare_cached(include_str!("../../sql/sqlite/job_queue/heartbeat.sql"))?
        .execute(named_params! { ":job_id": job_id, ":token": token, ":lease_ms": ms(lease) })
        .map(Ownership::of)
}

/// Reports a failed attempt: ready again after `backoff`, or given up when it was the last one.
pub fn fail(
    connection: &Connection,
    job_id: i64,
    token: &str,
    error: &str,
    backoff: Duration,
) -> Result<Ownership> {
    let statement = include_str!("../../sql/sqlite/job_queue/fail.sql");
    let parameters =
        named_params! { ":job_id": job_id, ":token": token, ":error": error, ":backoff_ms": ms(backoff) };
    end_attempt(connection, job_id, Ending::Error, statement, parameters)
}

/// Takes at most `batch` jobs, whose lease lapsed longer than `grace` ago, from their owners.
pub fn recover(connection: &Connection, grace: Duration, batch: u32) -> Result<Recovered> {
    let transaction = write_transaction(connection)?;
    let taken = transaction
        .prepare_cached(include_str!("../../sql/sqlite/job_queue/recover.sql"))?
        .query_map(named_params! { ":grace_ms": ms(grace), ":batch": batch }, |row| {
            Ok((row.get::<_, i64>("JobId")?, row.get::<_, String>("State")?))
        })?
        .collect::<Result<Vec<_>>>()?;
    let mut recovered = Recovered::default();
    for (job_id, state) in taken {
        add_attempt(&transaction, job_id, Ending::Lost)?;
        if state == "F" {
            recovered.failed += 1;
        } else {
            recovered.ready += 1;
        }
    }
    transaction.commit()?;
    Ok(recovered)
}

/// Ends an attempt at a job by a conditional statement, and writes it into the history if that
/// changed the job.
fn end_attempt(
    connection: &Connection,
    job_id: i64,
    ending: Ending,
    statement: &str,
    parameters: impl Params,
) -> Result<Ownership> {
    let transaction = write_transaction(connection)?;
    let ownership = Ownership::of(transaction.prepare_cached(statement)?.execute(parameters)?);
    if ownership == Ownership::Held {
        add_attempt(&transaction, job_id, ending)?;
    }
    transaction.commit()?;
    Ok(ownership)
}

/// A transaction that holds the write lock from its beginning. One within another is an error of
/// the database.
fn write_transaction(connection: &Connection) -> Result<Transaction<'_>> {
    Transaction::new_unchecked(connection, TransactionBehavior::Immediate)
}

fn add_attempt(transaction: &Transaction<'_>, job_id: i64, ending: Ending) -> Result<()> {
    transaction
        .prepare_cached(include_str!("../../sql/sqlite/job_queue/attempt_add.sql"))?
        .execute(named_params! { ":job_id": job_id, ":outcome": ending.as_str() })
        .map(drop)
}

/// Makes a job that was given up ready again, with `more_attempts` attempts before it, or else as many
/// as it has been allowed so far; `false` when it is not in the failed state.
pub fn requeue(connection: &Connection, job_id: i64, more_attempts: Option<u32>) -> Result<bool> {
    let changed = connection
        .prepare_cached(include_str!("../../sql/sqlite/job_queue/requeue.sql"))?
        .execute(named_params! { ":job_id": job_id, ":more_attempts": more_attempts })?;
    Ok(changed > 0)
}

/// Deletes at most `batch` jobs that finished longer than `keep` ago, and returns how many.
pub fn purge(connection: &Connection, state: Finished, keep: Duration, batch: u32) -> Result<usize> {
    let state = match state {
        Finished::Done => "D",
        Finished::Failed => "F",
    };
    connection
        .prepare_cached(include_str!("../../sql/sqlite/job_queue/purge.sql"))?
        .execute(named_params! { ":state": state, ":keep_ms": ms(keep), ":batch": batch })
}

/// Deletes at most `batch` attempts that ended longer than `keep` ago, and returns how many.
pub fn purge_attempts(connection: &Connection, keep: Duration, batch: u32) -> Result<usize> {
    connection
        .prepare_cached(include_str!("../../sql/sqlite/job_queue/purge_attempts.sql"))?
        .execute(named_params! { ":keep_ms": ms(keep), ":batch": batch })
}
