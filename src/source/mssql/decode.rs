//! Answers of SQL Server: the driver's rows become plain values.

use std::ops::ControlFlow;

use tiberius::{Column, ColumnData, ColumnType, QueryItem, Row};

use crate::limits::MAX_RESULT_ROWS;
use crate::source::{Reason, Rows, SourceError, Value};

/// The answer to one statement as it arrives: the first result set with columns counts, later ones are
/// skipped.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// Index of the result set that counts, once it is known.
    result: Option<usize>,
    rows: Rows,
    /// The number of rows in all result sets, including skipped ones.
    seen: usize,
    /// Why the answer does not have the promised shape. The rest is still read, so that one bad column
    /// does not cost the connection.
    mismatch: Option<String>,
}

impl Answer {
    /// Adds the next item. `Break` when there are more rows than are read.
    pub(super) fn add(&mut self, item: QueryItem) -> ControlFlow<()> {
        match item {
            QueryItem::Metadata(metadata) => {
                if self.result.is_none() && !metadata.columns().is_empty() {
                    self.result = Some(metadata.result_index());
                    self.start(metadata.columns());
                }
            }
            QueryItem::Row(row) => {
                self.seen += 1;
                if self.seen > MAX_RESULT_ROWS {
                    return ControlFlow::Break(());
                }
                if self.mismatch.is_none() && self.result == Some(row.result_index()) {
                    self.keep(row);
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Whether a result set has begun to arrive.
    pub(super) fn has_begun(&self) -> bool {
        self.result.is_some()
    }

    /// The rows, or the mismatch in them. A statement without a result set has no rows.
    pub(super) fn finish(self) -> Result<Rows, SourceError> {
        match self.mismatch {
            Some(mismatch) => Err(SourceError::new(Reason::Decode, mismatch)),
            None => Ok(self.rows),
        }
    }

    fn start(&mut self, columns: &[Column]) {
        self.rows.columns = columns.iter().map(|column| column.name().to_owned()).collect();
        // Known before the first row: a wrong column is reported even when it is NULL everywhere.
        self.mismatch = columns
            .iter()
            .find(|column| !is_expected(column.column_type()))
            .map(|column| mismatch(column.name(), column.column_type()));
    }

    fn keep(&mut self, row: Row) {
        let types: Vec<ColumnType> = row.columns().iter().map(Column::column_type).collect();
        let cells = row.into_iter().zip(types).zip(&self.rows.columns);
        let values = cells.map(|((data, kind), name)| value(data).ok_or_else(|| mismatch(name, kind)));
        match values.collect() {
            Ok(values) => self.rows.rows.push(values),
            Err(mismatch) => self.mismatch = Some(mismatch),
        }
    }
}

/// The types that the statements return, and the narrower integers in place of BIGINT: a table in place
/// of a function, or a server that is looser with casts, must not cost the sample.
fn is_expected(kind: ColumnType) -> bool {
    matches!(
        kind,
        ColumnType::Int1
            | ColumnType::Int2
            | ColumnType::Int4
            | ColumnType::Int8
            | ColumnType::Intn
            | ColumnType::Bit
            | ColumnType::Bitn
            | ColumnType::NVarchar
            | ColumnType::Null
    )
}

fn value(data: ColumnData<'static>) -> Option<Value> {
    let integer = match data {
        ColumnData::String(text) => {
            return Some(text.map_or(Value::Null, |text| Value::Text(text.into_owned())));
        }
        ColumnData::I64(value) => value,
        ColumnData::I32(value) => value.map(i64::from),
        ColumnData::I16(value) => value.map(i64::from),
        ColumnData::U8(value) => value.map(i64::from),
        ColumnData::Bit(value) => value.map(i64::from),
        _ => return None,
    };
    Some(integer.map_or(Value::Null, Value::Int))
}

fn mismatch(column: &str, kind: ColumnType) -> String {
    format!("column {column} is of type {kind:?}, where BIGINT or NVARCHAR is expected")
}
