//! The statements: templates in `sql/`, rendered for a dialect and a mapping.
//!
//! Names and constants of the configuration are quoted by `quote.rs` and become text; values that
//! change from sample to sample are [`Parameter`]s.

mod columns;
mod context;
mod index;
mod print;
mod quote;

pub use index::{Index, IndexPurpose, indexes};
pub use print::runnable;

use std::sync::LazyLock;
use std::time::Duration;

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::{Deserialize, Serialize};

use crate::config::TargetConfig;

/// A SQL dialect: which macros of `sql/dialect/` a statement is rendered with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// Transact-SQL of SQL Server 2016 SP1 or newer, and Azure SQL.
    #[default]
    Mssql,
    /// The embedded database.
    Sqlite,
}

impl Dialect {
    const fn macros(self) -> &'static str {
        match self {
            Self::Mssql => "dialect/mssql.sql",
            Self::Sqlite => "dialect/sqlite.sql",
        }
    }
}

/// One statement, ready to send: text plus the values of its parameters.
///
/// The text refers to the parameters as `@P1`, `@P2`, … in both dialects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The SQL text.
    pub text: String,
    /// The parameters, in order.
    pub parameters: Vec<Parameter>,
}

/// A value that changes from sample to sample and therefore travels beside the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// What the value means; shown as a comment by the sub-command `sql`.
    pub meaning: &'static str,
    /// The value.
    pub value: Value,
}

/// A value of a parameter or of a result. The statements know no other types.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// SQL NULL.
    Null,
    /// BIGINT, or INTEGER of the embedded database.
    Int(i64),
    /// NVARCHAR, or TEXT of the embedded database.
    Text(String),
}

/// What a sample of a log that grows by id asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TailRequest {
    /// The newest rows, to start from.
    Head,
    /// The rows above the watermark, and those of the missing ranges.
    After {
        /// The highest id read so far.
        watermark: i64,
        /// Missing ids to ask for again, first and last of each range; at most
        /// [`crate::limits::GAPS_PER_SAMPLE`] are used.
        gaps: Vec<(i64, i64)>,
    },
}

/// A template could not be rendered. The templates ship with the program, so this is a defect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the statement template {template} cannot be rendered: {message}")]
pub struct RenderError {
    template: &'static str,
    message: String,
}

/// The statement that samples a target. `request` says what to read of a log that grows by id; a
/// queue is read the same way every time.
///
/// # Errors
/// [`RenderError`], when a shipped template is broken.
pub fn sample(
    dialect: Dialect,
    target: TargetConfig<'_>,
    request: &TailRequest,
    lock_timeout: Duration,
) -> Result<Statement, RenderError> {
    let base = context::base(dialect, target.target(), lock_timeout);
    let (tail, parameters) = context::tail(request);
    let text = match target {
        TargetConfig::Queue(queue) => {
            let text = render(dialect, "sample/queue.sql", context::queue(dialect, base, queue))?;
            return Ok(Statement { text, parameters: Vec::new() });
        }
        TargetConfig::AttemptLog(log) => {
            render(dialect, "sample/attempt_log.sql", context::attempt_log(dialect, base, tail, log))?
        }
        TargetConfig::EnqueueLog(log) => {
            render(dialect, "sample/enqueue_log.sql", context::enqueue_log(dialect, base, tail, log))?
        }
        TargetConfig::RunLog(log) => {
            render(dialect, "sample/run_log.sql", context::run_log(dialect, base, tail, log))?
        }
        TargetConfig::ControlTable(control) => {
            render(dialect, "sample/control_table.sql", context::control_table(dialect, base, tail, control))?
        }
    };
    Ok(Statement { text, parameters })
}

/// The statement that looks for an index. It returns one row with the name of one that serves, or
/// with NULL.
///
/// # Errors
/// [`RenderError`], when a shipped template is broken.
pub fn seek(dialect: Dialect, index: &Index<'_>, lock_timeout: Duration) -> Result<Statement, RenderError> {
    let text = render(dialect, "check/seek.sql", context::seek(dialect, index, lock_timeout))?;
    Ok(Statement { text, parameters: Vec::new() })
}

/// The statement that creates an index; for a person to run.
///
/// # Errors
/// [`RenderError`], when a shipped template is broken.
pub fn create_index(dialect: Dialect, index: &Index<'_>) -> Result<String, RenderError> {
    render(dialect, "check/create_index.sql", context::create_index(dialect, index))
}

fn render(dialect: Dialect, template: &'static str, values: impl Serialize) -> Result<String, RenderError> {
    #[derive(Serialize)]
    struct WithDialect<T> {
        dialect: &'static str,
        #[serde(flatten)]
        values: T,
    }
    let broken = |error: minijinja::Error| RenderError { template, message: format!("{error:#}") };
    TEMPLATES
        .get_template(template)
        .and_then(|found| found.render(Serde(WithDialect { dialect: dialect.macros(), values })))
        .map_err(broken)
}

/// Every template below `sql/` that a statement is made of. Tests render each of them.
const FILES: [(&str, &str); 14] = [
    ("check/seek.sql", include_str!("../../sql/check/seek.sql")),
    ("check/create_index.sql", include_str!("../../sql/check/create_index.sql")),
    ("dialect/mssql.sql", include_str!("../../sql/dialect/mssql.sql")),
    ("dialect/sqlite.sql", include_str!("../../sql/dialect/sqlite.sql")),
    ("sample/probe.sql", include_str!("../../sql/sample/probe.sql")),
    ("sample/queue.sql", include_str!("../../sql/sample/queue.sql")),
    ("sample/stored_time.sql", include_str!("../../sql/sample/stored_time.sql")),
    ("sample/time_ms.sql", include_str!("../../sql/sample/time_ms.sql")),
    ("sample/tail.sql", include_str!("../../sql/sample/tail.sql")),
    ("sample/ending.sql", include_str!("../../sql/sample/ending.sql")),
    ("sample/attempt_log.sql", include_str!("../../sql/sample/attempt_log.sql")),
    ("sample/enqueue_log.sql", include_str!("../../sql/sample/enqueue_log.sql")),
    ("sample/run_log.sql", include_str!("../../sql/sample/run_log.sql")),
    ("sample/control_table.sql", include_str!("../../sql/sample/control_table.sql")),
];

static TEMPLATES: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    for (name, text) in FILES {
        // A template that does not parse is missing from the environment; rendering it then
        // names it, and tests render them all.
        let _ = environment.add_template(name, text);
    }
    environment
});

#[cfg(test)]
mod tests;
