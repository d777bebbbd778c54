//! Charts: the geometry of lines, which templates draw.
//!
//! Every chart is [`WIDTH`] wide and [`HEIGHT`] high, and is stretched to the space it has.

use std::fmt::Write as _;
use std::time::Duration;

use crate::state::{Point, Trend};

/// The width of a chart, in units of its coordinates.
pub(super) const WIDTH: f64 = 600.0;

/// Its height.
pub(super) const HEIGHT: f64 = 80.0;

/// The periods that a chart can show, with their names. The shortest one that contains all points is used,
/// so that an exporter that has just started does not show an empty hour.
const WINDOWS: [(Duration, &str, &str); 4] = [
    (Duration::from_secs(60), "minute", "1 minute"),
    (Duration::from_secs(300), "5 minutes", "5 minutes"),
    (Duration::from_secs(900), "15 minutes", "15 minutes"),
    LONGEST,
];
const LONGEST: (Duration, &str, &str) = (Duration::from_secs(3600), "hour", "1 hour");

/// The period that all charts of a page show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    now: Duration,
    length: Duration,
    /// `hour` or `5 minutes`, for "the last hour".
    pub(super) name: &'static str,
    /// `1 hour` or `5 minutes`, for "1 hour ago".
    pub(super) length_name: &'static str,
}

/// A line and the area below it, as SVG paths.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) line: String,
    pub(super) area: String,
    /// Whether the line is interrupted.
    pub(super) has_gap: bool,
}

impl Window {
    /// The window of a page at `now`, for points since `oldest`.
    pub(super) fn new(now: Duration, oldest: Option<Duration>) -> Self {
        let reach = oldest.map_or(Duration::ZERO, |oldest| now.saturating_sub(oldest));
        let fits = WINDOWS.into_iter().find(|(length, ..)| reach <= *length);
        let (length, name, length_name) = fits.unwrap_or(LONGEST);
        Self { now, length, name, length_name }
    }

    /// The position of a time, from 0 on the left to [`WIDTH`] on the right.
    fn x(&self, at: Duration) -> f64 {
        let ago = self.now.saturating_sub(at).as_secs_f64() / self.length.as_secs_f64();
        WIDTH * (1.0 - ago.min(1.0))
    }
}

/// The line of one value of a trend, which ends at `until`; `top` is the value at the upper edge. It is
/// interrupted by a point without the value and by a period without samples.
pub(super) fn line(
    trend: &Trend,
    window: &Window,
    stale_after: Duration,
    until: Option<Duration>,
    top: f64,
    value: impl Fn(&Point) -> Option<f64>,
) -> Line {
    let mut segments: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut before: Option<&Point> = None;
    for point in &trend.points {
        let Some(value) = value(point) else {
            before = None;
            continue;
        };
        let y = height_of(value, top);
        let corners = [(window.x(point.from), y), (window.x(point.until), y)];
        match segments.last_mut() {
            Some(segment) if before.is_some_and(|before| point.continues(before, stale_after)) => {
                segment.extend(corners);
            }
            _ => segments.push(corners.to_vec()),
        }
        before = Some(point);
    }
    // The last value is exported until it is withdrawn.
    if let (Some(until), Some(_), Some(segment)) = (until, before, segments.last_mut())
        && let Some((_, y)) = segment.last().copied()
    {
        segment.push((window.x(until), y));
    }
    let mut line = Line { has_gap: segments.len() > 1, ..Line::default() };
    for segment in &segments {
        line.add(segment);
    }
    line
}

/// The distance between a value and the upper edge.
pub(super) fn height_of(value: f64, top: f64) -> f64 {
    if top > 0.0 { HEIGHT * (1.0 - (value / top).clamp(0.0, 1.0)) } else { HEIGHT }
}

impl Line {
    /// Adds an uninterrupted part.
    fn add(&mut self, corners: &[(f64, f64)]) {
        let (Some((left, _)), Some((right, _))) = (corners.first(), corners.last()) else {
            return;
        };
        for (index, (x, y)) in corners.iter().enumerate() {
            // Writing to a String cannot fail.
            let _ = write!(self.line, "{}{x:.1} {y:.1}", if index == 0 { "M" } else { "L" });
        }
        if right - left < 1.0 {
            // A single sample would have no width, and would not be drawn.
            self.line.push_str("h1");
        }
        let _ = write!(self.area, "M{left:.1} {HEIGHT}");
        for (x, y) in corners {
            let _ = write!(self.area, "L{x:.1} {y:.1}");
        }
        let _ = write!(self.area, "L{right:.1} {HEIGHT}Z");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn the_shortest_window_that_holds_everything_is_used() {
        let name = |oldest| Window::new(seconds(10_000), oldest).name;
        assert_eq!(name(None), "minute");
        assert_eq!(name(Some(seconds(9_940))), "minute");
        assert_eq!(name(Some(seconds(9_939))), "5 minutes");
        assert_eq!(name(Some(seconds(9_700))), "5 minutes");
        assert_eq!(name(Some(seconds(9_699))), "15 minutes");
        assert_eq!(name(Some(seconds(9_099))), "hour");
        assert_eq!(name(Some(seconds(0))), "hour");
    }

    #[test]
    fn the_present_is_on_the_right_and_what_is_too_old_on_the_left() {
        let window = Window::new(seconds(10_000), Some(seconds(9_700)));
        for (at, x) in [(10_000, WIDTH), (9_850, WIDTH / 2.0), (9_700, 0.0), (0, 0.0)] {
            assert!((window.x(seconds(at)) - x).abs() < 1e-9, "{at}");
        }
    }

    #[test]
    fn a_value_has_its_height_and_never_leaves_the_chart() {
        for (value, top, y) in [(0.0, 10.0, HEIGHT), (10.0, 10.0, 0.0), (5.0, 10.0, 40.0), (11.0, 10.0, 0.0)]
        {
            assert!((height_of(value, top) - y).abs() < 1e-9, "{value}");
        }
        assert!((height_of(0.0, 0.0) - HEIGHT).abs() < 1e-9);
    }

    #[test]
    fn one_sample_can_be_seen() {
        let mut line = Line::default();
        line.add(&[(600.0, 40.0), (600.0, 40.0)]);
        assert_eq!(line.line, "M600.0 40.0L600.0 40.0h1");
        assert_eq!(line.area, "M600.0 80L600.0 40.0L600.0 40.0L600.0 80Z");
        line.add(&[]);
        assert!(!line.line.ends_with('M'));
    }
}
