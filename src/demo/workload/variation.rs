//! Variations: how an incident changes the actors' decisions.
//!
//! A decision is drawn first and varied afterwards, so that an incident does not change the streams:
//! when it ends, everybody continues as if it had never happened.

use super::super::incident::Incident;
use super::script::{self, Attempt, Delivery, Event, Fate, RunPlan};

/// The enqueuer's step.
pub(super) fn delivery(incident: Option<Incident>, usual: Delivery) -> Delivery {
    match incident {
        // A third more than the workers can handle.
        Some(Incident::GrowingBacklog) => Delivery { jobs: 4, then: usual.then * 9 / 10, ..usual },
        _ => usual,
    }
}

/// The attempt at a claimed job.
pub(super) fn attempt(incident: Option<Incident>, payload: &str, usual: Attempt) -> Attempt {
    match incident {
        // Four in ten, chosen by their duration; soon, so that the remaining workers keep up.
        Some(Incident::WorkerCrash) if usual.work % 5 < 2 => Attempt { fate: Fate::Crash, work: 50 },
        Some(Incident::FailedJobs) => Attempt { fate: Fate::Failure, work: 20 },
        // Steadily, so that the backlog grows steadily.
        Some(Incident::GrowingBacklog) => Attempt { fate: Fate::Success, work: usual.work.min(900) },
        Some(Incident::PoisonJob) => usual,
        // The incident is over: the file can be read again.
        _ if payload == script::ENDLESS => Attempt { fate: Fate::Success, ..usual },
        _ => usual,
    }
}

/// The event that is written.
pub(super) fn event(incident: Option<Incident>, usual: Event) -> Event {
    match (incident, usual) {
        // A little more than the runs may announce.
        (Some(Incident::CapReached), Event::Comment { .. }) => Event::Orders { count: 10, remind: None },
        (Some(Incident::CapReached), Event::Orders { count, remind }) => {
            Event::Orders { count: count.max(10), remind }
        }
        _ => usual,
    }
}

/// The plan of a run.
pub(super) fn run(incident: Option<Incident>, usual: RunPlan) -> RunPlan {
    match incident {
        // Longer than the time between two starts, but short enough that some runs are not skipped.
        Some(Incident::OverlappingRuns) => RunPlan { reminders: usual.reminders + 3500, ..usual },
        Some(Incident::OrphanedLock) => RunPlan { orphan_lock: true, ..usual },
        Some(Incident::FailingStep) => RunPlan { orders_fail: true, ..usual },
        Some(Incident::SlowStep) => RunPlan { comments: usual.comments * 6, ..usual },
        Some(Incident::RetentionStopped) => RunPlan { keep_log: true, ..usual },
        _ => usual,
    }
}
