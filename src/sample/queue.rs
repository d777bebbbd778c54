//! The sample of a queue: for each value of the queue label, counts and ages.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::rows::{Reader, Row};
use crate::config::{Lease, MappedState, Queue, RowState};
use crate::source::{Reason, Rows, SourceError};
use crate::words::{Word as _, words};

words! {
    /// The state of a job, as derived from its row: the value of the label `state`, in the order of the
    /// exposition.
    pub enum JobState {
        /// Claimable now.
        Ready = "ready",
        /// Not yet due, never tried.
        Scheduled = "scheduled",
        /// Not yet due, tried before.
        Retrying = "retrying",
        /// Held by a live claim.
        Running = "running",
        /// Its claim lapsed; claimable again.
        Expired = "expired",
        /// No attempts left, not yet marked as failed.
        Exhausted = "exhausted",
        /// Given up.
        Failed = "failed",
        /// The stored state is not in the mapping.
        Unknown = "unknown",
        /// Finished; counted on request only.
        Done = "done",
    }
}

impl JobState {
    /// Whether a table mapped like this can show the state. A state that it cannot show has no
    /// series: 0 would claim that somebody looked.
    #[must_use]
    pub fn is_visible(self, queue: &Queue) -> bool {
        let stored = |wanted: MappedState| queue.state.can_be(wanted);
        let ends = matches!(queue.lease, Lease::Until { .. } | Lease::Since { .. });
        match self {
            Self::Ready => true,
            Self::Scheduled => stored(MappedState::Scheduled) || queue.available_at.is_some(),
            Self::Retrying => {
                stored(MappedState::Retrying) || (queue.available_at.is_some() && queue.attempts.is_some())
            }
            Self::Running => {
                stored(MappedState::Running) || ends || matches!(queue.lease, Lease::Owner { .. })
            }
            Self::Expired => ends,
            Self::Exhausted => queue.attempts.is_some() && queue.max_attempts.is_some(),
            Self::Failed => stored(MappedState::Failed),
            Self::Unknown => matches!(queue.state, RowState::Column { .. }),
            Self::Done => queue.count_done && stored(MappedState::Done),
        }
    }
}

/// What one statement said about a queue table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueSample {
    /// The database's clock, in milliseconds since 1970-01-01T00:00:00Z.
    pub now_ms: i64,
    /// By value of the queue label.
    pub queues: BTreeMap<String, QueueFacts>,
    /// Who is claimed; `None` when the mapping names no id.
    pub claims: Option<Vec<Claim>>,
}

/// A claimed job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The value of the queue label.
    pub queue: String,
    /// The job's key, as text.
    pub id: String,
    /// How often the job was claimed, this time included.
    pub attempts: u64,
    /// Whether the lease has lapsed.
    pub lapsed: bool,
}

/// Counts and ages of one queue. A field is `None` when the table cannot tell, which is not 0.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueFacts {
    /// Jobs by state, the visible states only.
    pub jobs: BTreeMap<JobState, u64>,
    /// Age of the oldest ready job since it was both enqueued and available; 0 when none is ready.
    pub oldest_ready_age_ms: Option<u64>,
    /// Unfinished rows whose lease lapsed, whatever their attempts.
    pub expired_leases: Option<u64>,
    /// Time since the first of those leases lapsed; 0 when none did.
    pub oldest_expired_lease_ms: Option<u64>,
    /// Age of the longest running attempt; 0 when nothing runs.
    pub longest_running_ms: Option<u64>,
    /// Unfinished jobs that were tried before.
    pub retrying_jobs: Option<u64>,
    /// The highest attempts count among unfinished jobs; 0 when there are none.
    pub max_attempts: Option<u64>,
    /// Unfinished jobs that claim to be enqueued in the future.
    pub future_timestamp_rows: Option<u64>,
}

/// The only answer that grows with what is in the table has a row for each value of the queue label
/// and state.
pub(super) fn explained(queue: &Queue, error: SourceError) -> SourceError {
    match &queue.queue_label {
        Some(column) if error.too_many_rows => {
            let message = format!(
                "{error}, one for each state of each value of the column {column}, the `queue_label`; name a column \
                 of few values, or none, or leave rows out with `where`"
            );
            SourceError { message: SourceError::new(error.reason, message).message, ..error }
        }
        _ => error,
    }
}

pub(super) fn decode(queue: &Queue, rows: &Rows) -> Result<QueueSample, SourceError> {
    let reader = Reader::new(rows)?;
    let first = reader.first()?;
    let now_ms = first.required_int("now_ms")?;
    let mut totals: BTreeMap<String, Totals> = BTreeMap::new();
    if queue.queue_label.is_none() {
        totals.insert(queue.target.name.clone(), Totals::default());
    }
    // Several rows can share a label after trimming; they are one queue.
    let name = |row: Row<'_>| row.queue(queue.queue_label.as_ref(), &queue.target);
    let mut claims = queue.id.is_some().then(Vec::new);
    for row in reader.rows() {
        if let Some(claims) = &mut claims
            && let Some(id) = row.label("claimed_id")?
        {
            let attempts = row.not_below_zero("claimed_attempts")?.unwrap_or(0);
            let lapsed = row.int("claim_lapsed")? == Some(1);
            claims.push(Claim { queue: name(row)?, id, attempts, lapsed });
            continue;
        }
        let Some(state) = row.label("state")? else {
            continue; // the row that stands for an empty table
        };
        let state = JobState::parse(&state)
            .ok_or_else(|| SourceError::new(Reason::Decode, format!("the answer has a state {state}")))?;
        totals.entry(name(row)?).or_default().add(state, row)?;
    }
    let in_flight = match (first.int("committed_rows")?, &queue.queue_label) {
        (Some(committed), None) => {
            let seen: u64 = totals.values().map(Totals::rows).sum();
            // The two counts are taken one after the other: rows that arrived in between must not
            // turn into a negative number.
            Some(u64::try_from(committed).unwrap_or(0).saturating_sub(seen))
        }
        _ => None,
    };
    let queues = totals.into_iter().map(|(name, totals)| (name, totals.facts(queue, in_flight))).collect();
    Ok(QueueSample { now_ms, queues, claims })
}

/// The rows of one queue, added up.
#[derive(Default)]
struct Totals {
    jobs: BTreeMap<JobState, u64>,
    oldest_ready_age_ms: Option<u64>,
    expired_leases: u64,
    oldest_expired_lease_ms: Option<u64>,
    longest_running_ms: Option<u64>,
    retrying_jobs: u64,
    max_attempts: Option<u64>,
    future_timestamp_rows: u64,
}

impl Totals {
    fn add(&mut self, state: JobState, row: Row<'_>) -> Result<(), SourceError> {
        *self.jobs.entry(state).or_default() += row.count("jobs")?;
        self.expired_leases += row.count("expired_leases")?;
        self.retrying_jobs += row.count("retrying_jobs")?;
        self.future_timestamp_rows += row.count("future_timestamp_rows")?;
        // `None` sorts below every value, so `max` keeps what is known.
        self.oldest_ready_age_ms = self.oldest_ready_age_ms.max(row.not_below_zero("oldest_ready_age_ms")?);
        self.oldest_expired_lease_ms =
            self.oldest_expired_lease_ms.max(row.not_below_zero("oldest_expired_lease_ms")?);
        self.longest_running_ms = self.longest_running_ms.max(row.not_below_zero("longest_running_ms")?);
        self.max_attempts = self.max_attempts.max(row.not_below_zero("max_attempts")?);
        Ok(())
    }

    fn rows(&self) -> u64 {
        self.jobs.values().sum()
    }

    fn unfinished(&self) -> u64 {
        let ended = [JobState::Done, JobState::Failed, JobState::Unknown];
        self.rows() - ended.into_iter().map(|state| self.of(state)).sum::<u64>()
    }

    fn of(&self, state: JobState) -> u64 {
        self.jobs.get(&state).copied().unwrap_or(0)
    }

    fn facts(self, queue: &Queue, in_flight: Option<u64>) -> QueueFacts {
        let has_time = queue.enqueued_at.is_some() || queue.available_at.is_some();
        let has_lease_end = matches!(queue.lease, Lease::Until { .. } | Lease::Since { .. });
        // Nothing to measure is 0; something to measure without a value is unknown.
        let highest = |known: bool, measured: Option<u64>, rows: u64| match (known, rows) {
            (false, _) => None,
            (true, 0) => Some(0),
            (true, _) => measured,
        };
        let mut jobs: BTreeMap<JobState, u64> = JobState::ALL
            .into_iter()
            .filter(|state| state.is_visible(queue))
            .map(|state| (state, self.of(state)))
            .collect();
        if let Some(in_flight) = in_flight {
            *jobs.entry(JobState::Running).or_default() += in_flight;
        }
        QueueFacts {
            jobs,
            oldest_ready_age_ms: highest(has_time, self.oldest_ready_age_ms, self.of(JobState::Ready)),
            expired_leases: has_lease_end.then_some(self.expired_leases),
            oldest_expired_lease_ms: highest(
                has_lease_end,
                self.oldest_expired_lease_ms,
                self.expired_leases,
            ),
            longest_running_ms: highest(
                queue.claimed_at.is_some(),
                self.longest_running_ms,
                self.of(JobState::Running),
            ),
            retrying_jobs: queue.attempts.is_some().then_some(self.retrying_jobs),
            max_attempts: highest(queue.attempts.is_some(), self.max_attempts, self.unfinished()),
            future_timestamp_rows: queue.enqueued_at.is_some().then_some(self.future_timestamp_rows),
        }
    }
}
