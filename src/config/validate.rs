//! From the raw configuration to the model: what is required, what contradicts what.
//!
//! Checks collect what they find, so that one look at the errors is enough to correct a file. A
//! check that fails returns `None`, and its callers go on with the rest.

mod attempt_log;
mod checker;
mod column;
mod control_table;
mod lease;
mod log;
mod objectives;
mod outcome;
mod queue;
mod run_log;
mod source;
mod target;
mod web;

use std::path::Path;
use std::time::Duration;

use serde_saphyr::Spanned;

use self::checker::{Bounds, Checker, Finding, Names, Place};
pub(super) use self::web::web;
use super::duration;
use super::environment::Environment;
use super::error::Problem;
use super::locate::{self, Places};
use super::model::{Config, Global};
use super::raw::{RawConfig, RawGlobal};
use super::setting::{Field, Placed, Spot};

const SAMPLE_INTERVAL: Duration = Duration::from_secs(15);
const QUERY_TIMEOUT: Duration = Duration::from_secs(5);
const LOCK_TIMEOUT: Duration = Duration::from_secs(1);
const STALE_AFTER: Duration = Duration::from_secs(60);
const MAX_LABEL_VALUES: usize = 100;

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// Below this a sampler is a load test, and above it nobody is told in time.
const SAMPLE_INTERVALS: Bounds = Bounds { least: Duration::from_millis(100), most: DAY };
const QUERY_TIMEOUTS: Bounds = Bounds { least: Duration::from_millis(10), most: HOUR };
/// Zero has a meaning: the server does not wait for a lock at all.
const LOCK_TIMEOUTS: Bounds = Bounds { least: Duration::ZERO, most: HOUR };
const STALE_AFTERS: Bounds =
    Bounds { least: Duration::from_millis(100), most: Duration::from_secs(7 * 24 * 3600) };

/// A setting in force: its value, and where it stands unless it is the default.
#[derive(Debug, Clone, Copy)]
struct InForce {
    key: &'static str,
    value: Duration,
    at: Option<Spot>,
}

impl InForce {
    fn described(&self) -> String {
        let default = if self.at.is_none() { ", the default" } else { "" };
        format!("`{}` ({}{default})", self.key, duration::text(self.value))
    }
}

/// Turns a raw configuration into the model.
///
/// # Errors
///
/// Everything that is wrong; at least one finding.
pub(super) fn config(
    raw: Spanned<RawConfig>,
    directory: &Path,
    environment: &Environment,
) -> Result<Config, Vec<Finding>> {
    let mut checker = Checker::new(environment, directory);
    let at = raw.spot();
    let (global, stale_after) = self::global(&mut checker, raw.value.global);
    let state_file = raw.value.state_file.given().and_then(|value| checker.path(value));
    let mut sources = Vec::new();
    match raw.value.sources.given() {
        Some(list) if !list.value.is_empty() => {
            let mut names = Names::new("sources");
            for source in list.value {
                sources.extend(source::source(&mut checker, source, &global, stale_after, &mut names));
            }
        }
        Some(list) => checker.report(list.spot(), "is empty; at least one source is needed"),
        None => checker.missing(at, "sources", "at least one source is needed"),
    }
    checker.finish(Config { global, state_file, sources })
}

/// Findings as lines of an error, in the order of the file.
pub(super) fn problems(findings: &[Finding], yaml: &str) -> Vec<Problem> {
    // The file was read once, so it can be read again; without paths the errors still hold.
    let places = Places::of(yaml).unwrap_or_default();
    let mut problems: Vec<Problem> = findings
        .iter()
        .map(|finding| {
            let key = match &finding.place {
                Place::Value => places.value_path(finding.at).map(ToOwned::to_owned),
                Place::Key => places.key_path(finding.at).map(ToOwned::to_owned),
                Place::Child(key) => {
                    Some(locate::child(places.value_path(finding.at).unwrap_or_default(), key))
                }
            };
            let (line, column) = finding.at.line_and_column();
            Problem {
                line,
                column,
                key: key.filter(|path| !path.is_empty()),
                message: finding.message.clone(),
            }
        })
        .collect();
    problems.sort_by_key(|problem| (problem.line, problem.column));
    problems
}

/// The global settings, and `stale_after` with its place for the targets to be held against.
fn global(checker: &mut Checker<'_>, raw: Field<RawGlobal>) -> (Global, Option<InForce>) {
    let raw = raw.given().map(|raw| raw.value).unwrap_or_default();
    let mut in_force = |key, field, bounds: Bounds, default| match checker.duration(field, bounds) {
        Ok(given) => Some(InForce {
            key,
            value: given.map_or(default, |(value, _)| value),
            at: given.map(|(_, at)| at),
        }),
        Err(()) => None,
    };
    let sample_interval = in_force("sample_interval", raw.sample_interval, SAMPLE_INTERVALS, SAMPLE_INTERVAL);
    let query_timeout = in_force("query_timeout", raw.query_timeout, QUERY_TIMEOUTS, QUERY_TIMEOUT);
    let lock_timeout = in_force("lock_timeout", raw.lock_timeout, LOCK_TIMEOUTS, LOCK_TIMEOUT);
    let stale_after = in_force("stale_after", raw.stale_after, STALE_AFTERS, STALE_AFTER);
    if let (Some(lock), Some(query)) = (&lock_timeout, &query_timeout)
        && lock.value >= query.value
    {
        // Otherwise the statement's own deadline always comes first, and no lock is ever named
        // as the reason.
        checker.relation(lock, "must be shorter than", query);
    }
    if let (Some(interval), Some(stale)) = (&sample_interval, &stale_after)
        && interval.value > stale.value
    {
        checker.relation(interval, "must not be longer than", stale);
    }
    let max_label_values = checker
        .number(raw.max_label_values, 1, 10_000)
        .and_then(|given| usize::try_from(given).ok())
        .unwrap_or(MAX_LABEL_VALUES);
    let objectives = objectives::global(checker, raw.objectives);
    let value = |setting: Option<InForce>, default| setting.map_or(default, |setting| setting.value);
    let global = Global {
        sample_interval: value(sample_interval, SAMPLE_INTERVAL),
        query_timeout: value(query_timeout, QUERY_TIMEOUT),
        lock_timeout: value(lock_timeout, LOCK_TIMEOUT),
        stale_after: value(stale_after, STALE_AFTER),
        max_label_values,
        objectives,
    };
    (global, stale_after)
}
