//! Actors of the notifications: the writer of events and the schedulers of runs.

use tokio::time::Instant;

use super::super::incident::Incident;
use super::super::notifications::{self, CAP_PER_RUN, Report, Step};
use super::super::{DemoError, now};
use super::DemoSummary;
use super::actor::Actor;
use super::script::{self, Event, RunPlan};
use super::variation;
use crate::config::Outcome;

/// Retention of the run log.
const KEEP_LOG: u64 = 120_000;

/// The most rows that one run prunes from the log.
const PURGE_BATCH: u32 = 500;

pub(super) async fn event_writer(actor: Actor) -> Result<DemoSummary, DemoError> {
    let mut rng = actor.generator();
    for n in 0.. {
        let (event, then) = script::event(&mut rng, n);
        match variation::event(actor.incident(), event) {
            Event::Comment { item, author } => {
                let recipient = format!("owner-{item}@example.org");
                actor.database(move |db| notifications::add_comment(db, item, author, &recipient)).await?;
            }
            Event::Orders { count, remind } => {
                for nth in 0..count {
                    let remind = remind.filter(|_| nth == 0).map(|after| actor.real_time(after));
                    actor
                        .database(move |db| notifications::add_order(db, "buyer@example.org", remind))
                        .await?;
                }
            }
        }
        if !actor.pause(then).await {
            break;
        }
    }
    Ok(DemoSummary::default())
}

/// Starts a run in every period, even while the other scheduler's run is still in progress.
pub(super) async fn scheduler(actor: Actor, number: usize) -> Result<DemoSummary, DemoError> {
    let mut summary = DemoSummary::default();
    let mut rng = actor.generator();
    let mut keeps_lock = false;
    // The second one starts in the middle of the first one's first run.
    if !actor.pause(if number == 1 { 300 } else { 1000 }).await {
        return Ok(summary);
    }
    for n in 0.. {
        if !actor.sit_out(Incident::SchedulerStopped).await {
            break;
        }
        if keeps_lock && actor.incident() != Some(Incident::OrphanedLock) {
            release_lock(&actor).await?;
            keeps_lock = false;
        }
        let started = Instant::now();
        let (plan, every) = script::notification_run(&mut rng, number, n);
        let plan = variation::run(actor.incident(), plan);
        let part = run(&actor, plan).await?;
        keeps_lock |= plan.orphan_lock && part.runs_skipped == 0;
        summary += part;
        let spent =
            u64::try_from(started.elapsed().mul_f64(actor.conditions.speed).as_millis()).unwrap_or(u64::MAX);
        if !actor.pause(every.saturating_sub(spent)).await {
            break;
        }
    }
    if keeps_lock {
        release_lock(&actor).await?;
    }
    Ok(summary)
}

/// Releases the actor's lock.
async fn release_lock(actor: &Actor) -> Result<bool, DemoError> {
    let holder = actor.name.clone();
    actor.database(move |db| notifications::release_lock(db, notifications::RUN_LOCK, &holder)).await
}

/// One notification run: takes the lock or is skipped, runs the steps, releases the lock.
pub(super) async fn run(actor: &Actor, plan: RunPlan) -> Result<DemoSummary, DemoError> {
    let mut summary = DemoSummary { runs_started: 1, ..DemoSummary::default() };
    let started_at = actor.database(|db| now(db)).await?;
    let holder = actor.name.clone();
    if !actor.database(move |db| notifications::take_lock(db, notifications::RUN_LOCK, &holder)).await? {
        actor.database(move |db| notifications::log_skipped(db, &started_at)).await?;
        summary.runs_skipped = 1;
        return Ok(summary);
    }

    let steps = run_steps(actor, plan, &mut summary).await;
    if plan.orphan_lock {
        // A killed client neither releases the lock nor logs. On a server its session may live on.
        return steps.map(|_| summary);
    }
    // Before anything else can fail.
    release_lock(actor).await?;

    let (outcome, message) = match &steps {
        Ok(true) => (Outcome::Ok, None),
        Ok(false) => (Outcome::Warning, Some("warning: stopped before every step had run".to_owned())),
        Err(error) => (Outcome::Error, Some(format!("error: {error}"))),
    };
    let report = Report { outcome, candidates: None, message };
    actor.database(move |db| notifications::log(db, notifications::RUN, &started_at, &report)).await?;
    steps.map(|_| summary)
}

/// Runs the steps in order, even after one fails. `false` when the demo was stopped in between. An error
/// is one of the run itself that could not even be logged.
async fn run_steps(actor: &Actor, plan: RunPlan, summary: &mut DemoSummary) -> Result<bool, DemoError> {
    for step in Step::ALL {
        let (takes, broken) = match step {
            Step::Comments => (plan.comments, false),
            Step::Orders => (plan.orders, plan.orders_fail),
            Step::Reminders => (plan.reminders, false),
        };
        let started_at = actor.database(|db| now(db)).await?;
        if !actor.pause(takes).await {
            return Ok(false);
        }
        let report = actor
            .database(move |db| notifications::run_step(db, step, &started_at, CAP_PER_RUN, broken))
            .await?;
        if report.outcome == Outcome::Error {
            summary.step_errors += 1;
        } else {
            summary.notifications += u64::from(report.candidates.unwrap_or(0));
        }
    }
    if !plan.keep_log {
        let keep = actor.real_time(KEEP_LOG);
        actor.database(move |db| notifications::purge_log(db, keep, PURGE_BATCH)).await?;
    }
    Ok(true)
}
