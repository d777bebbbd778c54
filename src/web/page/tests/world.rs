//! A state that was sampled: a configuration, a clock and samples, without a database.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::config::{Config, Environment, Outcome, parse};
use crate::sample::{Bounds, JobState, LogSample, QueueFacts, QueueSample, Sample, StepEntry};
use crate::source::{Reason, SourceError};
use crate::state::{ConfigState, SavingState, State};
use crate::web::Page;
use crate::web::page::{Now, prepare};

/// 2026-11-30T12:00:00Z, in milliseconds.
pub(in crate::web::page) const NOW_MS: i64 = 1_796_040_000_000;

/// A queue, a queue whose names come from the table, a run log, an attempt log, a control table and
/// an enqueue log.
pub(in crate::web::page) const TARGETS: &str = "    queues:
      - { name: jobs, preset: lease, id: null }
      - { name: labelled, table: T, queue_label: Q, state: { constant: ready } }
    attempt_logs: [{ name: jobs }]
    enqueue_logs: [{ name: jobs }]
    run_logs: [{ name: runs, steps: [run, orders], lock: { resource: l } }]
    control_tables: [{ name: events, kinds: [comment] }]
";
pub(in crate::web::page) const JOBS: usize = 0;
pub(in crate::web::page) const LABELLED: usize = 1;
pub(in crate::web::page) const ATTEMPTS: usize = 2;
pub(in crate::web::page) const ENQUEUED: usize = 3;
pub(in crate::web::page) const RUNS: usize = 4;
pub(in crate::web::page) const EVENTS: usize = 5;

pub(in crate::web::page) struct World {
    pub(in crate::web::page) config: Config,
    pub(in crate::web::page) state: State,
    pub(in crate::web::page) now: Now,
}

impl World {
    /// Nothing was sampled yet.
    pub(in crate::web::page) fn new(targets: &str) -> Self {
        Self::of_source("db", targets)
    }

    pub(in crate::web::page) fn of_source(name: &str, targets: &str) -> Self {
        let name = serde_json::to_string(name).unwrap();
        let yaml = format!("sources:\n  - name: {name}\n    sqlite: {{ file: q.db }}\n{targets}");
        let config = parse(&yaml, "test.yaml".as_ref(), &Environment::empty())
            .unwrap_or_else(|error| panic!("{error}\n{yaml}"));
        let mut state = State::new(&config);
        state.config = ConfigState { successful: true, last_success_ms: NOW_MS };
        let now = Now { monotonic: Duration::from_secs(10_000), unix_ms: NOW_MS };
        Self { config, state, now }
    }

    /// Everything was sampled a moment ago, and all is well.
    pub(in crate::web::page) fn sampled() -> Self {
        let mut world = Self::new(TARGETS);
        world.queue(JOBS, "jobs", facts(&[(JobState::Ready, 3)]));
        world.queue(LABELLED, "mail", facts(&[(JobState::Ready, 1)]));
        world.good(ATTEMPTS);
        world.good(ENQUEUED);
        world.run_log(vec![run(1, Outcome::Ok)]);
        world.good(EVENTS);
        world
    }

    pub(in crate::web::page) fn pass(&mut self, time: Duration) {
        self.now.monotonic += time;
        self.now.unix_ms += i64::try_from(time.as_millis()).unwrap();
    }

    /// A good sample of a target that brings nothing.
    pub(in crate::web::page) fn good(&mut self, target: usize) {
        let Now { monotonic, unix_ms } = self.now;
        let source = &mut self.state.sources[0];
        source.up = Some(true);
        source.clock_skew_ms = Some(0);
        source.targets[target].sampling.good(Duration::from_millis(1), unix_ms, monotonic);
    }

    pub(in crate::web::page) fn apply(&mut self, target: usize, sample: Sample) {
        self.good(target);
        let configured = self.config.sources[0].targets().nth(target).unwrap();
        let max_label_values = self.config.global.max_label_values;
        self.state.sources[0].targets[target].apply(configured, sample, max_label_values).unwrap();
    }

    /// A sample of a queue target that finds one queue.
    pub(in crate::web::page) fn queue(&mut self, target: usize, queue: &str, facts: QueueFacts) {
        let queues = BTreeMap::from([(queue.to_owned(), facts)]);
        self.apply(target, Sample::Queue(QueueSample { now_ms: self.now.unix_ms, queues, claims: None }));
    }

    /// A sample of the run log that finds the lock held and these rows.
    pub(in crate::web::page) fn run_log(&mut self, entries: Vec<StepEntry>) {
        let newest_id = entries.last().map(|entry| entry.id);
        let oldest_ms = Some(self.now.unix_ms - 1_000);
        let bounds = Bounds { oldest_id: newest_id.map(|_| 1), oldest_ms, newest_id, ..Bounds::default() };
        let now_ms = self.now.unix_ms;
        let log = LogSample { now_ms, bounds, rows: entries, foreign: Vec::new(), lock_held: Some(true) };
        self.apply(RUNS, Sample::RunLog(log));
    }

    pub(in crate::web::page) fn fail(&mut self, target: usize, reason: Reason, message: &str) {
        let source = &mut self.state.sources[0];
        source.up = Some(reason.database_answered());
        let error = SourceError::new(reason, message);
        source.targets[target].sampling.failed(&error, None, self.now.unix_ms);
    }

    pub(in crate::web::page) fn saved(&mut self, successful: bool) {
        self.state.saving = Some(SavingState { successful, last_success_ms: Some(self.now.unix_ms) });
    }

    pub(in crate::web::page) fn html(&self, page: Page) -> String {
        prepare(page, &self.state, self.now, "/metrics").render().unwrap()
    }

    pub(in crate::web::page) fn overview(&self) -> String {
        self.html(Page::Overview)
    }
}

/// Counts by state; what is not named has no value.
pub(in crate::web::page) fn facts(jobs: &[(JobState, u64)]) -> QueueFacts {
    QueueFacts { jobs: jobs.iter().copied().collect(), ..QueueFacts::default() }
}

/// A run that began a minute ago and took two seconds.
pub(in crate::web::page) fn run(id: i64, outcome: Outcome) -> StepEntry {
    StepEntry {
        id,
        step: "run".to_owned(),
        outcome,
        start_ms: Some(NOW_MS - 60_000),
        end_ms: Some(NOW_MS - 58_000),
        duration_ms: Some(2_000),
        candidates: None,
        open: false,
    }
}
