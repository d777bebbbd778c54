//! Server sessions: the procedures, over TDS.

use std::time::Duration;

use sqlqueue_exporter::config::{Encryption, Endpoint, Mssql, Trust};
use sqlqueue_exporter::demo::queue::{Claim, Finished, Ownership, Recovered};
use sqlqueue_exporter::source::Value;
use tiberius::{AuthMethod, Client, ColumnData, Config, EncryptionLevel, Row, ToSql, Uuid};
use tokio::net::TcpStream;
use tokio_util::compat::{Compat, TokioAsyncWriteCompatExt as _};

use super::babelfish;
use super::installed::SCHEMA;
use super::script::Batch;
use crate::reference::database::{Enqueued, NewJob, Refusal, Session};

type TdsClient = Client<Compat<TcpStream>>;

/// The error of a statement that the server rolled back because of a deadlock. Babelfish ignores the hints
/// that keep claims from waiting for each other, so two claims of several jobs can meet there; the one that
/// was rolled back is repeated. On SQL Server this is a failure.
const DEADLOCK: u32 = 1205;

/// One session of the server.
pub struct ServerSession {
    client: TdsClient,
    lock_resource: String,
    is_babelfish: bool,
}

pub async fn connect(settings: &Mssql, is_babelfish: bool) -> ServerSession {
    let Endpoint::Port(port) = settings.endpoint else { panic!("a named instance is not known here") };
    let mut config = Config::new();
    config.host(&settings.host);
    config.port(port);
    config.database(&settings.database);
    config.application_name("sqlqueue-exporter tests");
    config.authentication(AuthMethod::sql_server(&settings.user, settings.password.expose()));
    config.encryption(match settings.encryption {
        Encryption::Required => EncryptionLevel::Required,
        Encryption::LoginOnly => EncryptionLevel::Off,
        Encryption::Off => EncryptionLevel::NotSupported,
    });
    match &settings.trust {
        Trust::System => {}
        Trust::Any => config.trust_cert(),
        Trust::CaFile(file) => config.trust_cert_ca_bundle(std::fs::read(file).unwrap()),
    }
    let stream = TcpStream::connect((settings.host.as_str(), port)).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let client = Client::connect(config, stream.compat_write()).await.unwrap();
    let lock_resource = babelfish::lock_resource(is_babelfish, &settings.database);
    ServerSession { client, lock_resource, is_babelfish }
}

/// A procedure's RETURN value and its @RowsChanged.
#[derive(Debug, PartialEq, Eq)]
pub struct Returned {
    pub code: i32,
    pub rows_changed: Option<i64>,
}

impl ServerSession {
    /// Runs the batches of a script until one fails.
    pub async fn run_script(&mut self, batches: Vec<Batch>) -> Result<(), Refusal> {
        for batch in batches {
            self.attempt(&batch.text).await.map_err(|refusal| Refusal {
                message: format!("{}: {}", batch.file, refusal.message),
                ..refusal
            })?;
        }
        Ok(())
    }

    /// Calls a procedure that reports by its RETURN value and an output parameter.
    pub async fn call(
        &mut self,
        procedure: &str,
        output: &str,
        arguments: &[(&str, &dyn ToSql)],
    ) -> Result<Returned, Refusal> {
        let values: Vec<&dyn ToSql> = arguments.iter().map(|(_, value)| *value).collect();
        let named: String =
            arguments.iter().zip(1..).map(|((name, _), place)| format!("{name} = @P{place}, ")).collect();
        let sql = format!(
            "DECLARE @code INT, @output BIGINT; \
             EXEC @code = {SCHEMA}.{procedure} {named}{output} = @output OUTPUT; \
             SELECT @code AS code, @output AS output"
        );
        let results = self.client.query(sql, &values).await.map_err(refusal)?;
        let results = results.into_results().await.map_err(refusal)?;
        let row = results.last().and_then(|rows| rows.first()).expect("an answer");
        Ok(Returned { code: row.get("code").unwrap(), rows_changed: row.get("output") })
    }

    /// The answer to an owner: 0 with one row changed, or 2 with none.
    async fn call_as_owner(&mut self, procedure: &str, arguments: &[(&str, &dyn ToSql)]) -> Ownership {
        match self.call(procedure, "@RowsChanged", arguments).await.unwrap() {
            Returned { code: 0, rows_changed: Some(1) } => Ownership::Held,
            Returned { code: 2, rows_changed: Some(0) } => Ownership::Lost,
            other => panic!("{procedure} returned {other:?}"),
        }
    }

    /// The number of rows changed by a procedure that always returns 0.
    async fn call_changing(&mut self, procedure: &str, arguments: &[(&str, &dyn ToSql)]) -> u64 {
        match self.call(procedure, "@RowsChanged", arguments).await.unwrap() {
            Returned { code: 0, rows_changed: Some(rows) } => u64::try_from(rows).unwrap(),
            other => panic!("{procedure} returned {other:?}"),
        }
    }

    async fn result(&mut self, sql: &str, arguments: &[&dyn ToSql]) -> Result<Vec<Row>, Refusal> {
        let answer = self.client.query(sql, arguments).await.map_err(refusal)?;
        answer.into_first_result().await.map_err(refusal)
    }
}

fn refusal(error: tiberius::error::Error) -> Refusal {
    match error {
        tiberius::error::Error::Server(token) => Refusal {
            number: Some(token.code()),
            // For a constraint, and for a unique index.
            is_duplicate: matches!(token.code(), 2627 | 2601),
            message: token.message().to_owned(),
        },
        other => panic!("the connection failed: {other}"),
    }
}

fn ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap()
}

fn count(number: u32) -> i32 {
    i32::try_from(number).unwrap()
}

impl Session for ServerSession {
    async fn enqueue(&mut self, job: NewJob<'_>) -> Enqueued {
        let (delay, max_attempts) = (ms(job.delay), count(job.max_attempts));
        let mut arguments: Vec<(&str, &dyn ToSql)> =
            vec![("@Payload", &job.payload), ("@DelayMs", &delay), ("@MaxAttempts", &max_attempts)];
        // Not as NULL, which the driver would send with a type that not every server knows.
        if let Some(key) = &job.business_key {
            arguments.push(("@BusinessKey", key));
        }
        match self.call("EnqueueJob", "@JobId", &arguments).await.unwrap() {
            Returned { code: 0, rows_changed: Some(job_id) } => Enqueued::New(job_id),
            Returned { code: 1, rows_changed: Some(job_id) } => Enqueued::Known(job_id),
            other => panic!("EnqueueJob returned {other:?}"),
        }
    }

    async fn claim(&mut self, lease: Duration, batch: u32) -> Result<Vec<Claim>, Refusal> {
        let sql = format!("EXEC {SCHEMA}.ClaimJobs @LeaseMs = @P1, @Batch = @P2");
        let rows = loop {
            match self.result(&sql, &[&ms(lease), &count(batch)]).await {
                Err(refusal) if self.is_babelfish && refusal.number == Some(DEADLOCK) => {}
                answer => break answer?,
            }
        };
        let claim = |row: Row| Claim {
            job_id: row.get("JobId").unwrap(),
            token: row.get::<Uuid, _>("ClaimToken").unwrap().to_string(),
            attempts: u32::try_from(row.get::<i32, _>("Attempts").unwrap()).unwrap(),
            payload: row.get::<&str, _>("Payload").unwrap().to_owned(),
        };
        Ok(rows.into_iter().map(claim).collect())
    }

    async fn heartbeat(&mut self, job_id: i64, token: &str, lease: Duration) -> Ownership {
        let (token, lease) = (Uuid::parse_str(token).unwrap(), ms(lease));
        let arguments: &[(&str, &dyn ToSql)] =
            &[("@JobId", &job_id), ("@ClaimToken", &token), ("@LeaseMs", &lease)];
        self.call_as_owner("HeartbeatJob", arguments).await
    }

    async fn complete(&mut self, job_id: i64, token: &str) -> Ownership {
        let token = Uuid::parse_str(token).unwrap();
        self.call_as_owner("CompleteJob", &[("@JobId", &job_id), ("@ClaimToken", &token)]).await
    }

    async fn fail(&mut self, job_id: i64, token: &str, error: &str, backoff: Duration) -> Ownership {
        let (token, backoff) = (Uuid::parse_str(token).unwrap(), ms(backoff));
        let arguments: &[(&str, &dyn ToSql)] =
            &[("@JobId", &job_id), ("@ClaimToken", &token), ("@Error", &error), ("@BackoffMs", &backoff)];
        self.call_as_owner("FailJob", arguments).await
    }

    async fn recover(&mut self, grace: Duration, batch: u32) -> Recovered {
        let sql = format!(
            "DECLARE @rows INT; EXEC {SCHEMA}.RecoverJobs @GraceMs = @P1, @Batch = @P2, @RowsChanged = @rows \
             OUTPUT; SELECT @rows AS output"
        );
        let results = self.client.query(sql, &[&ms(grace), &count(batch)]).await.map_err(refusal).unwrap();
        let results = results.into_results().await.map_err(refusal).unwrap();
        let [jobs, output] = results.as_slice() else { panic!("{results:?} are not two results") };
        let in_state =
            |state: &str| jobs.iter().filter(|row| row.get::<&str, _>("State") == Some(state)).count() as u64;
        let recovered = Recovered { ready: in_state("R"), failed: in_state("F") };
        let changed: i32 = output[0].get("output").unwrap();
        assert_eq!(recovered.ready + recovered.failed, u64::try_from(changed).unwrap());
        assert_eq!(jobs.len() as u64, recovered.ready + recovered.failed);
        recovered
    }

    async fn requeue(&mut self, job_id: i64, more_attempts: Option<u32>) -> bool {
        let more_attempts = more_attempts.map(count);
        let arguments: &[(&str, &dyn ToSql)] = &[("@JobId", &job_id), ("@MoreAttempts", &more_attempts)];
        match self.call("RequeueJob", "@RowsChanged", arguments).await.unwrap() {
            Returned { code: 0, rows_changed: Some(1) } => true,
            Returned { code: 3, rows_changed: Some(0) } => false,
            other => panic!("RequeueJob returned {other:?}"),
        }
    }

    async fn purge(&mut self, state: Finished, keep: Duration, batch: u32) -> u64 {
        let state = match state {
            Finished::Done => "D",
            Finished::Failed => "F",
        };
        let (keep, batch) = (ms(keep), count(batch));
        let arguments: &[(&str, &dyn ToSql)] = &[("@State", &state), ("@KeepMs", &keep), ("@Batch", &batch)];
        self.call_changing("PurgeJobs", arguments).await
    }

    async fn purge_attempts(&mut self, keep: Duration, batch: u32) -> u64 {
        let (keep, batch) = (ms(keep), count(batch));
        self.call_changing("PurgeJobAttempts", &[("@KeepMs", &keep), ("@Batch", &batch)]).await
    }

    async fn enqueue_work(&mut self, payload: &str) -> i64 {
        let returned = self.call("EnqueueWork", "@WorkId", &[("@Payload", &payload)]).await.unwrap();
        assert_eq!(returned.code, 0);
        returned.rows_changed.unwrap()
    }

    async fn begin(&mut self) {
        self.execute("BEGIN TRANSACTION").await;
    }

    async fn dequeue(&mut self) -> Option<(i64, String)> {
        let rows = self.result(&format!("EXEC {SCHEMA}.DequeueWork"), &[]).await.unwrap();
        assert!(rows.len() <= 1, "{rows:?}");
        let row = rows.first()?;
        Some((row.get("WorkId").unwrap(), row.get::<&str, _>("Payload").unwrap().to_owned()))
    }

    async fn commit(&mut self) {
        self.execute("COMMIT TRANSACTION").await;
    }

    async fn rollback(&mut self) {
        self.execute("ROLLBACK TRANSACTION").await;
    }

    async fn notify_comments(&mut self, cap: u32) {
        self.result(&format!("EXEC {SCHEMA}.NotifyComments @Cap = @P1"), &[&count(cap)]).await.unwrap();
    }

    async fn run_notifications(&mut self) -> bool {
        let sql = format!("DECLARE @code INT; EXEC @code = {SCHEMA}.RunNotifications; SELECT @code AS code");
        match self.number(&sql).await {
            0 => true,
            1 => false,
            code => panic!("RunNotifications returned {code}"),
        }
    }

    async fn take_lock(&mut self) -> bool {
        let sql = format!(
            "DECLARE @code INT; EXEC @code = sp_getapplock @Resource = N'{}', @LockMode = 'Exclusive', \
             @LockOwner = 'Session', @LockTimeout = 0; SELECT @code AS code",
            self.lock_resource
        );
        self.number(&sql).await >= 0
    }

    async fn release_lock(&mut self) {
        let resource = &self.lock_resource;
        let sql = format!("EXEC sp_releaseapplock @Resource = N'{resource}', @LockOwner = 'Session'");
        self.execute(&sql).await;
    }

    async fn attempt(&mut self, sql: &str) -> Result<(), Refusal> {
        let answer = self.client.simple_query(sql).await.map_err(refusal)?;
        answer.into_results().await.map_err(refusal)?;
        Ok(())
    }

    async fn rows(&mut self, sql: &str) -> Vec<Vec<Value>> {
        let answer = self.client.simple_query(sql).await.unwrap();
        let rows = answer.into_first_result().await.unwrap_or_else(|error| panic!("{error}\n{sql}"));
        rows.into_iter().map(|row| row.into_iter().map(value).collect()).collect()
    }
}

fn value(data: ColumnData<'static>) -> Value {
    let number = match data {
        ColumnData::String(text) => return text.map_or(Value::Null, |text| Value::Text(text.into_owned())),
        ColumnData::Guid(token) => return token.map_or(Value::Null, |token| Value::Text(token.to_string())),
        ColumnData::U8(number) => number.map(i64::from),
        ColumnData::I16(number) => number.map(i64::from),
        ColumnData::I32(number) => number.map(i64::from),
        ColumnData::I64(number) => number,
        ColumnData::Bit(bit) => bit.map(i64::from),
        other => panic!("{other:?} is neither number nor text"),
    };
    number.map_or(Value::Null, Value::Int)
}
