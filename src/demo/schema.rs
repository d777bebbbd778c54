//! The demo's database file: opens it and creates its tables.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

use super::{DemoError, sql};

/// How long a write waits for another writer: SQLite has a single write lock for the whole file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Opens the file in WAL mode, where readers (the exporter) and the writer do not block each other.
pub(crate) fn open(file: &Path) -> Result<Connection, DemoError> {
    let connection = Connection::open(file)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    let mode: String = connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    if mode != "wal" {
        return Err(DemoError::NotWal { mode });
    }
    // In WAL mode this survives a crash of the process; only a power failure can lose the last commits.
    connection.pragma_update(None, "synchronous", "normal")?;
    Ok(connection)
}

/// Creates missing tables, and ends the sessions of an earlier demo on this file.
pub(super) fn create(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(sql!("schema"))?;
    transaction.execute_batch(sql!("end_sessions"))?;
    transaction.commit()
}

/// The database's clock, in the format of every time column.
pub fn now(connection: &Connection) -> rusqlite::Result<String> {
    connection.prepare_cached(sql!("now"))?.query_one([], |row| row.get(0))
}

/// Whether the statement failed only because another connection held the write lock for too long.
pub(crate) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked)
    )
}
