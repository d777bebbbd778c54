//! Queues: one row per job.

use crate::config::mapping::mapping;
use crate::config::objectives::QueueObjectives;
use crate::config::values::{Attempts, AttemptsCount, Lease, Lookup, MappedState, MaxAttempts, RowState};

mapping! {
    /// A queue table: one row per job.
    pub struct Queue as QueueForm {
        /// The job's key. With it, each sample lists the claimed jobs (at most 1000, lapsed leases first),
        /// and a job that is claimed again after its lease was seen to lapse counts in
        /// `sqlqueue_lease_reclaims_total`. That is a lower bound: what happens between two samples is not
        /// seen. Meant for a table without an attempt history; where there is one, `attempt_logs` counts
        /// every reclaim.
        maps optional id: ColumnName;
        /// The column whose value becomes the label `queue`, with few distinct values; without it the label
        /// is the target's name. Not allowed with `lease: { kind: rowlock }`, whose rows in flight are
        /// counted and not read: make each queue a target of its own with `where`.
        maps optional queue_label: ColumnName;
        /// A related table for times with `lookup: true`, such as `{ table: State, key: Id, column: StateId
        /// }`.
        maps optional lookup: Lookup;
        /// Where the state of a row comes from: `{ column: State, map: { R: ready, W: running, D: done, F:
        /// failed } }`, `{ constant: ready }`, or `{ done_when_set: DispatchedAt }`.
        maps required state: RowState = "say what state a row is in";
        /// How a claim is recognized: `{ kind: until, column: LeaseUntil, token: ClaimToken }`, `{ kind:
        /// since, column: FetchedAt, timeout: 5m }`, `{ kind: owner, column: OwnerId }`, `{ kind: rowlock }`
        /// or `{ kind: none }`.
        maps default lease: Lease = Lease::None;
        /// When the running attempt began.
        maps optional claimed_at: TimeColumn;
        /// When the row becomes claimable; NULL means at once.
        maps optional available_at: TimeColumn;
        /// When the job was put into the queue.
        maps optional enqueued_at: TimeColumn;
        /// How often the job was tried: a column, or `{ column: Attempts, counts: failures }`.
        maps optional attempts: Attempts;
        /// How often it may be tried: a number, or `{ column: MaxAttempts }`.
        maps optional max_attempts: MaxAttempts;
        /// Whether to count finished rows too, which reads the whole history.
        keeps default count_done: bool = false;
        /// The [objectives](#objectives) of the queue, such as `{ max_ready_age: 2m, max_failed_jobs: none
        /// }`.
        keeps objectives objectives: QueueObjectives;
    }
}

/// Why an id is useless without these.
const ID_NEEDS_CLAIMS: &str = "`id` is for counting jobs whose lease lapsed and that were claimed again; that needs a lease of \
     `kind: until` or `kind: since`, and `attempts` with `counts: claims`; add them or remove `id`";

/// Why locked rows have no label.
const LOCKED_ROWS_HAVE_NO_LABEL: &str = "`queue_label` contradicts `lease: { kind: rowlock }`: rows in flight are locked, so they are counted and \
     their columns are not read; give each queue a target of its own with `where`, or do without rows in flight with \
     `lease: { kind: none }`";

fn cross_check(draft: &mut Draft, at: &Locations, checker: &mut Checker<'_>, _: &Scope, _: Option<&Target>) {
    let times = [&draft.claimed_at, &draft.available_at, &draft.enqueued_at];
    if at.lookup.is_none() && times.into_iter().flatten().any(|time| time.lookup) {
        let remedy = "a time with `lookup: true` needs `lookup: { table, key, column }`";
        checker.missing(at.target, "lookup", remedy);
    }
    if let (Some(at), None) = (at.max_attempts, at.attempts) {
        checker.report(
            at,
            "`max_attempts` needs `attempts`: without a count there is nothing to hold against it; name the \
             column, or set `max_attempts: null`",
        );
    }
    if let (Some(at), Some(lease)) = (at.id, &draft.lease) {
        let counts = draft.attempts.as_ref().map(|attempts| attempts.counts);
        if counts != Some(AttemptsCount::Claims) || !lease.has_end() {
            checker.report(at, ID_NEEDS_CLAIMS);
        }
    }
    if let (Some(at), Some(Lease::RowLock)) = (at.queue_label, &draft.lease) {
        checker.report(at, LOCKED_ROWS_HAVE_NO_LABEL);
    }
    if let (Some(at), Some(true), Some(state)) = (at.count_done, draft.count_done, &draft.state) {
        check_count_done(checker, at, state);
    }
}

/// Whether finished rows can be counted, which needs a mapping with `done`.
fn check_count_done(checker: &mut Checker<'_>, at: Location, state: &RowState) {
    let no_effect = |key: &str| {
        format!(
            "`count_done: true` has no effect beside `{key}`: only values of a state column are counted as done; \
             remove `count_done`"
        )
    };
    let message = match state {
        RowState::Column { .. } if state.can_be(MappedState::Done) => return,
        RowState::Column { .. } => {
            "`count_done: true` contradicts `state`, where nothing is `done`; map a value to `done`, or remove \
             `count_done`"
                .to_owned()
        }
        RowState::Constant(_) => no_effect("constant"),
        RowState::DoneWhenSet(_) => no_effect("done_when_set"),
    };
    checker.report(at, message);
}

/// Whether the table can be held to an objective. True when `lease` or `state` is wrong, which is an error of
/// its own.
fn can_measure(draft: &Draft, at: &Locations, what: Observation) -> bool {
    match what {
        Observation::ReadyAge => at.enqueued_at.is_some() || at.available_at.is_some(),
        Observation::LapsedLeases => draft.lease.as_ref().is_none_or(Lease::has_end),
        Observation::Attempts => at.attempts.is_some(),
        Observation::FailedJobs => draft.state.as_ref().is_none_or(|state| state.can_be(MappedState::Failed)),
        _ => true,
    }
}
