//! What can go wrong with queues and runs, caused on purpose.
//!
//! An incident is a variation of the workload: somebody stops working, or works badly, or leaves
//! something in a table or a folder. The exporter is the same as ever, and is told nothing.

mod facts;
pub(super) mod files;

use std::time::Duration;

pub use facts::Facts;

/// Something that goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Incident {
    /// No worker works.
    NoWorkers,
    /// Workers pass over one job.
    StarvingJob,
    /// There is more work than the workers can do.
    GrowingBacklog,
    /// Workers die in the middle of their work.
    WorkerCrash,
    /// Nobody takes jobs from workers that died.
    NoRecovery,
    /// One job fails again and again, without a bound.
    PoisonJob,
    /// Job after job fails for good.
    FailedJobs,
    /// Runs take longer than the schedule leaves them.
    OverlappingRuns,
    /// A session keeps the lock of the runs.
    OrphanedLock,
    /// A step fails in every run.
    FailingStep,
    /// A step takes much longer than before.
    SlowStep,
    /// Nobody starts runs.
    SchedulerStopped,
    /// There is more to tell than a run may tell.
    CapReached,
    /// Nobody prunes the run log.
    RetentionStopped,
    /// The clock of the exporter's host is wrong.
    ClockSkew,
    /// One table cannot be sampled.
    BrokenTarget,
    /// The database cannot be reached.
    DatabaseDown,
    /// The exporter's state file cannot be written.
    StateNotSaved,
}

impl Incident {
    /// Every incident.
    pub const ALL: [Self; 18] = [
        Self::NoWorkers,
        Self::StarvingJob,
        Self::GrowingBacklog,
        Self::WorkerCrash,
        Self::NoRecovery,
        Self::PoisonJob,
        Self::FailedJobs,
        Self::OverlappingRuns,
        Self::OrphanedLock,
        Self::FailingStep,
        Self::SlowStep,
        Self::SchedulerStopped,
        Self::CapReached,
        Self::RetentionStopped,
        Self::ClockSkew,
        Self::BrokenTarget,
        Self::DatabaseDown,
        Self::StateNotSaved,
    ];
}

/// An incident with its beginning and its end. Both are times of the clock, whatever the demo's speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Episode {
    /// What goes wrong.
    pub incident: Incident,
    /// How long all goes well before it.
    pub after: Duration,
    /// How long it lasts; `None`: until the demo is stopped.
    pub lasting: Option<Duration>,
}
