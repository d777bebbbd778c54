//! Sources on the page: status, targets, and sampling.

use minijinja::value::Serde;
use minijinja::{Value, context};
use serde::Serialize;

use super::Now;
use super::chart::Window;
use super::elements::{Fact, Ids};
use super::objectives::{self, Measured};
use super::quantity::{Moment, count, kind, seconds, span, visible};
use super::queue::{self, ChartTime};
use super::run_log;
use crate::source::Reason;
use crate::state::{Cell, CountTable, LastError, Presentation, SourceState, State, TargetState};

/// The database's clock now, by the skew in the last sample.
pub(super) fn database_ms(source: &SourceState, now: Now) -> i64 {
    now.unix_ms.saturating_add(source.clock_skew_ms.unwrap_or(0))
}

pub(super) fn view(source: &SourceState, state: &State, now: Now, window: &Window, ids: &mut Ids) -> Value {
    let clock_ms = database_ms(source, now);
    let id = ids.next();
    let (mut queues, mut run_logs) = (Vec::new(), Vec::new());
    let mut counts: Vec<Counts> = Vec::new();
    for target in &source.targets {
        let is_fresh = target.is_fresh(now.monotonic, state.stale_after);
        let (name, withdrawn) = (visible(&target.name), withdrawn(target, is_fresh, now));
        let database_ms = is_fresh.then_some(clock_ms);
        match target.data.presentation() {
            Presentation::Queue(queue) => {
                let until = is_fresh.then_some(now.monotonic);
                let time = ChartTime { window, stale_after: state.stale_after, until };
                let views = queue::views(&target.name, queue, time, ids);
                queues.push(context!(name, withdrawn, view => views));
            }
            Presentation::RunLog(log) => {
                let log = run_log::view(&target.name, log, database_ms, clock_ms, ids);
                run_logs.push(context!(name, withdrawn, view => log));
            }
            Presentation::Counts(table) => add_counts(&mut counts, &target.name, table, database_ms),
        }
    }
    let (status, status_class) = match source.up {
        Some(true) => ("up", "good"),
        Some(false) => ("down", "bad"),
        None => ("not asked yet", "idle"),
    };
    context! {
        id,
        name => visible(&source.name),
        status,
        status_class,
        facts => facts(source, now),
        queues,
        run_logs,
        counts => Value::from(Serde(counts)),
        sampling => source.targets.iter().map(|target| sampling(target, now)).collect::<Vec<_>>(),
        errors => errors(source, now),
        reasons => reasons(source),
    }
}

/// The counters of all logs of one kind.
#[derive(Serialize)]
struct Counts {
    title: &'static str,
    caption: &'static str,
    columns: &'static [&'static str],
    rows: Vec<Value>,
}

fn facts(source: &SourceState, now: Now) -> Vec<Fact> {
    let last_good = source.targets.iter().filter_map(|target| target.sampling.last_good_ms).max();
    let last = match last_good.map(|at_ms| Moment::new(at_ms, now.unix_ms)) {
        Some(moment) => Fact::new("Last good sample", moment.ago).noted(moment.text),
        None => Fact::new("Last good sample", "none yet"),
    };
    let skew = objectives::fact(source, source.objectives.each(), "max_clock_skew", "Database's clock");
    let skew = skew.zip(source.clock_skew_ms).map(|(fact, skew_ms)| {
        let value = match skew_ms {
            0 => "none".to_owned(),
            1.. => format!("{} ahead", fact.value),
            ..0 => format!("{} behind", fact.value),
        };
        Fact { value, ..fact }
    });
    [Some(last), skew].into_iter().flatten().collect()
}

impl Measured for SourceState {
    fn measure(&self, key: &str) -> Option<f64> {
        if key == "max_clock_skew" { self.clock_skew_ms.map(|ms| seconds(ms.unsigned_abs())) } else { None }
    }

    fn exceeded(&self, _key: &str, value: &str) -> Option<(String, String, &'static str)> {
        let side = if self.clock_skew_ms > Some(0) { "ahead of" } else { "behind" };
        Some((
            format!("The database's clock is {value} {side} this machine's"),
            String::new(),
            "Check the time service of both machines. Ages are right: they are measured by the database's own \
             clock.",
        ))
    }
}

/// Why the values of a target are withdrawn; empty if they are not.
fn withdrawn(target: &TargetState, is_fresh: bool, now: Now) -> String {
    if is_fresh {
        return String::new();
    }
    match age_of(target, now) {
        Some(age) => format!("No numbers: the last good sample is {age} old, too old to be true."),
        None if target.sampling.failed_in_a_row > 0 => "No numbers: there is no good sample yet.".to_owned(),
        None => "No sample has been taken yet.".to_owned(),
    }
}

/// Adds the counters of a log to those of its kind. `database_ms` is the database's clock now; `None` while
/// the values of the log are withdrawn, which hides times.
fn add_counts(views: &mut Vec<Counts>, log: &str, table: CountTable<'_>, database_ms: Option<i64>) {
    let CountTable { title, caption, columns, rows } = table;
    let cell = |cell| match cell {
        Cell::Count(number) => context!(count => number.map_or_else(|| "not known".to_owned(), count)),
        Cell::Time(at_ms) => {
            let at = at_ms.zip(database_ms);
            context!(time => at.map(|(at_ms, now_ms)| Moment::new(at_ms, now_ms)))
        }
    };
    if rows.is_empty() {
        return;
    }
    let rows = rows.into_iter().map(|(name, cells)| {
        context! {
            name => visible(name),
            log => visible(log),
            cells => cells.into_iter().map(cell).collect::<Vec<_>>(),
        }
    });
    match views.iter_mut().find(|view| view.title == title) {
        Some(view) => view.rows.extend(rows),
        None => views.push(Counts { title, caption, columns, rows: rows.collect() }),
    }
}

fn sampling(target: &TargetState, now: Now) -> Value {
    let sampling = &target.sampling;
    let failed: u64 = sampling.errors.values().sum();
    let by_reason: Vec<String> = sampling
        .errors
        .iter()
        .filter(|(_, failed)| **failed > 0)
        .map(|(reason, failed)| format!("{} {}", reason.as_str(), count(*failed)))
        .collect();
    context! {
        kind => kind(target.label()),
        name => visible(&target.name),
        good => count(sampling.samples),
        last_good => sampling.last_good_ms.map(|at_ms| Moment::new(at_ms, now.unix_ms)),
        failed => count(failed),
        by_reason => by_reason.join(", "),
    }
}

fn errors(source: &SourceState, now: Now) -> Vec<Value> {
    let mut alike: Vec<(&LastError, i64, Vec<String>)> = Vec::new();
    for target in &source.targets {
        let Some(error) = &target.sampling.last_error else { continue };
        let name = target_name(target);
        let same = |known: &LastError| known.reason == error.reason && known.message == error.message;
        match alike.iter_mut().find(|(known, ..)| same(known)) {
            Some((_, at_ms, names)) => {
                *at_ms = error.at_ms.max(*at_ms);
                names.push(name);
            }
            None => alike.push((error, error.at_ms, vec![name])),
        }
    }
    alike
        .into_iter()
        .map(|(error, at_ms, names)| {
            context! {
                reason => error.reason.as_str(),
                message => message(error),
                at => Moment::new(at_ms, now.unix_ms),
                targets => names.join(", "),
            }
        })
        .collect()
}

/// The kind and name of a target.
pub(super) fn target_name(target: &TargetState) -> String {
    format!("{} {}", kind(target.label()), visible(&target.name))
}

/// The server's message.
pub(super) fn message(error: &LastError) -> String {
    error.message.as_deref().map_or_else(
        || "The message is only in the exporter's log, because it can quote a row.".to_owned(),
        visible,
    )
}

fn reasons(source: &SourceState) -> Vec<Value> {
    let occurred = |reason: &Reason| {
        source.targets.iter().any(|target| target.sampling.errors.get(reason).is_some_and(|count| *count > 0))
    };
    Reason::ALL
        .into_iter()
        .filter(occurred)
        .map(|reason| {
            context! {
                reason => reason.as_str(),
                meaning => reason.meaning(source.dialect),
                remedy => reason.remedy(source.dialect),
            }
        })
        .collect()
}

/// The age of the last good sample of a target, if it had one.
pub(super) fn age_of(target: &TargetState, now: Now) -> Option<String> {
    target.sampling.last_good.map(|at| span(now.monotonic.saturating_sub(at)))
}
