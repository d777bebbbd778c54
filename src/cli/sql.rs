//! `sql`: prints every statement that a configuration would run.

use std::fmt::Write as _;
use std::process::ExitCode;

use super::{ConfigOptions, Failure, print};
use crate::config::{Config, Database, Environment};
use crate::source::dialect;
use crate::statement::{self, Dialect, RenderError, TailRequest};

pub(super) fn run(options: &ConfigOptions) -> Result<ExitCode, Failure> {
    let config = options.load(&Environment::process().without_secrets())?;
    print(&script(&config)?)?;
    Ok(ExitCode::SUCCESS)
}

/// The statements of a configuration as one annotated script.
fn script(config: &Config) -> Result<String, RenderError> {
    let mut text = String::new();
    let sources = config.sources.iter();
    for (source, target) in sources.flat_map(|source| source.targets().map(move |target| (source, target))) {
        let dialect = dialect(&source.database);
        let next = TailRequest::After { watermark: 0, gaps: Vec::new() };
        let requests: &[(&str, TailRequest)] = match target.as_log() {
            None => &[("every sample", TailRequest::Head)],
            Some(_) => {
                &[("the first sample after a start", TailRequest::Head), ("every sample after it", next)]
            }
        };
        for (when, request) in requests {
            let statement = statement::sample(dialect, target, request, config.global.lock_timeout)?;
            let interval = target.target().sample_interval;
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "-- source {}, {} {}: {when}, one sample each {interval:?}",
                one_line(&source.name),
                target.label(),
                one_line(&target.target().name),
            );
            if let Database::Mssql(mssql) = &source.database {
                let _ = writeln!(text, "-- database {}", one_line(&mssql.database));
            }
            text.push_str(&statement::runnable(dialect, &statement));
            text.push_str(if dialect == Dialect::Mssql { "GO\n\n" } else { "\n" });
        }
    }
    Ok(text)
}

/// A name from the configuration inside a comment: it must not end the comment.
fn one_line(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
