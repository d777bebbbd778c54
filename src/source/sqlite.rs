//! SQLite files, opened read-only.
//!
//! SQLite blocks, so it runs on the threads for blocking work. While a statement runs, the database
//! handle is on such a thread; it only comes back once the statement has ended.

mod error;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rusqlite::functions::FunctionFlags;
use rusqlite::types::{Type, ValueRef};
use rusqlite::{InterruptHandle, OpenFlags};
use tokio::task::{JoinError, JoinHandle, spawn_blocking};
use tokio::time::{Instant, timeout};

use super::session::{Handle, Session};
use super::{BoxFuture, Connection, Connector, Reason, Rows, SourceError, Value};
use crate::clock::SharedClock;
use crate::config;
use crate::files::identity;
use crate::limits::MAX_RESULT_ROWS;
use crate::statement::{Dialect, Parameter, Statement};
use error::failure;
pub(crate) use error::is_locked;

/// How long a statement may take to end after it was interrupted.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);

/// The time between two interrupts. SQLite forgets an interrupt that arrives just before the
/// statement's first step, so one alone could be lost.
const STOP_EVERY: Duration = Duration::from_millis(10);

/// Longer than any sensible wait for a lock; the driver panics above about 24 days.
const MAX_BUSY_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// Opens connections to one SQLite file.
#[derive(Debug)]
pub struct SqliteConnector {
    file: PathBuf,
    clock: Option<SharedClock>,
    busy_timeout: Duration,
}

impl SqliteConnector {
    /// A connector for this file. A statement waits at most `busy_timeout` for a writer's lock, with a
    /// resolution of milliseconds.
    ///
    /// `clock` is for tests. It replaces the machine's clock in `strftime('%J', 'now')`, which is how
    /// the statements ask for the time; `strftime` with any other two arguments then fails. So the text
    /// of a statement stays what a user would paste into the sqlite3 shell.
    #[must_use]
    pub fn new(config: config::Sqlite, clock: Option<SharedClock>, busy_timeout: Duration) -> Self {
        Self { file: config.file, clock, busy_timeout: busy_timeout.min(MAX_BUSY_TIMEOUT) }
    }
}

impl Connector for SqliteConnector {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn describe(&self) -> String {
        self.file.display().to_string()
    }

    fn connect(&self, deadline: Duration) -> BoxFuture<'_, Result<Box<dyn Connection>, SourceError>> {
        Box::pin(async move {
            let (file, clock, busy_timeout) = (self.file.clone(), self.clock.clone(), self.busy_timeout);
            let opening = spawn_blocking(move || open(&file, clock, busy_timeout));
            match timeout(deadline, opening).await {
                Ok(Ok(opened)) => Ok(Session::boxed(self.describe(), opened?)),
                Ok(Err(panicked)) => Err(SourceError::lost(Reason::Other, panicked.to_string())),
                Err(_elapsed) => Err(SourceError::lost(
                    Reason::Timeout,
                    format!("cannot open {} within {} ms", self.file.display(), deadline.as_millis()),
                )),
            }
        })
    }
}

/// How much of a database file a connection keeps in memory at most, in KiB.
const CACHE_KIB: i64 = 16 * 1024;

/// One open database file.
struct Database {
    handle: rusqlite::Connection,
    file: PathBuf,
    identity: Option<(u64, u64)>,
}

impl Handle for Database {
    const LOST: Reason = Reason::Other;

    async fn run(
        self,
        statement: &Statement,
        deadline: Duration,
    ) -> (Option<Self>, Result<Rows, SourceError>) {
        let stop = Stop::new(&self.handle);
        let requested = Arc::clone(&stop.requested);
        let statement = statement.clone();
        let mut running = spawn_blocking(move || {
            let outcome = run(&self, &statement, &requested);
            (self, outcome)
        });
        let (ended, in_time) = match timeout(deadline, &mut running).await {
            Ok(ended) => (Some(ended), true),
            Err(_elapsed) => (stop.force(&mut running).await, false),
        };
        let after = format!("after its {} ms", deadline.as_millis());
        match ended {
            Some(Ok((database, outcome))) if in_time => (Some(database), outcome),
            Some(Ok((database, _late))) => {
                let message = format!("the statement was stopped {after}");
                (Some(database), Err(SourceError::new(Reason::Timeout, message)))
            }
            Some(Err(panicked)) => (None, Err(SourceError::lost(Reason::Other, panicked.to_string()))),
            None => {
                let message = format!("the statement could not be stopped {after}");
                (None, Err(SourceError::lost(Reason::Timeout, message)))
            }
        }
    }
}

/// Stops a statement that runs on another thread. Dropping it stops the statement too, so that a
/// statement whose caller has gone does not run on.
struct Stop {
    requested: Arc<AtomicBool>,
    handle: InterruptHandle,
}

impl Stop {
    fn new(connection: &rusqlite::Connection) -> Self {
        Self { requested: Arc::new(AtomicBool::new(false)), handle: connection.get_interrupt_handle() }
    }

    /// Harmless when no statement runs: SQLite clears the interrupt when the next one starts.
    fn request(&self) {
        self.requested.store(true, Ordering::SeqCst);
        self.handle.interrupt();
    }

    /// Interrupts the statement until its thread ends; `None` when it does not end within
    /// [`STOP_TIMEOUT`].
    async fn force<T>(&self, running: &mut JoinHandle<T>) -> Option<Result<T, JoinError>> {
        let started = Instant::now();
        loop {
            self.request();
            if let Ok(ended) = timeout(STOP_EVERY, &mut *running).await {
                return Some(ended);
            }
            if started.elapsed() >= STOP_TIMEOUT {
                return None;
            }
        }
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        self.request();
    }
}

/// Opens the file. Blocks.
fn open(file: &Path, clock: Option<SharedClock>, busy_timeout: Duration) -> Result<Database, SourceError> {
    let refused = |cause: &dyn fmt::Display| error::refused(file, cause);
    // An empty name, ":memory:" and "file:..." have a special meaning for SQLite.
    let path = std::path::absolute(file).map_err(|error| refused(&error))?;
    // Read before the file is opened: if it is replaced in between, the first statement notices.
    let metadata = std::fs::metadata(&path).map_err(|error| refused(&error))?;
    if !metadata.is_file() {
        return Err(refused(&"not a regular file"));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let handle =
        rusqlite::Connection::open_with_flags(&path, flags).map_err(|error| failure(&error, file))?;
    let database = Database { handle, file: file.to_path_buf(), identity: identity(&metadata) };
    prepare(&database.handle, clock, busy_timeout).map_err(|error| failure(&error, file))?;
    Ok(database)
}

fn prepare(
    handle: &rusqlite::Connection,
    clock: Option<SharedClock>,
    busy_timeout: Duration,
) -> rusqlite::Result<()> {
    handle.busy_timeout(busy_timeout)?;
    handle.pragma_update(None, "query_only", true)?;
    // Unfinished rows are scattered through a table that is mostly history, each on a page of its
    // own: with the default of 2 MB, every sample would read them all again. This fails while a writer
    // holds the file; the connection works just as well without it.
    let _ = handle.pragma_update(None, "cache_size", -CACHE_KIB);
    if let Some(clock) = clock {
        override_clock(handle, clock)?;
    }
    // SQLite does not look into the file until it must; this detects a file that is not a database.
    // A writer's lock is no reason to refuse the connection: the statements report it.
    match handle.pragma_query_value(None, "schema_version", |row| row.get::<_, i64>(0)) {
        Err(error) if is_locked(&error) => Ok(()),
        other => other.map(|_version| ()),
    }
}

/// Makes `strftime('%J', 'now')` return `clock`'s time, in days since the Julian epoch, as a REAL.
fn override_clock(handle: &rusqlite::Connection, clock: SharedClock) -> rusqlite::Result<()> {
    const UNIX_EPOCH_DAYS: f64 = 2_440_587.5;
    const MS_PER_DAY: f64 = 86_400_000.0;
    handle.create_scalar_function("strftime", 2, FunctionFlags::SQLITE_UTF8, move |context| {
        let arguments = (context.get_raw(0), context.get_raw(1));
        if arguments != (ValueRef::Text(b"%J"), ValueRef::Text(b"now")) {
            let refusal = "only strftime('%J', 'now') is known to the clock of this connection";
            return Err(rusqlite::Error::UserFunctionError(refusal.into()));
        }
        #[allow(clippy::cast_precision_loss, reason = "exact for every time a clock can show")]
        // Doubles near today are 40 us apart: no millisecond is lost.
        let days = clock.unix_ms() as f64 / MS_PER_DAY + UNIX_EPOCH_DAYS;
        Ok(days)
    })
}

/// Runs one statement. Blocks; gives up between two rows once `stop` is set.
fn run(database: &Database, statement: &Statement, stop: &AtomicBool) -> Result<Rows, SourceError> {
    // SQLite would keep reading a file that was deleted or replaced, whose rows never change again.
    if database.identity != std::fs::metadata(&database.file).ok().as_ref().and_then(identity) {
        let message = format!("{} was deleted or replaced", database.file.display());
        return Err(SourceError::lost(Reason::Connect, message));
    }
    let failed = |error: rusqlite::Error| failure(&error, &database.file);
    let mut prepared = database.handle.prepare(&statement.text).map_err(failed)?;
    bind(&mut prepared, &statement.parameters, &database.file)?;
    let columns = (0..prepared.column_count())
        .map(|index| prepared.column_name(index).map(str::to_owned))
        .collect::<rusqlite::Result<Vec<String>>>()
        .map_err(failed)?;
    let mut rows = Vec::new();
    let mut cursor = prepared.raw_query();
    while !stop.load(Ordering::SeqCst) {
        let Some(row) = cursor.next().map_err(failed)? else {
            return Ok(Rows { columns, rows });
        };
        if rows.len() == MAX_RESULT_ROWS {
            return Err(SourceError::too_many_rows());
        }
        let mut values = Vec::with_capacity(columns.len());
        for (index, column) in columns.iter().enumerate() {
            values.push(value(row.get_ref(index).map_err(failed)?, column)?);
        }
        rows.push(values);
    }
    Err(SourceError::new(Reason::Timeout, "the statement was stopped"))
}

/// Binds each parameter to its name, `@P1` and so on. A name without a value would silently be NULL
/// here, so it is refused, as on SQL Server.
fn bind(
    prepared: &mut rusqlite::Statement<'_>,
    parameters: &[Parameter],
    file: &Path,
) -> Result<(), SourceError> {
    for index in 1..=prepared.parameter_count() {
        let name = prepared.parameter_name(index).unwrap_or("?").to_owned();
        let number = name.strip_prefix("@P").and_then(|number| number.parse::<usize>().ok());
        let parameter = number.and_then(|number| parameters.get(number.checked_sub(1)?));
        let Some(parameter) = parameter else {
            let message = format!("the statement has no value for its parameter {name}");
            return Err(SourceError::new(Reason::Other, message));
        };
        let bound = match &parameter.value {
            Value::Null => prepared.raw_bind_parameter(index, rusqlite::types::Null),
            Value::Int(value) => prepared.raw_bind_parameter(index, value),
            Value::Text(value) => prepared.raw_bind_parameter(index, value),
        };
        bound.map_err(|error| failure(&error, file))?;
    }
    Ok(())
}

/// One value of a row. A REAL is refused even when it is integral: on SQL Server its statement would
/// not return a BIGINT.
fn value(value: ValueRef<'_>, column: &str) -> Result<Value, SourceError> {
    match value {
        ValueRef::Null => Ok(Value::Null),
        ValueRef::Integer(value) => Ok(Value::Int(value)),
        // Lossy, as for SQL Server: one bad row must not hide the others.
        ValueRef::Text(bytes) => Ok(Value::Text(String::from_utf8_lossy(bytes).into_owned())),
        ValueRef::Real(_) => Err(mismatch(column, Type::Real)),
        ValueRef::Blob(_) => Err(mismatch(column, Type::Blob)),
    }
}

fn mismatch(column: &str, kind: Type) -> SourceError {
    let kind = kind.to_string().to_uppercase();
    let message = format!("column {column} holds a {kind}, where INTEGER or TEXT is expected");
    SourceError::new(Reason::Decode, message)
}
