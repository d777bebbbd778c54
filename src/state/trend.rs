//! Trends: the last hour of each queue, for the charts of the status page. Bounded, in memory only, and empty
//! after each start.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::sample::{JobState, QueueFacts};

/// How far back a trend goes.
const REACH: Duration = Duration::from_secs(3600);

/// Samples within this time share a point: an hour has as many points as a chart has pixels.
const SLOT: Duration = Duration::from_secs(15);

/// The most points of a trend. Slots alone do not bound it, because each gap begins a new point.
const MOST_POINTS: usize = 240;

/// The trend of one queue.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trend {
    /// Its points, the oldest first.
    pub points: VecDeque<Point>,
    /// The last sample did not find the queue.
    interrupted: bool,
}

/// The samples of one slot. Times are readings of the monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// When the first sample was taken.
    pub from: Duration,
    /// When the last sample was taken.
    pub until: Duration,
    /// The most ready jobs in a sample.
    pub ready: u64,
    /// The highest age of the oldest ready job, in milliseconds; `None` if unknown.
    pub oldest_ready_age_ms: Option<u64>,
    /// A sample between the previous point and this one did not find the queue.
    pub after_interruption: bool,
}

/// Takes the queues of a good sample that was taken at `at`. Keeps at most `max_queues` trends.
pub(super) fn record(
    trends: &mut BTreeMap<String, Trend>,
    queues: &BTreeMap<String, QueueFacts>,
    at: Duration,
    max_queues: usize,
) {
    for (queue, facts) in queues {
        if let Some(ready) = facts.jobs.get(&JobState::Ready) {
            let trend = trends.entry(queue.clone()).or_default();
            trend.record(*ready, facts.oldest_ready_age_ms, at);
        }
    }
    trends.retain(|queue, trend| {
        trend.interrupted |= !queues.contains_key(queue);
        trend.forget(at);
        !trend.points.is_empty()
    });
    while trends.len() > max_queues {
        let last_at = |trend: &Trend| trend.points.back().map(|point| point.until);
        let oldest = trends.iter().min_by_key(|(_, trend)| last_at(trend));
        let Some(oldest) = oldest.map(|(queue, _)| queue.clone()) else { return };
        trends.remove(&oldest);
    }
}

impl Trend {
    fn record(&mut self, ready: u64, oldest_ready_age_ms: Option<u64>, at: Duration) {
        let after_interruption = std::mem::take(&mut self.interrupted);
        match self.points.back_mut() {
            Some(point) if slot(point.from) == slot(at) && !after_interruption => {
                point.until = at;
                point.ready = point.ready.max(ready);
                point.oldest_ready_age_ms = point.oldest_ready_age_ms.max(oldest_ready_age_ms);
            }
            _ => self.points.push_back(Point {
                from: at,
                until: at,
                ready,
                oldest_ready_age_ms,
                after_interruption,
            }),
        }
    }

    fn forget(&mut self, now: Duration) {
        let excess = self.points.len().saturating_sub(MOST_POINTS);
        self.points.drain(..excess);
        while self.points.front().is_some_and(|point| now.saturating_sub(point.until) > REACH) {
            self.points.pop_front();
        }
    }
}

impl Point {
    /// Whether a line may connect the point before to this one: its values were exported all the time in
    /// between, which they are for `stale_after`.
    #[must_use]
    pub fn continues(&self, before: &Self, stale_after: Duration) -> bool {
        !self.after_interruption && self.from.saturating_sub(before.until) <= stale_after
    }
}

fn slot(at: Duration) -> u64 {
    at.as_secs() / SLOT.as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STALE_AFTER: Duration = Duration::from_secs(60);

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn facts(ready: u64, age_ms: Option<u64>) -> QueueFacts {
        let jobs = BTreeMap::from([(JobState::Ready, ready)]);
        QueueFacts { jobs, oldest_ready_age_ms: age_ms, ..QueueFacts::default() }
    }

    fn record(trends: &mut BTreeMap<String, Trend>, at: Duration, queues: &[(&str, u64)]) {
        let queues = queues.iter().map(|(queue, ready)| ((*queue).to_owned(), facts(*ready, Some(*ready))));
        super::record(trends, &queues.collect(), at, 3);
    }

    fn points(trends: &BTreeMap<String, Trend>, queue: &str) -> Vec<(u64, u64, u64)> {
        let points = trends.get(queue).into_iter().flat_map(|trend| &trend.points);
        points.map(|point| (point.from.as_secs(), point.until.as_secs(), point.ready)).collect()
    }

    #[test]
    fn samples_of_one_slot_share_a_point_that_keeps_the_peak() {
        let mut trends = BTreeMap::new();
        for (at, ready) in [(30, 1), (36, 9), (44, 2), (45, 3)] {
            record(&mut trends, seconds(at), &[("a", ready)]);
        }
        assert_eq!(points(&trends, "a"), [(30, 44, 9), (45, 45, 3)]);
    }

    #[test]
    fn an_hour_is_kept_whatever_the_interval() {
        for interval in [1, 15, 60, 600] {
            let mut trends = BTreeMap::new();
            for n in 0..3 * 3600 / interval {
                record(&mut trends, seconds(n * interval), &[("a", n)]);
            }
            let points = points(&trends, "a");
            let last = (3 * 3600 / interval - 1) * interval;
            assert!(points.len() <= MOST_POINTS, "{} at {interval} s", points.len());
            let reach = last - points.first().map_or(last, |point| point.0);
            assert!((3600 - interval.max(15)..=3615).contains(&reach), "{reach} s at {interval} s");
            assert_eq!(points.last().map(|point| point.1), Some(last));
        }
    }

    #[test]
    fn a_line_ends_where_the_values_were_withdrawn() {
        let mut trends = BTreeMap::new();
        for at in [0, 60, 121] {
            record(&mut trends, seconds(at), &[("a", 1)]);
        }
        let points: Vec<Point> =
            trends.get("a").into_iter().flat_map(|trend| &trend.points).copied().collect();
        let [first, second, third] = points.as_slice() else { unreachable!("{points:?}") };
        assert!(second.continues(first, STALE_AFTER), "not older than that");
        assert!(!third.continues(second, STALE_AFTER));
    }

    #[test]
    fn a_line_ends_where_the_queue_had_no_rows() {
        let mut trends = BTreeMap::new();
        record(&mut trends, seconds(0), &[("a", 1), ("b", 1)]);
        record(&mut trends, seconds(1), &[("b", 1)]);
        record(&mut trends, seconds(2), &[("a", 1), ("b", 1)]);
        let points: Vec<Point> =
            trends.get("a").into_iter().flat_map(|trend| &trend.points).copied().collect();
        let [before, after] = points.as_slice() else { unreachable!("{points:?}") };
        assert!(!after.continues(before, STALE_AFTER), "although both are of one slot");
    }

    #[test]
    fn queues_that_come_and_go_are_bounded_and_forgotten() {
        let mut trends = BTreeMap::new();
        for (at, queue) in ["a", "b", "c", "d"].into_iter().enumerate() {
            record(&mut trends, seconds(at as u64), &[(queue, 1)]);
        }
        let names = |trends: &BTreeMap<String, Trend>| trends.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&trends), ["b", "c", "d"], "the one that is gone for longest makes room");
        record(&mut trends, seconds(3602), &[("d", 1)]);
        assert_eq!(names(&trends), ["c", "d"]);
        record(&mut trends, seconds(3603), &[("d", 1)]);
        assert_eq!(names(&trends), ["d"]);
    }

    #[test]
    fn a_queue_that_flickers_does_not_grow_a_trend() {
        let mut trends = BTreeMap::new();
        for n in 0..2_000 {
            let queues: &[(&str, u64)] = if n % 2 == 0 { &[("a", n)] } else { &[] };
            record(&mut trends, Duration::from_millis(n * 100), queues);
        }
        assert_eq!(points(&trends, "a").len(), MOST_POINTS);
    }

    #[test]
    fn an_age_that_is_not_known_is_not_zero() {
        let mut trends = BTreeMap::new();
        super::record(&mut trends, &BTreeMap::from([("a".to_owned(), facts(1, None))]), seconds(0), 3);
        let ages = trends
            .get("a")
            .into_iter()
            .flat_map(|trend| &trend.points)
            .map(|point| point.oldest_ready_age_ms);
        assert_eq!(ages.collect::<Vec<_>>(), [None]);
    }
}
