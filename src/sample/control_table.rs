//! The sample of a control table: its new rows.

use serde::{Deserialize, Serialize};

use super::LogSample;
use super::rows::Reader;
use crate::config::ControlTable;
use crate::source::{Rows, SourceError};

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

pub(super) fn decode(control: &ControlTable, rows: &Rows) -> Result<LogSample<Notification>, SourceError> {
    Reader::new(rows)?.log(&control.target, |id, row| {
        Ok(Notification { id, kind: row.label("kind")?.unwrap_or_default(), at_ms: row.int("at_ms")? })
    })
}
