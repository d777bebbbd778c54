//! Reclaims: jobs that were claimed again after their lease lapsed, found by comparing samples of a queue
//! whose table keeps no history.
//!
//! A reclaim is a job with a lapsed lease in one sample and more claims in a later one. A job that lapsed, or
//! was reclaimed and finished, between two samples leaves no trace, so the count is a lower bound. An attempt
//! history is exact.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::labels::LabelValues;
use crate::limits::CLAIMS_PER_SAMPLE;
use crate::sample::Claim;

/// The most jobs that are followed; beyond it the longest followed are dropped.
const MOST_FOLLOWED: usize = 4 * CLAIMS_PER_SAMPLE;

/// The count, and the jobs that are followed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reclaims {
    /// By value of the label `queue`.
    pub counts: BTreeMap<String, u64>,
    labels: LabelValues,
    /// Jobs with a lapsed lease, the first seen first.
    followed: Vec<Followed>,
}

/// A job whose lease has lapsed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Followed {
    id: String,
    /// How often it had been claimed when the lease lapsed.
    attempts: u64,
}

impl Reclaims {
    /// Starts the counts of these queues at 0.
    pub(super) fn declare<'a>(&mut self, queues: impl IntoIterator<Item = &'a String>, max: usize) {
        for queue in queues {
            let queue = self.labels.admit(queue, max).to_owned();
            self.counts.entry(queue).or_default();
        }
    }

    /// Takes the claimed jobs of a sample.
    pub(super) fn apply(&mut self, claims: &[Claim], max_label_values: usize) {
        // A full list may lack a job that is followed; what became of that job is unknown.
        let is_complete = claims.len() < CLAIMS_PER_SAMPLE;
        let listed: HashMap<&str, &Claim> = claims.iter().map(|claim| (claim.id.as_str(), claim)).collect();
        let before: HashSet<String> = self.followed.iter().map(|job| job.id.clone()).collect();
        self.followed.retain_mut(|job| {
            let Some(claim) = listed.get(job.id.as_str()) else {
                return is_complete; // it is waiting to be claimed, or is gone
            };
            if claim.attempts > job.attempts {
                let queue = self.labels.admit(&claim.queue, max_label_values).to_owned();
                *self.counts.entry(queue).or_default() += 1;
            }
            job.attempts = claim.attempts;
            // After a late heartbeat the same claim has a live lease, and there is nothing to follow.
            claim.lapsed
        });
        let new = claims.iter().filter(|claim| claim.lapsed && !before.contains(&claim.id));
        self.followed.extend(new.map(|claim| Followed { id: claim.id.clone(), attempts: claim.attempts }));
        let excess = self.followed.len().saturating_sub(MOST_FOLLOWED);
        self.followed.drain(..excess);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(id: &str, attempts: u64, lapsed: bool) -> Claim {
        Claim { queue: "q".to_owned(), id: id.to_owned(), attempts, lapsed }
    }

    /// The count after these samples.
    fn count(samples: &[&[Claim]]) -> u64 {
        let mut reclaims = Reclaims::default();
        reclaims.declare([&"q".to_owned()], 10);
        for sample in samples {
            reclaims.apply(sample, 10);
        }
        reclaims.counts.values().sum()
    }

    #[test]
    fn a_lapsed_job_that_is_claimed_again_is_one_reclaim() {
        assert_eq!(count(&[&[claim("1", 1, true)], &[claim("1", 2, false)], &[claim("1", 2, false)]]), 1);
    }

    #[test]
    fn a_job_that_is_put_back_first_counts_when_it_is_claimed() {
        assert_eq!(count(&[&[claim("1", 1, true)], &[], &[], &[claim("1", 2, false)]]), 1);
    }

    #[test]
    fn a_job_that_lapses_again_and_again_counts_each_time() {
        assert_eq!(count(&[&[claim("1", 1, true)], &[claim("1", 2, true)], &[claim("1", 3, true)]]), 2);
    }

    #[test]
    fn a_heartbeat_that_comes_late_is_no_reclaim_even_when_the_job_fails_later() {
        assert_eq!(count(&[&[claim("1", 1, true)], &[claim("1", 1, false)], &[claim("1", 2, false)]]), 0);
    }

    #[test]
    fn a_retry_of_a_job_whose_lease_never_lapsed_is_no_reclaim() {
        assert_eq!(count(&[&[claim("1", 1, false)], &[claim("1", 2, false)]]), 0);
    }

    #[test]
    fn a_job_that_falls_off_a_full_list_is_let_go() {
        let full: Vec<Claim> =
            (0..CLAIMS_PER_SAMPLE).map(|n| claim(&format!("other {n}"), 1, false)).collect();
        assert_eq!(count(&[&[claim("1", 1, true)], &full, &[claim("1", 2, false)]]), 0);
    }

    #[test]
    fn the_jobs_that_are_followed_are_bounded() {
        let mut reclaims = Reclaims::default();
        for round in 0..6 {
            let lapsed: Vec<Claim> =
                (0..CLAIMS_PER_SAMPLE - 1).map(|n| claim(&format!("{round} {n}"), 1, true)).collect();
            reclaims.apply(&lapsed, 10);
        }
        assert_eq!(reclaims.followed.len(), MOST_FOLLOWED);
        assert_eq!(reclaims.followed.last().map(|job| job.id.as_str()), Some("5 998"), "the newest are kept");
    }
}
