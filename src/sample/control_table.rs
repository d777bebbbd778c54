//! Control-table samples: one row per notification.

use serde::{Deserialize, Serialize};

use super::LogTable;
use super::rows::Row;
use crate::config::ControlTable;
use crate::source::SourceError;

/// One row of a control table: one notification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notification {
    /// The row's id.
    pub id: i64,
    /// The kind of notification.
    pub kind: String,
    /// When it was written, in milliseconds since 1970-01-01T00:00:00Z.
    pub at_ms: Option<i64>,
}

impl LogTable for ControlTable {
    type Row = Notification;

    fn decode(&self, id: i64, row: Row<'_>) -> Result<Notification, SourceError> {
        Ok(Notification { id, kind: row.label("kind")?.unwrap_or_default(), at_ms: row.int("at_ms")? })
    }
}
