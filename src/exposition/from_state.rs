//! From the state to the page: which series are shown, and when a gauge is withdrawn.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use super::families::{self as family, Family};
use super::objectives::add_objectives;
use super::page::{Label, Page, Value};
use crate::sample::QueueFacts;
use crate::state::{
    AttemptLogState, AttemptState, ControlTableState, QueueState, RunLogState, SamplingState, SourceState,
    State, TargetData, TargetState,
};

/// When a page is made, and how old a sample may be to still speak on it.
#[derive(Debug, Clone, Copy)]
pub struct Freshness {
    /// The monotonic clock.
    pub now: Duration,
    /// Gauges of older samples are withdrawn.
    pub stale_after: Duration,
}

/// Adds the series of everything that was sampled.
pub fn add_state<'a>(page: &mut Page<'a>, state: &'a State, freshness: Freshness) {
    for source in &state.sources {
        add_source(page, source, freshness);
    }
    page.add(&family::CONFIG_RELOAD_SUCCESSFUL, Vec::new(), Value::Number(flag(state.config.successful)));
    let read_at = seconds(state.config.last_success_ms);
    page.add(&family::CONFIG_RELOAD_TIMESTAMP, Vec::new(), Value::Number(read_at));
    if let Some(saving) = state.saving {
        page.add(&family::STATE_SAVE_SUCCESSFUL, Vec::new(), Value::Number(flag(saving.successful)));
        if let Some(at) = saving.last_success_ms {
            page.add(&family::STATE_SAVE_TIMESTAMP, Vec::new(), Value::Number(seconds(at)));
        }
    }
}

/// Adds the series of one source.
pub fn add_source<'a>(page: &mut Page<'a>, source: &'a SourceState, freshness: Freshness) {
    let of_source = || vec![("source", Cow::from(source.name.as_str()))];
    // Before anybody asked it is neither up nor down.
    if let Some(up) = source.up {
        page.add(&family::UP, of_source(), Value::Number(flag(up)));
    }
    let speaks = source.targets.iter().any(|target| is_fresh(target, freshness));
    if let (Some(skew), true) = (source.clock_skew_ms, speaks) {
        page.add(&family::CLOCK_SKEW, of_source(), Value::Number(seconds(skew)));
    }
    add_objectives(page, &of_source(), source.objectives.each());
    let mut queues = QueueNames::of(source);
    let mut reclaims = reclaims_of_two_samples(source, &mut queues);
    for target in &source.targets {
        let labels = Labels { source, target };
        add_sampling(page, labels, &target.sampling, freshness.stale_after);
        let fresh = is_fresh(target, freshness);
        if let Some(log) = target.data.as_log() {
            page.add(&family::LATE_ROWS, labels.of_target(), Value::Count(log.late_rows()));
        }
        if let Some(values) = target.data.labels() {
            page.add(&family::DROPPED_LABEL_VALUES, labels.of_target(), Value::Count(values.dropped));
        }
        match &target.data {
            TargetData::Queue(queue) => {
                for name in names(target, queue) {
                    if queues.take(&family::JOBS, target, name) {
                        let facts = queue.queues.get(name).filter(|_| fresh);
                        add_queue(page, source, name, queue, facts);
                    }
                }
            }
            TargetData::AttemptLog(state) => {
                for (name, queue) in &state.log.series {
                    if queues.take(&family::ATTEMPTS, target, name) {
                        add_attempts(page, source, name, state, queue);
                        if state.overall.capabilities.reclaims {
                            reclaims
                                .entry(name)
                                .and_modify(|count| *count = queue.reclaims().max(*count))
                                .or_insert(queue.reclaims());
                        }
                    }
                }
            }
            TargetData::EnqueueLog(state) => {
                for (name, enqueued) in &state.log.series {
                    if queues.take(&family::ENQUEUED, target, name) {
                        page.add(&family::ENQUEUED, of_queue(source, name), Value::Count(*enqueued));
                    }
                }
            }
            TargetData::RunLog(log) => add_run_log(page, labels, log, fresh),
            TargetData::ControlTable(control) => add_control_table(page, labels, control, fresh),
        }
    }
    for (name, count) in reclaims {
        page.add(&family::LEASE_RECLAIMS, of_queue(source, name), Value::Count(count));
    }
}

/// Which target speaks of a queue. Two can find the same name in their tables, and a page with the same
/// series twice is refused as a whole. A target whose own name it is comes before one whose table names
/// it, so that no row can take a configured queue off the page; of others the first one keeps it, while
/// its gauges are withdrawn, too: a series must not go over to another table.
struct QueueNames<'a> {
    /// The names of targets that are one queue, by the label of their kind.
    own: HashSet<(&'static str, &'a str)>,
    /// What is on the page, by a family that stands for those that go with it.
    taken: HashSet<(&'static str, &'a str)>,
}

impl<'a> QueueNames<'a> {
    fn of(source: &'a SourceState) -> Self {
        let own = source.targets.iter().filter(|target| !target.data.has_queue_label());
        Self {
            own: own.map(|target| (target.label(), target.name.as_str())).collect(),
            taken: HashSet::new(),
        }
    }

    /// Whether the target is the one to speak of this queue.
    fn take(&mut self, family: &'static Family, target: &TargetState, queue: &'a str) -> bool {
        let yields = target.data.has_queue_label() && self.own.contains(&(target.label(), queue));
        !yields && self.taken.insert((family.name, queue))
    }
}

/// The reclaims that the samples of queues tell of. An attempt history tells of every one, so that its
/// count is the higher one, unless it was added later; the higher one is shown, because a counter must not
/// fall when the history comes to name the queue.
fn reclaims_of_two_samples<'a>(
    source: &'a SourceState,
    queues: &mut QueueNames<'a>,
) -> BTreeMap<&'a str, u64> {
    let mut found = BTreeMap::new();
    for target in &source.targets {
        let TargetData::Queue(QueueState { reclaims: Some(reclaims), .. }) = &target.data else { continue };
        for (name, count) in &reclaims.counts {
            if queues.take(&family::LEASE_RECLAIMS, target, name) {
                found.insert(name.as_str(), *count);
            }
        }
    }
    found
}

fn is_fresh(target: &TargetState, freshness: Freshness) -> bool {
    target.is_fresh(freshness.now, freshness.stale_after)
}

fn add_sampling<'a>(
    page: &mut Page<'a>,
    labels: Labels<'a>,
    sampling: &'a SamplingState,
    stale_after: Duration,
) {
    page.add(&family::STALE_AFTER, labels.of_target(), Value::Number(stale_after.as_secs_f64()));
    page.add(&family::SAMPLES, labels.of_target(), Value::Count(sampling.samples));
    for (reason, count) in &sampling.errors {
        page.add(&family::SAMPLE_ERRORS, labels.with("reason", reason.as_str()), Value::Count(*count));
    }
    page.add(&family::SAMPLE_DURATION, labels.of_target(), Value::Histogram(&sampling.duration));
    if let Some(at) = sampling.last_good_ms {
        page.add(&family::LAST_SAMPLE, labels.of_target(), Value::Number(seconds(at)));
    }
}

/// The values of the label `queue` that a target has series for. A queue of its own is there before
/// the first sample, too.
fn names<'a>(target: &'a TargetState, queue: &'a QueueState) -> Vec<&'a str> {
    if queue.labelled { queue.queues.keys().map(String::as_str).collect() } else { vec![&target.name] }
}

/// The series of one queue. Without fresh facts only the objectives of a queue of its own are shown:
/// they are configured, not sampled, but nobody configured the values of a column.
fn add_queue<'a>(
    page: &mut Page<'a>,
    source: &'a SourceState,
    name: &'a str,
    queue: &'a QueueState,
    facts: Option<&'a QueueFacts>,
) {
    if facts.is_some() || !queue.labelled {
        add_objectives(page, &of_queue(source, name), queue.objectives.each());
    }
    if let Some(facts) = facts {
        add_queue_facts(page, source, name, facts);
    }
}

fn add_queue_facts<'a>(page: &mut Page<'a>, source: &'a SourceState, name: &'a str, facts: &'a QueueFacts) {
    let labels = || of_queue(source, name);
    for (state, jobs) in &facts.jobs {
        let mut labels = labels();
        labels.push(("state", state.as_str().into()));
        page.add(&family::JOBS, labels, Value::Number(number(*jobs)));
    }
    for (gauge, value) in facts.gauges() {
        if let (Some(family), Some(value)) = (family::of_gauge(gauge), value) {
            let per_unit = if family.unit.is_some() { 1000.0 } else { 1.0 };
            page.add(family, labels(), Value::Number(number(value) / per_unit));
        }
    }
}

/// The labels of a queue, which do not say what table it was found in.
fn of_queue<'a>(source: &'a SourceState, name: &'a str) -> Vec<Label<'a>> {
    vec![("source", source.name.as_str().into()), ("queue", name.into())]
}

fn add_attempts<'a>(
    page: &mut Page<'a>,
    source: &'a SourceState,
    name: &'a str,
    state: &'a AttemptLogState,
    queue: &'a AttemptState,
) {
    let labels = || of_queue(source, name);
    add_objectives(page, &labels(), state.overall.objectives.each());
    for (outcome, count) in &queue.outcomes {
        let mut labels = labels();
        labels.push(("outcome", outcome.as_str().into()));
        page.add(&family::ATTEMPTS, labels, Value::Count(*count));
    }
    let series = [
        (&family::RETRIES, state.overall.capabilities.retries, Value::Count(queue.retries)),
        (
            &family::COMPLETION_DELAY,
            state.overall.capabilities.delays,
            Value::Histogram(&queue.completion_delay),
        ),
        (&family::ATTEMPT_DURATION, state.overall.capabilities.durations, Value::Histogram(&queue.duration)),
    ];
    for (family, told, value) in series {
        if told {
            page.add(family, labels(), value);
        }
    }
}

fn add_run_log<'a>(page: &mut Page<'a>, labels: Labels<'a>, state: &'a RunLogState, fresh: bool) {
    add_objectives(page, &labels.of_target(), state.overall.objectives.each());
    for (name, step) in &state.log.series {
        for (outcome, count) in &step.outcomes {
            let mut labels = labels.with("step", name);
            labels.push(("outcome", outcome.as_str().into()));
            page.add(&family::RUN_STEPS, labels, Value::Count(*count));
        }
        page.add(&family::RUN_STEP_DURATION, labels.with("step", name), Value::Histogram(&step.duration));
        page.add(&family::RUN_STEP_CANDIDATES, labels.with("step", name), Value::Count(step.candidates));
        if fresh {
            let times = [
                (&family::RUN_LAST_START, step.last_start_ms),
                (&family::RUN_LAST_SUCCESS, step.last_success_ms),
                (&family::RUN_LAST_ERROR, step.last_error_ms),
            ];
            for (family, time_ms) in times {
                if let Some(time_ms) = time_ms {
                    page.add(family, labels.with("step", name), Value::Number(seconds(time_ms)));
                }
            }
        }
    }
    if !fresh {
        return;
    }
    if let Some(skips) = state.overall.consecutive_skips {
        page.add(&family::RUN_CONSECUTIVE_SKIPS, labels.of_target(), Value::Number(number(skips)));
    }
    for (step, running_ms) in state.in_progress_ms() {
        let running = number(running_ms) / 1000.0;
        page.add(&family::RUN_IN_PROGRESS, labels.with("step", step), Value::Number(running));
    }
    if let Some(lock) = state.overall.lock {
        page.add(&family::RUN_LOCK_HELD, labels.of_target(), Value::Number(flag(lock.held)));
        let for_seconds = number(lock.held_ms) / 1000.0;
        page.add(&family::RUN_LOCK_HELD_DURATION, labels.of_target(), Value::Number(for_seconds));
    }
    if let Some(oldest_ms) = state.log.tail.bounds().oldest_ms {
        page.add(&family::RUN_LOG_OLDEST_ROW, labels.of_target(), Value::Number(seconds(oldest_ms)));
    }
}

fn add_control_table<'a>(page: &mut Page<'a>, labels: Labels<'a>, state: &'a ControlTableState, fresh: bool) {
    for (name, kind) in &state.log.series {
        page.add(&family::NOTIFICATIONS, labels.with("kind", name), Value::Count(kind.notifications));
        if let (Some(last_ms), true) = (kind.last_ms, fresh) {
            page.add(&family::NOTIFICATION_LAST, labels.with("kind", name), Value::Number(seconds(last_ms)));
        }
    }
}

/// The labels that every series of a target has.
#[derive(Clone, Copy)]
struct Labels<'a> {
    source: &'a SourceState,
    target: &'a TargetState,
}

impl<'a> Labels<'a> {
    fn of_target(self) -> Vec<Label<'a>> {
        vec![
            ("source", self.source.name.as_str().into()),
            (self.target.label(), self.target.name.as_str().into()),
        ]
    }

    fn with(self, name: &'static str, value: &'a str) -> Vec<Label<'a>> {
        let mut labels = self.of_target();
        labels.push((name, value.into()));
        labels
    }
}

/// A yes or no, as Prometheus writes it.
const fn flag(holds: bool) -> f64 {
    if holds { 1.0 } else { 0.0 }
}

/// Milliseconds as seconds. Exact to the millisecond for any date (2^53 ms are 285 000 years).
#[allow(clippy::cast_precision_loss, reason = "exact below 2^53, see above")]
fn seconds(ms: i64) -> f64 {
    ms as f64 / 1000.0
}

#[allow(clippy::cast_precision_loss, reason = "gauges are floating point in Prometheus; exact below 2^53")]
fn number(count: u64) -> f64 {
    count as f64
}
