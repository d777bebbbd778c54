//! From the raw configuration to the model: what is required, what contradicts what.
//!
//! Checks collect what they find, so that one look at the errors is enough to correct a file. A
//! check that fails returns `None`, and its callers go on with the rest.

mod attempt_log;
mod column;
mod control_table;
mod enqueue_log;
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

use crate::yaml::Spanned;

pub(super) use self::web::web;
use super::model::{Config, Global};
use super::raw::{RawConfig, RawGlobal};
use crate::environment::Environment;
use crate::yaml::{Bounds, Checker, Field, InvalidFile, Located, Names, Resolved};

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

/// A file of the configuration, before anything in it is checked.
pub(super) struct File<'a> {
    pub(super) name: &'a Path,
    pub(super) yaml: &'a str,
    pub(super) raw: Spanned<RawConfig>,
}

/// Turns the files of a raw configuration into the model.
///
/// # Errors
///
/// Everything that is wrong; at least one file with at least one problem.
pub(super) fn config(files: Vec<File<'_>>, environment: &Environment) -> Result<Config, Vec<InvalidFile>> {
    let mut checkers = Vec::with_capacity(files.len());
    let (mut globals, mut state_files, mut sources) = (Vec::new(), Vec::new(), Vec::new());
    for File { name, yaml, raw } in files {
        let at = raw.location();
        globals.push(raw.value.global);
        state_files.push(raw.value.state_file);
        sources.push((at, raw.value.sources));
        checkers.push((Checker::new(environment, name), yaml));
    }
    let (place, raw) = once(&mut checkers, globals, "global");
    let (global, stale_after) = match checkers.get_mut(place) {
        Some((checker, _)) => self::global(checker, raw),
        None => return Err(Vec::new()), // without a file there is nothing to check
    };
    let (place, raw) = once(&mut checkers, state_files, "state_file");
    let state_file = match (checkers.get_mut(place), raw.given()) {
        (Some((checker, _)), Some(value)) => checker.path(value),
        _ => None,
    };
    let is_one_file = checkers.len() == 1;
    let mut found = Vec::new();
    let mut are_named = false;
    let mut names = Names::new("sources");
    for ((checker, _), (_, list)) in checkers.iter_mut().zip(&mut sources) {
        match std::mem::take(list).given() {
            Some(list) if !list.value.is_empty() => {
                are_named = true;
                for source in list.value {
                    found.extend(source::source(checker, source, &global, stale_after, &mut names));
                }
            }
            Some(list) if is_one_file => {
                are_named = true;
                checker.report(list.location(), "is empty; at least one source is needed");
            }
            Some(_) | None => {}
        }
    }
    if let (false, Some((checker, _)), Some((at, _))) = (are_named, checkers.first_mut(), sources.first()) {
        checker.missing(*at, "sources", "at least one source is needed");
    }
    let invalid: Vec<InvalidFile> =
        checkers.into_iter().filter_map(|(checker, yaml)| checker.invalid_file(yaml)).collect();
    if invalid.is_empty() { Ok(Config { global, state_file, sources: found }) } else { Err(invalid) }
}

/// A setting for all sources, which stands in one of the files, and in which; in the first one when it
/// stands in none.
fn once<T>(checkers: &mut [(Checker<'_>, &str)], fields: Vec<Field<T>>, key: &str) -> (usize, Field<T>) {
    let mut first: Option<(usize, &Path, Field<T>)> = None;
    for (place, (field, (checker, _))) in fields.into_iter().zip(checkers).enumerate() {
        let Field::Set(value) = field else { continue };
        match &first {
            None => first = Some((place, checker.file(), Field::Set(value))),
            Some((_, other, _)) => {
                let message =
                    format!("`{key}` is for all sources, and {} has it, too; keep one", other.display());
                checker.report_key_of(value.location(), message);
            }
        }
    }
    first.map_or((0, Field::Absent), |(place, _, field)| (place, field))
}

/// The global settings, and `stale_after` with its place for the targets to be held against.
fn global(checker: &mut Checker<'_>, raw: Field<RawGlobal>) -> (Global, Option<Resolved>) {
    let raw = raw.given().map(|raw| raw.value).unwrap_or_default();
    let mut in_force = |key, field, bounds: Bounds, default| match checker.duration(field, bounds) {
        Ok(given) => Some(Resolved {
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
    let read_mode = raw.read_mode.given().map(|given| given.value).unwrap_or_default();
    let max_label_values = checker
        .number(raw.max_label_values, 1, 10_000)
        .and_then(|given| usize::try_from(given).ok())
        .unwrap_or(MAX_LABEL_VALUES);
    let objectives = objectives::global(checker, raw.objectives);
    let value = |setting: Option<Resolved>, default| setting.map_or(default, |setting| setting.value);
    let global = Global {
        sample_interval: value(sample_interval, SAMPLE_INTERVAL),
        query_timeout: value(query_timeout, QUERY_TIMEOUT),
        lock_timeout: value(lock_timeout, LOCK_TIMEOUT),
        stale_after: value(stale_after, STALE_AFTER),
        read_mode,
        max_label_values,
        objectives,
    };
    (global, stale_after)
}
