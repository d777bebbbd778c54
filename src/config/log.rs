//! Log limits: the most rows that one sample reads, and how long it waits for missing or open rows.

use std::time::Duration;

use serde::Serialize;

use super::scope::Scope;
use super::values::Value;
use crate::duration::{self, DAY};
use crate::limits::{GAPS_PER_SAMPLE, MAX_RESULT_ROWS};
use crate::yaml::{Bounds, Checker, Spanned};

/// The most rows read per sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct BatchSize(pub u32);

impl BatchSize {
    /// The default.
    pub const DEFAULT: Self = Self(1000);
    /// At least the rows that a sample asks for again one by one: one left out for lack of room would look
    /// deleted. At most what an answer holds of late rows and as many new ones.
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
            /// The default.
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
    /// How long samples keep asking for a missing id. Zero is allowed: late commits are then not waited for.
    LateWindow: default Duration::from_secs(600), from Duration::ZERO, to DAY;
    /// How long a row without an end counts as running. A step that runs for more than a day is more likely a
    /// row that was never ended.
    OpenWindow: default DAY, from Duration::from_secs(1), to DAY.saturating_mul(90);
}
