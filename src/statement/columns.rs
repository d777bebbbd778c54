//! Columns: those that a target's sample reads.

use std::collections::HashSet;

use crate::config::{
    ColumnName, ColumnOwner, Lease, MappedColumn, MappedState, Queue, RowState, TargetConfig,
};

/// The columns of the target's own table, each once.
pub(super) fn own(target: TargetConfig<'_>) -> Vec<&ColumnName> {
    let unread = match target {
        TargetConfig::Queue(queue) => unread(queue),
        _ => Vec::new(),
    };
    once(target, |mapped| mapped.owner == ColumnOwner::Target && !unread.contains(&mapped.key))
}

/// The columns of the related table that hold times, each once; none when no time is looked up.
pub(super) fn related(queue: &Queue) -> Vec<&ColumnName> {
    once(TargetConfig::Queue(queue), |mapped| {
        mapped.owner == ColumnOwner::Lookup && mapped.key != "lookup.key"
    })
}

/// The keys of a queue whose columns no statement reads.
fn unread(queue: &Queue) -> Vec<&'static str> {
    let mut keys = Vec::new();
    // A stored state that means a claim is enough to decide whether a row is claimed.
    if matches!(queue.state, RowState::Column { .. }) && queue.state.can_be(MappedState::Running) {
        keys.push("lease.token");
        if matches!(queue.lease, Lease::Owner { .. }) {
            keys.push("lease.column");
        }
    }
    if related(queue).is_empty() {
        keys.push("lookup.column");
    }
    keys
}

/// The names of the wanted columns, without duplicates. Case does not matter in SQLite, nor in the usual
/// collations of SQL Server.
fn once(target: TargetConfig<'_>, is_wanted: impl Fn(&MappedColumn<'_>) -> bool) -> Vec<&ColumnName> {
    let mut seen = HashSet::new();
    target
        .columns()
        .into_iter()
        .filter(is_wanted)
        .map(|mapped| mapped.column)
        .filter(|name| seen.insert(name.to_lowercase()))
        .collect()
}
