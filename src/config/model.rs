//! The configuration after validation: plain data that the rest of the program trusts.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Secret;
use super::objectives::{
    AttemptLogObjectives, Objectives, QueueObjectives, RunLogObjectives, SourceObjectives,
};
use super::outcome::{AttemptOutcome, OutcomeRules};

/// Everything one exporter process does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Settings that hold for every target unless it says otherwise.
    pub global: Global,
    /// Where counters and the position in each log are kept across restarts.
    pub state_file: Option<PathBuf>,
    /// The databases, in the order of the file; their names are unique.
    pub sources: Vec<Source>,
}

/// Settings that hold for every target unless it says otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Global {
    /// Time between two samples of a target.
    pub sample_interval: Duration,
    /// Deadline of one statement; also of connecting and logging in.
    pub query_timeout: Duration,
    /// How long the server may let a statement wait for a lock.
    pub lock_timeout: Duration,
    /// Age past which the gauges of a target are withdrawn.
    pub stale_after: Duration,
    /// How rows that somebody has locked are read.
    pub read_mode: ReadMode,
    /// How many values of a label that comes from a table are exported per target.
    pub max_label_values: usize,
    /// What everything is meant to keep to.
    pub objectives: Objectives,
}

/// One database and what is watched in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The value of the label `source`.
    pub name: String,
    /// How to reach the database.
    pub database: Database,
    /// What the database is meant to keep to.
    pub objectives: SourceObjectives,
    /// Queue tables, in the order of the file; names unique within the source.
    pub queues: Vec<Queue>,
    /// Attempt histories of lease queues; names unique within the source.
    pub attempt_logs: Vec<AttemptLog>,
    /// Tables that keep a row of every job that was enqueued; names unique within the source.
    pub enqueue_logs: Vec<EnqueueLog>,
    /// Run-log tables; names unique within the source.
    pub run_logs: Vec<RunLog>,
    /// Control tables of notifications; names unique within the source.
    pub control_tables: Vec<ControlTable>,
}

/// How to reach a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Database {
    /// SQL Server or Azure SQL, over TDS.
    Mssql(Mssql),
    /// A SQLite file.
    Sqlite(Sqlite),
}

/// A SQLite file, opened read-only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sqlite {
    /// The database file.
    pub file: PathBuf,
}

/// A SQL Server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mssql {
    /// Host name or address, without port or instance.
    pub host: String,
    /// A TCP port, or an instance name that the SQL Server Browser (UDP 1434) resolves.
    pub endpoint: Endpoint,
    /// The database to log in to.
    pub database: String,
    /// SQL Server login name.
    pub user: String,
    /// The login's password, read at start.
    pub password: Secret,
    /// Where it was read from.
    pub password_source: PasswordSource,
    /// TLS.
    pub encryption: Encryption,
    /// Which server certificates are accepted.
    pub trust: Trust,
    /// Whether the login asks for a readable secondary (`ApplicationIntent=ReadOnly`).
    pub read_only_intent: bool,
}

/// Where a password is read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PasswordSource {
    /// A file that holds nothing else.
    File(PathBuf),
    /// The environment variable of this name.
    Variable(String),
    /// The systemd credential of this name.
    Credential(String),
}

/// Where on the host the server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// A TCP port; 1433 unless configured.
    Port(u16),
    /// A named instance.
    Instance(String),
}

/// How much of the connection is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Encryption {
    /// TLS for the whole session, or no connection.
    #[default]
    Required,
    /// TLS for the login packet only.
    LoginOnly,
    /// No TLS: the password crosses the network readable.
    Off,
}

/// Which server certificates are accepted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Trust {
    /// Those the machine's own root certificates vouch for.
    #[default]
    System,
    /// Those that a CA in this PEM, DER or CRT file vouches for.
    CaFile(PathBuf),
    /// Any: no protection against a man in the middle.
    Any,
}

/// A table name of one to three parts, unquoted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TableName(pub Vec<String>);

/// A column and how a time is stored in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeColumn {
    /// Column name, unquoted.
    pub column: String,
    /// How the time is stored.
    pub encoding: TimeEncoding,
    /// Which clock wrote it.
    pub zone: TimeZone,
    /// Stored values that are no times; they are read as NULL. A row whose `available_at` is one of
    /// them is never available, and is not counted.
    pub sentinels: Vec<String>,
    /// The column is one of the queue's [`Lookup`] table.
    pub lookup: bool,
}

/// How a time is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeEncoding {
    /// A date and time type of the database; in the embedded one, ISO 8601 text.
    #[default]
    Native,
    /// Seconds since 1970-01-01T00:00:00Z.
    UnixS,
    /// Milliseconds since 1970-01-01T00:00:00Z.
    UnixMs,
    /// .NET ticks: 100 ns since 0001-01-01T00:00:00, UTC.
    DotnetTicks,
}

/// Which clock wrote a native time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TimeZone {
    /// UTC.
    #[default]
    Utc,
    /// The value carries its offset (`datetimeoffset`).
    Offset,
    /// The database server's local time.
    Server,
    /// A Windows time zone name as `AT TIME ZONE` takes it, in whichever way the configuration names the
    /// zone; SQL Server only.
    Named(String),
}

/// How a statement reads rows that somebody has locked. There is no NOLOCK: it reads what was never
/// committed, and can miss rows or read them twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadMode {
    /// It leaves them out: what a worker could claim now. SQL Server only.
    #[default]
    #[serde(rename = "readpast")]
    ReadPast,
    /// It waits for them, or reads their last committed version where the database keeps one.
    ReadCommitted,
}

/// What every target has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The value of the label that names the target.
    pub name: String,
    /// The table.
    pub table: TableName,
    /// Columns that must hold a constant: a fixed predicate.
    pub filter: BTreeMap<String, String>,
    /// How to tell rows that are not there from rows that the login is not shown.
    pub probe: Option<Probe>,
    /// How rows that somebody has locked are read.
    pub read_mode: ReadMode,
    /// Whether a sample can miss rows that are there: those that somebody has locked, in the mode `readpast`
    /// on SQL Server.
    pub misses_locked_rows: bool,
    /// Time between two samples.
    pub sample_interval: Duration,
}

/// What must hold for an answer to be believed: a view or a security policy that hides rows from a
/// login raises no error, and what it leaves looks like an empty table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// The table behind the view; it is not empty while the target's table shows nothing.
    pub base_table: Option<BaseTable>,
    /// A database or server role that the login is a member of; SQL Server only.
    pub role: Option<String>,
}

/// The rows that a view has to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseTable {
    /// The table.
    pub table: TableName,
    /// Columns that hold a constant in those rows.
    pub filter: BTreeMap<String, String>,
}

/// A queue table: one row a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queue {
    /// Name, table, predicate and pace.
    pub target: Target,
    /// A job's key. With it, a job whose lease was found lapsed is followed until it is claimed
    /// again.
    pub id: Option<String>,
    /// Column whose value becomes the label `queue`; without one it is the target's name.
    pub queue_label: Option<String>,
    /// Another table that holds times of the job.
    pub lookup: Option<Lookup>,
    /// What a row says of its state.
    pub state: RowState,
    /// How a claim shows.
    pub lease: Lease,
    /// When the running attempt began.
    pub claimed_at: Option<TimeColumn>,
    /// When the row becomes claimable; NULL means at once.
    pub available_at: Option<TimeColumn>,
    /// When the row was put in.
    pub enqueued_at: Option<TimeColumn>,
    /// How often the job was tried.
    pub attempts: Option<Attempts>,
    /// How often it may be tried.
    pub max_attempts: Option<MaxAttempts>,
    /// Whether finished rows are counted too, which reads the whole history.
    pub count_done: bool,
    /// What the queue is meant to keep to.
    pub objectives: QueueObjectives,
}

/// A table with at most one row for each job, whose columns a time can name with `lookup: true`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lookup {
    /// The table.
    pub table: TableName,
    /// Its unique key.
    pub key: String,
    /// The column of the queue that holds that key.
    pub column: String,
}

/// What a row says of its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowState {
    /// A column whose values map to states; a value not in the map is `unknown`.
    Column {
        /// Column name.
        column: String,
        /// Column value to state.
        map: BTreeMap<String, MappedState>,
    },
    /// Every row is in this state.
    Constant(MappedState),
    /// The row is done when this column is not NULL.
    DoneWhenSet(String),
}

impl RowState {
    /// Whether a row can say of itself that it is in this state. A row that is done is not asked.
    #[must_use]
    pub fn can_tell(&self, wanted: MappedState) -> bool {
        match self {
            Self::Column { map, .. } => map.values().any(|state| *state == wanted),
            Self::Constant(state) => *state == wanted,
            Self::DoneWhenSet(_) => false,
        }
    }
}

/// The states that a stored value can stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MappedState {
    /// Waiting for a worker.
    Ready,
    /// Waiting for its time, never tried.
    Scheduled,
    /// Waiting for its time after a failure.
    Retrying,
    /// Claimed by a worker.
    Running,
    /// Given up.
    Failed,
    /// Finished.
    Done,
}

/// How a claim shows in the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lease {
    /// A column holds the end of the lease.
    Until {
        /// The column.
        column: TimeColumn,
        /// The claim token, where NULL in it means that nobody holds the row.
        token: Option<String>,
        /// Grace added to the end of the lease.
        tolerance: Duration,
    },
    /// A column holds the time of the claim or of its last heartbeat.
    Since {
        /// The column.
        column: TimeColumn,
        /// How long a claim lives after that time.
        timeout: Duration,
        /// Grace added to the timeout.
        tolerance: Duration,
    },
    /// A column holds the owner of the row, without an end.
    Owner {
        /// The column; NULL when nobody owns the row.
        column: String,
    },
    /// A claim is a row lock in the worker's open transaction; nothing is stored.
    RowLock,
    /// There are no claims.
    None,
}

/// An attempts column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempts {
    /// Column name.
    pub column: String,
    /// What the column counts.
    pub counts: AttemptsCount,
}

/// What an attempts column counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptsCount {
    /// Claims: a job that runs for the first time has 1.
    #[default]
    Claims,
    /// Failures: a job that runs for the first time has 0.
    Failures,
}

/// The bound on attempts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MaxAttempts {
    /// The same for every row.
    Constant(u32),
    /// A column of the row.
    Column(String),
}

/// The attempt history of a lease queue: one row an attempt, written when it ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptLog {
    /// Name, table, predicate and pace.
    pub target: Target,
    /// Ascending id column, the primary key.
    pub id: String,
    /// Column whose value becomes the label `queue`; without one it is the target's name.
    pub queue_label: Option<String>,
    /// How a row's outcome is told.
    pub outcome: OutcomeRules<AttemptOutcome>,
    /// Column with the number of the attempt, 1 for the first of a job.
    pub attempt: Option<String>,
    /// When the attempt began.
    pub started_at: Option<TimeColumn>,
    /// When it ended.
    pub ended_at: Option<TimeColumn>,
    /// How long it took; without it, `ended_at` minus `started_at`.
    pub duration: Option<DurationColumn>,
    /// When the job was put into its queue.
    pub enqueued_at: Option<TimeColumn>,
    /// What the attempts are meant to keep to.
    pub objectives: AttemptLogObjectives,
    /// Rows read per sample at most.
    pub batch_size: u32,
    /// How long a missing id is asked for again.
    pub late_window: Duration,
}

/// A table that keeps a row of every job that was enqueued, as a log of the enqueuing: a lease queue
/// that keeps its finished jobs for a while is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnqueueLog {
    /// Name, table, predicate and pace.
    pub target: Target,
    /// Ascending id column, the primary key.
    pub id: String,
    /// Column whose value becomes the label `queue`; without one it is the target's name.
    pub queue_label: Option<String>,
    /// When the job was put into its queue: tells a table that was truncated from a quiet one.
    pub enqueued_at: Option<TimeColumn>,
    /// Rows read per sample at most.
    pub batch_size: u32,
    /// How long a missing id is asked for again.
    pub late_window: Duration,
}

/// A run-log table: one row a step, and one a whole run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLog {
    /// Name, table, predicate and pace.
    pub target: Target,
    /// Ascending id column, the primary key.
    pub id: String,
    /// Column that names the step.
    pub step: String,
    /// The step that stands for the whole run.
    pub run_step: Option<String>,
    /// Steps that are exported from the start, at 0.
    pub declared_steps: Vec<String>,
    /// When the step began.
    pub start: Option<TimeColumn>,
    /// When the step ended.
    pub end: Option<TimeColumn>,
    /// How long it took; without it, `end` minus `start`.
    pub duration: Option<DurationColumn>,
    /// How many candidates the step found.
    pub candidates: Option<String>,
    /// How a row's outcome is told.
    pub outcome: OutcomeRules,
    /// Set when rows are written at the start of a step and updated at its end.
    pub mutable: Option<MutableRows>,
    /// The application lock that a run holds.
    pub lock: Option<AppLock>,
    /// What the runs are meant to keep to.
    pub objectives: RunLogObjectives,
    /// Rows read per sample at most.
    pub batch_size: u32,
    /// How long a missing id is asked for again.
    pub late_window: Duration,
}

/// Rows that are written at the start of a step: one without an end is still running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MutableRows {
    /// How long a row without an end is believed to be running; after it the row is given up.
    pub open_window: Duration,
}

/// A column that holds a duration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DurationColumn {
    /// Column name.
    pub column: String,
    /// Its unit.
    pub unit: DurationUnit,
}

/// The unit of a duration column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DurationUnit {
    /// Milliseconds.
    #[default]
    Ms,
    /// Seconds.
    S,
    /// The digits HHMMSS as one number, hours unbounded (SQL Server Agent).
    Hhmmss,
}

/// An application lock (`sp_getapplock`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppLock {
    /// The resource name.
    pub resource: String,
}

/// A control table: one row a notification, its event key unique.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControlTable {
    /// Name, table, predicate and pace.
    pub target: Target,
    /// Ascending id column, the primary key.
    pub id: String,
    /// Column that names the kind of notification.
    pub kind: String,
    /// Kinds that are exported from the start, at 0.
    pub declared_kinds: Vec<String>,
    /// When the notification was written.
    pub at: Option<TimeColumn>,
    /// Rows read per sample at most.
    pub batch_size: u32,
    /// How long a missing id is asked for again.
    pub late_window: Duration,
}
