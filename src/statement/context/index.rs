//! What the templates about indexes are given.

use std::time::Duration;

use serde::Serialize;

use super::millis;
use crate::config::TableName;
use crate::statement::{Dialect, Index, IndexPurpose, quote};

#[derive(Serialize)]
pub(in crate::statement) struct SeekContext {
    catalog: Catalog,
    /// The wanted column, as a text constant.
    column: String,
    /// Those that may come before it, the same.
    constant: Vec<String>,
    lock_timeout_ms: u64,
}

/// How the catalog names a table.
#[derive(Serialize)]
struct Catalog {
    prefix: String,
    object: String,
}

#[derive(Serialize)]
pub(in crate::statement) struct IndexContext {
    is_unique: bool,
    index: String,
    table: String,
    column: String,
    others: Vec<String>,
}

pub(in crate::statement) fn seek(dialect: Dialect, index: &Index<'_>, lock_timeout: Duration) -> SeekContext {
    SeekContext {
        catalog: catalog(dialect, index.table),
        column: quote::literal(dialect, index.column),
        constant: index.constant.iter().map(|name| quote::literal(dialect, name)).collect(),
        lock_timeout_ms: millis(lock_timeout),
    }
}

fn catalog(dialect: Dialect, name: &TableName) -> Catalog {
    match (dialect, name.0.as_slice()) {
        (Dialect::Mssql, parts) => Catalog {
            prefix: match parts {
                [database, _, _] => format!("{}.", quote::identifier(dialect, database)),
                _ => String::new(),
            },
            object: quote::literal(dialect, &quote::table(dialect, name)),
        },
        (Dialect::Sqlite, [.., schema, table]) => Catalog {
            prefix: format!(", {}", quote::literal(dialect, schema)),
            object: quote::literal(dialect, table),
        },
        (Dialect::Sqlite, parts) => Catalog {
            prefix: String::new(),
            object: quote::literal(dialect, parts.first().map_or("", String::as_str)),
        },
    }
}

pub(in crate::statement) fn create_index(dialect: Dialect, index: &Index<'_>) -> IndexContext {
    let bare = index.table.0.last().map_or("", String::as_str);
    let name = format!("IX_{bare}_{}", index.column);
    let (name, table) = match (dialect, index.table.0.as_slice()) {
        // SQLite has the schema in front of the index.
        (Dialect::Sqlite, [schema, table]) => {
            (TableName(vec![schema.clone(), name]), TableName(vec![table.clone()]))
        }
        _ => (TableName(vec![name]), index.table.clone()),
    };
    IndexContext {
        is_unique: index.purpose == IndexPurpose::NewRows,
        index: quote::table(dialect, &name),
        table: quote::table(dialect, &table),
        column: quote::identifier(dialect, index.column),
        others: index.others.iter().map(|name| quote::identifier(dialect, name)).collect(),
    }
}
