//! The sample of a control table: its new rows.

use serde::{Deserialize, Serialize};

use super::Bounds;
use super::rows::Reader;
use crate::source::{Rows, SourceError};

/// What one statement said about a control table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlTableSample {
    /// The database's clock, in milliseconds since 1970-01-01T00:00:00Z.
    pub now_ms: i64,
    /// What the table holds.
    pub bounds: Bounds,
    /// Rows, ascending by id.
    pub notifications: Vec<Notification>,
}

/// One row of a control table: one notification that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notification {
    /// The row's id.
    pub id: i64,
    /// The kind of notification.
    pub kind: String,
    /// When it was written, in milliseconds since 1970-01-01T00:00:00Z.
    pub at_ms: Option<i64>,
}

pub(super) fn decode(rows: &Rows) -> Result<ControlTableSample, SourceError> {
    let reader = Reader::new(rows)?;
    let first = reader.first()?;
    let notifications = reader.entries(|id, row| {
        Ok(Notification { id, kind: row.label("kind")?.unwrap_or_default(), at_ms: row.int("at_ms")? })
    })?;
    Ok(ControlTableSample { now_ms: first.required_int("now_ms")?, bounds: first.bounds()?, notifications })
}
