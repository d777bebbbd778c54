//! Objective values: what the file sets, what is inherited, and whether it can be measured.

use std::time::Duration;

use crate::duration;
use crate::yaml::{Bounds, Checker, Constant, Field, Located, Location, ScalarOr, Setting, Spanned};

/// The word for no objective.
pub(super) const NONE: &str = "none";

/// A ratio, to the millionth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ratio {
    millionths: u32,
}

impl Ratio {
    const ONE: u32 = 1_000_000;

    /// A ratio of so many hundredths.
    #[must_use]
    pub const fn percent(hundredths: u16) -> Self {
        Self { millionths: hundredths as u32 * (Self::ONE / 100) }
    }

    /// The ratio nearest to a number; `None` when it is below 0 or above 4000.
    #[must_use]
    pub fn near(number: f64) -> Option<Self> {
        let millionths = (number * f64::from(Self::ONE)).round();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the range")]
        (0.0..=4e9).contains(&millionths).then_some(Self { millionths: millionths as u32 })
    }

    /// The ratio as a number.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        f64::from(self.millionths) / f64::from(Self::ONE)
    }
}

/// What the file sets for an objective.
pub(super) enum Given<T> {
    /// Nothing, or something wrong that was reported.
    Nothing,
    /// That there is no objective.
    None,
    /// The limit, and its location.
    Limit(T, Location),
}

/// A type of limit.
pub(super) trait ObjectiveValue: Copy {
    /// The type that the file holds.
    type Yaml;
    /// The type of its bounds.
    type Range;
    /// The type in the configuration in force.
    type Shown: serde::Serialize;
    /// Whether it is a duration.
    const IS_DURATION: bool;

    fn read(checker: &mut Checker<'_>, yaml: Spanned<Self::Yaml>, range: Self::Range) -> Given<Self>;

    /// The limit as a number; of a duration, in seconds.
    fn number(self) -> f64;

    /// The limit as the configuration writes it.
    fn yaml(self) -> Self::Shown;
}

impl ObjectiveValue for Duration {
    type Yaml = String;
    type Range = Bounds;
    type Shown = String;
    const IS_DURATION: bool = true;

    fn read(checker: &mut Checker<'_>, yaml: Spanned<String>, bounds: Bounds) -> Given<Self> {
        if yaml.value == NONE {
            return Given::None;
        }
        match checker.duration(Field::Set(yaml), bounds) {
            Ok(Some((age, at))) => Given::Limit(age, at),
            Ok(None) | Err(()) => Given::Nothing,
        }
    }

    fn number(self) -> f64 {
        self.as_secs_f64()
    }

    fn yaml(self) -> String {
        duration::text(self)
    }
}

impl ObjectiveValue for u32 {
    type Yaml = Constant;
    type Range = (u32, u32);
    type Shown = Self;
    const IS_DURATION: bool = false;

    fn read(checker: &mut Checker<'_>, yaml: Spanned<Constant>, range: Self::Range) -> Given<Self> {
        number(checker, &yaml, "a whole number", |value| match value {
            ScalarOr::Integer(number) => {
                let count = Self::try_from(*number).ok();
                let count = count.filter(|count| (range.0..=range.1).contains(count));
                Some(count.ok_or_else(|| outside(number, range)))
            }
            _ => None,
        })
    }

    fn number(self) -> f64 {
        f64::from(self)
    }

    fn yaml(self) -> Self {
        self
    }
}

impl ObjectiveValue for Ratio {
    type Yaml = Constant;
    type Range = (u32, u32);
    type Shown = f64;
    const IS_DURATION: bool = false;

    fn read(checker: &mut Checker<'_>, yaml: Spanned<Constant>, range: Self::Range) -> Given<Self> {
        number(checker, &yaml, "a number", |value| {
            let number = match value {
                #[allow(clippy::cast_precision_loss, reason = "what is not exact is far out of the range")]
                ScalarOr::Integer(number) => *number as f64,
                ScalarOr::Decimal(number) => *number,
                _ => return None,
            };
            let (least, most) = (f64::from(range.0), f64::from(range.1));
            let ratio = Some(number).filter(|number| (least..=most).contains(number)).and_then(Self::near);
            Some(ratio.ok_or_else(|| outside(&number, range)))
        })
    }

    fn number(self) -> f64 {
        self.as_f64()
    }

    fn yaml(self) -> f64 {
        self.as_f64()
    }
}

fn outside(number: &impl std::fmt::Display, (least, most): (u32, u32)) -> String {
    format!("{number} is not between {least} and {most}")
}

/// Reads a number; `read` returns `None` for anything else, and an error for a number out of bounds.
fn number<T>(
    checker: &mut Checker<'_>,
    yaml: &Spanned<Constant>,
    expected: &str,
    read: impl FnOnce(&Constant) -> Option<Result<T, String>>,
) -> Given<T> {
    if matches!(&yaml.value, ScalarOr::Text(word) if word == NONE) {
        return Given::None;
    }
    let message = match read(&yaml.value) {
        Some(Ok(value)) => return Given::Limit(value, yaml.location()),
        Some(Err(message)) => message,
        None => format!("expected {expected} or `{NONE}`, found {}", yaml.value.found()),
    };
    checker.report(yaml.location(), message);
    Given::Nothing
}

/// The objective in force. `lacking` is the reason why the target cannot be held to it. One that the file
/// sets is then refused, since it would silently have no effect.
pub(super) fn resolve<T: ObjectiveValue>(
    checker: &mut Checker<'_>,
    field: Field<T::Yaml>,
    range: T::Range,
    inherited: Option<T>,
    lacking: Option<&str>,
) -> Option<T> {
    let given = match field {
        Setting::Absent => Given::Nothing,
        Setting::Null => Given::None,
        Setting::Set(yaml) => T::read(checker, yaml, range),
    };
    match (given, lacking) {
        (Given::Limit(_, at), Some(lacking)) => {
            checker.report(at, format!("has no effect: {lacking}; remove this objective"));
            None
        }
        (Given::Limit(limit, _), None) => Some(limit),
        (Given::Nothing, None) => inherited,
        (Given::Nothing, Some(_)) | (Given::None, _) => None,
    }
}
