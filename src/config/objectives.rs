//! Objectives: limits that a target should stay within. The exporter shows each beside what it
//! measures, so that one alert rule serves every target.
//!
//! [`objectives!`] makes everything about them from one table: the keys, their checks and defaults,
//! the YAML of the configuration in force, and what the exposition shows.

mod value;

use std::time::Duration;

use serde::Serialize;

use crate::duration::{DAY, HOUR};
use crate::yaml::{Bounds, Checker, Constant, Field, form};
use value::ObjectiveValue;
pub use value::Ratio;

/// An age of 0 would be exceeded by anything that waits for a moment.
const AGES: Bounds = Bounds { least: Duration::from_millis(100), most: DAY.saturating_mul(3650) };
/// Below 1 a step would have to become faster all the time.
const SLOWDOWNS: (u32, u32) = (1, 1000);
const SHARES: (u32, u32) = (0, 1);

/// One objective.
#[derive(Debug)]
pub struct Objective {
    /// Its key in `objectives`.
    pub key: &'static str,
    /// The name of its metric, without a unit.
    pub metric: &'static str,
    /// Whether it is a duration, in seconds; otherwise a number.
    pub is_duration: bool,
    /// Whether the alert on it pages somebody; otherwise it files a ticket.
    pub pages: bool,
    /// The HELP text of its metric: what it limits.
    pub help: &'static str,
    /// Why some targets cannot be held to it.
    pub lacking: &'static str,
}

macro_rules! observations {
    ($($(#[$meta:meta])* $name:ident: $lacking:literal;)*) => {
        /// What a sample must be able to measure for a target to be held to an objective.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Observation {
            $($(#[$meta])* $name,)*
        }

        impl Observation {
            /// Why a table cannot be measured this way.
            const fn lacking(self) -> &'static str {
                match self {
                    $(Self::$name => $lacking,)*
                }
            }
        }
    };
}

observations! {
    /// The clocks of the database and the exporter; always.
    Clocks: "";
    /// How old a job is.
    ReadyAge: "neither `enqueued_at` nor `available_at` says how old a job is";
    /// When a lease lapsed.
    LapsedLeases: "only a lease of `kind: until` or `kind: since` can lapse";
    /// How often a job was tried.
    Attempts: "no `attempts` says how often a job was tried";
    /// Which jobs failed for good.
    FailedJobs: "`state` calls no job `failed`";
    /// Which attempts lost their lease.
    LostAttempts: "`outcome` calls no row `lost`";
    /// When a step began.
    StepStart: "no `start` says when a row's step began";
    /// How long a step took.
    StepDuration: "neither `duration` nor `start` and `end` say how long a step took";
    /// Which runs were skipped.
    SkippedRuns: "`outcome` calls no row `skipped`";
    /// Which steps failed.
    StepErrors: "`outcome` calls no row `error`";
    /// Which steps ended with a warning.
    StepWarnings: "`outcome` calls no row `warning`";
}

/// The objectives of one kind of target.
pub(crate) trait ObjectiveSet: Sized {
    /// The form as written in the file.
    type Form: Default;

    /// The defaults of this set.
    fn of(all: &Objectives) -> Self;

    /// The objectives in force: the target's own, else the inherited ones. `can_measure` says which of
    /// them the target can be held to.
    fn check(
        checker: &mut Checker<'_>,
        own: Self::Form,
        inherited: Self,
        can_measure: &dyn Fn(Observation) -> bool,
    ) -> Self;
}

macro_rules! objectives {
    ($(
        $(#[$set_meta:meta])*
        $Set:ident as $Form:ident in $list:ident {
            $(
                #[doc = $help:literal]
                $key:ident: $type:ty [$yaml:ty] in $range:expr, default $default:expr, needs $need:ident,
                    pages $pages:literal $(, metric $metric:literal)?;
            )*
        }
    )*) => {
        $(
            $(#[$set_meta])*
            #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
            pub struct $Set {
                $(#[doc = $help] #[serde(serialize_with = "value::serialize")] pub $key: Option<$type>,)*
            }

            form! {
                pub struct $Form {
                    $(#[doc = $help] $key: Field<$yaml>,)*
                }
            }

            impl $Set {
                /// The objectives of this set, in the order of their keys.
                pub const ALL: &'static [Objective] = &[$(Objective {
                    key: stringify!($key),
                    metric: objectives!(@metric $key $($metric)?),
                    is_duration: <$type as ObjectiveValue>::IS_DURATION,
                    pages: $pages,
                    help: concat!("Objective:", $help),
                    lacking: Observation::$need.lacking(),
                },)*];

                /// Each objective with its value, in seconds or as a number; `None` where there is none.
                pub fn each(&self) -> impl Iterator<Item = (&'static Objective, Option<f64>)> + use<> {
                    Self::ALL.iter().zip([$(self.$key.map(ObjectiveValue::number)),*])
                }
            }

            impl ObjectiveSet for $Set {
                type Form = $Form;

                fn of(all: &Objectives) -> Self {
                    all.$list
                }

                fn check(
                    checker: &mut Checker<'_>,
                    own: $Form,
                    inherited: Self,
                    can_measure: &dyn Fn(Observation) -> bool,
                ) -> Self {
                    Self {
                        $($key: {
                            let need = Observation::$need;
                            let lacking = (!can_measure(need)).then_some(need.lacking());
                            value::resolve(checker, own.$key, $range, inherited.$key, lacking)
                        },)*
                    }
                }
            }
        )*

        /// The default objectives, for sources and targets that set none of their own.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
        pub struct Objectives {
            $($(#[$set_meta])* #[serde(flatten)] pub $list: $Set,)*
        }

        form! {
            pub struct ObjectivesForm {
                $($(#[doc = $help] $key: Field<$yaml>,)*)*
            }
        }

        impl Objectives {
            /// Every objective, by the list that it is for.
            pub const ALL: &'static [(&'static str, &'static [Objective])] = &[$((stringify!($list), $Set::ALL),)*];

            /// The defaults.
            const DEFAULTS: Self = Self { $($list: $Set { $($key: Some($default),)* },)* };

            /// Checks the default objectives.
            pub(crate) fn check(checker: &mut Checker<'_>, field: Field<ObjectivesForm>) -> Self {
                let form = field.value_or_default();
                Self {
                    $($list: {
                        let own = $Form { $($key: form.$key,)* };
                        $Set::check(checker, own, Self::DEFAULTS.$list, &|_| true)
                    },)*
                }
            }
        }
    };
    (@metric $key:ident) => { concat!("sqlqueue_objective_", stringify!($key)) };
    (@metric $key:ident $metric:literal) => { concat!("sqlqueue_objective_", $metric) };
}

objectives! {
    /// The objectives of a queue; `None` for no objective, or where the table cannot be held to it.
    QueueObjectives as QueueObjectivesForm in queues {
        /// Maximum age of the oldest ready job.
        max_ready_age: Duration [String] in AGES, default Duration::from_secs(15 * 60),
            needs ReadyAge, pages true;
        /// Maximum time since the earliest of the lapsed leases lapsed.
        max_expired_age: Duration [String] in AGES, default Duration::from_secs(5 * 60),
            needs LapsedLeases, pages true;
        /// Maximum number of attempts at an unfinished job.
        max_attempts: u32 [Constant] in (1, 1_000_000), default 10, needs Attempts, pages false;
        /// Maximum number of failed jobs in the table.
        max_failed_jobs: u32 [Constant] in (0, 1_000_000_000), default 10, needs FailedJobs, pages false;
    }
    /// The objectives of an attempt log; `None` as for a queue.
    AttemptLogObjectives as AttemptLogObjectivesForm in attempt_logs {
        /// Maximum share of attempts that are lost with their lease.
        max_lost_ratio: Ratio [Constant] in SHARES, default Ratio::percent(20),
            needs LostAttempts, pages false;
    }
    /// The objectives of a run log; `None` as for a queue.
    RunLogObjectives as RunLogObjectivesForm in run_logs {
        /// Maximum time since the newest step began.
        max_run_gap: Duration [String] in AGES, default HOUR, needs StepStart, pages true;
        /// Maximum number of runs skipped in a row.
        max_consecutive_skips: u32 [Constant] in (0, 1_000_000), default 3, needs SkippedRuns, pages true;
        /// Maximum share of runs that are skipped.
        max_skip_ratio: Ratio [Constant] in SHARES, default Ratio::percent(20),
            needs SkippedRuns, pages false;
        /// Maximum share of a step's rows that are errors.
        max_error_ratio: Ratio [Constant] in SHARES, default Ratio::percent(20),
            needs StepErrors, pages false;
        /// Maximum share of a step's rows that are warnings.
        max_warning_ratio: Ratio [Constant] in SHARES, default Ratio::percent(50),
            needs StepWarnings, pages false;
        /// Maximum duration of a step, as a multiple of its own past duration.
        max_slowdown: Ratio [Constant] in SLOWDOWNS, default Ratio::percent(300),
            needs StepDuration, pages false, metric "max_slowdown_ratio";
        /// Maximum age of the oldest row of the run log.
        max_log_age: Duration [String] in AGES, default DAY.saturating_mul(90), needs StepStart, pages false;
    }
    /// The objectives of a source.
    SourceObjectives as SourceObjectivesForm in sources {
        /// Maximum difference between the database's clock and the exporter's, either way.
        max_clock_skew: Duration [String] in AGES, default Duration::from_secs(30), needs Clocks, pages false;
    }
}
