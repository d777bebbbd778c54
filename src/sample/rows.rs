//! Rows: typed access to a result by column name.

use super::{Bounds, LogSample, LogTable};
use crate::config::{ColumnName, Target, TimeColumn, TimeZone};
use crate::source::{Reason, Rows, SourceError, Value};
use crate::words::Word;

/// How much earlier than its start an end may seem, in milliseconds.
const NOISE_MS: i64 = -1_000;

/// How far the clocks go back at the end of summer time, in milliseconds.
const CLOCKS_BACK_MS: i64 = 3_600_000;

/// Refuses an answer when the target's probe reports that rows are hidden.
pub(super) fn check_probe(target: &Target, rows: &Rows) -> Result<(), SourceError> {
    let Some(probe) = &target.probe else {
        return Ok(());
    };
    let message = match Reader::new(rows)?.first.label("failing_probe")?.as_deref() {
        None => return Ok(()),
        Some("role") => format!(
            "the login is not in the role {}, which the probe asks for: rows of {} may be hidden from it; \
             add the login to the role",
            probe.role.as_deref().unwrap_or_default(),
            target.table
        ),
        Some(_) => format!(
            "{} shows no row, although its base table {} holds some: they are hidden from this login; give it \
             what the view or the security policy asks for",
            target.table,
            probe.base_table.as_ref().map(ToString::to_string).unwrap_or_default()
        ),
    };
    Err(SourceError::new(Reason::Permission, message))
}

/// An answer that does not have the shape that the statement promises.
pub(super) fn decode_error(message: impl AsRef<str>) -> SourceError {
    SourceError::new(Reason::Decode, message)
}

/// The result of a statement.
pub(super) struct Reader<'a> {
    rows: &'a Rows,
    pub(super) first: Row<'a>,
}

/// One row of a result.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    columns: &'a [String],
    values: &'a [Value],
}

impl<'a> Reader<'a> {
    /// A reader of an answer, which always has at least one row: an empty table returns one, too.
    pub(super) fn new(rows: &'a Rows) -> Result<Self, SourceError> {
        let first = rows.rows.first().ok_or_else(|| {
            decode_error("the answer has no rows, although the statement always returns one")
        })?;
        Ok(Self { rows, first: Row { columns: &rows.columns, values: first } })
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = Row<'a>> {
        self.rows.rows.iter().map(|values| Row { values, ..self.first })
    }

    /// The sample of a log.
    pub(super) fn log<T: LogTable>(&self, table: &T) -> Result<LogSample<T::Row>, SourceError> {
        let first = self.first;
        let (now_ms, mut bounds) = (first.required_int("now_ms")?, first.bounds()?);
        let lock_held = table.lock_held(first)?;
        let (mut rows, mut foreign) = (Vec::new(), Vec::new());
        for row in self.rows() {
            // A row without an id stands for "nothing new".
            let Some(id) = row.int("id")? else {
                continue;
            };
            bounds.latest_ms = bounds.latest_ms.max(row.int("time_ms")?);
            if !table.target().filter.is_empty() && row.required_int("fits")? == 0 {
                foreign.push(id);
            } else {
                rows.push(table.decode(id, row)?);
            }
        }
        Ok(LogSample { now_ms, bounds, rows, foreign, lock_held })
    }
}

impl<'a> Row<'a> {
    fn value(self, column: &str) -> Result<&'a Value, SourceError> {
        self.columns
            .iter()
            .position(|name| name == column)
            .and_then(|index| self.values.get(index))
            .ok_or_else(|| decode_error(format!("the answer has no column {column}")))
    }

    pub(super) fn int(self, column: &str) -> Result<Option<i64>, SourceError> {
        match self.value(column)? {
            Value::Null => Ok(None),
            Value::Int(value) => Ok(Some(*value)),
            Value::Text(_) => Err(decode_error(format!("column {column} holds text, not a BIGINT"))),
        }
    }

    pub(super) fn required_int(self, column: &str) -> Result<i64, SourceError> {
        self.int(column)?.ok_or_else(|| decode_error(format!("column {column} holds NULL, not a BIGINT")))
    }

    /// A count: negative values are refused.
    pub(super) fn count(self, column: &str) -> Result<u64, SourceError> {
        let value = self.int(column)?.unwrap_or(0);
        u64::try_from(value).map_err(|_| decode_error(format!("column {column} holds {value}, not a count")))
    }

    /// A measurement; NULL and what is negative are none.
    pub(super) fn measured(self, column: &str) -> Result<Option<u64>, SourceError> {
        Ok(self.int(column)?.and_then(|value| u64::try_from(value).ok()))
    }

    /// The time between two stored times, in milliseconds. When the clocks go back, an hour of local time comes
    /// twice, and an end in the second one seems earlier than a start in the first.
    pub(super) fn span(self, column: &str, since: Option<&TimeColumn>) -> Result<Option<u64>, SourceError> {
        let is_local = since.is_some_and(|time| matches!(time.zone, TimeZone::Server | TimeZone::Named(_)));
        let span_ms = self.int(column)?.map(|ms| match ms {
            // Two clocks of one machine can differ by their resolution.
            NOISE_MS..0 => 0,
            _ if is_local && ms < 0 => ms + CLOCKS_BACK_MS,
            _ => ms,
        });
        Ok(span_ms.and_then(|ms| u64::try_from(ms).ok()))
    }

    /// A number; negative values are 0.
    pub(super) fn not_below_zero(self, column: &str) -> Result<Option<u64>, SourceError> {
        Ok(self.int(column)?.map(|ms| u64::try_from(ms).unwrap_or(0)))
    }

    /// Text as a label value: without the trailing spaces that a collation ignores.
    pub(super) fn label(self, column: &str) -> Result<Option<String>, SourceError> {
        match self.value(column)? {
            Value::Null => Ok(None),
            Value::Text(text) => Ok(Some(text.trim_end().to_owned())),
            Value::Int(_) => Err(decode_error(format!("column {column} holds a number, not NVARCHAR"))),
        }
    }

    /// The queue of the row: the value of the column that names it, or the target's name without one.
    pub(super) fn queue(self, label: Option<&ColumnName>, target: &Target) -> Result<String, SourceError> {
        match label {
            Some(_) => Ok(self.label("queue")?.unwrap_or_default()),
            None => Ok(target.name.clone()),
        }
    }

    /// The outcome, a word of its kind of log.
    pub(super) fn outcome<O: Word>(self) -> Result<O, SourceError> {
        let name = self.label("outcome")?.unwrap_or_default();
        O::parse(&name).ok_or_else(|| decode_error(format!("the answer has an outcome {name}")))
    }

    pub(super) fn bounds(self) -> Result<Bounds, SourceError> {
        Ok(Bounds {
            oldest_id: self.int("oldest_id")?,
            oldest_ms: self.int("oldest_ms")?,
            newest_id: self.int("newest_id")?,
            newest_ms: self.int("newest_ms")?,
            latest_ms: None,
        })
    }
}
