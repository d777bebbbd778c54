//! Queue samples: counts and ages per queue and state.

use std::collections::BTreeMap;

use super::rows::{Reader, Row, decode_error};
use crate::config::{Lease, MappedState, Queue, RowState};
use crate::source::{Rows, SourceError};
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
    /// Whether the table of a queue can show the state. Otherwise the state has no series, because 0 would be a
    /// measurement.
    #[must_use]
    pub fn is_visible(self, queue: &Queue) -> bool {
        let stored = |wanted: MappedState| queue.state.can_be(wanted);
        match self {
            Self::Ready => true,
            Self::Scheduled => stored(MappedState::Scheduled) || queue.available_at.is_some(),
            Self::Retrying => {
                stored(MappedState::Retrying) || (queue.available_at.is_some() && queue.attempts.is_some())
            }
            Self::Running => {
                stored(MappedState::Running)
                    || queue.lease.has_end()
                    || matches!(queue.lease, Lease::Owner { .. })
            }
            Self::Expired => queue.lease.has_end(),
            Self::Exhausted => queue.attempts.is_some() && queue.max_attempts.is_some(),
            Self::Failed => stored(MappedState::Failed),
            Self::Unknown => matches!(queue.state, RowState::Column { .. }),
            Self::Done => queue.count_done && stored(MappedState::Done),
        }
    }
}

/// One sample of a queue table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueSample {
    /// The database's clock, in milliseconds since 1970-01-01T00:00:00Z.
    pub now_ms: i64,
    /// By value of the queue label.
    pub queues: BTreeMap<String, QueueFacts>,
    /// The claimed jobs; `None` when the mapping names no id.
    pub claims: Option<Vec<Claim>>,
}

/// A claimed job.
#[derive(Debug, Clone, PartialEq, Eq)]
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

/// How the rows of a queue combine to a gauge, and which value it has when there is nothing to combine.
#[derive(Clone, Copy)]
enum Combine {
    /// A count: 0 without rows.
    Sum,
    /// The highest measurement: 0 when there are no jobs to measure, unknown when none could be measured.
    /// The function counts the jobs to measure.
    Highest(fn(&QueueFacts) -> u64),
}

impl Combine {
    fn read(self, row: Row<'_>, column: &str) -> Result<Option<u64>, SourceError> {
        match self {
            Self::Sum => row.count(column).map(Some),
            Self::Highest(_) => row.not_below_zero(column),
        }
    }

    fn add(self, one: Option<u64>, other: Option<u64>) -> Option<u64> {
        match (self, one, other) {
            (Self::Sum, Some(one), Some(other)) => Some(one + other),
            (Self::Sum, one, other) => one.or(other),
            // `None` sorts below every value.
            (Self::Highest(_), one, other) => one.max(other),
        }
    }

    fn total(self, value: Option<u64>, facts: &QueueFacts) -> Option<u64> {
        match self {
            Self::Sum => Some(value.unwrap_or(0)),
            Self::Highest(jobs) if jobs(facts) == 0 => Some(0),
            Self::Highest(_) => value,
        }
    }
}

/// Declares the gauges of a queue. Each is a field of [`QueueFacts`], a column of the statement and, without
/// `_ms`, a metric, all of the same name.
macro_rules! gauges {
    ($($(#[$doc:meta])* $gauge:ident: $combine:expr, where $is_visible:expr;)+) => {
        /// Counts and ages of one queue. A gauge is `None` when the table cannot show it, which is not 0.
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct QueueFacts {
            /// Jobs by state, the visible states only.
            pub jobs: BTreeMap<JobState, u64>,
            $($(#[$doc])* pub $gauge: Option<u64>,)+
        }

        impl QueueFacts {
            /// Each gauge beside [`Self::jobs`], by name. Ages are in milliseconds, and their names end in `_ms`.
            pub fn gauges(&self) -> impl Iterator<Item = (&'static str, Option<u64>)> + use<> {
                [$((stringify!($gauge), self.$gauge)),+].into_iter()
            }

            /// Adds the facts of other rows or of another queue.
            pub(crate) fn add(&mut self, other: Self) {
                for (state, jobs) in other.jobs {
                    *self.jobs.entry(state).or_default() += jobs;
                }
                $(self.$gauge = $combine.add(self.$gauge, other.$gauge);)+
            }

            /// The facts of one row of an answer.
            fn read(state: JobState, row: Row<'_>) -> Result<Self, SourceError> {
                let jobs = BTreeMap::from([(state, row.count("jobs")?)]);
                Ok(Self { jobs, $($gauge: $combine.read(row, stringify!($gauge))?,)+ })
            }

            /// What the table of the queue can show of the sum of its rows.
            fn visible(&self, queue: &Queue) -> Self {
                let visible = JobState::ALL.into_iter().filter(|state| state.is_visible(queue));
                Self {
                    jobs: visible.map(|state| (state, self.of(state))).collect(),
                    $($gauge: {
                        let is_visible: fn(&Queue) -> bool = $is_visible;
                        if is_visible(queue) { $combine.total(self.$gauge, self) } else { None }
                    },)+
                }
            }
        }
    };
}

gauges! {
    /// Age of the oldest ready job since it was both enqueued and available; 0 when none is ready.
    oldest_ready_age_ms: Combine::Highest(|facts| facts.of(JobState::Ready)),
        where |queue| queue.enqueued_at.is_some() || queue.available_at.is_some();
    /// Unfinished rows whose lease lapsed, regardless of their attempts.
    expired_leases: Combine::Sum, where |queue| queue.lease.has_end();
    /// Time since the first of those leases lapsed; 0 when none did.
    oldest_expired_lease_ms: Combine::Highest(|facts| facts.expired_leases.unwrap_or(0)),
        where |queue| queue.lease.has_end();
    /// Age of the longest running attempt; 0 when nothing runs.
    longest_running_ms: Combine::Highest(|facts| facts.of(JobState::Running)),
        where |queue| queue.claimed_at.is_some();
    /// Unfinished jobs that were tried before.
    retrying_jobs: Combine::Sum, where |queue| queue.attempts.is_some();
    /// The highest attempts count among unfinished jobs; 0 when there are none.
    max_attempts: Combine::Highest(QueueFacts::unfinished), where |queue| queue.attempts.is_some();
    /// Unfinished jobs whose enqueue time is in the future.
    future_timestamp_rows: Combine::Sum, where |queue| queue.enqueued_at.is_some();
}

impl QueueFacts {
    fn of(&self, state: JobState) -> u64 {
        self.jobs.get(&state).copied().unwrap_or(0)
    }

    fn rows(&self) -> u64 {
        self.jobs.values().sum()
    }

    fn unfinished(&self) -> u64 {
        let ended = [JobState::Done, JobState::Failed, JobState::Unknown];
        self.rows() - ended.into_iter().map(|state| self.of(state)).sum::<u64>()
    }
}

/// Explains an answer with too many rows, which can only come from the values of the queue label.
pub(super) fn explained(queue: &Queue, error: SourceError) -> SourceError {
    let Some(column) = queue.queue_label.as_ref().filter(|_| error.too_many_rows) else {
        return error;
    };
    let message = format!(
        "{error}, one for each state of each value of the column {column}, the `queue_label`; name a column \
         of few values, or none, or leave rows out with `where`"
    );
    SourceError { message: SourceError::new(error.reason, message).message, ..error }
}

pub(super) fn decode(queue: &Queue, rows: &Rows) -> Result<QueueSample, SourceError> {
    let reader = Reader::new(rows)?;
    let now_ms = reader.first.required_int("now_ms")?;
    let mut totals: BTreeMap<String, QueueFacts> = BTreeMap::new();
    if queue.queue_label.is_none() {
        totals.insert(queue.target.name.clone(), QueueFacts::default());
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
            continue; // the only row of an empty table
        };
        let state =
            JobState::parse(&state).ok_or_else(|| decode_error(format!("the answer has a state {state}")))?;
        totals.entry(name(row)?).or_default().add(QueueFacts::read(state, row)?);
    }
    let visible = |(name, total): (&String, &QueueFacts)| (name.clone(), total.visible(queue));
    let mut queues: BTreeMap<String, QueueFacts> = totals.iter().map(visible).collect();
    if let (Some(committed), None) = (reader.first.int("committed_rows")?, &queue.queue_label) {
        let seen: u64 = totals.values().map(QueueFacts::rows).sum();
        // The two counts are taken one after the other. Rows that arrived in between must not make the
        // difference negative.
        let in_flight = u64::try_from(committed).unwrap_or(0).saturating_sub(seen);
        for facts in queues.values_mut() {
            *facts.jobs.entry(JobState::Running).or_default() += in_flight;
        }
    }
    Ok(QueueSample { now_ms, queues, claims })
}
