//! The lease queue: one row a job, owned by whoever holds its current claim token until the lease
//! lapses.
//!
//! Every change of owner is one conditional statement. A claim has no transaction around it, and
//! none may be put there: the work happens outside of any. What ends an attempt is a transaction of
//! its own, which also writes the attempt into the history. The functions that act for an owner
//! return the number of rows changed; 0 says that ownership was lost.

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
    connection
        .prepare_cached(include_str!("../../sql/sqlite/job_queue/enqueue.sql"))?
        .insert(named_params! { ":delay_ms": ms(delay), ":max_attempts": max_attempts, ":payload": payload })
}

/// Claims one job for `lease`. `None`: nothing was claimable for this attempt; pause, then ask again.
pub fn claim(connection: &Connection, lease: Duration) -> Result<Option<Claim>> {
    // query_one runs the statement to its end and so reports a commit that failed; a query that
    // stops at the first row would hand out a job that was never taken.
    connection
        .prepare_cached(include_str!("../../sql/sqlite/job_queue/claim.sql"))?
        .query_one(named_params! { ":lease_ms": ms(lease) }, |row| {
            Ok(Claim {
                job_id: row.get("JobId")?,
                token: row.get("ClaimToken")?,
                attempts: row.get("Attempts")?,
                payload: row.get("Payload")?,
            })
        })
        .optional()
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
pub fn complete(connection: &Connection, job_id: i64, token: &str) -> Result<usize> {
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
pub fn heartbeat(connection: &Connection, job_id: i64, token: &str, lease: Duration) -> Result<usize> {
    connection
        .prepare_cached(include_str!("../../sql/sqlite/job_queue/heartbeat.sql"))?
        .execute(named_params! { ":job_id": job_id, ":token": token, ":lease_ms": ms(lease) })
}

/// Reports a failed attempt: ready again after `backoff`, or given up when it was the last one.
pub fn fail(
    connection: &Connection,
    job_id: i64,
    token: &str,
    error: &str,
    backoff: Duration,
) -> Result<usize> {
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
) -> Result<usize> {
    let transaction = write_transaction(connection)?;
    let changed = transaction.prepare_cached(statement)?.execute(parameters)?;
    if changed > 0 {
        add_attempt(&transaction, job_id, ending)?;
    }
    transaction.commit()?;
    Ok(changed)
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

/// Deletes at most `batch` rows that finished longer than `keep` ago, and returns how many.
pub fn purge(connection: &Connection, state: Finished, keep: Duration, batch: u32) -> Result<usize> {
    let state = match state {
        Finished::Done => "D",
        Finished::Failed => "F",
    };
    connection
        .prepare_cached(include_str!("../../sql/sqlite/job_queue/purge.sql"))?
        .execute(named_params! { ":state": state, ":keep_ms": ms(keep), ":batch": batch })
}

/// Deletes at most `batch` attempts beyond the newest `keep`, and returns how many.
pub fn purge_attempts(connection: &Connection, keep: u32, batch: u32) -> Result<usize> {
    connection
        .prepare_cached(include_str!("../../sql/sqlite/job_queue/purge_attempts.sql"))?
        .execute(named_params! { ":keep": keep, ":batch": batch })
}
