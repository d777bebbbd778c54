//! A queue on the page: its numbers, and how it went of late.

use std::time::Duration;

use serde::Serialize;

use super::chart::{self, Window};
use super::elements::{Fact, Figure, Ids};
use super::quantity::{count, span, span_ms, visible};
use crate::config::QueueObjectives;
use crate::sample::{JobState, QueueFacts};
use crate::state::QueueState;
use crate::state::recent::{Point, Trend};

/// One queue.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct QueueView {
    pub(super) id: String,
    pub(super) name: String,
    /// Empty while there is nothing to say.
    pub(super) facts: Vec<Fact>,
    pub(super) charts: Vec<Figure>,
}

/// The time range of a chart, and when the values of its target end.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChartTime<'a> {
    pub(super) window: &'a Window,
    pub(super) stale_after: Duration,
    /// The present while the target is fresh, nothing when its values are withdrawn.
    pub(super) until: Option<Duration>,
}

/// The queues of a target: those of its last sample, or, while that is withdrawn, those of the recent
/// past without numbers.
pub(super) fn views(
    target_name: &str,
    queue: &QueueState,
    time: ChartTime<'_>,
    ids: &mut Ids,
) -> Vec<QueueView> {
    let is_fresh = time.until.is_some();
    let names: Vec<&str> = if !queue.labelled {
        vec![target_name]
    } else if is_fresh {
        queue.queues.keys().map(String::as_str).collect()
    } else {
        queue.trends.iter().map(|(name, _)| name).collect()
    };
    let view = |name: &str| {
        let facts = queue.queues.get(name).filter(|_| is_fresh);
        QueueView {
            id: ids.next(),
            name: visible(name),
            facts: facts.map(|facts| self::facts(facts, &queue.objectives)).unwrap_or_default(),
            charts: queue
                .trends
                .get(name)
                .map(|trend| charts(trend, facts, &queue.objectives, time, ids))
                .unwrap_or_default(),
        }
    };
    names.into_iter().map(view).collect()
}

fn facts(facts: &QueueFacts, objectives: &QueueObjectives) -> Vec<Fact> {
    let QueueObjectives { max_ready_age, max_expired_age, max_attempts, max_failed_jobs } = objectives;
    let jobs = |state: JobState| facts.jobs.get(&state).map(|jobs| Fact::new(title(state), count(*jobs)));
    let age = |name, age_ms: Option<u64>, objective: &Option<Duration>| {
        let age = age_ms.map(Duration::from_millis)?;
        Some(Fact::new(name, span(age)).held_to(age, *objective, span))
    };
    let ready_age = age("Oldest ready", facts.oldest_ready_age_ms, max_ready_age);
    let failed = facts.jobs.get(&JobState::Failed).map(|failed| {
        Fact::new(title(JobState::Failed), count(*failed)).held_to(
            *failed,
            max_failed_jobs.map(u64::from),
            count,
        )
    });
    let attempts = facts.max_attempts.map(|most| {
        Fact::new("Most attempts", count(most)).held_to(most, max_attempts.map(u64::from), count)
    });
    let has_retrying = facts.jobs.contains_key(&JobState::Retrying);
    let tried_before = facts.retrying_jobs.filter(|_| !has_retrying);
    [
        jobs(JobState::Ready).map(Fact::large),
        Some(ready_age.unwrap_or_else(|| Fact::new("Oldest ready", "not known")).large()),
        jobs(JobState::Running),
        jobs(JobState::Expired),
        jobs(JobState::Retrying),
        failed,
        jobs(JobState::Scheduled).map(Fact::minor),
        jobs(JobState::Exhausted).map(Fact::minor),
        jobs(JobState::Unknown).map(Fact::minor),
        jobs(JobState::Done).map(Fact::minor),
        tried_before.map(|tried| Fact::new("Tried before", count(tried)).minor()),
        facts.longest_running_ms.map(|ms| Fact::new("Longest running", span_ms(ms)).minor()),
        age("Longest expired", facts.oldest_expired_lease_ms, max_expired_age).map(Fact::minor),
        attempts.map(Fact::minor),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The heading of a state, which is its label value.
const fn title(state: JobState) -> &'static str {
    match state {
        JobState::Ready => "Ready",
        JobState::Scheduled => "Scheduled",
        JobState::Retrying => "Retrying",
        JobState::Running => "Running",
        JobState::Expired => "Expired",
        JobState::Exhausted => "Exhausted",
        JobState::Failed => "Failed",
        JobState::Unknown => "Unknown state",
        JobState::Done => "Done",
    }
}

/// One value of a trend, as a chart shows it.
struct Series {
    title: &'static str,
    class: &'static str,
    value: fn(&Point) -> Option<u64>,
    /// What the last sample said, which is not always the peak of its point.
    now: Option<u64>,
    shown: fn(u64) -> String,
    objective: Option<u64>,
}

fn charts(
    trend: &Trend,
    facts: Option<&QueueFacts>,
    objectives: &QueueObjectives,
    time: ChartTime<'_>,
    ids: &mut Ids,
) -> Vec<Figure> {
    let ready = Series {
        title: "Ready",
        class: "ready",
        value: |point| Some(point.ready),
        now: facts.and_then(|facts| facts.jobs.get(&JobState::Ready).copied()),
        shown: count,
        objective: None,
    };
    let age = Series {
        title: "Oldest ready",
        class: "age",
        value: |point| point.oldest_ready_age_ms,
        now: facts.and_then(|facts| facts.oldest_ready_age_ms),
        shown: span_ms,
        objective: objectives.max_ready_age.and_then(|age| u64::try_from(age.as_millis()).ok()),
    };
    let is_known = |series: &Series| trend.points().any(|point| (series.value)(point).is_some());
    let known = [ready, age].into_iter().filter(is_known);
    known.map(|series| series.figure(trend, time, ids)).collect()
}

impl Series {
    fn figure(&self, trend: &Trend, time: ChartTime<'_>, ids: &mut Ids) -> Figure {
        let Self { title, class, value, shown, objective, .. } = *self;
        let peak = trend.points().filter_map(value).max().unwrap_or(0);
        // An objective far above everything would press the line flat; it is then said, not drawn.
        let drawn = objective.filter(|objective| *objective <= peak.saturating_mul(3));
        let top = number(peak.max(drawn.unwrap_or(0)).max(1)) * 1.05;
        let ChartTime { window, stale_after, until } = time;
        let line = chart::line(trend, window, stale_after, until, top, |point| value(point).map(number));
        Figure {
            id: ids.next(),
            class,
            title: title.to_owned(),
            note: format!("highest {}", shown(peak)),
            description: self.description(window, peak, line.has_gap),
            line,
            objective_y: drawn.map(|objective| format!("{:.1}", chart::height_of(number(objective), top))),
            window: window.name,
            since: window.length_name,
        }
    }

    /// The chart in words.
    fn description(&self, window: &Window, peak: u64, has_gap: bool) -> String {
        let Self { now, shown, objective, .. } = *self;
        let mut description = format!("Highest in the last {}: {}.", window.name, shown(peak));
        match now {
            Some(now) => description.push_str(&format!(" Now: {}.", shown(now))),
            None => description.push_str(" There is no present value."),
        }
        if let Some(objective) = objective {
            description.push_str(&format!(" Objective: at most {}.", shown(objective)));
        }
        if has_gap {
            description.push_str(" The line is interrupted where nothing could be said.");
        }
        description
    }
}

#[allow(clippy::cast_precision_loss, reason = "a pixel is far coarser")]
fn number(value: u64) -> f64 {
    value as f64
}
