//! Missing columns: adds the configuration keys that name the column to the database's error.

use crate::config::{MappedColumn, TargetConfig};
use crate::source::{Reason, SourceError};

/// SQLite's words before the name, which is qualified with the statement's alias of the table.
const SQLITE: &str = "no such column: ";

/// The start of the error from SQL Server. The server's own words follow, in whatever language, with the
/// name in quotes.
const MSSQL: &str = "error 207, ";

/// The error, with the keys of the target that name the missing column, if a column is missing.
pub(super) fn explained(target: TargetConfig<'_>, error: SourceError) -> SourceError {
    if error.reason != Reason::MissingObject {
        return error;
    }
    let columns = target.columns();
    let unaliased = |name: &str, column: &str| name.split_once('.').is_some_and(|(_, name)| name == column);
    let is_missing = |column: &str| match error.message.strip_prefix(SQLITE) {
        Some(name) => name == column || unaliased(name, column),
        None => error.message.starts_with(MSSQL) && error.message.contains(&format!("'{column}'")),
    };
    let Some(name) = columns.iter().map(|mapped| mapped.column).find(|column| is_missing(column)) else {
        return error;
    };
    let is_sqlite = error.message.starts_with(SQLITE);
    let message = if is_sqlite { format!("{SQLITE}{name}") } else { error.message.clone() };
    let keys: Vec<String> = columns
        .iter()
        .filter(|mapped| mapped.column == name)
        .map(|MappedColumn { key, .. }| format!("`{key}`"))
        .collect();
    SourceError { message: format!("{message}, the column of {}", keys.join(" and ")), ..error }
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        clippy::indexing_slicing,
        reason = "in a test a panic is how a failure is told"
    )]

    use super::*;
    use crate::config::{Config, Environment, parse};

    fn config(keys: &str) -> Config {
        let yaml = format!(
            "sources: [{{ name: db, sqlite: {{ file: x }}, queues: [{{ name: q, table: t, lease: {{ kind: none }}, {keys} }}] }}]"
        );
        parse(&yaml, "config.yaml".as_ref(), &Environment::empty()).unwrap()
    }

    #[track_caller]
    fn assert_explained(keys: &str, message: &str, expected: &str) {
        let config = config(keys);
        let target = config.sources[0].targets().next().unwrap();
        let error = explained(target, SourceError::new(Reason::MissingObject, message));
        assert_eq!(error.message, expected);
    }

    const STATE: &str = "state: { column: S, map: { R: ready, D: done } }";

    #[test]
    fn a_missing_column_is_named_by_its_key_and_without_the_alias() {
        let keys = format!("{STATE}, enqueued_at: nope");
        assert_explained(
            &keys,
            "no such column: t.nope",
            "no such column: nope, the column of `enqueued_at`",
        );
        assert_explained(&keys, "no such column: t.S", "no such column: S, the column of `state.column`");
        let dotted = format!("{STATE}, where: {{ '[a.b]': x }}");
        assert_explained(&dotted, "no such column: t.a.b", "no such column: a.b, the column of `where`");
    }

    #[test]
    fn sql_server_says_the_name_in_quotes() {
        let keys = format!("{STATE}, enqueued_at: {{ column: nope }}, available_at: nope");
        let said = "error 207, level 16, state 1: Invalid column name 'nope'. (line 3)";
        assert_explained(&keys, said, &format!("{said}, the column of `available_at` and `enqueued_at`"));
    }

    #[test]
    fn what_no_key_names_is_left_as_the_database_says_it() {
        for said in [
            "no such column: t.other",
            "no such table: nope",
            "error 207, level 16, state 1: Invalid column name 'nopes'. (line 3)",
            "error 208, level 16, state 1: Invalid object name 'nope'. (line 3)",
        ] {
            assert_explained(&format!("{STATE}, enqueued_at: nope"), said, said);
        }
    }
}
