//! The value of one objective: what the file says, what holds otherwise, and whether it can.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::config::objectives::Ratio;
use crate::yaml::{Bounds, Checker};
use crate::yaml::{Constant, Field, Located, Location, ScalarOr, Setting};

/// The word for no objective.
const NONE: &str = "none";

/// What the file says of an objective.
enum Said<T> {
    /// Nothing, or what is wrong and was reported.
    Nothing,
    /// That there is none.
    None,
    /// What it is, and where.
    Value(T, Location),
}

/// A duration that may not be exceeded. `lacking` says what a table lacks that cannot be held to it.
pub(super) fn age(
    checker: &mut Checker<'_>,
    field: Field<String>,
    bounds: Bounds,
    default: Option<Duration>,
    lacking: Option<&str>,
) -> Option<Duration> {
    let said = match field {
        Setting::Null => Said::None,
        Setting::Set(value) if value.value == NONE => Said::None,
        field => match checker.duration(field, bounds) {
            Ok(Some((age, at))) => Said::Value(age, at),
            Ok(None) | Err(()) => Said::Nothing,
        },
    };
    in_force(checker, said, default, lacking)
}

/// A whole number that may not be exceeded.
pub(super) fn count(
    checker: &mut Checker<'_>,
    field: Field<Constant>,
    range: RangeInclusive<u32>,
    default: Option<u32>,
    lacking: Option<&str>,
) -> Option<u32> {
    let said = number(checker, field, "a whole number", |value| match value {
        ScalarOr::Integer(number) => {
            let count = u32::try_from(*number).ok().filter(|number| range.contains(number));
            Some(count.ok_or_else(|| outside(number, &range)))
        }
        _ => None,
    });
    in_force(checker, said, default, lacking)
}

/// A ratio that may not be exceeded.
pub(super) fn ratio(
    checker: &mut Checker<'_>,
    field: Field<Constant>,
    range: RangeInclusive<u32>,
    default: Option<Ratio>,
    lacking: Option<&str>,
) -> Option<Ratio> {
    let said = number(checker, field, "a number", |value| {
        let number = match value {
            #[allow(clippy::cast_precision_loss, reason = "what is not exact is far out of the range")]
            ScalarOr::Integer(number) => *number as f64,
            ScalarOr::Decimal(number) => *number,
            _ => return None,
        };
        let (least, most) = (f64::from(*range.start()), f64::from(*range.end()));
        let ratio = Some(number).filter(|number| (least..=most).contains(number)).and_then(Ratio::near);
        Some(ratio.ok_or_else(|| outside(&number, &range)))
    });
    in_force(checker, said, default, lacking)
}

fn outside(number: &impl std::fmt::Display, range: &RangeInclusive<u32>) -> String {
    format!("{number} is not between {} and {}", range.start(), range.end())
}

/// What is said by a number; `read` returns `None` for what is no number, and else why it cannot be.
fn number<T>(
    checker: &mut Checker<'_>,
    field: Field<Constant>,
    expected: &str,
    read: impl FnOnce(&Constant) -> Option<Result<T, String>>,
) -> Said<T> {
    let value = match field {
        Setting::Absent => return Said::Nothing,
        Setting::Null => return Said::None,
        Setting::Set(value) => value,
    };
    let at = value.location();
    if matches!(&value.value, ScalarOr::Text(word) if word == NONE) {
        return Said::None;
    }
    let message = match read(&value.value) {
        Some(Ok(value)) => return Said::Value(value, at),
        Some(Err(message)) => message,
        None => format!("expected {expected} or `{NONE}`, found {}", value.value.found()),
    };
    checker.report(at, message);
    Said::Nothing
}

/// The objective in force. One that the file sets although the table cannot be held to it would never
/// be heard of again, so it is refused.
fn in_force<T>(
    checker: &mut Checker<'_>,
    said: Said<T>,
    default: Option<T>,
    lacking: Option<&str>,
) -> Option<T> {
    match (said, lacking) {
        (Said::Value(_, at), Some(lacking)) => {
            checker.report(at, format!("has no effect: {lacking}; remove this objective"));
            None
        }
        (Said::Value(value, _), None) => Some(value),
        (Said::Nothing, None) => default,
        (Said::Nothing, Some(_)) | (Said::None, _) => None,
    }
}
