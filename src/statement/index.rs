//! Indexes: those by which the sample of a target seeks.

use serde::Serialize;

use super::columns;
use crate::config::{ColumnName, MappedState, Queue, RowState, TableName, TargetConfig};

/// An index without which a sample reads rows that it has no use for. Serialized, it has names as the
/// configuration writes them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Index<'a> {
    /// What the sample finds by it.
    pub purpose: IndexPurpose,
    /// The table that it is on.
    pub table: &'a TableName,
    /// Its first key, except for `constant` columns.
    pub column: &'a ColumnName,
    /// Columns that may come before it, because the sample compares them with constants. Alone they
    /// do not help: the finished rows have the same constants.
    pub constant: Vec<&'a ColumnName>,
    /// The other columns of the table that the sample reads. With them in the index, a row costs no
    /// look-up in the table; without them SQL Server reads the whole table, history included, once it
    /// expects more than some number of rows.
    pub others: Vec<&'a ColumnName>,
}

impl<'a> Index<'a> {
    fn new(
        purpose: IndexPurpose,
        table: &'a TableName,
        column: &'a ColumnName,
        read: Vec<&'a ColumnName>,
    ) -> Self {
        let is_other = |name: &&ColumnName| name.to_lowercase() != column.to_lowercase();
        let others = read.into_iter().filter(is_other).collect();
        Self { purpose, table, column, constant: Vec::new(), others }
    }
}

/// What a sample finds by an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IndexPurpose {
    /// Unfinished jobs, by their stored state.
    OpenStates,
    /// Unfinished jobs, by the column that is set when a job finishes.
    OpenRows,
    /// New and late rows of a log, by id.
    NewRows,
    /// The row of a related table that belongs to a job.
    RelatedRow,
}

/// The indexes by which the sample of a target seeks. A queue without finished rows is read whole.
#[must_use]
pub fn indexes(target: TargetConfig<'_>) -> Vec<Index<'_>> {
    let read = columns::own(target);
    match target {
        TargetConfig::Queue(queue) => open_jobs(queue, read).into_iter().chain(related_rows(queue)).collect(),
        log => {
            let of_ids = |id| Index::new(IndexPurpose::NewRows, &target.target().table, id, read);
            log.id().map(of_ids).into_iter().collect()
        }
    }
}

fn open_jobs<'a>(queue: &'a Queue, read: Vec<&'a ColumnName>) -> Option<Index<'a>> {
    let (purpose, column) = match &queue.state {
        RowState::Column { column, map } => {
            let leaves_out = !queue.count_done && map.values().any(|state| *state == MappedState::Done);
            leaves_out.then_some((IndexPurpose::OpenStates, column))?
        }
        RowState::DoneWhenSet(column) => (IndexPurpose::OpenRows, column),
        RowState::Constant(_) => return None,
    };
    let constant = queue.target.filter.keys().collect();
    Some(Index { constant, ..Index::new(purpose, &queue.target.table, column, read) })
}

fn related_rows(queue: &Queue) -> Option<Index<'_>> {
    let (lookup, read) = (queue.lookup.as_ref()?, columns::related(queue));
    (!read.is_empty()).then(|| Index::new(IndexPurpose::RelatedRow, &lookup.table, &lookup.key, read))
}
