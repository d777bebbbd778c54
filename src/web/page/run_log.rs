//! Run logs on the page: the last runs, a summary of them, and the steps.

use std::collections::BTreeMap;

use minijinja::{Value, context};

use super::elements::{Fact, Ids};
use super::objectives::{self, Measured};
use super::quantity::{Moment, count, counted, number, since, span_ms, visible};
use crate::config::Outcome;
use crate::sample::StepEntry;
use crate::state::{RunLogState, RunSummary, StepState};

/// The maximum number of rows in the table of the last runs.
const MOST_ROWS: usize = 12;

/// The width of one run in the chart.
const PLACE: usize = 10;

/// The heights of the durations and of the outcomes below them, in units of the chart.
const DURATIONS: u64 = 60;
const STRIP: u64 = 16;

/// The view of a run log. `database_ms` is the database's clock now; while the values of the log are
/// withdrawn it is `None`, and only counters and past runs are shown.
pub(super) fn view(
    name: &str,
    log: &RunLogState,
    database_ms: Option<i64>,
    clock_ms: i64,
    ids: &mut Ids,
) -> Value {
    let running: Vec<(&str, u64)> = log.in_progress_ms().filter(|(_, ms)| *ms > 0).collect();
    let step = |(name, step): (&String, &StepState)| {
        context! {
            name => visible(name),
            counts => Outcome::ALL.iter().map(|outcome| count(step.outcomes.get(outcome).copied().unwrap_or(0))).collect::<Vec<_>>(),
            mean => step.duration.sum.checked_div(step.duration.count()).map(span_ms).unwrap_or_default(),
            last_start => moment(step.last_start_ms, database_ms),
            last_success => moment(step.last_success_ms, database_ms),
            running => running
                .iter()
                .find(|(running, _)| running == name && database_ms.is_some())
                .map(|(_, ms)| span_ms(*ms))
                .unwrap_or_default(),
        }
    };
    context! {
        id => ids.next(),
        name => visible(name),
        facts => database_ms.map(|now_ms| facts(log, now_ms)).unwrap_or_default(),
        runs => figure(&log.overall.runs, clock_ms, log.overall.run_step.is_some(), ids),
        steps => log.log.series.iter().map(step).collect::<Vec<_>>(),
        entries => if log.overall.run_step.is_some() { "runs" } else { "rows" },
    }
}

fn moment(at_ms: Option<i64>, now_ms: Option<i64>) -> Option<Moment> {
    Some(Moment::new(at_ms?, now_ms?))
}

/// The end of the newest successful run, or of the newest successful row if no step stands for the run.
pub(super) fn last_success_ms(log: &RunLogState) -> Option<i64> {
    match &log.overall.run_step {
        Some(run_step) => log.log.series.get(run_step)?.last_success_ms,
        None => log.log.series.values().filter_map(|step| step.last_success_ms).max(),
    }
}

/// A run log at a time of the database's clock.
pub(super) struct RunLogAt<'a> {
    pub(super) log: &'a RunLogState,
    pub(super) now_ms: i64,
}

impl Measured for RunLogAt<'_> {
    fn measure(&self, key: &str) -> Option<f64> {
        let Self { log, now_ms } = *self;
        let age = |at_ms: i64| since(at_ms, now_ms).as_secs_f64();
        match key {
            "max_run_gap" => log.log.series.values().filter_map(|step| step.last_start_ms).max().map(age),
            "max_consecutive_skips" => log.overall.consecutive_skips.map(number),
            "max_log_age" => log.log.tail.bounds().oldest_ms.map(age),
            _ => None,
        }
    }

    fn exceeded(&self, key: &str, value: &str) -> Option<(String, String, &'static str)> {
        let RunSummary { consecutive_skips, lock, .. } = &self.log.overall;
        let mut context = String::new();
        let (what, remedy) = match key {
            "max_run_gap" => (
                format!("The last step began {value} ago"),
                "Check whether the scheduler runs, and whether its job is enabled.",
            ),
            "max_consecutive_skips" => {
                if let Some(lock) = lock {
                    let free = || "is free now".to_owned();
                    let held = || format!("has been held for {}", span_ms(lock.held_ms));
                    context = format!(" The application lock {}.", if lock.held { held() } else { free() });
                }
                let skips = counted(consecutive_skips.unwrap_or(0), "run was", "runs were");
                (
                    format!("{skips} skipped in a row"),
                    "A run that hangs, or a session that died without releasing its lock, keeps every later run \
                     from starting: find the session that holds the lock (sys.dm_tran_locks), and end it.",
                )
            }
            "max_log_age" => {
                (format!("The oldest row is {value} old"), "Check whether the job that prunes the log runs.")
            }
            _ => return None,
        };
        Some((what, context, remedy))
    }
}

fn facts(log: &RunLogState, now_ms: i64) -> Vec<Fact> {
    let held =
        |key, name| objectives::fact(&RunLogAt { log, now_ms }, log.overall.objectives.each(), key, name);
    let success = match last_success_ms(log).map(|at_ms| Moment::new(at_ms, now_ms)) {
        Some(moment) => Fact::new("Last success", moment.ago).noted(moment.text),
        None => Fact::new("Last success", "none seen"),
    };
    let skips = held("max_consecutive_skips", "Skipped in a row");
    let lock = log.overall.lock.map(|lock| {
        let held = if lock.held { format!("held for {}", span_ms(lock.held_ms)) } else { "free".to_owned() };
        Fact::new("Application lock", held)
    });
    let oldest = log.log.tail.bounds().oldest_ms.and_then(|at_ms| {
        Some(Fact { value: Moment::new(at_ms, now_ms).ago, ..held("max_log_age", "Oldest row")? })
    });
    [Some(success.large()), skips.map(Fact::large), lock, oldest].into_iter().flatten().collect()
}

fn figure(runs: &BTreeMap<i64, StepEntry>, clock_ms: i64, are_runs: bool, ids: &mut Ids) -> Option<Value> {
    let longest = runs.values().filter_map(|run| run.duration_ms).max();
    let (first, last) = (runs.values().next()?, runs.values().next_back()?);
    let bar = |(place, run): (usize, &StepEntry)| {
        let height = match (run.duration_ms, longest) {
            // A run of no duration stays visible.
            (Some(duration), Some(longest)) => {
                duration.saturating_mul(DURATIONS).checked_div(longest).unwrap_or(0).max(1)
            }
            _ => 0,
        };
        context! { x => place * PLACE, y => DURATIONS.saturating_sub(height), height, outcome => run.outcome.as_str() }
    };
    let row = |run: &StepEntry| {
        let duration = run.duration_ms.map(span_ms).unwrap_or_default();
        context!(start => moment(run.start_ms, Some(clock_ms)), outcome => run.outcome.as_str(), duration)
    };
    let number_of = |outcome| runs.values().filter(|run| run.outcome == outcome).count();
    let legend = Outcome::ALL.map(|outcome| (outcome.as_str(), number_of(outcome)));
    let number = u64::try_from(runs.len()).unwrap_or(u64::MAX);
    let (singular, plural) = if are_runs { ("run", "runs") } else { ("row", "rows") };
    let counts: Vec<String> = legend
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(outcome, count)| format!("{count} {outcome}"))
        .collect();
    let longest = longest.map(span_ms);
    let note =
        longest.as_ref().map_or_else(|| "no durations".to_owned(), |longest| format!("longest {longest}"));
    Some(context! {
        id => ids.next(),
        width => runs.len() * PLACE,
        height => DURATIONS + STRIP,
        bars => runs.values().enumerate().map(bar).collect::<Vec<_>>(),
        title => format!("Last {}", counted(number, singular, plural)),
        description => format!(
            "Durations and outcomes, the oldest on the left: {}; {note}. The last one ended as {}.",
            counts.join(", "),
            last.outcome.as_str()
        ),
        note,
        legend => legend.into_iter().map(|(outcome, count)| context!(outcome, count)).collect::<Vec<_>>(),
        from => moment(first.start_ms, Some(clock_ms)),
        until => moment(last.start_ms, Some(clock_ms)),
        rows => runs.values().rev().take(MOST_ROWS).map(row).collect::<Vec<_>>(),
    })
}
