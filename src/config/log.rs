//! Log limits: how many rows of a log a sample reads, and how long it waits for rows that are missing or open.

use std::time::Duration;

use serde::Serialize;

use super::scope::Scope;
use super::values::Value;
use crate::duration::{self, DAY};
use crate::limits::{GAPS_PER_SAMPLE, MAX_RESULT_ROWS};
use crate::yaml::{Bounds, Checker, Spanned};

/// Rows read per sample at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct BatchSize(pub u32);

impl BatchSize {
    /// In force where the file says nothing.
    pub const DEFAULT: Self = Self(1000);
    /// At least the rows that a sample asks for again one by one: one that is left out for want of room
    /// would pass for deleted. At most what an answer holds of late rows and as many new ones.
    const BOUNDS: (u32, u32) = (GAPS_PER_SAMPLE as u32, (MAX_RESULT_ROWS / 2) as u32);
}

impl Value for BatchSize {
    type Yaml = u32;

    fn check(checker: &mut Checker<'_>, yaml: Spanned<u32>, _: &Scope) -> Option<Self> {
        let (least, most) = Self::BOUNDS;
        checker.number(&yaml, least, most).map(Self)
    }
}

macro_rules! windows {
    ($($(#[$meta:meta])* $Window:ident: default $default:expr, from $least:expr, to $most:expr;)+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
        pub struct $Window(#[serde(serialize_with = "duration::serialize")] pub Duration);

        impl $Window {
            /// In force where the file says nothing.
            pub const DEFAULT: Self = Self($default);
        }

        impl Value for $Window {
            type Yaml = String;

            fn check(checker: &mut Checker<'_>, yaml: Spanned<String>, _: &Scope) -> Option<Self> {
                checker.duration(&yaml, Bounds { least: $least, most: $most }).map(Self)
            }
        }
    )+};
}

windows! {
    /// How long a missing id is asked for again. Zero has a meaning: a row that commits late is not waited for.
    LateWindow: default Duration::from_secs(600), from Duration::ZERO, to DAY;
    /// How long a row without an end counts as running. A step that runs for longer than a day is more
    /// likely a row that was never ended.
    OpenWindow: default DAY, from Duration::from_secs(1), to DAY.saturating_mul(90);
}
