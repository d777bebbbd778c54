//! The transactional queue: a row leaves it when the consumer's transaction commits, and is back
//! when it rolls back.
//!
//! On a server a row lock hides the row from other consumers meanwhile. SQLite has no row locks, so
//! here the row carries the id of the transaction that took it. Nothing expires such a mark: like an
//! open transaction, it lasts until its owner ends it.

use rusqlite::{Connection, OptionalExtension, Result, named_params};

/// A row that a transaction took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The row.
    pub work_id: i64,
    /// What to do.
    pub payload: Option<String>,
}

/// Adds a row, and returns its id.
pub fn enqueue(connection: &Connection, payload: &str) -> Result<i64> {
    connection
        .prepare_cached(include_str!("../../sql/sqlite/work_queue/enqueue.sql"))?
        .insert(named_params! { ":payload": payload })
}

/// Takes the oldest free row for a transaction, whose id no other running one may have.
pub fn take(connection: &Connection, tran_id: i64) -> Result<Option<Item>> {
    connection
        .prepare_cached(include_str!("../../sql/sqlite/work_queue/take.sql"))?
        .query_one(named_params! { ":tran_id": tran_id }, |row| {
            Ok(Item { work_id: row.get("WorkId")?, payload: row.get("Payload")? })
        })
        .optional()
}

/// Commits: deletes the rows that the transaction took, and returns how many.
pub fn commit(connection: &Connection, tran_id: i64) -> Result<usize> {
    connection
        .prepare_cached(include_str!("../../sql/sqlite/work_queue/commit.sql"))?
        .execute(named_params! { ":tran_id": tran_id })
}

/// Rolls back: frees the rows that the transaction took, and returns how many.
pub fn rollback(connection: &Connection, tran_id: i64) -> Result<usize> {
    connection
        .prepare_cached(include_str!("../../sql/sqlite/work_queue/rollback.sql"))?
        .execute(named_params! { ":tran_id": tran_id })
}
