//! A real server, through the procedures of `sql/mssql`.

use std::time::Duration;

use sqlqueue_exporter::config::model::{Encryption, Endpoint, Mssql, Trust};
use sqlqueue_exporter::demo::queue::{Claim, Enqueued, Finished, Ownership, Recovered};
use sqlqueue_exporter::exporter::Exporter;
use sqlqueue_exporter::source::Value;
use tiberius::{AuthMethod, Client, ColumnData, Config, EncryptionLevel, Row, ToSql, Uuid};
use tokio::net::TcpStream;
use tokio_util::compat::{Compat, TokioAsyncWriteCompatExt as _};

use super::database::{Database, NewJob, Refusal, Session};
use super::rewrites::{self, for_babelfish};
use super::script::{Batch, batches};
use crate::backend::{self, Backend};
use crate::binary::{Ended, run_in};

/// The schema that the tests of the queues are installed in: the one that a table without a schema is
/// in, as the default mapping names it.
const SCHEMA: &str = "dbo";

/// A database of its own for one case.
pub struct OnServer {
    backend: Backend,
    is_babelfish: bool,
}

/// Runs a case in a database of its own in which everything is installed.
pub async fn on_installed_server(test: &str, case: impl AsyncFnOnce(OnServer)) {
    on_server(test, async |db: OnServer| {
        db.install(SCHEMA).await;
        case(db).await;
    })
    .await;
}

/// Runs a case in an empty database of its own.
pub async fn on_server(test: &str, case: impl AsyncFnOnce(OnServer)) {
    backend::on_server(test, async |backend| {
        let mut session = connect(backend::server(&backend).settings(), rewrites::LOCK.to_owned()).await;
        let sql = "SELECT CAST(SERVERPROPERTY('babelfishversion') AS NVARCHAR(50)) AS version";
        let rows = session.rows(sql).await;
        case(OnServer { is_babelfish: rows != [[Value::Null]], backend }).await;
    })
    .await;
}

impl OnServer {
    fn settings(&self) -> &Mssql {
        backend::server(&self.backend).settings()
    }

    /// One more session.
    pub async fn connect(&self) -> ServerSession {
        connect(self.settings(), self.lock_resource()).await
    }

    /// Runs install.sql; it must not fail.
    pub async fn install(&self, schema: &str) {
        self.connect().await.run_script(self.script("install.sql", schema)).await.unwrap();
    }

    /// The batches of a script as this server takes them.
    pub fn script(&self, file: &str, schema: &str) -> Vec<Batch> {
        self.edited_script(file, schema, &|_, text| text)
    }

    /// The same of a script that was edited first, as a user does.
    pub fn edited_script(
        &self,
        file: &str,
        schema: &str,
        edit: &dyn Fn(&str, String) -> String,
    ) -> Vec<Batch> {
        batches(file, schema, &|file, text| {
            let edited = edit(file, text);
            let database = &self.settings().database;
            if self.is_babelfish { for_babelfish(file, edited, database) } else { edited }
        })
    }

    /// Says what this server does not let a case prove, if it is the one that does not.
    pub fn is_babelfish(&self) -> bool {
        self.is_babelfish
    }
}

impl Database for OnServer {
    type Session = ServerSession;

    const STEPS: &[&str] = &["comments", "somethings", "run"];
    const AN_HOUR_AGO: &str = "DATEADD(HOUR, -1, SYSUTCDATETIME())";
    const WORK_QUEUE_PRESET: &str = "transactional";

    fn lock_resource(&self) -> String {
        if self.is_babelfish {
            rewrites::lock_resource(&self.settings().database)
        } else {
            rewrites::LOCK.to_owned()
        }
    }

    async fn session(&self) -> ServerSession {
        self.connect().await
    }

    async fn passes_over_locked_rows(&self) -> bool {
        let (mut worker, mut other) = (self.connect().await, self.connect().await);
        worker.enqueue_work("locked").await;
        worker.begin().await;
        worker.execute("UPDATE WorkQueue SET Payload = 'still locked'").await;
        let seen = other.number("SELECT COUNT(*) FROM WorkQueue WITH (READPAST, READCOMMITTEDLOCK)").await;
        worker.execute("DELETE FROM WorkQueue").await;
        worker.commit().await;
        seen == 0
    }

    /// The step is made of the template, whose one event is told once; it is named in the list of steps,
    /// before the retention, as the template says.
    async fn add_second_step(&self) {
        let mut session = self.connect().await;
        session.run_script(self.script("notifications/step_template.sql", SCHEMA)).await.unwrap();
        let run = self.edited_script("notifications/run.sql", SCHEMA, &|file, text| {
            let last = "(2, N'[$(SchemaName)].PurgeRunLog')";
            assert_eq!(text.matches(last).count(), 1, "{file}");
            let steps = "(2, N'[$(SchemaName)].NotifySomething'), (3, N'[$(SchemaName)].PurgeRunLog')";
            text.replace(last, steps)
        });
        session.run_script(run).await.unwrap();
    }

    async fn refuse_messages_to(&self, recipient: &str) {
        let check = format!("CHECK (Recipient <> N'{recipient}')");
        let sql = format!("ALTER TABLE OutgoingMessage ADD CONSTRAINT CK_OutgoingMessage_Refused {check}");
        self.connect().await.execute(&sql).await;
    }

    async fn accept_messages(&self) {
        let sql = "ALTER TABLE OutgoingMessage DROP CONSTRAINT CK_OutgoingMessage_Refused";
        self.connect().await.execute(sql).await;
    }

    fn exporter(&self, targets: &str) -> Exporter {
        self.backend.exporter(targets)
    }

    fn check(&self, targets: &str) -> Ended {
        let folder = tempfile::tempdir().unwrap();
        let settings = self.settings();
        std::fs::write(folder.path().join("password"), settings.password.expose()).unwrap();
        let endpoint = match &settings.endpoint {
            Endpoint::Port(port) => format!("port: {port}"),
            Endpoint::Instance(instance) => format!("instance: {instance}"),
        };
        let encryption = match settings.encryption {
            Encryption::Required => "required",
            Encryption::LoginOnly => "login_only",
            Encryption::Off => "off",
        };
        let trust = match &settings.trust {
            Trust::System => String::new(),
            Trust::Any => ", trust_server_certificate: true".to_owned(),
            Trust::CaFile(file) => format!(", ca_file: '{}'", file.display()),
        };
        let (host, database, user) = (&settings.host, &settings.database, &settings.user);
        let mssql = format!(
            "{{ host: '{host}', {endpoint}, database: '{database}', user: '{user}', password_file: password, \
             encryption: {encryption}{trust} }}"
        );
        // A busy machine is not what is checked.
        let config = format!(
            "global: {{ query_timeout: 50s, lock_timeout: 40s }}\nsources:\n  - name: db\n    mssql: {mssql}\n{targets}"
        );
        run_in(folder.path(), &config, &["check", "--connect"])
    }
}

type TdsClient = Client<Compat<TcpStream>>;

/// One session of the server.
pub struct ServerSession {
    client: TdsClient,
    lock_resource: String,
}

async fn connect(settings: &Mssql, lock_resource: String) -> ServerSession {
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
    ServerSession { client, lock_resource }
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

    /// Calls a procedure that tells what it did by its RETURN value and an output parameter.
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

    /// How many rows a procedure changed that always returns 0.
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
            // Of a constraint, and of a unique index.
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
        let rows = self.result(&sql, &[&ms(lease), &count(batch)]).await?;
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
