//! Durations as Prometheus writes them: `15s`, `500ms`, `1h30m`.

use std::time::Duration;

use serde::Serializer;

/// An hour.
pub(crate) const HOUR: Duration = Duration::from_secs(3600);
/// A day of 24 hours.
pub(crate) const DAY: Duration = Duration::from_secs(24 * 3600);

/// Units from the longest to the shortest, which is also the order within a duration.
/// A year has 365 days.
const UNITS: [(&str, u64); 7] = [
    ("y", 31_536_000_000),
    ("w", 604_800_000),
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1_000),
    ("ms", 1),
];

/// Reads a duration such as `1h30m`.
///
/// # Errors
/// What is wrong, without the key: a missing or unknown unit, units out of order, an overflow.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("a duration needs a unit; write `{text}s` for seconds"));
    }
    let mut rest = text;
    let mut total: u64 = 0;
    let mut units = UNITS.iter();
    while !rest.is_empty() {
        let (digits, after) = split_at_first(rest, |c| !c.is_ascii_digit());
        let (unit, after) = split_at_first(after, |c| c.is_ascii_digit());
        if digits.is_empty() || unit.is_empty() {
            return Err(invalid(text));
        }
        let Some((_, ms)) = units.find(|(name, _)| *name == unit) else {
            return Err(unit_not_here(text, unit));
        };
        // There are only digits, so a number that cannot be read is too large.
        total = digits
            .parse::<u64>()
            .ok()
            .and_then(|number| number.checked_mul(*ms))
            .and_then(|part| total.checked_add(part))
            .ok_or_else(|| format!("`{text}` is too long"))?;
        rest = after;
    }
    if text.is_empty() {
        return Err(invalid(text));
    }
    Ok(Duration::from_millis(total))
}

/// Writes a duration the way [`parse`] reads it; fractions of a millisecond are dropped.
pub(crate) fn text(duration: Duration) -> String {
    let mut rest = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let mut out = String::new();
    // Years, weeks and days are read but not written: `36h` is clearer than `1d12h` beside a timeout.
    for (unit, ms) in UNITS.iter().skip(3) {
        let count = rest / ms;
        rest %= ms;
        if count > 0 {
            out.push_str(&format!("{count}{unit}"));
        }
    }
    if out.is_empty() { "0s".to_owned() } else { out }
}

/// Serializes a duration as [`text`].
///
/// # Errors
/// Those of the serializer.
pub(crate) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&text(*duration))
}

fn invalid(text: &str) -> String {
    format!("`{text}` is not a duration; write for example `500ms`, `15s`, `10m` or `1h30m`")
}

/// Why a unit may not come here.
fn unit_not_here(text: &str, unit: &str) -> String {
    let known = UNITS.map(|(name, _)| format!("`{name}`")).join(", ");
    if UNITS.iter().any(|(name, _)| *name == unit) {
        format!("`{text}` has its units out of order; each appears at most once, from the longest: {known}")
    } else if unit.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        format!("`{text}` has the unknown unit `{unit}`; units are {known}")
    } else {
        invalid(text)
    }
}

fn split_at_first(text: &str, stop: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(stop).unwrap_or(text.len()))
}
