//! The state: plain data that samples change and the exposition reads.

mod attempt_log;
mod control_table;
mod enqueue_log;
pub mod histogram;
mod labels;
mod log;
mod native_buckets;
mod queue;
mod reclaims;
mod run_log;
mod sampling;
mod tail;
mod trend;

pub use attempt_log::{AttemptState, Attempts, Capabilities};
pub use control_table::{ControlTableState, KindState};
pub use histogram::Histogram;
pub use labels::{LabelValues, OTHER};
pub use log::{Cell, CountTable, Log, LogKind, LogRow, LogState, Presentation};
pub use native_buckets::NativeBuckets;
pub use queue::QueueState;
pub use reclaims::Reclaims;
pub use run_log::{LockState, RunLogState, RunSummary, StepState};
pub use sampling::{LastError, SamplingState};
pub use tail::{Progress, Reading, Stage, Tail, TailRow};
pub use trend::{Point, Trend};

use std::sync::{Arc, RwLock};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::config::{
    AttemptLog, Config, ControlTable, EnqueueLog, RunLog, Source, SourceObjectives, TargetConfig, TargetKind,
    for_each_log_kind,
};
use crate::sample::Sample;
use crate::source::dialect;
use crate::statement::{Dialect, TailRequest};

/// The state that samplers write and scrapes read. No lock on it is held across a wait.
pub type SharedState = Arc<RwLock<State>>;

/// Everything the exporter knows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    /// In the order of the configuration.
    pub sources: Vec<SourceState>,
    /// Whether the state is saved; `None` without a state file.
    pub saving: Option<SavingState>,
    /// Whether the configuration was accepted.
    pub config: ConfigState,
    /// Age past which the gauges of a target are withdrawn; as configured.
    pub stale_after: Duration,
    /// The configuration in force, as YAML; no secrets.
    pub config_yaml: String,
}

/// Whether the configuration was accepted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ConfigState {
    /// Whether the last configuration that was read was accepted.
    pub successful: bool,
    /// When one was last accepted, by the exporter's clock, in milliseconds since the epoch.
    pub last_success_ms: i64,
}

/// Whether the state is saved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SavingState {
    /// Whether the last save succeeded; before the first, whether reading did.
    pub successful: bool,
    /// When a save last succeeded, by the exporter's clock, in milliseconds since the epoch.
    pub last_success_ms: Option<i64>,
}

/// What is known about one database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceState {
    /// The value of the label `source`.
    pub name: String,
    /// The SQL dialect of the database; as configured.
    pub dialect: Dialect,
    /// Whether the database answered the last time it was queried; `None` before the first query.
    pub up: Option<bool>,
    /// The database's clock minus the exporter's, in milliseconds.
    pub clock_skew_ms: Option<i64>,
    /// The objectives of the database; as configured.
    pub objectives: SourceObjectives,
    /// Its targets, in the order of [`Source::targets`].
    pub targets: Vec<TargetState>,
}

/// What is known about one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetState {
    /// The target's name.
    pub name: String,
    /// Successes and failures of its samples.
    pub sampling: SamplingState,
    /// What its samples found.
    pub data: TargetData,
}

/// The state, the configuration and a sample of a target are not all of the same kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it belongs to another kind of target")]
pub struct AnotherKind;

macro_rules! target_data {
    ($($(#[$doc:meta])* $Kind:ident in $list:ident, label $label:literal, preset $preset:literal;)+) => {
        /// What the samples of a target found.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        pub enum TargetData {
            /// A queue table.
            Queue(QueueState),
            $($(#[$doc])* $Kind(LogState<$Kind>),)+
        }

        impl TargetData {
            /// The data before the first sample.
            fn new(target: TargetConfig<'_>, max_label_values: usize) -> Self {
                match target {
                    TargetConfig::Queue(queue) => Self::Queue(QueueState::new(queue, max_label_values)),
                    $(TargetConfig::$Kind(log) => Self::$Kind(LogState::new(log, max_label_values)),)+
                }
            }

            /// The kind of the target.
            #[must_use]
            pub const fn kind(&self) -> TargetKind {
                match self {
                    Self::Queue(_) => TargetKind::Queue,
                    $(Self::$Kind(_) => TargetKind::$Kind,)+
                }
            }

            /// How the target is shown on the status page.
            #[must_use]
            pub fn presentation(&self) -> Presentation<'_> {
                match self {
                    Self::Queue(queue) => Presentation::Queue(queue),
                    $(Self::$Kind(log) => $Kind::presentation(log),)+
                }
            }

            /// Log rows that became visible after a higher id was read; `None` for a queue.
            #[must_use]
            pub const fn late_rows(&self) -> Option<u64> {
                match self {
                    Self::Queue(_) => None,
                    $(Self::$Kind(state) => Some(state.log.late_rows),)+
                }
            }

            /// The bound on the label values.
            #[must_use]
            pub const fn labels(&self) -> &LabelValues {
                match self {
                    Self::Queue(queue) => &queue.labels,
                    $(Self::$Kind(state) => &state.log.labels,)+
                }
            }

            /// Whether the values of the label `queue` come from the table.
            #[must_use]
            pub const fn has_queue_label(&self) -> bool {
                match self {
                    Self::Queue(queue) => queue.labelled,
                    $(Self::$Kind(state) => state.labelled,)+
                }
            }
        }

        impl TargetState {
            /// Takes over what was saved of this target.
            ///
            /// # Errors
            /// When it is the data of another kind of target; nothing is changed then.
            pub fn restore(&mut self, saved: TargetData) -> Result<(), AnotherKind> {
                match (&mut self.data, saved) {
                    (TargetData::Queue(state), TargetData::Queue(saved)) => state.restore(saved),
                    $((TargetData::$Kind(state), TargetData::$Kind(saved)) => state.restore(saved),)+
                    _ => return Err(AnotherKind),
                }
                Ok(())
            }

            /// The next sample may come shortly after the last one.
            pub fn interrupt(&mut self) {
                match &mut self.data {
                    TargetData::Queue(_) => {}
                    $(TargetData::$Kind(state) => state.log.interrupt(),)+
                }
            }

            /// What the next sample has to ask for.
            ///
            /// # Errors
            /// When the target is configured as another kind.
            pub fn request(&self, target: TargetConfig<'_>) -> Result<TailRequest, AnotherKind> {
                match (&self.data, target) {
                    (TargetData::Queue(_), TargetConfig::Queue(_)) => Ok(TailRequest::Head),
                    $((TargetData::$Kind(state), TargetConfig::$Kind(log)) => Ok(state.request(log)),)+
                    _ => Err(AnotherKind),
                }
            }

            /// Takes a good sample that [`SamplingState::good`] has counted.
            ///
            /// # Errors
            /// When target and sample are not both of the kind of this state; nothing is changed then.
            pub fn apply(
                &mut self,
                target: TargetConfig<'_>,
                sample: Sample,
                max_label_values: usize,
            ) -> Result<Progress, AnotherKind> {
                match (&mut self.data, target, sample) {
                    (TargetData::Queue(state), TargetConfig::Queue(_), Sample::Queue(sample)) => {
                        state.apply(sample, self.sampling.last_good, max_label_values);
                        Ok(Progress::default())
                    }
                    $((TargetData::$Kind(state), TargetConfig::$Kind(log), Sample::$Kind(sample)) => {
                        Ok(state.apply(log, sample, max_label_values))
                    })+
                    _ => Err(AnotherKind),
                }
            }
        }
    };
}
for_each_log_kind!(target_data);

impl State {
    /// The state before the first sample: every declared series at 0.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let max = config.global.max_label_values;
        let target = |target: TargetConfig<'_>| TargetState {
            name: target.target().name.clone(),
            sampling: SamplingState::default(),
            data: TargetData::new(target, max),
        };
        let source = |source: &Source| SourceState {
            name: source.name.clone(),
            dialect: dialect(&source.database),
            up: None,
            clock_skew_ms: None,
            objectives: source.objectives,
            targets: source.targets().map(target).collect(),
        };
        Self {
            sources: config.sources.iter().map(source).collect(),
            saving: None,
            config: ConfigState::default(),
            stale_after: config.global.stale_after,
            // A defect here only affects the page of the configuration, and is shown there.
            config_yaml: config.to_yaml().unwrap_or_else(|error| format!("# {error}\n")),
        }
    }

    /// What is known about the database of this name.
    #[must_use]
    pub fn source(&self, name: &str) -> Option<&SourceState> {
        self.sources.iter().find(|source| source.name == name)
    }

    /// Whether each target was sampled at least once, successfully or not.
    #[must_use]
    pub fn first_pass_done(&self) -> bool {
        self.sources.iter().flat_map(|source| &source.targets).all(|target| target.sampling.attempted())
    }
}

impl TargetData {
    /// Whether it must survive a restart: counters must, gauges are measured again.
    #[must_use]
    pub const fn is_counted(&self) -> bool {
        if let Self::Queue(queue) = self { queue.reclaims.is_some() } else { true }
    }
}

impl TargetState {
    /// The label that names targets of this kind.
    #[must_use]
    pub const fn label(&self) -> &'static str {
        self.data.kind().label()
    }

    /// Whether the gauges of this target may be shown at `now`, a reading of the monotonic clock.
    #[must_use]
    pub fn is_fresh(&self, now: Duration, stale_after: Duration) -> bool {
        self.sampling.last_good.is_some_and(|at| now.saturating_sub(at) <= stale_after)
    }
}
