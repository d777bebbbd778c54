//! The templates of `sql/`, and the engine that renders them for a dialect.

use std::sync::LazyLock;

use minijinja::value::{Serde, Value, ValueKind};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Output, State, UndefinedBehavior};
use serde::Serialize;

use super::{Dialect, RenderError, filters};
use crate::config::for_each_log_kind;
use crate::limits::{CLAIMS_PER_SAMPLE, GAPS_PER_SAMPLE};

macro_rules! files {
    ($($name:expr),*) => { [$(($name, include_str!(concat!("../../sql/", $name)))),*] };
}

macro_rules! log_files {
    ($($(#[$doc:meta])* $Kind:ident in $list:ident, label $label:literal, preset $preset:literal;)+) => {
        files!($(concat!("sample/", $label, ".sql")),+)
    };
}

/// Every template below `sql/` that a statement is made of. Tests render them all.
pub(super) fn files() -> impl Iterator<Item = (&'static str, &'static str)> {
    let shared = files!(
        "check/seek.sql",
        "check/create_index.sql",
        "dialect/mssql.sql",
        "dialect/sqlite.sql",
        "sample/probe.sql",
        "sample/queue.sql",
        "sample/stored_time.sql",
        "sample/mapped.sql",
        "sample/tail.sql",
        "sample/ending.sql"
    );
    shared.into_iter().chain(for_each_log_kind!(log_files))
}

static MSSQL: LazyLock<Environment<'static>> = LazyLock::new(|| new(Dialect::Mssql));
static SQLITE: LazyLock<Environment<'static>> = LazyLock::new(|| new(Dialect::Sqlite));

/// The template engine of a dialect.
pub(super) fn environment(dialect: Dialect) -> &'static Environment<'static> {
    match dialect {
        Dialect::Mssql => &MSSQL,
        Dialect::Sqlite => &SQLITE,
    }
}

/// The text of a statement.
pub(super) fn render(
    dialect: Dialect,
    template: &str,
    context: impl Serialize,
) -> Result<String, RenderError> {
    let found = environment(dialect).get_template(template);
    found
        .and_then(|found| found.render(Serde(context)))
        .map_err(|error| RenderError { template: template.to_owned(), message: format!("{error:#}") })
}

fn new(dialect: Dialect) -> Environment<'static> {
    let mut environment = Environment::new();
    // With escaping on, the engine knows which values are SQL: results of macros, captured blocks, and
    // whatever a filter marked as safe.
    environment.set_auto_escape_callback(|_| AutoEscape::Custom("sql".into()));
    environment.set_formatter(write_sql);
    // A key that a mapping leaves out is false in a condition, and an error elsewhere.
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    filters::add(&mut environment, dialect);
    environment.add_global(
        "dialect",
        match dialect {
            Dialect::Mssql => "dialect/mssql.sql",
            Dialect::Sqlite => "dialect/sqlite.sql",
        },
    );
    environment.add_global("claims_per_sample", CLAIMS_PER_SAMPLE);
    environment.add_global("gaps_per_sample", GAPS_PER_SAMPLE);
    for (name, text) in files() {
        // A template that does not parse is missing from the environment. Rendering then names it, and tests
        // render them all.
        let _ = environment.add_template(name, text);
    }
    environment
}

/// Writes SQL and numbers. A template that forgets to quote a value fails instead of opening a hole.
fn write_sql(out: &mut Output<'_>, _: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    match value.kind() {
        ValueKind::Number => Ok(write!(out, "{value}")?),
        _ if value.is_safe() => Ok(write!(out, "{value}")?),
        // Only the absent `else` of a condition gets here.
        ValueKind::Undefined => Ok(()),
        _ => Err(Error::new(ErrorKind::InvalidOperation, format!("`{value}` reaches SQL unquoted"))),
    }
}
