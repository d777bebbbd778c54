//! Database access: sends a statement and returns its rows as plain values.
//!
//! Each driver stays behind its own module ([`mssql`], [`sqlite`]); the rest of the program only sees
//! [`Connector`], [`Connection`], [`Rows`] and [`SourceError`].

mod advice;
pub mod mssql;
mod session;
pub mod sqlite;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::SharedClock;
use crate::config;
use crate::limits::MAX_RESULT_ROWS;
use crate::statement::{Dialect, Statement};
use crate::words::words;

pub use crate::statement::Value;
pub use futures_util::future::BoxFuture;
pub use mssql::MssqlConnector;
pub use sqlite::SqliteConnector;

/// The maximum length of an error message in characters: it becomes one line of a log.
pub const MAX_MESSAGE_CHARS: usize = 500;

/// The connector of a configured source.
///
/// `clock` replaces the clock of the embedded database, for tests and for the repeatable runs of the
/// demo; see [`SqliteConnector::new`]. SQL Server always uses its own.
#[must_use]
pub fn connector(
    source: &config::Source,
    global: &config::Global,
    clock: Option<SharedClock>,
) -> Arc<dyn Connector> {
    match &source.database {
        config::Database::Mssql(config) => Arc::new(MssqlConnector::new(config.clone())),
        config::Database::Sqlite(config) => {
            Arc::new(SqliteConnector::new(config.clone(), clock, global.lock_timeout))
        }
    }
}

/// The SQL dialect of a configured database.
#[must_use]
pub const fn dialect(database: &config::Database) -> Dialect {
    match database {
        config::Database::Mssql(_) => Dialect::Mssql,
        config::Database::Sqlite(_) => Dialect::Sqlite,
    }
}

/// Opens connections to one database.
pub trait Connector: fmt::Debug + Send + Sync {
    /// The SQL dialect of the database.
    fn dialect(&self) -> Dialect;

    /// The database as messages name it: host, port and database, or a file. Holds no secret.
    fn describe(&self) -> String;

    /// Opens one connection and logs in, within `deadline`.
    fn connect(&self, deadline: Duration) -> BoxFuture<'_, Result<Box<dyn Connection>, SourceError>>;
}

/// One open connection. Dropping it closes it.
pub trait Connection: fmt::Debug + Send {
    /// Runs one statement and returns all its rows, within `deadline`.
    ///
    /// When the deadline passes, the running statement is cancelled on the server, which may take up
    /// to one second more. Dropping the future abandons the connection along with the statement.
    ///
    /// # Errors
    /// After an error with [`SourceError::connection_lost`] set, the connection must be dropped; every
    /// further statement on it fails with that flag set.
    fn query<'a>(
        &'a mut self,
        statement: &'a Statement,
        deadline: Duration,
    ) -> BoxFuture<'a, Result<Rows, SourceError>>;
}

/// The rows of one result set, with its column names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rows {
    /// Column names, in order.
    pub columns: Vec<String>,
    /// Rows; each as long as `columns`.
    pub rows: Vec<Vec<Value>>,
}

words! {
    /// Why a sample failed: the value of the label `reason`, in the order of the exposition.
    pub enum Reason {
        /// No connection: refused, unreachable, TLS failure, closed by the peer.
        Connect = "connect",
        /// The server refused the login or the database.
        Login = "login",
        /// The deadline passed.
        Timeout = "timeout",
        /// A lock was not granted within the lock timeout.
        LockTimeout = "lock_timeout",
        /// The statement was chosen as the deadlock victim.
        Deadlock = "deadlock",
        /// The login may not read the object.
        Permission = "permission",
        /// A table or column does not exist.
        MissingObject = "missing_object",
        /// The answer does not have the shape that the statement promises.
        Decode = "decode",
        /// Anything else.
        Other = "other",
    }
}

impl Reason {
    /// Whether the database answered at all: distinguishes a broken target from a database that is down.
    #[must_use]
    pub const fn database_answered(self) -> bool {
        !matches!(self, Self::Connect | Self::Login | Self::Timeout)
    }
}

/// What went wrong between the exporter and a database. Never holds a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SourceError {
    /// The kind of failure.
    pub reason: Reason,
    /// What happened, in the server's words where there are any.
    pub message: String,
    /// The connection is in an unknown state and must be dropped.
    pub connection_lost: bool,
    /// The statement returned more than [`MAX_RESULT_ROWS`] rows.
    pub too_many_rows: bool,
}

impl SourceError {
    /// An error after which the connection can still be used.
    ///
    /// The message is cut to one line of [`MAX_MESSAGE_CHARS`] characters: part of it may come from a
    /// server, and it ends up in logs.
    pub fn new(reason: Reason, message: impl AsRef<str>) -> Self {
        Self { reason, message: one_line(message.as_ref()), connection_lost: false, too_many_rows: false }
    }

    /// An error for a statement that returned more than [`MAX_RESULT_ROWS`] rows.
    #[must_use]
    pub fn too_many_rows() -> Self {
        let message = format!("the statement returned more than {MAX_RESULT_ROWS} rows");
        Self { too_many_rows: true, ..Self::new(Reason::Decode, message) }
    }

    /// An error after which the connection must be dropped; its message is treated as in [`Self::new`].
    pub fn lost(reason: Reason, message: impl AsRef<str>) -> Self {
        Self { connection_lost: true, ..Self::new(reason, message) }
    }
}

/// `text` with runs of white space and control characters as one space, cut to
/// [`MAX_MESSAGE_CHARS`].
fn one_line(text: &str) -> String {
    let mut line = String::new();
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if let Some((cut, _)) = line.char_indices().nth(MAX_MESSAGE_CHARS) {
        // Room for the ellipsis, on a character boundary.
        let keep = line.char_indices().nth(MAX_MESSAGE_CHARS - 1).map_or(cut, |(at, _)| at);
        line.truncate(keep);
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line_of_bounded_length() {
        let error = SourceError::lost(Reason::Other, "first\r\n\tsecond\u{0} third ");
        assert_eq!(error.message, "first second third");
        assert!(error.connection_lost);

        let long = SourceError::new(Reason::Other, "\u{17c}".repeat(MAX_MESSAGE_CHARS + 1));
        assert_eq!(long.message.chars().count(), MAX_MESSAGE_CHARS);
        assert!(long.message.ends_with('…'));

        let fits = SourceError::new(Reason::Other, "\u{17c}".repeat(MAX_MESSAGE_CHARS));
        assert_eq!(fits.message, "\u{17c}".repeat(MAX_MESSAGE_CHARS));
    }
}
