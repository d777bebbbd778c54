//! The lease queue: one row per job, owned by the holder of its current claim token until the lease
//! lapses.
//!
//! Every change of owner is one conditional statement. A claim within the caller's transaction is
//! refused: the work happens outside of any transaction. An attempt ends in a transaction of its own,
//! which also writes the attempt into the history. The functions that act for an owner return its
//! [`Ownership`]; [`Ownership::Lost`] must never be taken for a success.

use std::time::Duration;

use rusqlite::{Connection, Params, Result, Transaction, TransactionBehavior, named_params};

use super::{execute, ms, sql};

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

/// Whether the caller still owned the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "without ownership nothing was done"]
pub enum Ownership {
    /// The caller owned the job, and the statement took effect.
    Held,
    /// The job belongs to somebody else by now, or to nobody: nothing was changed.
    Lost,
}

impl Ownership {
    /// A job has one row, so `changed` is 0 or 1.
    const fn of(changed: usize) -> Self {
        if changed == 0 { Self::Lost } else { Self::Held }
    }
}

/// What a recovery did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Jobs that are ready again.
    pub ready: u64,
    /// Jobs given up because they had no attempts left.
    pub failed: u64,
}

/// A final state, whose rows can be purged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finished {
    /// The work was done.
    Done,
    /// The job was given up.
    Failed,
}

/// Adds a job that becomes claimable after `delay`, and returns its id.
pub fn enqueue(connection: &Connection, payload: &str, delay: Duration, max_attempts: u32) -> Result<i64> {
    let parameters = named_params! {
        ":delay_ms": ms(delay),
        ":max_attempts": max_attempts,
        ":business_key": None::<&str>,
        ":payload": payload,
    };
    // query_one runs the statement to its end, and so reports a failed commit.
    connection.prepare_cached(sql!("job_queue/enqueue"))?.query_one(parameters, |row| row.get("JobId"))
}

/// Claims one job for `lease`. `None`: nothing was claimable; pause, then ask again.
pub fn claim(connection: &Connection, lease: Duration) -> Result<Option<Claim>> {
    Ok(claim_batch(connection, lease, 1)?.pop())
}

/// Claims at most `batch` jobs for `lease`, each with a token of its own, in no particular order.
pub fn claim_batch(connection: &Connection, lease: Duration, batch: u32) -> Result<Vec<Claim>> {
    let transaction = write_transaction(connection)?;
    let claims = transaction
        .prepare_cached(sql!("job_queue/claim"))?
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

/// Reports a job as done.
pub fn complete(connection: &Connection, job_id: i64, token: &str) -> Result<Ownership> {
    let parameters = named_params! { ":job_id": job_id, ":token": token };
    end_attempt(connection, job_id, "ok", sql!("job_queue/complete"), parameters)
}

/// Extends the lease to `lease` from now.
pub fn heartbeat(connection: &Connection, job_id: i64, token: &str, lease: Duration) -> Result<Ownership> {
    let parameters = named_params! { ":job_id": job_id, ":token": token, ":lease_ms": ms(lease) };
    execute(connection, sql!("job_queue/heartbeat"), parameters).map(Ownership::of)
}

/// Reports a failed attempt: ready again after `backoff`, or given up when it was the last one.
pub fn fail(
    connection: &Connection,
    job_id: i64,
    token: &str,
    error: &str,
    backoff: Duration,
) -> Result<Ownership> {
    let parameters =
        named_params! { ":job_id": job_id, ":token": token, ":error": error, ":backoff_ms": ms(backoff) };
    end_attempt(connection, job_id, "error", sql!("job_queue/fail"), parameters)
}

/// Takes at most `batch` jobs from owners whose lease lapsed longer than `grace` ago.
pub fn recover(connection: &Connection, grace: Duration, batch: u32) -> Result<Recovered> {
    let transaction = write_transaction(connection)?;
    let taken = transaction
        .prepare_cached(sql!("job_queue/recover"))?
        .query_map(named_params! { ":grace_ms": ms(grace), ":batch": batch }, |row| {
            Ok((row.get::<_, i64>("JobId")?, row.get::<_, String>("State")?))
        })?
        .collect::<Result<Vec<_>>>()?;
    let mut recovered = Recovered::default();
    for (job_id, state) in taken {
        add_attempt(&transaction, job_id, "lost")?;
        if state == "F" {
            recovered.failed += 1;
        } else {
            recovered.ready += 1;
        }
    }
    transaction.commit()?;
    Ok(recovered)
}

/// Ends an attempt at a job with a conditional statement, and writes it into the history with its
/// `outcome` if that changed the job.
fn end_attempt(
    connection: &Connection,
    job_id: i64,
    outcome: &str,
    statement: &str,
    parameters: impl Params,
) -> Result<Ownership> {
    let transaction = write_transaction(connection)?;
    let ownership = Ownership::of(execute(&transaction, statement, parameters)?);
    if ownership == Ownership::Held {
        add_attempt(&transaction, job_id, outcome)?;
    }
    transaction.commit()?;
    Ok(ownership)
}

/// A transaction that holds the write lock from its start. The database refuses one inside another.
fn write_transaction(connection: &Connection) -> Result<Transaction<'_>> {
    Transaction::new_unchecked(connection, TransactionBehavior::Immediate)
}

fn add_attempt(transaction: &Transaction<'_>, job_id: i64, outcome: &str) -> Result<()> {
    let parameters = named_params! { ":job_id": job_id, ":outcome": outcome };
    execute(transaction, sql!("job_queue/attempt_add"), parameters).map(drop)
}

/// Deletes at most `batch` jobs that finished longer than `keep` ago, and returns how many.
pub fn purge(connection: &Connection, state: Finished, keep: Duration, batch: u32) -> Result<usize> {
    let state = match state {
        Finished::Done => "D",
        Finished::Failed => "F",
    };
    let parameters = named_params! { ":state": state, ":keep_ms": ms(keep), ":batch": batch };
    execute(connection, sql!("job_queue/purge"), parameters)
}

/// Deletes at most `batch` attempts that ended longer than `keep` ago, and returns how many.
pub fn purge_attempts(connection: &Connection, keep: Duration, batch: u32) -> Result<usize> {
    let parameters = named_params! { ":keep_ms": ms(keep), ":batch": batch };
    execute(connection, sql!("job_queue/purge_attempts"), parameters)
}
