//! Row states: where the state of a job comes from.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{ColumnName, MappedColumn, Value};
use crate::config::scope::Scope;
use crate::words::words;
use crate::yaml::{Checker, Constant, Entries, Field, Located, Spanned, form};

/// Where the state of a row comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RowState {
    /// Every row is in this state.
    Constant(MappedState),
    /// The row is done when this column is not NULL.
    DoneWhenSet(ColumnName),
    /// A column whose values map to states; a value not in the map is `unknown`.
    #[serde(untagged)]
    Column {
        /// Column name.
        column: ColumnName,
        /// Column value to state.
        map: BTreeMap<String, MappedState>,
    },
}

words! {
    /// The states that a stored value can stand for.
    #[cfg_attr(test, derive(schemars::JsonSchema))]
    pub enum MappedState {
        /// Waiting for a worker.
        Ready = "ready",
        /// Waiting for its time, never tried.
        Scheduled = "scheduled",
        /// Waiting for its time after a failure.
        Retrying = "retrying",
        /// Claimed by a worker.
        Running = "running",
        /// Given up.
        Failed = "failed",
        /// Finished.
        Done = "done",
    }
}

form! {
    pub struct StateForm {
        /// The column that holds the state; needs `map`.
        column: Field<String>,
        /// The state that each value of the column stands for.
        map: Field<Entries<Constant, MappedState>>,
        /// The state of every row.
        constant: Field<MappedState>,
        /// The column that is not NULL once a job is done.
        done_when_set: Field<String>,
    }
}

impl RowState {
    /// Whether what is stored can put a row in this state. Done rows are not read.
    #[must_use]
    pub fn can_be(&self, wanted: MappedState) -> bool {
        match self {
            Self::Column { map, .. } => map.values().any(|state| *state == wanted),
            Self::Constant(state) => *state == wanted,
            Self::DoneWhenSet(_) => false,
        }
    }
}

impl Value for RowState {
    type Yaml = StateForm;

    fn check(checker: &mut Checker<'_>, yaml: Spanned<StateForm>, _: &Scope) -> Option<Self> {
        let (at, form) = (yaml.location(), yaml.value);
        let keys = [
            ("column", form.column.location().or(form.map.location())),
            ("constant", form.constant.location()),
            ("done_when_set", form.done_when_set.location()),
        ];
        let (column, map) = (form.column.given(), form.map.given());
        if column.is_none() && map.is_some() {
            checker.missing(at, "column", "`map` needs the column whose values it maps");
            return None;
        }
        checker.only_one(&keys, "a row has one state; remove one of them")?;
        match (column, form.constant.given(), form.done_when_set.given()) {
            (Some(column), ..) => {
                let column = checker.column(&column);
                let remedy =
                    "say what the values of the column mean, for example `map: { R: ready, W: running }`";
                let Some(map) = map else {
                    checker.missing(at, "map", remedy);
                    return None;
                };
                let map = state_map(checker, map)?;
                Some(Self::Column { column: column?, map })
            }
            (None, Some(state), _) => constant_state(checker, &state),
            (None, None, Some(column)) => checker.column(&column).map(Self::DoneWhenSet),
            (None, None, None) => {
                let remedy = "give `column` with `map`, or `constant`, or `done_when_set`";
                checker.missing(at, "column", remedy);
                None
            }
        }
    }

    fn columns<'a>(&'a self, _: &'static str, columns: &mut Vec<MappedColumn<'a>>) {
        match self {
            Self::Column { column, .. } => column.columns("state.column", columns),
            Self::DoneWhenSet(column) => column.columns("state.done_when_set", columns),
            Self::Constant(_) => {}
        }
    }
}

/// The state of a whole table. A state that would say nothing about its rows is refused.
fn constant_state(checker: &mut Checker<'_>, state: &Spanned<MappedState>) -> Option<RowState> {
    let remedy = match state.value {
        MappedState::Ready | MappedState::Scheduled | MappedState::Retrying | MappedState::Failed => {
            return Some(RowState::Constant(state.value));
        }
        MappedState::Running => {
            "whether a row is being worked on is shown by `lease`: use `constant: ready` and a lease"
        }
        MappedState::Done => {
            "finished rows are no queue: remove it, or say with `column` and `map` which rows are done"
        }
    };
    let message = format!("a whole table can be ready, scheduled, retrying or failed; {remedy}");
    checker.refuse(state.location(), message)
}

fn state_map(
    checker: &mut Checker<'_>,
    entries: Spanned<Entries<Constant, MappedState>>,
) -> Option<BTreeMap<String, MappedState>> {
    if entries.value.0.is_empty() {
        return checker.refuse(entries.location(), "is empty; map at least one value to a state");
    }
    let mut map = BTreeMap::new();
    for (key, state) in entries.value.0 {
        if let Some(value) = checker.constant_key(&key)
            && map.insert(value.clone(), state.value).is_some()
        {
            checker.report_key(key.location(), format!("the value `{value}` is mapped twice"));
        }
    }
    Some(map)
}
