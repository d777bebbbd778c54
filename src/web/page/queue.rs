//! Queues on the page: current numbers, and charts of the recent past.

use std::time::Duration;

use minijinja::{Value, context};

use super::chart::{self, Window};
use super::elements::{Fact, Ids};
use super::objectives::{self, Measured};
use super::quantity::{self, count, counted, number, seconds, span_ms, visible};
use crate::config::QueueObjectives;
use crate::sample::{JobState, QueueFacts};
use crate::state::{Point, QueueState, Trend};

/// The period of a chart, and the end of its line.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChartTime<'a> {
    pub(super) window: &'a Window,
    pub(super) stale_after: Duration,
    /// Now while the target is fresh; `None` when its values are withdrawn.
    pub(super) until: Option<Duration>,
}

/// The queues of a target: those of its last sample, or, while that is withdrawn, those of the recent past
/// without their numbers.
pub(super) fn views(target_name: &str, queue: &QueueState, time: ChartTime<'_>, ids: &mut Ids) -> Vec<Value> {
    let is_fresh = time.until.is_some();
    let names: Vec<&str> = if !queue.labelled {
        vec![target_name]
    } else if is_fresh {
        queue.queues.keys().map(String::as_str).collect()
    } else {
        queue.trends.keys().map(String::as_str).collect()
    };
    let view = |name: &str| {
        let facts = queue.queues.get(name).filter(|_| is_fresh);
        context! {
            id => ids.next(),
            name => visible(name),
            facts => facts.map(|facts| self::facts(facts, &queue.objectives)).unwrap_or_default(),
            charts => queue
                .trends
                .get(name)
                .map(|trend| charts(trend, facts, &queue.objectives, time, ids))
                .unwrap_or_default(),
        }
    };
    names.into_iter().map(view).collect()
}

fn facts(facts: &QueueFacts, limits: &QueueObjectives) -> Vec<Fact> {
    let held = |key, name| objectives::fact(facts, limits.each(), key, name);
    let jobs = |state, name| facts.jobs.get(&state).map(|jobs| Fact::new(name, count(*jobs)));
    let ready_age = held("max_ready_age", "Oldest ready");
    let has_retrying = facts.jobs.contains_key(&JobState::Retrying);
    let tried_before = facts.retrying_jobs.filter(|_| !has_retrying);
    [
        jobs(JobState::Ready, "Ready").map(Fact::large),
        Some(ready_age.unwrap_or_else(|| Fact::new("Oldest ready", "not known")).large()),
        jobs(JobState::Running, "Running"),
        jobs(JobState::Expired, "Expired"),
        jobs(JobState::Retrying, "Retrying"),
        held("max_failed_jobs", "Failed"),
        jobs(JobState::Scheduled, "Scheduled").map(Fact::minor),
        jobs(JobState::Exhausted, "Exhausted").map(Fact::minor),
        jobs(JobState::Unknown, "Unknown state").map(Fact::minor),
        jobs(JobState::Done, "Done").map(Fact::minor),
        tried_before.map(|tried| Fact::new("Tried before", count(tried)).minor()),
        facts.longest_running_ms.map(|ms| Fact::new("Longest running", span_ms(ms)).minor()),
        held("max_expired_age", "Longest expired").map(Fact::minor),
        held("max_attempts", "Most attempts").map(Fact::minor),
    ]
    .into_iter()
    .flatten()
    .collect()
}

impl Measured for QueueFacts {
    fn measure(&self, key: &str) -> Option<f64> {
        match key {
            "max_ready_age" => self.oldest_ready_age_ms.map(seconds),
            "max_expired_age" => self.oldest_expired_lease_ms.map(seconds),
            "max_attempts" => self.max_attempts.map(number),
            "max_failed_jobs" => self.jobs.get(&JobState::Failed).copied().map(number),
            _ => None,
        }
    }

    fn exceeded(&self, key: &str, value: &str) -> Option<(String, String, &'static str)> {
        let jobs = |state| self.jobs.get(&state).copied().unwrap_or(0);
        let (running, failed) = (jobs(JobState::Running), jobs(JobState::Failed));
        let mut context = String::new();
        let (what, remedy) = match key {
            "max_ready_age" if running == 0 => {
                context.push_str(" No job is running.");
                let what = format!("The oldest ready job has waited for {value}");
                (what, "Check whether the workers run, and can log in.")
            }
            "max_ready_age" => {
                context = format!(" {} running.", counted(running, "job is", "jobs are"));
                (
                    format!("The oldest ready job has waited for {value}"),
                    "If the age grows as fast as time passes, one job is passed over: look at it. Otherwise there \
                     is more work than the workers can do.",
                )
            }
            "max_expired_age" => {
                let leases = counted(self.expired_leases.unwrap_or(0), "lapsed lease", "lapsed leases");
                (
                    format!("The first of {leases} lapsed {value} ago, and nobody has put the job back"),
                    "Check whether recovery runs. A worker that died, or work that takes longer than its lease, \
                     leaves these behind.",
                )
            }
            "max_attempts" => (
                format!("An unfinished job was tried {value} times"),
                "Find it by its attempts, read its last error, and fix it or let it fail.",
            ),
            "max_failed_jobs" => (
                format!("{} in the table", counted(failed, "failed job is", "failed jobs are")),
                "Read their errors. Run them again, or remove those that nobody needs.",
            ),
            _ => return None,
        };
        Some((what, context, remedy))
    }
}

/// One value of a trend, as a chart shows it: in seconds or as a number.
struct Series {
    title: &'static str,
    class: &'static str,
    is_duration: bool,
    value: fn(&Point) -> Option<f64>,
    /// The value in the last sample, which is not always the peak of its point.
    now: Option<f64>,
    objective: Option<f64>,
}

fn charts(
    trend: &Trend,
    facts: Option<&QueueFacts>,
    objectives: &QueueObjectives,
    time: ChartTime<'_>,
    ids: &mut Ids,
) -> Vec<Value> {
    let ready = Series {
        title: "Ready",
        class: "ready",
        is_duration: false,
        value: |point| Some(number(point.ready)),
        now: facts.and_then(|facts| facts.jobs.get(&JobState::Ready).copied().map(number)),
        objective: None,
    };
    let age = Series {
        title: "Oldest ready",
        class: "age",
        is_duration: true,
        value: |point| point.oldest_ready_age_ms.map(seconds),
        now: facts.and_then(|facts| facts.oldest_ready_age_ms.map(seconds)),
        objective: objectives.max_ready_age.map(|age| age.as_secs_f64()),
    };
    let is_known = |series: &Series| trend.points.iter().any(|point| (series.value)(point).is_some());
    let known = [ready, age].into_iter().filter(is_known);
    known.map(|series| series.figure(trend, time, ids)).collect()
}

impl Series {
    fn figure(&self, trend: &Trend, time: ChartTime<'_>, ids: &mut Ids) -> Value {
        let Self { title, class, value, objective, .. } = *self;
        let peak = trend.points.iter().filter_map(value).fold(0.0, f64::max);
        // An objective far above every value would flatten the line: the description has it instead.
        let drawn = objective.filter(|objective| *objective <= peak * 3.0);
        let highest = peak.max(drawn.unwrap_or(0.0));
        let top = if highest > 0.0 { highest * 1.05 } else { 1.0 };
        let ChartTime { window, stale_after, until } = time;
        let line = chart::line(trend, window, stale_after, until, top, value);
        context! {
            id => ids.next(),
            class,
            title,
            note => format!("highest {}", self.shown(peak)),
            description => self.description(window, peak, line.has_gap),
            area => line.area,
            line => line.line,
            objective_y => drawn.map(|objective| format!("{:.1}", chart::height_of(objective, top))),
            window => window.name,
            since => window.length_name,
        }
    }

    /// A description of the chart.
    fn description(&self, window: &Window, peak: f64, has_gap: bool) -> String {
        let highest = format!("Highest in the last {}: {}.", window.name, self.shown(peak));
        let now = self.now.map_or_else(
            || " There is no present value.".to_owned(),
            |now| format!(" Now: {}.", self.shown(now)),
        );
        let objective = self.objective.map(|most| format!(" Objective: at most {}.", self.shown(most)));
        let gap = if has_gap { " The line is interrupted where there was no sample." } else { "" };
        format!("{highest}{now}{}{gap}", objective.unwrap_or_default())
    }

    fn shown(&self, value: f64) -> String {
        quantity::value(value, self.is_duration)
    }
}
