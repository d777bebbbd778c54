//! The indexes that the sample of a target seeks.

use crate::config::{MappedState, Queue, RowState, TableName, TargetConfig};

/// An index without which a sample reads rows that it has no use for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index<'a> {
    /// What the sample finds by it.
    pub purpose: IndexPurpose,
    /// The table that it is on.
    pub table: &'a TableName,
    /// Its first key, but for `constant` columns.
    pub column: &'a str,
    /// Columns that may come before it, because the sample compares them with constants. Alone they
    /// do not help: the finished rows have the same constants.
    pub constant: Vec<&'a str>,
}

/// What a sample finds by an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexPurpose {
    /// The jobs that are not finished, by their stored state.
    OpenStates,
    /// The jobs that are not finished, by the column that is set when they are.
    OpenRows,
    /// The new rows of a log, and the late ones, by id.
    NewRows,
    /// The row of a related table that belongs to a job.
    RelatedRow,
}

/// The indexes that the sample of a target seeks. A queue without finished rows is read whole.
#[must_use]
pub fn indexes(target: TargetConfig<'_>) -> Vec<Index<'_>> {
    let table = &target.target().table;
    let of_log = |id| vec![Index { purpose: IndexPurpose::NewRows, table, column: id, constant: Vec::new() }];
    match target {
        TargetConfig::Queue(queue) => open_jobs(queue).into_iter().chain(related_rows(queue)).collect(),
        TargetConfig::AttemptLog(log) => of_log(&log.id),
        TargetConfig::EnqueueLog(log) => of_log(&log.id),
        TargetConfig::RunLog(log) => of_log(&log.id),
        TargetConfig::ControlTable(control) => of_log(&control.id),
    }
}

fn open_jobs(queue: &Queue) -> Option<Index<'_>> {
    let (purpose, column) = match &queue.state {
        RowState::Column { column, map } => {
            let leaves_out = !queue.count_done && map.values().any(|state| *state == MappedState::Done);
            leaves_out.then_some((IndexPurpose::OpenStates, column))?
        }
        RowState::DoneWhenSet(column) => (IndexPurpose::OpenRows, column),
        RowState::Constant(_) => return None,
    };
    let constant = queue.target.filter.keys().map(String::as_str).collect();
    Some(Index { purpose, table: &queue.target.table, column, constant })
}

fn related_rows(queue: &Queue) -> Option<Index<'_>> {
    let times = [&queue.claimed_at, &queue.available_at, &queue.enqueued_at];
    let is_read = times.into_iter().flatten().any(|time| time.lookup);
    let lookup = queue.lookup.as_ref().filter(|_| is_read)?;
    let purpose = IndexPurpose::RelatedRow;
    Some(Index { purpose, table: &lookup.table, column: &lookup.key, constant: Vec::new() })
}
