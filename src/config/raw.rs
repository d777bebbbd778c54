//! The configuration as it is written, before anything is checked against anything else.
//!
//! Every key may be absent here: what is required is said in one place, the validation, and the
//! same structs read the presets, which leave the names to the user.

mod objectives;

use crate::yaml::Spanned;
use serde::Deserialize;

pub(super) use self::objectives::{
    RawAttemptLogObjectives, RawObjectives, RawQueueObjectives, RawRunLogObjectives, RawSourceObjectives,
};
use super::model::{AttemptsCount, DurationUnit, Encryption, MappedState, ReadMode, TimeEncoding};
use super::outcome::{AttemptOutcome, Outcome};
use crate::yaml::{Constant, Entries, Field, ScalarOr};

/// A list whose items know where they stand.
pub(super) type List<T> = Vec<Spanned<T>>;

/// A column name, or a mapping with more.
pub(super) type TimeSetting = ScalarOr<RawTimeColumn>;

/// Columns and the constants that they must hold.
pub(super) type Where = Entries<String, Constant>;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawConfig {
    pub(super) global: Field<RawGlobal>,
    pub(super) state_file: Field<String>,
    pub(super) sources: Field<List<RawSource>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawGlobal {
    pub(super) sample_interval: Field<String>,
    pub(super) query_timeout: Field<String>,
    pub(super) lock_timeout: Field<String>,
    pub(super) stale_after: Field<String>,
    pub(super) read_mode: Field<ReadMode>,
    pub(super) max_label_values: Field<u32>,
    pub(super) objectives: Field<RawObjectives>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawSource {
    pub(super) name: Field<String>,
    pub(super) mssql: Field<RawMssql>,
    pub(super) sqlite: Field<RawSqlite>,
    pub(super) objectives: Field<RawSourceObjectives>,
    pub(super) queues: Field<List<RawQueue>>,
    pub(super) attempt_logs: Field<List<RawAttemptLog>>,
    pub(super) enqueue_logs: Field<List<RawEnqueueLog>>,
    pub(super) run_logs: Field<List<RawRunLog>>,
    pub(super) control_tables: Field<List<RawControlTable>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawMssql {
    pub(super) host: Field<String>,
    pub(super) port: Field<u16>,
    pub(super) instance: Field<String>,
    pub(super) database: Field<String>,
    pub(super) user: Field<String>,
    pub(super) password_file: Field<String>,
    pub(super) password_env: Field<String>,
    pub(super) password_credential: Field<String>,
    pub(super) encryption: Field<Encryption>,
    pub(super) ca_file: Field<String>,
    pub(super) trust_server_certificate: Field<bool>,
    pub(super) application_intent: Field<RawIntent>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RawIntent {
    ReadOnly,
    ReadWrite,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawSqlite {
    pub(super) file: Field<String>,
}

/// What every target has; taken out of the struct of its kind.
#[derive(Debug)]
pub(super) struct RawTarget {
    pub(super) name: Field<String>,
    pub(super) table: Field<String>,
    pub(super) filter: Field<Where>,
    pub(super) probe: Field<RawProbe>,
    pub(super) read_mode: Field<ReadMode>,
    pub(super) sample_interval: Field<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawProbe {
    pub(super) base_table: Field<String>,
    #[serde(rename = "where")]
    pub(super) filter: Field<Where>,
    pub(super) role: Field<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawQueue {
    pub(super) name: Field<String>,
    pub(super) table: Field<String>,
    pub(super) preset: Field<String>,
    pub(super) sample_interval: Field<String>,
    #[serde(rename = "where")]
    pub(super) filter: Field<Where>,
    pub(super) probe: Field<RawProbe>,
    pub(super) read_mode: Field<ReadMode>,
    pub(super) id: Field<String>,
    pub(super) queue_label: Field<String>,
    pub(super) lookup: Field<RawLookup>,
    pub(super) state: Field<RawState>,
    pub(super) lease: Field<RawLease>,
    pub(super) claimed_at: Field<TimeSetting>,
    pub(super) available_at: Field<TimeSetting>,
    pub(super) enqueued_at: Field<TimeSetting>,
    pub(super) attempts: Field<ScalarOr<RawAttempts>>,
    pub(super) max_attempts: Field<ScalarOr<RawMaxAttempts>>,
    pub(super) count_done: Field<bool>,
    pub(super) objectives: Field<RawQueueObjectives>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawState {
    pub(super) column: Field<String>,
    pub(super) map: Field<Entries<Constant, MappedState>>,
    pub(super) constant: Field<MappedState>,
    pub(super) done_when_set: Field<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawLease {
    pub(super) kind: Field<RawLeaseKind>,
    pub(super) column: Field<TimeSetting>,
    pub(super) token: Field<String>,
    pub(super) timeout: Field<String>,
    pub(super) tolerance: Field<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RawLeaseKind {
    Until,
    Since,
    Owner,
    RowLock,
    None,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawTimeColumn {
    pub(super) column: Field<String>,
    pub(super) encoding: Field<TimeEncoding>,
    pub(super) zone: Field<String>,
    pub(super) sentinels: Field<Vec<Spanned<Constant>>>,
    pub(super) lookup: Field<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawLookup {
    pub(super) table: Field<String>,
    pub(super) key: Field<String>,
    pub(super) column: Field<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawAttempts {
    pub(super) column: Field<String>,
    pub(super) counts: Field<AttemptsCount>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawMaxAttempts {
    pub(super) column: Field<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawAttemptLog {
    pub(super) name: Field<String>,
    pub(super) table: Field<String>,
    pub(super) preset: Field<String>,
    pub(super) sample_interval: Field<String>,
    #[serde(rename = "where")]
    pub(super) filter: Field<Where>,
    pub(super) probe: Field<RawProbe>,
    pub(super) read_mode: Field<ReadMode>,
    pub(super) id: Field<String>,
    pub(super) queue_label: Field<String>,
    pub(super) outcome: Field<RawOutcome<AttemptOutcome>>,
    pub(super) attempt: Field<String>,
    pub(super) started_at: Field<TimeSetting>,
    pub(super) ended_at: Field<TimeSetting>,
    pub(super) duration: Field<ScalarOr<RawDuration>>,
    pub(super) enqueued_at: Field<TimeSetting>,
    pub(super) objectives: Field<RawAttemptLogObjectives>,
    pub(super) batch_size: Field<u32>,
    pub(super) late_window: Field<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawEnqueueLog {
    pub(super) name: Field<String>,
    pub(super) table: Field<String>,
    pub(super) preset: Field<String>,
    pub(super) sample_interval: Field<String>,
    #[serde(rename = "where")]
    pub(super) filter: Field<Where>,
    pub(super) probe: Field<RawProbe>,
    pub(super) read_mode: Field<ReadMode>,
    pub(super) id: Field<String>,
    pub(super) queue_label: Field<String>,
    pub(super) enqueued_at: Field<TimeSetting>,
    pub(super) batch_size: Field<u32>,
    pub(super) late_window: Field<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawRunLog {
    pub(super) name: Field<String>,
    pub(super) table: Field<String>,
    pub(super) preset: Field<String>,
    pub(super) sample_interval: Field<String>,
    #[serde(rename = "where")]
    pub(super) filter: Field<Where>,
    pub(super) probe: Field<RawProbe>,
    pub(super) read_mode: Field<ReadMode>,
    pub(super) id: Field<String>,
    pub(super) step: Field<String>,
    pub(super) run_step: Field<String>,
    pub(super) steps: Field<List<String>>,
    pub(super) start: Field<TimeSetting>,
    pub(super) end: Field<TimeSetting>,
    pub(super) duration: Field<ScalarOr<RawDuration>>,
    pub(super) candidates: Field<String>,
    pub(super) outcome: Field<RawOutcome<Outcome>>,
    pub(super) mutable: Field<bool>,
    pub(super) open_window: Field<String>,
    pub(super) lock: Field<RawLock>,
    pub(super) objectives: Field<RawRunLogObjectives>,
    pub(super) batch_size: Field<u32>,
    pub(super) late_window: Field<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawDuration {
    pub(super) column: Field<String>,
    pub(super) unit: Field<DurationUnit>,
}

/// How an outcome is told; `O` is the word for it.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields, bound(deserialize = "O: Deserialize<'de>"))]
pub(super) struct RawOutcome<O> {
    pub(super) column: Field<String>,
    pub(super) rules: Field<List<RawRule<O>>>,
    #[serde(rename = "default")]
    pub(super) otherwise: Field<O>,
}

// Not derived: no outcome is the default one.
impl<O> Default for RawOutcome<O> {
    fn default() -> Self {
        Self { column: Field::Absent, rules: Field::Absent, otherwise: Field::Absent }
    }
}

#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields, bound(deserialize = "O: Deserialize<'de>"))]
pub(super) struct RawRule<O> {
    pub(super) is_null: Field<bool>,
    pub(super) equals: Field<Constant>,
    pub(super) like: Field<String>,
    pub(super) outcome: Field<O>,
}

impl<O> Default for RawRule<O> {
    fn default() -> Self {
        Self { is_null: Field::Absent, equals: Field::Absent, like: Field::Absent, outcome: Field::Absent }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawLock {
    pub(super) resource: Field<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawControlTable {
    pub(super) name: Field<String>,
    pub(super) table: Field<String>,
    pub(super) preset: Field<String>,
    pub(super) sample_interval: Field<String>,
    #[serde(rename = "where")]
    pub(super) filter: Field<Where>,
    pub(super) probe: Field<RawProbe>,
    pub(super) read_mode: Field<ReadMode>,
    pub(super) id: Field<String>,
    pub(super) kind: Field<String>,
    pub(super) kinds: Field<List<String>>,
    pub(super) at: Field<TimeSetting>,
    pub(super) batch_size: Field<u32>,
    pub(super) late_window: Field<String>,
}
