//! Log limits: how many rows of a log a sample reads, and how long missing ids are asked for again.

use std::time::Duration;

use serde::{Serialize, Serializer};

use super::values::Value;
use crate::config::scope::Scope;
use crate::duration::{self, DAY};
use crate::limits::{GAPS_PER_SAMPLE, MAX_RESULT_ROWS};
use crate::yaml::{Bounds, Checker, Field, Spanned};

/// Rows read per sample at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct BatchSize(pub u32);

/// How long a missing id is asked for again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LateWindow(pub Duration);

impl BatchSize {
    /// In force where the file says nothing.
    pub const DEFAULT: Self = Self(1000);
    /// At least the rows that a sample asks for again one by one: one that is left out for want of room
    /// would pass for deleted. At most what an answer holds of late rows and as many new ones.
    const BOUNDS: (u32, u32) = (GAPS_PER_SAMPLE as u32, (MAX_RESULT_ROWS / 2) as u32);
}

impl LateWindow {
    /// In force where the file says nothing.
    pub const DEFAULT: Self = Self(Duration::from_secs(600));
    /// Zero has a meaning: a row that commits late is not waited for.
    const BOUNDS: Bounds = Bounds { least: Duration::ZERO, most: DAY };
}

impl Value for BatchSize {
    type Yaml = u32;

    fn check(checker: &mut Checker<'_>, yaml: Spanned<u32>, _: &Scope) -> Option<Self> {
        let (least, most) = Self::BOUNDS;
        checker.number(Field::Set(yaml), least, most).map(Self)
    }
}

impl Value for LateWindow {
    type Yaml = String;

    fn check(checker: &mut Checker<'_>, yaml: Spanned<String>, _: &Scope) -> Option<Self> {
        Some(Self(checker.duration(Field::Set(yaml), Self::BOUNDS).ok()??.0))
    }
}

impl Serialize for LateWindow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        duration::serialize(&self.0, serializer)
    }
}
