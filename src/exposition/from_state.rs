//! Series of the state: which of them are on the page, and when a gauge is withdrawn.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use super::families::{self as family, Family};
use super::page::{Labelled, Page, Value};
use crate::config::{AttemptOutcome, Objective};
use crate::sample::QueueFacts;
use crate::state::{
    AttemptState, Attempts, ControlTableState, QueueState, RunLogState, SamplingState, SourceState, State,
    TargetData, TargetState,
};

/// Adds the series of everything that was sampled. Gauges that are stale at `now`, by the monotonic clock, are
/// withdrawn.
pub fn add_state<'a>(page: &mut Page<'a>, state: &'a State, now: Duration) {
    for source in &state.sources {
        add_source(page, source, now, state.stale_after);
    }
    let mut exporter = page.labelled(Vec::new());
    exporter.add(&family::CONFIG_RELOAD_SUCCESSFUL, flag(state.config.successful));
    exporter.add(&family::CONFIG_RELOAD_TIMESTAMP, seconds(state.config.last_success_ms));
    if let Some(saving) = state.saving {
        exporter.add(&family::STATE_SAVE_SUCCESSFUL, flag(saving.successful));
        exporter.add(&family::STATE_SAVE_TIMESTAMP, saving.last_success_ms.map(seconds));
    }
}

/// Adds the series of one source.
pub fn add_source<'a>(page: &mut Page<'a>, source: &'a SourceState, now: Duration, stale_after: Duration) {
    let is_fresh = |target: &TargetState| target.is_fresh(now, stale_after);
    let mut of_source = page.labelled(vec![("source", source.name.as_str().into())]);
    // Before the first sample it is neither up nor down.
    of_source.add(&family::UP, source.up.map(flag));
    if source.targets.iter().any(is_fresh) {
        of_source.add(&family::CLOCK_SKEW, source.clock_skew_ms.map(seconds));
    }
    add_objectives(&mut of_source, source.objectives.each());
    let mut owners = QueueOwners::of(source);
    let mut reclaims = sampled_reclaims(source, &mut owners);
    for target in &source.targets {
        let fresh = is_fresh(target);
        let mut of_target = of_source.with(target.label(), &target.name);
        add_sampling(&mut of_target, &target.sampling, stale_after);
        of_target.add(&family::LATE_ROWS, target.data.late_rows().map(Value::Count));
        of_target.add(&family::DROPPED_LABEL_VALUES, Value::Count(target.data.labels().dropped));
        match &target.data {
            TargetData::Queue(queue) => {
                for name in queue_names(target, queue) {
                    if owners.take(&family::JOBS, target, name) {
                        let facts = queue.queues.get(name).filter(|_| fresh);
                        add_queue(&mut of_source.with("queue", name), queue, facts);
                    }
                }
            }
            TargetData::AttemptLog(state) => {
                for (name, queue) in &state.log.series {
                    if owners.take(&family::ATTEMPTS, target, name) {
                        add_attempts(&mut of_source.with("queue", name), &state.overall, queue);
                        if state.overall.capabilities.reclaims {
                            let count = reclaims.entry(name).or_default();
                            *count = queue
                                .outcomes
                                .get(&AttemptOutcome::Lost)
                                .map_or(*count, |lost| (*count).max(*lost));
                        }
                    }
                }
            }
            TargetData::EnqueueLog(state) => {
                for (name, enqueued) in &state.log.series {
                    if owners.take(&family::ENQUEUED, target, name) {
                        of_source.with("queue", name).add(&family::ENQUEUED, Value::Count(*enqueued));
                    }
                }
            }
            TargetData::RunLog(state) => add_run_log(&mut of_target, state, fresh),
            TargetData::ControlTable(state) => add_control_table(&mut of_target, state, fresh),
        }
    }
    for (name, count) in reclaims {
        of_source.with("queue", name).add(&family::LEASE_RECLAIMS, Value::Count(count));
    }
}

/// The target that a queue's series come from. Two targets can find the same name in their tables, and
/// Prometheus refuses a page with the same series twice. A target named like the queue goes before one whose
/// table names it, so that no row can take a configured queue off the page. Otherwise the first one keeps
/// the name, even while its gauges are withdrawn: a series must not move to another table.
struct QueueOwners<'a> {
    /// The names of targets that are one queue, by the label of their kind.
    configured: HashSet<(&'static str, &'a str)>,
    /// The queues on the page, by a family that stands for those that go with it.
    taken: HashSet<(&'static str, &'a str)>,
}

impl<'a> QueueOwners<'a> {
    fn of(source: &'a SourceState) -> Self {
        let configured = source.targets.iter().filter(|target| !target.data.has_queue_label());
        Self {
            configured: configured.map(|target| (target.label(), target.name.as_str())).collect(),
            taken: HashSet::new(),
        }
    }

    /// Whether the series of this queue come from the target.
    fn take(&mut self, family: &'static Family, target: &TargetState, queue: &'a str) -> bool {
        let yields = target.data.has_queue_label() && self.configured.contains(&(target.label(), queue));
        !yields && self.taken.insert((family.name, queue))
    }
}

/// The reclaims seen in the samples of queues. An attempt history has every one, so that its count is
/// higher, unless it was added later. The higher count is shown, because a counter must not fall when a
/// history begins to name the queue.
fn sampled_reclaims<'a>(source: &'a SourceState, owners: &mut QueueOwners<'a>) -> BTreeMap<&'a str, u64> {
    let mut found = BTreeMap::new();
    for target in &source.targets {
        let TargetData::Queue(QueueState { reclaims: Some(reclaims), .. }) = &target.data else { continue };
        for (name, count) in &reclaims.counts {
            if owners.take(&family::LEASE_RECLAIMS, target, name) {
                found.insert(name.as_str(), *count);
            }
        }
    }
    found
}

fn add_objectives(
    labelled: &mut Labelled<'_, '_>,
    objectives: impl Iterator<Item = (&'static Objective, Option<f64>)>,
) {
    for (objective, limit) in objectives {
        if let Some(family) = family::of_objective(objective) {
            labelled.add(family, limit.map(Value::Number));
        }
    }
}

fn add_sampling<'a>(of_target: &mut Labelled<'_, 'a>, sampling: &'a SamplingState, stale_after: Duration) {
    of_target.add(&family::STALE_AFTER, Value::Number(stale_after.as_secs_f64()));
    of_target.add(&family::SAMPLES, Value::Count(sampling.samples));
    for (reason, count) in &sampling.errors {
        of_target.with("reason", reason.as_str()).add(&family::SAMPLE_ERRORS, Value::Count(*count));
    }
    of_target.add(&family::SAMPLE_DURATION, Value::Histogram(&sampling.duration));
    of_target.add(&family::LAST_SAMPLE, sampling.last_good_ms.map(seconds));
}

/// The values of the label `queue` that a target has series for. A target that is one queue has them before
/// the first sample, too.
fn queue_names<'a>(target: &'a TargetState, queue: &'a QueueState) -> Vec<&'a str> {
    if queue.labelled { queue.queues.keys().map(String::as_str).collect() } else { vec![&target.name] }
}

/// The series of one queue. Without fresh facts only the objectives of a target that is one queue are
/// shown: they are configured, not sampled, and nobody configured the values of a column.
fn add_queue<'a>(of_queue: &mut Labelled<'_, 'a>, queue: &'a QueueState, facts: Option<&'a QueueFacts>) {
    if facts.is_some() || !queue.labelled {
        add_objectives(of_queue, queue.objectives.each());
    }
    let Some(facts) = facts else { return };
    for (state, jobs) in &facts.jobs {
        of_queue.with("state", state.as_str()).add(&family::JOBS, number(*jobs));
    }
    for (gauge, value) in facts.gauges() {
        if let Some(family) = family::of_gauge(gauge) {
            of_queue.add(family, value.map(if family.unit.is_some() { duration } else { number }));
        }
    }
}

fn add_attempts<'a>(of_queue: &mut Labelled<'_, 'a>, overall: &Attempts, queue: &'a AttemptState) {
    add_objectives(of_queue, overall.objectives.each());
    for (outcome, count) in &queue.outcomes {
        of_queue.with("outcome", outcome.as_str()).add(&family::ATTEMPTS, Value::Count(*count));
    }
    let shown = overall.capabilities;
    of_queue.add(&family::RETRIES, shown.retries.then_some(Value::Count(queue.retries)));
    let delay = Value::Histogram(&queue.completion_delay);
    of_queue.add(&family::COMPLETION_DELAY, shown.delays.then_some(delay));
    let duration = Value::Histogram(&queue.duration);
    of_queue.add(&family::ATTEMPT_DURATION, shown.durations.then_some(duration));
}

fn add_run_log<'a>(of_target: &mut Labelled<'_, 'a>, state: &'a RunLogState, fresh: bool) {
    add_objectives(of_target, state.overall.objectives.each());
    for (name, step) in &state.log.series {
        let mut of_step = of_target.with("step", name);
        for (outcome, count) in &step.outcomes {
            of_step.with("outcome", outcome.as_str()).add(&family::RUN_STEPS, Value::Count(*count));
        }
        of_step.add(&family::RUN_STEP_DURATION, Value::Histogram(&step.duration));
        of_step.add(&family::RUN_STEP_CANDIDATES, Value::Count(step.candidates));
        if fresh {
            of_step.add(&family::RUN_LAST_START, step.last_start_ms.map(seconds));
            of_step.add(&family::RUN_LAST_SUCCESS, step.last_success_ms.map(seconds));
            of_step.add(&family::RUN_LAST_ERROR, step.last_error_ms.map(seconds));
        }
    }
    if !fresh {
        return;
    }
    of_target.add(&family::RUN_CONSECUTIVE_SKIPS, state.overall.consecutive_skips.map(number));
    for (step, running_ms) in state.in_progress_ms() {
        of_target.with("step", step).add(&family::RUN_IN_PROGRESS, duration(running_ms));
    }
    if let Some(lock) = state.overall.lock {
        of_target.add(&family::RUN_LOCK_HELD, flag(lock.held));
        of_target.add(&family::RUN_LOCK_HELD_DURATION, duration(lock.held_ms));
    }
    of_target.add(&family::RUN_LOG_OLDEST_ROW, state.log.tail.bounds().oldest_ms.map(seconds));
}

fn add_control_table<'a>(of_target: &mut Labelled<'_, 'a>, state: &'a ControlTableState, fresh: bool) {
    for (name, kind) in &state.log.series {
        let mut of_kind = of_target.with("kind", name);
        of_kind.add(&family::NOTIFICATIONS, Value::Count(kind.notifications));
        of_kind.add(&family::NOTIFICATION_LAST, kind.last_ms.filter(|_| fresh).map(seconds));
    }
}

const fn flag<'a>(holds: bool) -> Value<'a> {
    Value::Number(if holds { 1.0 } else { 0.0 })
}

/// A time or a signed difference in milliseconds, as seconds. Exact for any date: 2^53 ms are 285 000 years.
#[allow(clippy::cast_precision_loss, reason = "exact below 2^53")]
fn seconds<'a>(ms: i64) -> Value<'a> {
    Value::Number(ms as f64 / 1000.0)
}

/// A duration in milliseconds, as seconds.
#[allow(clippy::cast_precision_loss, reason = "exact below 2^53")]
fn duration<'a>(ms: u64) -> Value<'a> {
    Value::Number(ms as f64 / 1000.0)
}

#[allow(clippy::cast_precision_loss, reason = "exact below 2^53")]
fn number<'a>(count: u64) -> Value<'a> {
    Value::Number(count as f64)
}
