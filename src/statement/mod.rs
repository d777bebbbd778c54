//! SQL statements: the templates of `sql/`, rendered for a dialect and a target.
//!
//! The templates receive the target as the configuration writes it. The filters of `filters.rs` quote its
//! names and constants, which become part of the text; values that change from sample to sample are
//! [`Parameter`]s.

mod columns;
mod filters;
mod index;
mod print;
mod quote;
mod templates;

pub use index::{Index, IndexPurpose, indexes};
pub use print::runnable;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::config::TargetConfig;
use crate::limits::GAPS_PER_SAMPLE;
use templates::render;

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

/// A value of a parameter or of a result. The statements use no other types.
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

/// What a sample of a log asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TailRequest {
    /// The newest rows, to start from.
    Head,
    /// The rows above the watermark, and those of the missing ranges.
    After {
        /// The highest id read so far.
        watermark: i64,
        /// Missing ids to ask for again, first and last of each range; at most [`GAPS_PER_SAMPLE`]
        /// are used.
        gaps: Vec<(i64, i64)>,
    },
}

impl TailRequest {
    /// The parameters of a log's statement: none for the first sample.
    fn parameters(&self) -> Vec<Parameter> {
        let Self::After { watermark, gaps } = self else { return Vec::new() };
        let parameter = |meaning, value| Parameter { meaning, value: Value::Int(value) };
        // An unused range ends before it begins, so it matches nothing.
        let gaps = gaps.iter().copied().chain(std::iter::repeat((1, 0))).take(GAPS_PER_SAMPLE);
        std::iter::once(parameter("the highest id read so far", *watermark))
            .chain(gaps.flat_map(|(from, to)| {
                [parameter("missing ids from", from), parameter("missing ids to", to)]
            }))
            .collect()
    }
}

/// A template could not be rendered. The templates ship with the program, so this is a defect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the statement template {template} cannot be rendered: {message}")]
pub struct RenderError {
    template: String,
    message: String,
}

/// What a template receives: a target or an index, key by key, and the settings beside it.
#[derive(Serialize)]
struct Context<T> {
    #[serde(flatten)]
    described: T,
    lock_timeout_ms: u128,
    /// Whether to read the newest rows of a log, instead of those above the watermark.
    is_first: bool,
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
    let context = Context {
        described: target,
        lock_timeout_ms: lock_timeout.as_millis(),
        is_first: *request == TailRequest::Head,
    };
    let text = render(dialect, &format!("sample/{}.sql", target.label()), context)?;
    let is_queue = matches!(target, TargetConfig::Queue(_));
    Ok(Statement { text, parameters: if is_queue { Vec::new() } else { request.parameters() } })
}

/// The statement that looks for an index. It returns one row, with the name of a suitable index or NULL.
///
/// # Errors
/// [`RenderError`], when a shipped template is broken.
pub fn seek(dialect: Dialect, index: &Index<'_>, lock_timeout: Duration) -> Result<Statement, RenderError> {
    let context = Context { described: index, lock_timeout_ms: lock_timeout.as_millis(), is_first: false };
    Ok(Statement { text: render(dialect, "check/seek.sql", context)?, parameters: Vec::new() })
}

/// The statement that creates an index; for a person to run.
///
/// # Errors
/// [`RenderError`], when a shipped template is broken.
pub fn create_index(dialect: Dialect, index: &Index<'_>) -> Result<String, RenderError> {
    render(dialect, "check/create_index.sql", index)
}

#[cfg(test)]
mod tests;
