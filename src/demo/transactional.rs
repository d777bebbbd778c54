//! The transactional queue: a row leaves it when the consumer's transaction commits, and returns when
//! it rolls back.
//!
//! On a server, a row lock hides the row from other consumers in between. SQLite has no row locks, so
//! here the row holds the id of the transaction that took it. Such a mark never expires: like an open
//! transaction, it lasts until its owner ends it.

use rusqlite::{Connection, OptionalExtension, Result, named_params};

use super::{execute, insert, sql};

/// A row taken by a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The row.
    pub work_id: i64,
    /// What to do.
    pub payload: Option<String>,
}

/// Adds a row, and returns its id.
pub fn enqueue(connection: &Connection, payload: &str) -> Result<i64> {
    insert(connection, sql!("work_queue/enqueue"), named_params! { ":payload": payload })
}

/// Takes the oldest free row for a transaction. No other open transaction may have the same id.
pub fn take(connection: &Connection, tran_id: i64) -> Result<Option<Item>> {
    connection
        .prepare_cached(sql!("work_queue/take"))?
        .query_one(named_params! { ":tran_id": tran_id }, |row| {
            Ok(Item { work_id: row.get("WorkId")?, payload: row.get("Payload")? })
        })
        .optional()
}

/// Commits: deletes the rows that the transaction took, and returns how many.
pub fn commit(connection: &Connection, tran_id: i64) -> Result<usize> {
    execute(connection, sql!("work_queue/commit"), named_params! { ":tran_id": tran_id })
}

/// Rolls back: frees the rows that the transaction took, and returns how many.
pub fn rollback(connection: &Connection, tran_id: i64) -> Result<usize> {
    execute(connection, sql!("work_queue/rollback"), named_params! { ":tran_id": tran_id })
}
