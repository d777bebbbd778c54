//! Formatting: numbers, durations, times and names.

use std::time::Duration;

use minijinja::Value;
use minijinja::value::Serde;
use serde::Serialize;
use time::OffsetDateTime;

/// Times closer to now than this read `just now`.
const JUST_NOW: Duration = Duration::from_secs(1);

/// A point in time, and how long ago it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Moment {
    /// `2026-11-30T12:00:05Z`; empty when it is outside the calendar.
    pub(super) datetime: String,
    /// `2026-11-30 12:00:05 UTC`.
    pub(super) text: String,
    /// `5 s ago`, `just now`, or `in 5 s` for a time in the future.
    pub(super) ago: String,
}

impl Moment {
    /// The time `at_ms` seen at `now_ms`, both of one clock in milliseconds since the epoch.
    pub(super) fn new(at_ms: i64, now_ms: i64) -> Self {
        let (datetime, text) = match OffsetDateTime::from_unix_timestamp(at_ms.div_euclid(1_000)) {
            Ok(at) => {
                let date = format!("{:04}-{:02}-{:02}", at.year(), u8::from(at.month()), at.day());
                let time = format!("{:02}:{:02}:{:02}", at.hour(), at.minute(), at.second());
                (format!("{date}T{time}Z"), format!("{date} {time} UTC"))
            }
            Err(_) => (String::new(), format!("{at_ms} ms since 1970")),
        };
        let apart = Duration::from_millis(now_ms.abs_diff(at_ms));
        let ago = if apart < JUST_NOW {
            "just now".to_owned()
        } else if at_ms > now_ms {
            format!("in {}", span(apart))
        } else {
            format!("{} ago", span(apart))
        };
        Self { datetime, text, ago }
    }
}

impl From<Moment> for Value {
    fn from(moment: Moment) -> Self {
        Self::from(Serde(moment))
    }
}

/// A count with its digits in groups of three.
pub(super) fn count(count: u64) -> String {
    let digits = count.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A count with its noun in the right form.
pub(super) fn counted(number: u64, singular: &str, plural: &str) -> String {
    format!("{} {}", count(number), if number == 1 { singular } else { plural })
}

/// A duration in its two largest units: `350 ms`, `4.2 s`, `5 min 3 s`, `2 h`, `3 d 4 h`. It is rounded
/// down, so that no age is overstated.
pub(super) fn span(span: Duration) -> String {
    let ms = span.as_millis();
    let (seconds, minutes, hours, days) = (ms / 1_000, ms / 60_000, ms / 3_600_000, ms / 86_400_000);
    match ms {
        0 => "0 s".to_owned(),
        1..1_000 => format!("{ms} ms"),
        1_000..10_000 if ms % 1_000 >= 100 => format!("{seconds}.{} s", ms % 1_000 / 100),
        1_000..60_000 => format!("{seconds} s"),
        60_000..3_600_000 => with_rest(format!("{minutes} min"), seconds % 60, "s"),
        3_600_000..86_400_000 => with_rest(format!("{hours} h"), minutes % 60, "min"),
        _ => with_rest(format!("{days} d"), hours % 24, "h"),
    }
}

fn with_rest(whole: String, rest: u128, unit: &str) -> String {
    if rest == 0 { whole } else { format!("{whole} {rest} {unit}") }
}

/// A duration in milliseconds, as [`span`].
pub(super) fn span_ms(ms: u64) -> String {
    span(Duration::from_millis(ms))
}

/// A value in its unit: seconds as a duration, a number as a count.
pub(super) fn value(value: f64, is_duration: bool) -> String {
    if is_duration {
        return span(Duration::try_from_secs_f64(value).unwrap_or(Duration::MAX));
    }
    count(value.round() as u64)
}

/// A count as a number.
pub(super) fn number(count: u64) -> f64 {
    count as f64
}

/// Milliseconds in seconds.
pub(super) fn seconds(ms: u64) -> f64 {
    // The way in which objectives are converted, so that equal times are equal numbers.
    Duration::from_millis(ms).as_secs_f64()
}

/// The time from `at_ms` to `now_ms`; 0 for a time in the future.
pub(super) fn since(at_ms: i64, now_ms: i64) -> Duration {
    Duration::from_millis(u64::try_from(now_ms.saturating_sub(at_ms)).unwrap_or(0))
}

/// The kind of a target in words, from its [label](crate::state::TargetState::label).
pub(super) fn kind(label: &str) -> String {
    label.replace('_', " ")
}

/// Text from a table or the configuration, with the replacement character for characters that are invisible
/// or not allowed in HTML.
pub(super) fn visible(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_has_its_two_largest_units() {
        for (ms, text) in [
            (0, "0 s"),
            (1, "1 ms"),
            (999, "999 ms"),
            (1_000, "1 s"),
            (1_099, "1 s"),
            (4_299, "4.2 s"),
            (10_999, "10 s"),
            (59_999, "59 s"),
            (60_000, "1 min"),
            (303_000, "5 min 3 s"),
            (3_599_999, "59 min 59 s"),
            (7_200_000, "2 h"),
            (7_500_000, "2 h 5 min"),
            (86_400_000, "1 d"),
            (2_592_000_000 + 7_200_000, "30 d 2 h"),
        ] {
            assert_eq!(span_ms(ms), text, "{ms}");
        }
        assert_eq!(span(Duration::MAX), "213503982334601 d 7 h");
    }

    #[test]
    fn a_count_has_groups_of_three() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (12_345_678, "12,345,678")] {
            assert_eq!(count(number), text);
        }
        assert_eq!(counted(1, "job", "jobs"), "1 job");
        assert_eq!(counted(2_000, "job", "jobs"), "2,000 jobs");
    }

    #[test]
    fn a_moment_is_readable_by_machines_and_by_people() {
        let moment = Moment::new(1_796_040_000_000, 1_796_040_005_900);
        assert_eq!(moment.datetime, "2026-11-30T12:00:00Z");
        assert_eq!(moment.text, "2026-11-30 12:00:00 UTC");
        assert_eq!(moment.ago, "5.9 s ago");
        assert_eq!(Moment::new(2_000, 1_000).ago, "in 1 s");
        assert_eq!(Moment::new(1_000, 1_999).ago, "just now");
        assert_eq!(Moment::new(1_999, 1_000).ago, "just now");
        assert_eq!(Moment::new(-1, 0).text, "1969-12-31 23:59:59 UTC");
    }

    #[test]
    fn a_moment_outside_every_calendar_is_a_number() {
        for at_ms in [i64::MIN, i64::MAX] {
            let moment = Moment::new(at_ms, 0);
            assert_eq!((moment.datetime.as_str(), moment.text), ("", format!("{at_ms} ms since 1970")));
        }
    }

    #[test]
    fn what_cannot_be_seen_is_replaced() {
        assert_eq!(visible("a\0b\nc\u{85}d żółw"), "a\u{fffd}b\u{fffd}c\u{fffd}d żółw");
    }
}
