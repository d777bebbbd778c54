//! The demo's summary: what happened, in numbers.

use std::fmt;
use std::ops::AddAssign;

/// Counters, and their sum: a counter cannot be left out of it.
macro_rules! counters {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $counter:ident,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct $name {
            $($(#[$doc])* pub $counter: u64,)+
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                $(self.$counter += other.$counter;)+
            }
        }
    };
}

counters! {
    /// What happened while the workload ran.
    DemoSummary {
        /// Jobs added to the lease queue.
        jobs_enqueued,
        /// Jobs claimed.
        jobs_claimed,
        /// Jobs completed by their owner.
        jobs_done,
        /// Attempts that the job's owner reported as failed.
        attempts_failed,
        /// Workers that vanished in the middle of a job.
        workers_crashed,
        /// Jobs taken from an owner whose lease had lapsed.
        jobs_recovered,
        /// Rows added to the transactional queue.
        work_enqueued,
        /// Rows of the transactional queue that were consumed.
        work_committed,
        /// Rows of the transactional queue that were put back.
        work_rolled_back,
        /// Notification runs started, including skipped ones.
        runs_started,
        /// Notification runs that found the lock taken.
        runs_skipped,
        /// Steps that failed.
        step_errors,
        /// Notifications written.
        notifications,
    }
}

impl fmt::Display for DemoSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "jobs: {} enqueued, {} claimed, {} done, {} attempts failed, {} workers crashed, {} recovered",
            self.jobs_enqueued,
            self.jobs_claimed,
            self.jobs_done,
            self.attempts_failed,
            self.workers_crashed,
            self.jobs_recovered,
        )?;
        writeln!(
            f,
            "work: {} enqueued, {} committed, {} rolled back",
            self.work_enqueued, self.work_committed, self.work_rolled_back,
        )?;
        write!(
            f,
            "runs: {} started, {} skipped, {} steps failed, {} notifications",
            self.runs_started, self.runs_skipped, self.step_errors, self.notifications,
        )
    }
}
