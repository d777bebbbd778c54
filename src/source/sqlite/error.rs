//! SQLite errors: each becomes a reason and a message.

use std::fmt;
use std::path::Path;

use rusqlite::{ErrorCode, ffi};

use crate::files::beside;
use crate::source::{Reason, SourceError};

/// Whether it failed only because another connection held a lock for too long.
pub(crate) fn is_locked(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// The error for a file that cannot be opened as a database.
pub(super) fn refused(file: &Path, cause: &dyn fmt::Display) -> SourceError {
    SourceError::lost(Reason::Connect, format!("cannot open {}: {cause}", file.display()))
}

/// Why the file cannot be read, where SQLite's own message hides the system's, or mentions writing although
/// nothing is ever written.
fn in_the_way(cause: ffi::Error, file: &Path) -> Option<String> {
    if cause.extended_code == ffi::SQLITE_READONLY_ROLLBACK {
        let journal = beside(file, "-journal");
        return Some(format!(
            "a writer died in the middle of a transaction, and {} holds what has to be undone; a program that \
             may write has to open the database",
            journal.display()
        ));
    }
    // A database in WAL mode needs two more files: see "Read-Only Databases" in SQLite's documentation
    // of write-ahead logging.
    let lacks_wal = cause.extended_code == ffi::SQLITE_READONLY_DIRECTORY;
    if !lacks_wal && cause.code != ErrorCode::CannotOpen {
        return None;
    }
    unreadable(file).or_else(|| {
        (lacks_wal || beside(file, "-wal").exists()).then(|| {
            "it is in WAL mode, and its -wal and -shm files are not both there, as they are while a program has it \
             open; the exporter's user may not make them in this folder"
                .to_owned()
        })
    })
}

/// The file of the database that exists and may not be read, in the system's words.
#[cfg(unix)]
fn unreadable(file: &Path) -> Option<String> {
    use rustix::fs::{Access, access};
    // The file must not be opened for this: closing it would drop the locks that another connection
    // of this process holds on it.
    let files = [file.to_path_buf(), beside(file, "-wal"), beside(file, "-shm")];
    files.iter().find_map(|file| match access(file, Access::READ_OK) {
        Err(error) if error == rustix::io::Errno::ACCESS => {
            Some(format!("{}: {}", file.display(), std::io::Error::from(error)))
        }
        Ok(()) | Err(_) => None,
    })
}

#[cfg(not(unix))]
fn unreadable(_file: &Path) -> Option<String> {
    None
}

/// The driver's error as a reason and a message.
pub(super) fn failure(error: &rusqlite::Error, file: &Path) -> SourceError {
    if let Some(cause) = error.sqlite_error().and_then(|cause| in_the_way(*cause, file)) {
        return refused(file, &cause);
    }
    let (code, text) = match error {
        rusqlite::Error::SqliteFailure(cause, Some(text)) => (Some(cause.code), text.clone()),
        // Its `Display` repeats the whole statement.
        rusqlite::Error::SqlInputError { error, msg, .. } => (Some(error.code), msg.clone()),
        other => (other.sqlite_error_code(), other.to_string()),
    };
    let reason = match code {
        _ if is_locked(error) => Reason::LockTimeout,
        Some(ErrorCode::OperationInterrupted) => Reason::Timeout,
        Some(ErrorCode::CannotOpen | ErrorCode::NotADatabase) => return refused(file, &text),
        Some(
            ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied | ErrorCode::ReadOnly,
        ) => Reason::Permission,
        // SQLITE_ERROR: only the text distinguishes the cases.
        Some(ErrorCode::Unknown) => {
            if let Some(finding) = refused_value(&text) {
                return SourceError::new(Reason::Decode, finding);
            }
            let is_missing = text.starts_with("no such table") || text.starts_with("no such column");
            if is_missing { Reason::MissingObject } else { Reason::Other }
        }
        _ => Reason::Other,
    };
    SourceError::new(reason, text)
}

/// The finding of a statement about a stored value that does not fit its column. It is the text that
/// `refuse` in sql/dialect/sqlite.sql passes as the path of a JSON function, quoted once more.
fn refused_value(error: &str) -> Option<String> {
    let path = error.strip_prefix("bad JSON path: '")?.strip_suffix('\'')?.replace("''", "'");
    let (column, wanted) = path.rsplit_once(" holds ")?;
    // The aliases of the target's table and of its related table.
    let name = column.strip_prefix("t.").or_else(|| column.strip_prefix("l.")).unwrap_or(column);
    Some(format!(
        "a row whose {name} holds {wanted}: is this the column, and is this its `encoding` or `unit`?"
    ))
}
