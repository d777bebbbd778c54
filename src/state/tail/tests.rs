#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::time::Duration;

use super::missing::MOST_RANGES;
use super::{Progress, Reading, Stage, Tail, TailRow};
use crate::sample::Bounds;
use crate::statement::TailRequest;

const NOW_MS: i64 = 1_796_040_000_000;
const READING: Reading = Reading {
    late_window: Duration::from_secs(600),
    open_window: Duration::from_secs(3_600),
    batch_size: 100,
    misses_rows: true,
};

fn rows(ids: impl IntoIterator<Item = i64>, stage: Stage) -> Vec<TailRow> {
    ids.into_iter().map(|id| TailRow { id, stage }).collect()
}

/// The bounds of a table that shows these rows, lowest and highest id, a second apart from id to id, and
/// the time of the lowest.
fn bounds(ids: (i64, i64), oldest_ms: Option<i64>) -> Bounds {
    let newest_ms = oldest_ms.map(|ms| ms + (ids.1 - ids.0) * 1_000);
    Bounds { oldest_id: Some(ids.0), oldest_ms, newest_id: Some(ids.1), newest_ms, latest_ms: None }
}

const NO_ROWS: Bounds =
    Bounds { oldest_id: None, oldest_ms: None, newest_id: None, newest_ms: None, latest_ms: None };

/// A tail that has begun at the end of an empty table.
fn begun() -> Tail {
    let mut tail = Tail::default();
    tail.accept(&[], NO_ROWS, NOW_MS, READING);
    tail
}

fn gaps(tail: &Tail, batch_size: u32) -> Vec<(i64, i64)> {
    match tail.request(batch_size) {
        TailRequest::After { gaps, .. } => gaps,
        TailRequest::Head => Vec::new(),
    }
}

impl Tail {
    /// A sample that finds no new rows.
    fn see(&mut self, bounds: Bounds) -> Progress {
        self.accept(&[], bounds, NOW_MS, READING)
    }
}

/// A tail that has read rows 1 to 3, the first of which is of the time 1000, if rows have times.
fn having_read_three(timed: bool) -> Tail {
    let mut tail = begun();
    let progress =
        tail.accept(&rows(1..=3, Stage::Over), bounds((1, 3), timed.then_some(1_000)), NOW_MS, READING);
    assert_eq!(progress.count, [0, 1, 2]);
    tail
}

#[test]
fn rows_that_come_back_after_a_sample_that_saw_none_are_the_same_rows() {
    for timed in [true, false] {
        let mut tail = having_read_three(timed);
        assert!(!tail.see(NO_ROWS).reset);
        let progress = tail.see(bounds((1, 2), timed.then_some(1_000)));
        assert!(!progress.reset, "timed: {timed}");
    }
}

#[test]
fn rows_that_come_back_while_the_newest_is_locked_are_the_same_rows() {
    for timed in [true, false] {
        let mut tail = having_read_three(timed);
        tail.see(bounds((3, 3), timed.then_some(3_000)));
        assert!(!tail.see(bounds((1, 2), timed.then_some(1_000))).reset, "timed: {timed}");
        assert!(!tail.see(bounds((2, 2), timed.then_some(2_000))).reset, "timed: {timed}");
    }
}

#[test]
fn a_table_that_was_truncated_is_found_out_though_it_was_empty_for_a_while() {
    let mut tail = having_read_three(true);
    assert!(!tail.see(NO_ROWS).reset);
    let younger = bounds((1, 2), Some(9_000));
    let progress = tail.see(younger);
    assert!(progress.reset && progress.more);
    let progress = tail.accept(&rows(1..=2, Stage::Over), younger, NOW_MS, READING);
    assert_eq!((progress.count, progress.reset), (vec![0, 1], false));
}

#[test]
fn rows_that_are_gone_from_the_end_are_told_once_and_a_row_that_is_locked_for_a_moment_is_not() {
    let told = |misses_rows: bool, newest: &[i64]| {
        let reading = Reading { misses_rows, ..READING };
        let mut tail = having_read_three(false);
        newest
            .iter()
            .map(|id| tail.accept(&[], bounds((1, *id), None), NOW_MS, reading).lost_end)
            .collect::<Vec<_>>()
    };
    assert_eq!(told(false, &[3, 2, 2, 3, 1]), [false, true, false, false, true]);
    assert_eq!(
        told(true, &[2, 3, 2, 2, 3, 1, 1, 2, 1]),
        [false, false, false, false, false, false, false, true, false]
    );
}

#[test]
fn of_a_single_younger_row_the_next_one_decides_whether_the_table_is_another() {
    let mut tail = having_read_three(true);
    // Written anew, or the first of another table.
    assert!(!tail.see(bounds((1, 1), Some(9_000))).reset);
    assert!(!tail.see(bounds((1, 1), Some(9_000))).reset);
    assert!(tail.see(bounds((1, 2), Some(9_000))).reset);
}

#[test]
fn a_row_whose_time_is_written_anew_does_not_make_another_table() {
    let mut tail = having_read_three(true);
    // Row 3 is purged, and row 1 put back to now.
    let restamped = Bounds { oldest_ms: Some(9_000), newest_ms: Some(2_000), ..bounds((1, 2), None) };
    assert!(!tail.see(restamped).reset);
}

#[test]
fn times_that_are_not_in_the_order_of_the_ids_do_not_make_another_table() {
    let mut tail = begun();
    // Rows 1 and 2 are steps of the run that row 3 sums up, whose start comes before theirs.
    let run = Bounds { latest_ms: Some(5_000), newest_ms: Some(1_000), ..bounds((1, 3), Some(4_000)) };
    tail.accept(&rows(1..=3, Stage::Over), run, NOW_MS, READING);
    assert!(!tail.see(bounds((1, 2), Some(4_000))).reset);
}

#[test]
fn a_time_to_come_does_not_hide_that_a_table_started_over() {
    let mut tail = begun();
    let ahead = Bounds { latest_ms: Some(i64::MAX), ..bounds((1, 3), Some(1_000)) };
    tail.accept(&rows(1..=3, Stage::Over), ahead, NOW_MS, READING);
    assert!(!tail.see(bounds((1, 2), Some(1_000))).reset);
    assert!(tail.see(bounds((1, 2), Some(NOW_MS + 1_000))).reset);
}

#[test]
fn a_table_that_was_truncated_is_found_out_though_its_first_ids_are_not_there() {
    let mut tail = having_read_three(true);
    tail.accept(&rows(4..=3_000, Stage::Over), bounds((1, 3_000), Some(1_000)), NOW_MS, READING);
    assert!(tail.see(bounds((2, 10), Some(4_000_000))).reset);
}

#[test]
fn where_no_row_is_missed_a_table_that_was_empty_has_other_rows() {
    for misses_rows in [false, true] {
        let reading = Reading { misses_rows, ..READING };
        let mut tail = having_read_three(false);
        tail.accept(&[], NO_ROWS, NOW_MS, reading);
        let progress = tail.accept(&[], bounds((1, 2), None), NOW_MS, reading);
        assert_eq!(progress.reset, !misses_rows);
    }
    // Unless they are newer.
    let mut tail = having_read_three(false);
    let reading = Reading { misses_rows: false, ..READING };
    tail.accept(&[], NO_ROWS, NOW_MS, reading);
    let progress = tail.accept(&rows([4], Stage::Over), bounds((4, 4), None), NOW_MS, reading);
    assert_eq!((progress.reset, progress.count), (false, vec![0]));
    assert!(!tail.accept(&[], bounds((4, 4), None), NOW_MS, reading).reset);
}

#[test]
fn a_saved_state_that_does_not_say_what_was_seen_does_not_make_another_table() {
    let mut tail = having_read_three(false);
    tail.see(NO_ROWS);
    let mut saved = serde_json::to_value(&tail).unwrap();
    saved.as_object_mut().unwrap().remove("known").unwrap();
    let mut tail: Tail = serde_json::from_value(saved).unwrap();
    assert!(!tail.see(bounds((1, 2), None)).reset);
}

#[test]
fn without_times_only_ids_below_all_that_were_seen_are_other_rows() {
    let mut tail = Tail::default();
    tail.accept(&rows(5_000..=5_003, Stage::Over), bounds((5_000, 5_003), None), NOW_MS, READING);
    // Retention, or a lock.
    assert!(!tail.see(bounds((5_002, 5_003), None)).reset);
    assert!(!tail.see(bounds((5_000, 5_001), None)).reset);
    assert!(tail.see(bounds((1, 2), None)).reset);
}

#[test]
fn rows_on_their_way_when_a_table_started_over_are_awaited() {
    let mut tail = Tail::default();
    tail.accept(&rows(5_000..=5_003, Stage::Over), bounds((5_000, 5_003), Some(1_000)), NOW_MS, READING);
    // Row 1 is not committed yet.
    let younger = bounds((2, 2), Some(9_000));
    assert!(tail.see(younger).reset);
    let progress = tail.accept(&rows([2], Stage::Over), younger, NOW_MS, READING);
    assert_eq!((progress.count, progress.late), (vec![0], 0));
    let progress = tail.accept(&rows([1], Stage::Over), bounds((1, 2), Some(8_000)), NOW_MS, READING);
    assert_eq!((progress.count, progress.late), (vec![0], 1));
}

#[test]
fn a_foreign_row_is_done_with_and_only_ids_that_were_not_there_are_missing() {
    let mut tail = begun();
    let mut seen = rows([1, 2, 4, 5], Stage::Foreign);
    seen.push(TailRow { id: 7, stage: Stage::Over });
    let progress = tail.accept(&seen, bounds((1, 7), None), NOW_MS, READING);
    assert_eq!(progress.count, [4]);
    assert_eq!(tail.watermark, Some(7));
    let missing: Vec<_> = tail.missing.iter().map(|range| (range.first, range.last)).collect();
    assert_eq!(missing, [(3, 3), (6, 6)]);
    // A foreign row that comes late is no late row, and is not asked for again.
    let progress = tail.accept(&rows([3], Stage::Foreign), bounds((1, 7), None), NOW_MS, READING);
    assert_eq!((progress.count, progress.late), (vec![], 0));
    assert_eq!(gaps(&tail, 100), [(6, 6)]);
}

#[test]
fn a_batch_of_foreign_rows_moves_the_watermark_and_reading_goes_on_at_once() {
    let mut tail = begun();
    let progress = tail.accept(&rows(1..=100, Stage::Foreign), bounds((1, 900), None), NOW_MS, READING);
    assert!(progress.more);
    assert_eq!(tail.request(100), TailRequest::After { watermark: 100, gaps: Vec::new() });
}

#[test]
fn ids_that_were_burned_between_rows_are_asked_for_together() {
    let mut tail = begun();
    // Of ten ids one is used: 300 ranges of nine ids each.
    let used = (1..=300).map(|number| number * 10);
    let reading = Reading { batch_size: 1_000, ..READING };
    tail.accept(&rows(used, Stage::Over), bounds((10, 3_000), None), NOW_MS, reading);
    // All of them hold fewer rows than a sample may look at, in as many ranges as it may ask for.
    let gaps = gaps(&tail, 1_000);
    assert_eq!((gaps.first().unwrap().0, gaps.last().unwrap().1), (1, 2_999));
    assert!(gaps.len() <= 16, "{gaps:?}");
}

#[test]
fn what_is_asked_for_leaves_room_for_rows_that_are_late() {
    let reading = Reading { batch_size: 16, ..READING };
    let mut tail = begun();
    tail.accept(&rows((1..=20).map(|id| id * 2), Stage::Open), bounds((2, 40), None), NOW_MS, reading);
    for _ in 0..10 {
        let gaps = gaps(&tail, 16);
        let open =
            (1..=20).filter(|id| gaps.iter().any(|(first, last)| (*first..=*last).contains(&(id * 2))));
        assert!(open.count() < 16, "{gaps:?}");
        tail.accept(&[], bounds((2, 40), None), NOW_MS, reading);
    }
}

#[test]
fn ids_are_given_up_early_only_when_there_are_too_many_ranges_and_that_is_told_apart() {
    let most = i64::try_from(MOST_RANGES).unwrap();
    let reading = Reading { batch_size: 100_000, ..READING };
    let mut tail = begun();
    let used = (1..=most).map(|number| number * 2);
    let progress = tail.accept(&rows(used, Stage::Over), bounds((2, most * 2), None), NOW_MS, reading);
    assert_eq!((progress.crowded_out, progress.abandoned), (vec![], vec![]));
    let next = rows([most * 2 + 2, most * 2 + 4], Stage::Over);
    let progress = tail.accept(&next, bounds((2, most * 2 + 4), None), NOW_MS, reading);
    assert_eq!((progress.crowded_out, progress.abandoned), (vec![(1, 1), (3, 3)], vec![]));
    // The others have their time.
    let later_ms = NOW_MS + 601_000;
    let progress = tail.accept(&[], bounds((2, most * 2 + 4), None), later_ms, reading);
    assert_eq!(progress.crowded_out, []);
    assert_eq!(progress.abandoned.first(), Some(&(5, 5)));
}
