//! The embedded database, through the code of the demo's workers.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OptionalExtension as _, named_params};
use sqlqueue_exporter::clock::ManualClock;
use sqlqueue_exporter::config::{self, Environment};
use sqlqueue_exporter::demo::notifications::{self, RUN_LOCK, Step};
use sqlqueue_exporter::demo::queue::{self, Claim, Finished, Ownership, Recovered};
use sqlqueue_exporter::demo::{self, DemoDatabase, DemoOptions, transactional};
use sqlqueue_exporter::exporter::Exporter;
use sqlqueue_exporter::source::Value;
use tempfile::TempDir;

use super::database::{Database, Enqueued, NewJob, Refusal, Session};
use crate::binary::{Ended, run_in};
use crate::support::NOW_MS;

/// A database file of its own for one case.
pub struct Embedded {
    folder: TempDir,
    database: DemoDatabase,
    /// Ids of transactions, and numbers of sessions.
    next: AtomicI64,
}

impl Embedded {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = DemoOptions { folder: folder.path().to_owned(), seed: 1, speed: 1.0, episode: None };
        let database = demo::prepare(&options).unwrap();
        Self { folder, database, next: AtomicI64::new(1) }
    }

    pub fn connect(&self) -> Connection {
        self.database.connect().unwrap()
    }

    fn configuration(&self, targets: &str) -> String {
        let file = self.database.file().display();
        format!(
            "global: {{ query_timeout: 1h }}\nsources:\n  - name: db\n    sqlite: {{ file: '{file}' }}\n{targets}"
        )
    }
}

impl Database for Embedded {
    type Session = EmbeddedSession;

    const STEPS: &[&str] = &["comments", "orders", "reminders", "run"];
    const AN_HOUR_AGO: &str = "strftime('%Y-%m-%d %H:%M:%f', 'now', '-1 hour')";
    const PRUNED_BY_A_RUN: i64 = 500;
    const WORK_QUEUE_PRESET: &str = "transactional_owner";

    fn lock_resource(&self) -> String {
        RUN_LOCK.to_owned()
    }

    async fn session(&self) -> EmbeddedSession {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        EmbeddedSession {
            connection: self.database.connect().unwrap(),
            database: self.database.clone(),
            name: format!("session {number}"),
            // Far from the numbers of other sessions.
            tran_id: number << 32,
        }
    }

    async fn passes_over_locked_rows(&self) -> bool {
        true
    }

    async fn add_second_step(&self) {
        let session = self.session().await;
        notifications::add_order(&session.connection, "buyer@example.org", None).unwrap();
    }

    async fn refuse_messages_to(&self, recipient: &str) {
        let mut session = self.session().await;
        session
            .execute(&format!(
                "CREATE TRIGGER refuse_messages BEFORE INSERT ON OutgoingMessage \
                 WHEN new.Recipient = '{recipient}' BEGIN SELECT RAISE(ABORT, 'refused'); END"
            ))
            .await;
    }

    async fn accept_messages(&self) {
        self.session().await.execute("DROP TRIGGER refuse_messages").await;
    }

    fn exporter(&self, targets: &str) -> Exporter {
        let yaml = self.configuration(targets);
        let config = config::parse(&yaml, &self.folder.path().join("config.yaml"), &Environment::empty())
            .unwrap_or_else(|error| panic!("{error}\n{yaml}"));
        // The clock is never compared with a column, so it may stand still.
        Exporter::new(config, ManualClock::at(NOW_MS)).unwrap()
    }

    fn check(&self, targets: &str) -> Ended {
        run_in(self.folder.path(), &self.configuration(targets), &["check", "--connect"])
    }
}

/// One connection.
pub struct EmbeddedSession {
    connection: Connection,
    database: DemoDatabase,
    name: String,
    tran_id: i64,
}

impl EmbeddedSession {
    /// Runs one transaction, as often as it takes to get the write lock on a busy machine.
    fn run<T>(&mut self, mut work: impl FnMut(&mut Connection) -> rusqlite::Result<T>) -> Result<T, Refusal> {
        loop {
            match work(&mut self.connection) {
                Err(error) if is_busy(&error) => {}
                Err(error) => {
                    let is_duplicate = error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation);
                    return Err(Refusal { number: None, is_duplicate, message: error.to_string() });
                }
                Ok(done) => return Ok(done),
            }
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// The text of a statement for the job queue that the demo itself does not run.
macro_rules! sql {
    ($name:literal) => {
        include_str!(concat!("../../../sql/sqlite/job_queue/", $name, ".sql"))
    };
}

fn enqueue_once(
    db: &Connection,
    business_key: &str,
    payload: &str,
    delay: Duration,
    max_attempts: u32,
) -> rusqlite::Result<Enqueued> {
    let job = named_params! {
        ":delay_ms": i64::try_from(delay.as_millis()).unwrap(),
        ":max_attempts": max_attempts,
        ":business_key": business_key,
        ":payload": payload,
    };
    loop {
        if let Some(id) = db.query_one(sql!("enqueue"), job, |row| row.get("JobId")).optional()? {
            return Ok(Enqueued::New(id));
        }
        let key = named_params! { ":business_key": business_key };
        // None: it was purged between the two statements, and the key is free again.
        if let Some(id) = db.query_one(sql!("find"), key, |row| row.get("JobId")).optional()? {
            return Ok(Enqueued::Known(id));
        }
    }
}

impl Session for EmbeddedSession {
    async fn enqueue(&mut self, job: NewJob<'_>) -> Enqueued {
        let NewJob { payload, delay, max_attempts, business_key } = job;
        self.run(|db| match business_key {
            Some(key) => enqueue_once(db, key, payload, delay, max_attempts),
            None => queue::enqueue(db, payload, delay, max_attempts).map(Enqueued::New),
        })
        .unwrap()
    }

    async fn claim(&mut self, lease: Duration, batch: u32) -> Result<Vec<Claim>, Refusal> {
        self.run(|db| queue::claim_batch(db, lease, batch))
    }

    async fn heartbeat(&mut self, job_id: i64, token: &str, lease: Duration) -> Ownership {
        self.run(|db| queue::heartbeat(db, job_id, token, lease)).unwrap()
    }

    async fn complete(&mut self, job_id: i64, token: &str) -> Ownership {
        self.run(|db| queue::complete(db, job_id, token)).unwrap()
    }

    async fn fail(&mut self, job_id: i64, token: &str, error: &str, backoff: Duration) -> Ownership {
        self.run(|db| queue::fail(db, job_id, token, error, backoff)).unwrap()
    }

    async fn recover(&mut self, grace: Duration, batch: u32) -> Recovered {
        self.run(|db| queue::recover(db, grace, batch)).unwrap()
    }

    async fn requeue(&mut self, job_id: i64, more_attempts: Option<u32>) -> bool {
        let parameters = named_params! { ":job_id": job_id, ":more_attempts": more_attempts };
        self.run(|db| db.execute(sql!("requeue"), parameters)).unwrap() == 1
    }

    async fn purge(&mut self, state: Finished, keep: Duration, batch: u32) -> u64 {
        self.run(|db| queue::purge(db, state, keep, batch)).unwrap() as u64
    }

    async fn purge_attempts(&mut self, keep: Duration, batch: u32) -> u64 {
        self.run(|db| queue::purge_attempts(db, keep, batch)).unwrap() as u64
    }

    async fn enqueue_work(&mut self, payload: &str) -> i64 {
        self.run(|db| transactional::enqueue(db, payload)).unwrap()
    }

    async fn begin(&mut self) {
        self.tran_id += 1;
    }

    async fn dequeue(&mut self) -> Option<(i64, String)> {
        let tran_id = self.tran_id;
        let item = self.run(|db| transactional::take(db, tran_id)).unwrap()?;
        Some((item.work_id, item.payload.unwrap()))
    }

    async fn commit(&mut self) {
        let tran_id = self.tran_id;
        self.run(|db| transactional::commit(db, tran_id)).unwrap();
    }

    async fn rollback(&mut self) {
        let tran_id = self.tran_id;
        self.run(|db| transactional::rollback(db, tran_id)).unwrap();
    }

    async fn notify_comments(&mut self, cap: u32) {
        self.run(|db| {
            let started_at = demo::now(db)?;
            notifications::run_step(db, Step::Comments, &started_at, cap, false)
        })
        .unwrap();
    }

    async fn run_notifications(&mut self) -> bool {
        let summary = demo::run_notifications(&self.database, &self.name).await.unwrap();
        assert_eq!(summary.runs_started, 1);
        summary.runs_skipped == 0
    }

    async fn take_lock(&mut self) -> bool {
        let name = self.name.clone();
        self.run(|db| notifications::take_lock(db, RUN_LOCK, &name)).unwrap()
    }

    async fn release_lock(&mut self) {
        let name = self.name.clone();
        assert!(self.run(|db| notifications::release_lock(db, RUN_LOCK, &name)).unwrap(), "not ours");
    }

    async fn attempt(&mut self, sql: &str) -> Result<(), Refusal> {
        self.run(|db| db.execute_batch(sql))
    }

    async fn rows(&mut self, sql: &str) -> Vec<Vec<Value>> {
        self.run(|db| {
            let mut statement = db.prepare(sql)?;
            let columns = statement.column_count();
            let mut rows = statement.raw_query();
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                let values = (0..columns).map(|column| row.get_ref(column).map(value));
                found.push(values.collect::<rusqlite::Result<_>>()?);
            }
            Ok(found)
        })
        .unwrap()
    }
}

fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Int(number),
        ValueRef::Text(text) => Value::Text(String::from_utf8(text.to_owned()).unwrap()),
        other => panic!("{other:?} is neither number nor text"),
    }
}
