//! Kinds of target: a table of keys for each, and a configured target of any kind.

mod attempt_log;
mod control_table;
mod enqueue_log;
mod queue;
mod run_log;

use std::fmt;
use std::time::Duration;

use serde::Serialize;

pub use self::attempt_log::AttemptLog;
pub use self::control_table::ControlTable;
pub use self::enqueue_log::EnqueueLog;
pub use self::queue::Queue;
pub use self::run_log::RunLog;
use super::{ColumnName, MappedColumn, Source, Target};

/// Calls a macro with every kind of log: its type, its list in a source, the label that names a target of the
/// kind, and the preset of a target without a mapping of its own (for the tables that `sql/` creates). The
/// enums with a variant per kind are made from this list.
macro_rules! for_each_log_kind {
    ($callback:ident) => {
        $callback! {
            /// The attempt history of a lease queue.
            AttemptLog in attempt_logs, label "attempt_log", preset "attempt_log";
            /// A table that keeps a row for every enqueued job.
            EnqueueLog in enqueue_logs, label "enqueue_log", preset "enqueue_log";
            /// A run log: one row for each step of each run.
            RunLog in run_logs, label "run_log", preset "notification_run_log";
            /// A control table of notifications.
            ControlTable in control_tables, label "control_table", preset "notification_control";
        }
    };
}
pub(crate) use for_each_log_kind;

macro_rules! targets {
    ($($(#[$doc:meta])* $Kind:ident in $list:ident, label $label:literal, preset $preset:literal;)+) => {
        /// The kind of a target.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum TargetKind {
            /// A queue table.
            Queue,
            $($(#[$doc])* $Kind,)+
        }

        impl TargetKind {
            /// Every kind, in the order of their lists.
            pub const ALL: &'static [Self] = &[Self::Queue, $(Self::$Kind),+];

            /// The key of the list in a source.
            #[must_use]
            pub const fn key(self) -> &'static str {
                match self {
                    Self::Queue => "queues",
                    $(Self::$Kind => stringify!($list),)+
                }
            }

            /// The label that names targets of this kind; also the kind's name in messages.
            #[must_use]
            pub const fn label(self) -> &'static str {
                match self {
                    Self::Queue => "queue",
                    $(Self::$Kind => $label,)+
                }
            }

            /// The preset of a target without a mapping of its own.
            #[must_use]
            pub const fn default_preset(self) -> &'static str {
                match self {
                    Self::Queue => "lease",
                    $(Self::$Kind => $preset,)+
                }
            }
        }

        /// A configured target.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
        #[serde(untagged)]
        pub enum TargetConfig<'a> {
            /// A queue table.
            Queue(&'a Queue),
            $($(#[$doc])* $Kind(&'a $Kind),)+
        }

        impl Source {
            /// The targets of the source: its queues, then its logs, kind by kind.
            pub fn targets(&self) -> impl Iterator<Item = TargetConfig<'_>> {
                self.queues.iter().map(TargetConfig::Queue)
                    $(.chain(self.$list.iter().map(TargetConfig::$Kind)))+
            }
        }

        $(impl LogConfig for $Kind {
            fn target(&self) -> &Target {
                &self.target
            }

            fn batch_size(&self) -> u32 {
                self.batch_size.0
            }

            fn late_window(&self) -> Duration {
                self.late_window.0
            }
        })+

        impl<'a> TargetConfig<'a> {
            /// The kind of the target.
            #[must_use]
            pub const fn kind(self) -> TargetKind {
                match self {
                    Self::Queue(_) => TargetKind::Queue,
                    $(Self::$Kind(_) => TargetKind::$Kind,)+
                }
            }

            /// The target as a log; `None` for a queue.
            #[must_use]
            pub fn as_log(self) -> Option<&'a dyn LogConfig> {
                match self {
                    Self::Queue(_) => None,
                    $(Self::$Kind(log) => Some(log),)+
                }
            }

            /// Name, table and pace.
            #[must_use]
            pub const fn target(self) -> &'a Target {
                match self {
                    Self::Queue(queue) => &queue.target,
                    $(Self::$Kind(log) => &log.target,)+
                }
            }

            /// Every column that the target names, in the order of its keys.
            #[must_use]
            pub fn columns(self) -> Vec<MappedColumn<'a>> {
                match self {
                    Self::Queue(queue) => queue.columns(),
                    $(Self::$Kind(log) => log.columns(),)+
                }
            }

            /// The key column: a log always has one, a queue only where the mapping names it.
            #[must_use]
            pub fn id(self) -> Option<&'a ColumnName> {
                match self {
                    Self::Queue(queue) => queue.id.as_ref(),
                    $(Self::$Kind(log) => Some(&log.id),)+
                }
            }
        }
    };
}
for_each_log_kind!(targets);

/// A configured log of any kind: a table that is read by its ascending id.
pub trait LogConfig {
    /// Name, table, predicate and pace.
    fn target(&self) -> &Target;

    /// The most rows read per sample.
    fn batch_size(&self) -> u32;

    /// How long samples keep asking for a missing id.
    fn late_window(&self) -> Duration;
}

impl TargetConfig<'_> {
    /// The label that names targets of this kind; also the kind's name in messages.
    #[must_use]
    pub const fn label(self) -> &'static str {
        self.kind().label()
    }
}

impl TargetKind {
    /// Where names of targets of this kind must be unique, for an error.
    pub(in crate::config) fn scope_of_names(self) -> String {
        format!("the {} of a source", self.key().replace('_', " "))
    }

    /// The lists of a source, for an error: "`queues`, ... or `control_tables`".
    pub(in crate::config) fn alternatives() -> String {
        let keys: Vec<String> = Self::ALL.iter().map(|kind| format!("`{kind}`")).collect();
        match keys.split_last() {
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        }
    }
}

impl fmt::Display for TargetKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}
