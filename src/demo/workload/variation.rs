//! What becomes of the actors' decisions while something is wrong.
//!
//! A decision is drawn first and varied then, so that an incident does not move the streams: after it,
//! everybody goes on as they would have.

use super::super::incident::Incident;
use super::script::{self, Attempt, Delivery, Event, Fate, RunPlan};

/// What the enqueuer does.
pub(super) fn delivery(incident: Option<Incident>, usual: Delivery) -> Delivery {
    match incident {
        // A third more than the workers can do.
        Some(Incident::GrowingBacklog) => Delivery { jobs: 4, then: usual.then * 9 / 10, ..usual },
        _ => usual,
    }
}

/// What becomes of a claimed job.
pub(super) fn attempt(incident: Option<Incident>, payload: &str, usual: Attempt) -> Attempt {
    match incident {
        // Four in ten, by how long they would take; soon, so that those who are left can do the work.
        Some(Incident::WorkerCrash) if usual.work % 5 < 2 => Attempt { fate: Fate::Crash, work: 50 },
        Some(Incident::FailedJobs) => Attempt { fate: Fate::Failure, work: 20 },
        // Steadily, so that the backlog grows steadily.
        Some(Incident::GrowingBacklog) => Attempt { fate: Fate::Success, work: usual.work.min(900) },
        Some(Incident::PoisonJob) => usual,
        // Somebody has repaired the file.
        _ if payload == script::ENDLESS => Attempt { fate: Fate::Success, ..usual },
        _ => usual,
    }
}

/// What somebody writes.
pub(super) fn event(incident: Option<Incident>, usual: Event) -> Event {
    match (incident, usual) {
        // A little more than the runs may tell of.
        (Some(Incident::CapReached), Event::Comment { .. }) => Event::Orders { count: 10, remind: None },
        (Some(Incident::CapReached), Event::Orders { count, remind }) => {
            Event::Orders { count: count.max(10), remind }
        }
        _ => usual,
    }
}

/// What a run does.
pub(super) fn run(incident: Option<Incident>, usual: RunPlan) -> RunPlan {
    match incident {
        // Longer than from one start to the next, and short enough that not every run is skipped.
        Some(Incident::OverlappingRuns) => RunPlan { reminders: usual.reminders + 3500, ..usual },
        Some(Incident::OrphanedLock) => RunPlan { orphan_lock: true, ..usual },
        Some(Incident::FailingStep) => RunPlan { orders_fail: true, ..usual },
        Some(Incident::SlowStep) => RunPlan { comments: usual.comments * 6, ..usual },
        Some(Incident::RetentionStopped) => RunPlan { keep_log: true, ..usual },
        _ => usual,
    }
}
