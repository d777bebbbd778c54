//! Logs: what the tables that grow by an ascending id have in common.

use std::time::Duration;

use serde::{Serialize, Serializer};

use super::mapping::Scope;
use super::values::Value;
use super::{AttemptLog, ControlTable, EnqueueLog, RunLog, Target};
use crate::duration::{self, DAY};
use crate::limits::{GAPS_PER_SAMPLE, MAX_RESULT_ROWS};
use crate::yaml::{Bounds, Checker, Field, Spanned};

/// A configured log of any kind.
pub trait LogConfig {
    /// Name, table, predicate and pace.
    fn target(&self) -> &Target;

    /// Rows read per sample at most.
    fn batch_size(&self) -> u32;

    /// How long a missing id is asked for again.
    fn late_window(&self) -> Duration;

    /// How long a row without an end is believed to be open; 0 for a log whose rows do not change.
    fn open_window(&self) -> Duration {
        Duration::ZERO
    }

    /// The label values that are exported from the start, at 0. The first ones are the last that a bound on
    /// their number pushes out.
    fn declared_values(&self) -> Vec<&String>;

    /// Whether the values of the label `queue` come from the table; otherwise the log is of one queue, or of
    /// none.
    fn has_queue_label(&self) -> bool {
        false
    }
}

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

macro_rules! log {
    ($Log:ident { $($rest:tt)* }) => {
        impl LogConfig for $Log {
            fn target(&self) -> &Target {
                &self.target
            }

            fn batch_size(&self) -> u32 {
                self.batch_size.0
            }

            fn late_window(&self) -> Duration {
                self.late_window.0
            }

            $($rest)*
        }
    };
}

log!(AttemptLog {
    fn declared_values(&self) -> Vec<&String> {
        if self.queue_label.is_none() { vec![&self.target.name] } else { Vec::new() }
    }

    fn has_queue_label(&self) -> bool {
        self.queue_label.is_some()
    }
});
log!(EnqueueLog {
    fn declared_values(&self) -> Vec<&String> {
        if self.queue_label.is_none() { vec![&self.target.name] } else { Vec::new() }
    }

    fn has_queue_label(&self) -> bool {
        self.queue_label.is_some()
    }
});
log!(RunLog {
    fn open_window(&self) -> Duration {
        self.open_window.map_or(Duration::ZERO, |window| window.0)
    }

    fn declared_values(&self) -> Vec<&String> {
        self.run_step.iter().chain(self.steps.iter().flatten()).collect()
    }
});
log!(ControlTable {
    fn declared_values(&self) -> Vec<&String> {
        self.kinds.iter().flatten().collect()
    }
});
