//! The value of one objective: what the file says, what is inherited, and whether it can be measured.

use std::time::Duration;

use serde::Serializer;

use crate::duration;
use crate::yaml::{Bounds, Checker, Constant, Field, Located, ScalarOr, Setting, Spanned};

/// The word for no objective.
const NONE: &str = "none";

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

    /// The ratio next to a number; `None` when it is below 0 or above 4000.
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

/// A type of limit.
pub(super) trait ObjectiveValue: Copy {
    /// How it is written.
    type Yaml;
    /// The least and the most that make sense.
    type Range;
    /// Whether it is a duration.
    const IS_DURATION: bool;

    /// The limit; `Null` for `none`, and `Absent` for what is wrong.
    fn read(checker: &mut Checker<'_>, yaml: Spanned<Self::Yaml>, range: Self::Range) -> Field<Self>;

    /// The limit as a number; of a duration, in seconds.
    fn number(self) -> f64;

    /// Writes the limit as a configuration has it.
    fn write<S: Serializer>(self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.number())
    }
}

impl ObjectiveValue for Duration {
    type Yaml = String;
    type Range = Bounds;
    const IS_DURATION: bool = true;

    fn read(checker: &mut Checker<'_>, yaml: Spanned<String>, bounds: Bounds) -> Field<Self> {
        if yaml.value == NONE {
            return Setting::Null;
        }
        let age = checker.duration(&yaml, bounds);
        age.map_or(Setting::Absent, |age| Setting::Set(yaml.location().with(age)))
    }

    fn number(self) -> f64 {
        self.as_secs_f64()
    }

    fn write<S: Serializer>(self, serializer: S) -> Result<S::Ok, S::Error> {
        duration::serialize(&self, serializer)
    }
}

impl ObjectiveValue for u32 {
    type Yaml = Constant;
    type Range = (u32, u32);
    const IS_DURATION: bool = false;

    fn read(checker: &mut Checker<'_>, yaml: Spanned<Constant>, range: Self::Range) -> Field<Self> {
        number(checker, &yaml, range, "a whole number", |value| match value {
            ScalarOr::Integer(number) => Some((number.to_string(), Self::try_from(*number).ok())),
            _ => None,
        })
    }

    fn number(self) -> f64 {
        f64::from(self)
    }

    fn write<S: Serializer>(self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(self)
    }
}

impl ObjectiveValue for Ratio {
    type Yaml = Constant;
    type Range = (u32, u32);
    const IS_DURATION: bool = false;

    fn read(checker: &mut Checker<'_>, yaml: Spanned<Constant>, range: Self::Range) -> Field<Self> {
        number(checker, &yaml, range, "a number", |value| match value {
            #[allow(clippy::cast_precision_loss, reason = "what is not exact is far out of the range")]
            ScalarOr::Integer(number) => Some((number.to_string(), Self::near(*number as f64))),
            ScalarOr::Decimal(number) => Some((number.to_string(), Self::near(*number))),
            _ => None,
        })
    }

    fn number(self) -> f64 {
        self.as_f64()
    }
}

/// Reads a number; `read` returns it as text and as a limit, and `None` for what is no number.
fn number<T: ObjectiveValue>(
    checker: &mut Checker<'_>,
    yaml: &Spanned<Constant>,
    (least, most): (u32, u32),
    expected: &str,
    read: impl FnOnce(&Constant) -> Option<(String, Option<T>)>,
) -> Field<T> {
    let fits = |limit: &T| (f64::from(least)..=f64::from(most)).contains(&limit.number());
    let message = match (&yaml.value, read(&yaml.value)) {
        (ScalarOr::Text(word), _) if word == NONE => return Setting::Null,
        (other, None) => format!("expected {expected} or `{NONE}`, found {}", other.found()),
        (_, Some((text, limit))) => match limit.filter(fits) {
            Some(limit) => return Setting::Set(yaml.location().with(limit)),
            None => format!("{text} is not between {least} and {most}"),
        },
    };
    checker.report(yaml.location(), message);
    Setting::Absent
}

/// Writes an objective. An absent key would take the global one, so there is a word for none.
pub(super) fn serialize<T: ObjectiveValue, S: Serializer>(
    limit: &Option<T>,
    to: S,
) -> Result<S::Ok, S::Error> {
    match limit {
        Some(limit) => limit.write(to),
        None => to.serialize_str(NONE),
    }
}

/// The objective in force. `lacking` is the reason why the target cannot be held to it: one that the
/// file sets would then never be heard of again, so it is refused.
pub(super) fn resolve<T: ObjectiveValue>(
    checker: &mut Checker<'_>,
    field: Field<T::Yaml>,
    range: T::Range,
    inherited: Option<T>,
    lacking: Option<&str>,
) -> Option<T> {
    let given = match field {
        Setting::Absent => Setting::Absent,
        Setting::Null => Setting::Null,
        Setting::Set(yaml) => T::read(checker, yaml, range),
    };
    match (given, lacking) {
        (Setting::Set(limit), Some(lacking)) => {
            checker.refuse(limit.location(), format!("has no effect: {lacking}; remove this objective"))
        }
        (Setting::Set(limit), None) => Some(limit.value),
        (Setting::Absent, None) => inherited,
        (Setting::Absent, Some(_)) | (Setting::Null, _) => None,
    }
}
