//! An installed server: a real one, through the procedures of `sql/mssql`.

use sqlqueue_exporter::clock::ManualClock;
use sqlqueue_exporter::config::{self, Secret};
use sqlqueue_exporter::config::{Encryption, Endpoint, Mssql, Trust};
use sqlqueue_exporter::exporter::Exporter;
use sqlqueue_exporter::source::Value;

use super::babelfish::{self, for_babelfish};
use super::database::{self, server};
use super::script::{Batch, Variable, batches};
use super::session::{ServerSession, connect};
use crate::backend::Backend;
use crate::binary::{Ended, run_in};
use crate::reference::database::{Database, Session};
use crate::support::NOW_MS;

/// The schema in which the tests install the queues: that of a table named without a schema, as in the
/// default mapping.
pub const SCHEMA: &str = "dbo";

/// A database of its own for one case.
pub struct OnServer {
    backend: Backend,
    is_babelfish: bool,
}

/// Runs a case in a database of its own in which everything is installed.
pub async fn on_installed_server(case: impl AsyncFnOnce(OnServer)) {
    on_empty_server(async |db: OnServer| {
        db.install(SCHEMA).await;
        case(db).await;
    })
    .await;
}

/// Runs a case in an empty database of its own.
pub async fn on_empty_server(case: impl AsyncFnOnce(OnServer)) {
    database::on_server(async |backend| {
        let mut session = connect(server(&backend).settings(), false).await;
        let sql = "SELECT CAST(SERVERPROPERTY('babelfishversion') AS NVARCHAR(50)) AS version";
        let rows = session.rows(sql).await;
        case(OnServer { is_babelfish: rows != [[Value::Null]], backend }).await;
    })
    .await;
}

impl OnServer {
    fn settings(&self) -> &Mssql {
        server(&self.backend).settings()
    }

    /// One more session.
    pub async fn connect(&self) -> ServerSession {
        connect(self.settings(), self.is_babelfish).await
    }

    /// Runs install.sql, which must not fail.
    pub async fn install(&self, schema: &str) {
        self.connect().await.run_script(self.script("install.sql", schema)).await.unwrap();
    }

    /// The batches of a script, as this server takes them.
    pub fn script(&self, file: &str, schema: &str) -> Vec<Batch> {
        self.edited_script(file, &[("SchemaName", schema)], &|_, text| text)
    }

    /// The same with more variables, for a script that was edited first, as a user does.
    pub fn edited_script(
        &self,
        file: &str,
        variables: &[Variable<'_>],
        edit: &dyn Fn(&str, String) -> String,
    ) -> Vec<Batch> {
        batches(file, variables, &|file, text| {
            let edited = edit(file, text);
            let database = &self.settings().database;
            if self.is_babelfish { for_babelfish(file, edited, database) } else { edited }
        })
    }

    /// The same database for another login.
    pub fn logged_in_as(&self, user: &str, password: &str) -> Mssql {
        let password = Secret::new(password);
        Mssql { user: user.to_owned(), password, ..self.settings().clone() }
    }

    /// A session with this login.
    pub async fn connect_as(&self, settings: &Mssql) -> ServerSession {
        connect(settings, self.is_babelfish).await
    }

    /// An exporter with this login, of these targets (YAML, indented by four) of the source `db`.
    pub fn exporter_as(&self, settings: &Mssql, targets: &str) -> Exporter {
        let mut config = self.backend.config(targets);
        config.sources[0].database = config::Database::Mssql(settings.clone());
        Exporter::new(config, ManualClock::at(NOW_MS)).unwrap()
    }

    /// Whether this is the server on which a case cannot prove everything.
    pub fn is_babelfish(&self) -> bool {
        self.is_babelfish
    }
}

impl Database for OnServer {
    type Session = ServerSession;

    const STEPS: &[&str] = &["comments", "somethings", "run"];
    const AN_HOUR_AGO: &str = "DATEADD(HOUR, -1, SYSUTCDATETIME())";
    const PRUNED_BY_A_RUN: i64 = 5000;
    const WORK_QUEUE_PRESET: &str = "transactional";

    fn lock_resource(&self) -> String {
        babelfish::lock_resource(self.is_babelfish, &self.settings().database)
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

    /// The step is made from the template, has one event to send, and is called where run.sql says.
    async fn add_second_step(&self) {
        let mut session = self.connect().await;
        session.run_script(self.script("notifications/step_template.sql", SCHEMA)).await.unwrap();
        let run = self.edited_script("notifications/run.sql", &[("SchemaName", SCHEMA)], &|file, text| {
            let here = "-- Your steps go here: ELSE IF @place = 2 EXEC ..., and so on.";
            assert_eq!(text.matches(here).count(), 1, "{file}");
            text.replace(here, "ELSE IF @place = 2 EXEC [$(SchemaName)].NotifySomething;")
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
        check(self.settings(), targets)
    }
}

/// What `check --connect` prints for these targets (YAML, indented by four), with this login.
pub fn check(settings: &Mssql, targets: &str) -> Ended {
    let folder = tempfile::tempdir().unwrap();
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
    // A busy machine is not under test.
    let config = format!(
        "global: {{ query_timeout: 50s, lock_timeout: 40s }}\nsources:\n  - name: db\n    mssql: {mssql}\n{targets}"
    );
    run_in(folder.path(), &config, &["check", "--connect"])
}
