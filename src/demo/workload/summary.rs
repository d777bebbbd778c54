//! What happened, in numbers.

use std::fmt;
use std::ops::AddAssign;

/// What happened while the workload ran.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DemoSummary {
    /// Jobs put into the lease queue.
    pub jobs_enqueued: u64,
    /// Claims of jobs.
    pub jobs_claimed: u64,
    /// Jobs completed by who owned them.
    pub jobs_done: u64,
    /// Attempts reported as failed by who owned the job.
    pub attempts_failed: u64,
    /// Workers that vanished with a job.
    pub workers_crashed: u64,
    /// Completions, failures and heartbeats refused because the job had another owner by then.
    pub ownership_lost: u64,
    /// Jobs taken from an owner whose lease had lapsed.
    pub jobs_recovered: u64,
    /// Rows put into the transactional queue.
    pub work_enqueued: u64,
    /// Rows of the transactional queue that were consumed.
    pub work_committed: u64,
    /// Rows of the transactional queue that were put back.
    pub work_rolled_back: u64,
    /// Comments written.
    pub comments_written: u64,
    /// Orders written.
    pub orders_written: u64,
    /// Notification runs started, skipped ones included.
    pub runs_started: u64,
    /// Notification runs that found the lock taken.
    pub runs_skipped: u64,
    /// Steps that failed.
    pub step_errors: u64,
    /// Steps that worked with a remark.
    pub step_warnings: u64,
    /// Notifications written.
    pub notifications: u64,
    /// Rows that retention deleted.
    pub rows_purged: u64,
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

impl AddAssign for DemoSummary {
    fn add_assign(&mut self, other: Self) {
        // Taken apart, so that a field that is not added up does not compile.
        let Self {
            jobs_enqueued,
            jobs_claimed,
            jobs_done,
            attempts_failed,
            workers_crashed,
            ownership_lost,
            jobs_recovered,
            work_enqueued,
            work_committed,
            work_rolled_back,
            comments_written,
            orders_written,
            runs_started,
            runs_skipped,
            step_errors,
            step_warnings,
            notifications,
            rows_purged,
        } = other;
        self.jobs_enqueued += jobs_enqueued;
        self.jobs_claimed += jobs_claimed;
        self.jobs_done += jobs_done;
        self.attempts_failed += attempts_failed;
        self.workers_crashed += workers_crashed;
        self.ownership_lost += ownership_lost;
        self.jobs_recovered += jobs_recovered;
        self.work_enqueued += work_enqueued;
        self.work_committed += work_committed;
        self.work_rolled_back += work_rolled_back;
        self.comments_written += comments_written;
        self.orders_written += orders_written;
        self.runs_started += runs_started;
        self.runs_skipped += runs_skipped;
        self.step_errors += step_errors;
        self.step_warnings += step_warnings;
        self.notifications += notifications;
        self.rows_purged += rows_purged;
    }
}
