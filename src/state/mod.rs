//! The state: plain data that samples change and that the exposition reads.

mod attempt_log;
mod control_table;
mod enqueue_log;
pub mod histogram;
mod labels;
mod log;
mod native_buckets;
mod queue;
pub mod recent;
mod reclaims;
mod run_log;
mod sampling;
mod tail;

pub use attempt_log::{AttemptLogState, AttemptState, Attempts, Capabilities};
pub use control_table::{ControlTableState, KindState};
pub use enqueue_log::EnqueueLogState;
pub use histogram::Histogram;
pub use labels::{LabelValues, OTHER};
pub use log::{AnyLog, Cell, CountTable, Limits, Log, LogKind, LogRow, LogState, Presentation};
pub use native_buckets::NativeBuckets;
pub use queue::QueueState;
pub use reclaims::Reclaims;
pub use run_log::{LockState, RunLogState, RunSummary, StepState};
pub use sampling::{LastError, SamplingState};
pub use tail::{Progress, Reading, Stage, Tail, TailRow};

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

/// The state that samplers write and scrapes read. Nobody holds it across a wait.
pub type SharedState = Arc<RwLock<State>>;

/// Everything the exporter knows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// In the order of the configuration.
    pub sources: Vec<SourceState>,
    /// How saving goes; `None` without a state file.
    pub saving: Option<SavingState>,
    /// How reading the configuration goes.
    pub config: ConfigState,
    /// Age past which the gauges of a target are withdrawn; as configured.
    #[serde(skip)]
    pub stale_after: Duration,
    /// The configuration in force, as YAML; no secrets.
    #[serde(skip)]
    pub config_yaml: String,
}

/// How reading the configuration goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigState {
    /// Whether it could be taken over the last time that it was read.
    pub successful: bool,
    /// When it was last taken over, by the exporter's clock, in milliseconds since the epoch.
    pub last_success_ms: i64,
}

/// How saving the state goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavingState {
    /// Whether the last save, or the reading before the first, went well.
    pub successful: bool,
    /// When a save last went well, by the exporter's clock, in milliseconds since the epoch.
    pub last_success_ms: Option<i64>,
}

/// What is known about one database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceState {
    /// The value of the label `source`.
    pub name: String,
    /// Which kind of database it is; as configured.
    #[serde(skip)]
    pub dialect: Dialect,
    /// Whether the database answered the last time it was asked; `None` before the first time.
    pub up: Option<bool>,
    /// The database's clock minus the exporter's, in milliseconds.
    pub clock_skew_ms: Option<i64>,
    /// The objectives of the database; as configured.
    #[serde(skip)]
    pub objectives: SourceObjectives,
    /// Its targets, in the order of [`Source::targets`].
    pub targets: Vec<TargetState>,
}

/// What is known about one target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetState {
    /// The target's name.
    pub name: String,
    /// How sampling it goes.
    pub sampling: SamplingState,
    /// What the samples said.
    pub data: TargetData,
}

macro_rules! target_data {
    ($($(#[$doc:meta])* $Kind:ident in $list:ident, label $label:literal, preset $preset:literal;)+) => {
        /// What the samples of a target said.
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

            /// The data of a log; `None` for a queue.
            #[must_use]
            pub fn as_log(&self) -> Option<&dyn AnyLog> {
                match self {
                    Self::Queue(_) => None,
                    $(Self::$Kind(log) => Some(log),)+
                }
            }
        }

        impl TargetState {
            /// Takes over what was saved of this target; data of another kind changes nothing.
            pub fn restore(&mut self, saved: TargetData) {
                match (&mut self.data, saved) {
                    (TargetData::Queue(state), TargetData::Queue(saved)) => state.restore(saved),
                    $((TargetData::$Kind(state), TargetData::$Kind(saved)) => state.restore(saved),)+
                    _another_kind => {}
                }
            }

            /// The next sample comes at once, however shortly after the last one.
            pub fn interrupt(&mut self) {
                match &mut self.data {
                    TargetData::Queue(_) => {}
                    $(TargetData::$Kind(state) => state.log.interrupt(),)+
                }
            }

            /// What the next sample has to ask for.
            #[must_use]
            pub fn request(&self, target: TargetConfig<'_>) -> TailRequest {
                match (&self.data, target) {
                    $((TargetData::$Kind(state), TargetConfig::$Kind(log)) => state.request(log),)+
                    _queue_or_another_kind => TailRequest::Head,
                }
            }

            /// Takes a good sample that [`SamplingState::good`] has counted. A sample of another kind than
            /// the target changes nothing.
            pub fn apply(
                &mut self,
                target: TargetConfig<'_>,
                sample: Sample,
                max_label_values: usize,
            ) -> Progress {
                match (&mut self.data, target, sample) {
                    (TargetData::Queue(state), TargetConfig::Queue(_), Sample::Queue(sample)) => {
                        state.apply(sample, self.sampling.last_good, max_label_values);
                        Progress::default()
                    }
                    $((TargetData::$Kind(state), TargetConfig::$Kind(log), Sample::$Kind(sample)) => {
                        state.apply(log, sample, max_label_values)
                    })+
                    _another_kind => Progress::default(),
                }
            }
        }
    };
}
// The arms for one kind each are made from the list, so that none can be forgotten.
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
            // A defect is shown to whoever asks for the configuration, and hinders nothing else.
            config_yaml: config.to_yaml().unwrap_or_else(|error| format!("# {error}\n")),
        }
    }

    /// What is known about the database of this name.
    #[must_use]
    pub fn source(&self, name: &str) -> Option<&SourceState> {
        self.sources.iter().find(|source| source.name == name)
    }

    /// The same, to be changed.
    pub fn source_mut(&mut self, name: &str) -> Option<&mut SourceState> {
        self.sources.iter_mut().find(|source| source.name == name)
    }

    /// Whether each target was sampled at least once, well or not.
    #[must_use]
    pub fn first_pass_done(&self) -> bool {
        self.sources.iter().flat_map(|source| &source.targets).all(|target| target.sampling.attempted())
    }
}

impl TargetData {
    /// Whether it must survive a restart: what is counted, not what is looked up anew.
    #[must_use]
    pub const fn is_counted(&self) -> bool {
        if let Self::Queue(queue) = self { queue.reclaims.is_some() } else { true }
    }

    /// The bound on the label values.
    #[must_use]
    pub fn labels(&self) -> Option<&LabelValues> {
        if let Self::Queue(queue) = self { Some(&queue.labels) } else { self.as_log().map(AnyLog::labels) }
    }

    /// Whether the values of the label `queue` come from the table.
    #[must_use]
    pub fn has_queue_label(&self) -> bool {
        if let Self::Queue(queue) = self {
            queue.labelled
        } else {
            self.as_log().is_some_and(AnyLog::has_queue_label)
        }
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
