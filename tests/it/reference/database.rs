//! Operations of both databases, as the workers and schedulers of a business need them.

use std::future::Future;
use std::time::Duration;

use sqlqueue_exporter::demo::queue::{Claim, Finished, Ownership, Recovered};
use sqlqueue_exporter::exporter::Exporter;
use sqlqueue_exporter::source::Value;

use crate::binary::Ended;

/// A database with everything of `sql/` in it.
pub trait Database {
    type Session: Session;

    /// The steps of a run with the second step, in order, and the whole run last.
    const STEPS: &[&str];

    /// The time an hour ago, as an expression.
    const AN_HOUR_AGO: &str;

    /// How many rows of the log a run prunes at most.
    const PRUNED_BY_A_RUN: i64;

    /// A preset of the transactional queue.
    const WORK_QUEUE_PRESET: &str;

    /// The name of the runs' application lock.
    fn lock_resource(&self) -> String;

    /// One more session, which ends when it is dropped.
    async fn session(&self) -> Self::Session;

    /// Whether rows locked by another session can be skipped.
    async fn passes_over_locked_rows(&self) -> bool;

    /// Makes sure that a run has a second step, with one event.
    async fn add_second_step(&self);

    /// From now on, a message to this recipient is an error.
    async fn refuse_messages_to(&self, recipient: &str);

    /// Accepts all messages again.
    async fn accept_messages(&self);

    /// An exporter of these targets (YAML, indented by four) of the source `db`.
    fn exporter(&self, targets: &str) -> Exporter;

    /// What `check --connect` prints for the same targets.
    fn check(&self, targets: &str) -> Ended;
}

/// A statement that the database refused.
#[derive(Debug)]
pub struct Refusal {
    /// The number of the error; the embedded database has none of its own.
    pub number: Option<u32>,
    /// The unique key is taken.
    pub is_duplicate: bool,
    pub message: String,
}

/// One session. Anything that fails unexpectedly panics.
pub trait Session: Send + 'static {
    /// Adds a job, unless there is already one with its business key.
    fn enqueue(&mut self, job: NewJob<'_>) -> impl Future<Output = Enqueued> + Send;

    fn claim(
        &mut self,
        lease: Duration,
        batch: u32,
    ) -> impl Future<Output = Result<Vec<Claim>, Refusal>> + Send;

    fn heartbeat(
        &mut self,
        job_id: i64,
        token: &str,
        lease: Duration,
    ) -> impl Future<Output = Ownership> + Send;

    fn complete(&mut self, job_id: i64, token: &str) -> impl Future<Output = Ownership> + Send;

    fn fail(
        &mut self,
        job_id: i64,
        token: &str,
        error: &str,
        backoff: Duration,
    ) -> impl Future<Output = Ownership> + Send;

    fn recover(&mut self, grace: Duration, batch: u32) -> impl Future<Output = Recovered> + Send;

    /// Whether the job was in the failed state.
    fn requeue(&mut self, job_id: i64, more_attempts: Option<u32>) -> impl Future<Output = bool> + Send;

    fn purge(&mut self, state: Finished, keep: Duration, batch: u32) -> impl Future<Output = u64> + Send;

    fn purge_attempts(&mut self, keep: Duration, batch: u32) -> impl Future<Output = u64> + Send;

    fn enqueue_work(&mut self, payload: &str) -> impl Future<Output = i64> + Send;

    /// Begins the transaction of a consumer.
    fn begin(&mut self) -> impl Future<Output = ()> + Send;

    /// Takes a row within the transaction: its id and payload.
    fn dequeue(&mut self) -> impl Future<Output = Option<(i64, String)>> + Send;

    fn commit(&mut self) -> impl Future<Output = ()> + Send;

    fn rollback(&mut self) -> impl Future<Output = ()> + Send;

    /// Runs only the step that sends comments.
    fn notify_comments(&mut self, cap: u32) -> impl Future<Output = ()> + Send;

    /// Starts a run. Returns `false` when it was skipped.
    fn run_notifications(&mut self) -> impl Future<Output = bool> + Send;

    /// Takes the application lock of the runs, if it is free.
    fn take_lock(&mut self) -> impl Future<Output = bool> + Send;

    fn release_lock(&mut self) -> impl Future<Output = ()> + Send;

    /// Runs a statement that both databases understand.
    fn attempt(&mut self, sql: &str) -> impl Future<Output = Result<(), Refusal>> + Send;

    /// The rows of a query that both databases understand.
    fn rows(&mut self, sql: &str) -> impl Future<Output = Vec<Vec<Value>>> + Send;

    /// Runs a statement that must succeed.
    fn execute(&mut self, sql: &str) -> impl Future<Output = ()> + Send {
        async move { self.attempt(sql).await.unwrap_or_else(|refusal| panic!("{refusal:?}\n{sql}")) }
    }

    /// One number.
    fn number(&mut self, sql: &str) -> impl Future<Output = i64> + Send {
        async move {
            match self.rows(sql).await.as_slice() {
                [row] if row.len() == 1 => int(&row[0]),
                other => panic!("{other:?} is not one number\n{sql}"),
            }
        }
    }

    /// A job's row.
    fn job(&mut self, job_id: i64) -> impl Future<Output = Job> + Send {
        async move {
            let sql = format!(
                "SELECT State, Attempts, MaxAttempts, CAST(ClaimToken AS NVARCHAR(36)) AS ClaimToken, LastError, \
                 CASE WHEN LeaseUntil IS NULL THEN 0 ELSE 1 END AS HasLease, \
                 CASE WHEN FinishedAt IS NULL THEN 0 ELSE 1 END AS IsFinished \
                 FROM JobQueue WHERE JobId = {job_id}"
            );
            let rows = self.rows(&sql).await;
            let [row] = rows.as_slice() else { panic!("{rows:?}: the job {job_id} is not there") };
            Job {
                state: text(&row[0]).unwrap(),
                attempts: int(&row[1]),
                max_attempts: int(&row[2]),
                token: text(&row[3]),
                last_error: text(&row[4]),
                has_lease: int(&row[5]) == 1,
                is_finished: int(&row[6]) == 1,
            }
        }
    }

    /// The history of a job: number, outcome and message of each attempt.
    fn attempts(&mut self, job_id: i64) -> impl Future<Output = Vec<(i64, String, Option<String>)>> + Send {
        async move {
            let sql = format!(
                "SELECT Attempt, Outcome, Message FROM JobAttempt WHERE JobId = {job_id} ORDER BY AttemptId"
            );
            let rows = self.rows(&sql).await;
            rows.iter().map(|row| (int(&row[0]), text(&row[1]).unwrap(), text(&row[2]))).collect()
        }
    }

    /// The run log, oldest row first.
    fn run_log(&mut self) -> impl Future<Output = Vec<LogRow>> + Send {
        async move {
            let sql = "SELECT Step, Outcome, DurationMs, Candidates, Message FROM RunLog ORDER BY RunLogId";
            let rows = self.rows(sql).await;
            rows.iter()
                .map(|row| LogRow {
                    step: text(&row[0]).unwrap(),
                    outcome: text(&row[1]).unwrap(),
                    duration_ms: int(&row[2]),
                    candidates: if row[3] == Value::Null { None } else { Some(int(&row[3])) },
                    message: text(&row[4]),
                })
                .collect()
        }
    }

    /// How many rows a table has.
    fn count(&mut self, table: &str) -> impl Future<Output = i64> + Send {
        async move { self.number(&format!("SELECT COUNT(*) FROM {table}")).await }
    }
}

/// Shorthands for the tests.
pub trait Conveniences: Session {
    /// A job that can be claimed at once.
    fn add(&mut self, payload: &str, max_attempts: u32) -> impl Future<Output = i64> + Send {
        async move {
            let job = NewJob { payload, delay: Duration::ZERO, max_attempts, business_key: None };
            match self.enqueue(job).await {
                Enqueued::New(job_id) => job_id,
                Enqueued::Known(job_id) => panic!("{job_id} is known without a key"),
            }
        }
    }

    /// Claims at most one job.
    fn claim_one(&mut self) -> impl Future<Output = Option<Claim>> + Send {
        async move { self.claim(super::LONG, 1).await.expect("no refusal").pop() }
    }

    /// Claims one job that must be there.
    fn take(&mut self) -> impl Future<Output = Claim> + Send {
        async move { self.claim_one().await.expect("a job") }
    }

    fn add_comment(&mut self, item_id: i64, recipient: &str) -> impl Future<Output = ()> + Send {
        async move {
            let values = format!("({item_id}, 'somebody', '{recipient}')");
            self.execute(&format!("INSERT INTO Comment (ItemId, Author, Recipient) VALUES {values}")).await;
        }
    }
}

impl<S: Session> Conveniences for S {}

/// The result of enqueueing a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enqueued {
    /// It is a new job, with this id.
    New(i64),
    /// The job with this id already has the business key.
    Known(i64),
}

/// A job to enqueue.
#[derive(Debug, Clone, Copy)]
pub struct NewJob<'a> {
    pub payload: &'a str,
    pub delay: Duration,
    pub max_attempts: u32,
    pub business_key: Option<&'a str>,
}

/// A job's row, without its times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    pub state: String,
    pub attempts: i64,
    pub max_attempts: i64,
    pub token: Option<String>,
    pub last_error: Option<String>,
    pub has_lease: bool,
    pub is_finished: bool,
}

/// A row of the run log, without its times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogRow {
    pub step: String,
    pub outcome: String,
    pub duration_ms: i64,
    pub candidates: Option<i64>,
    pub message: Option<String>,
}

pub fn int(value: &Value) -> i64 {
    match value {
        Value::Int(number) => *number,
        other => panic!("{other:?} is not a number"),
    }
}

pub fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Text(text) => Some(text.clone()),
        Value::Int(number) => panic!("{number} is not a text"),
    }
}
