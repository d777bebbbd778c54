//! Mappings of well-known tables, written in the form that a user would write.

use super::raw::{RawAttemptLog, RawControlTable, RawEnqueueLog, RawQueue, RawRunLog, RawTarget};
use super::setting::{Field, Spot};
use super::target::TargetKind;

/// A mapping that a target can start from by `preset: NAME`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    /// Which targets may name it.
    pub kind: TargetKind,
    /// Its name; unique over all kinds.
    pub name: &'static str,
    /// The mapping, as a target would write it; it lacks only the target's `name`.
    pub yaml: &'static str,
}

macro_rules! preset {
    ($kind:ident, $name:literal) => {
        Preset {
            kind: TargetKind::$kind,
            name: $name,
            yaml: include_str!(concat!("presets/", $name, ".yaml")),
        }
    };
}

static PRESETS: [Preset; 10] = [
    preset!(Queue, "lease"),
    preset!(Queue, "lease_minimal"),
    preset!(Queue, "transactional"),
    preset!(Queue, "transactional_owner"),
    preset!(AttemptLog, "attempt_log"),
    preset!(EnqueueLog, "enqueue_log"),
    preset!(RunLog, "notification_run_log"),
    preset!(RunLog, "notification_run_log_pl"),
    preset!(ControlTable, "notification_control"),
    preset!(ControlTable, "notification_control_pl"),
];

/// Every preset, kind by kind.
#[must_use]
pub fn presets() -> &'static [Preset] {
    &PRESETS
}

/// The presets of one kind.
pub(super) fn of_kind(kind: TargetKind) -> impl Iterator<Item = &'static Preset> {
    PRESETS.iter().filter(move |preset| preset.kind == kind)
}

/// A target's mapping that can take what it lacks from a preset.
pub(super) trait Overridable: serde::de::DeserializeOwned {
    /// Which presets fit.
    const KIND: TargetKind;

    /// Takes out the name of the preset that it starts from.
    fn take_preset(&mut self) -> Field<String>;

    /// Whether the target says itself what some column means, be it that there is none (`null`).
    fn maps_columns(&self) -> bool;

    /// Takes out what every target has.
    fn take_common(&mut self) -> RawTarget;

    /// This mapping, completed by a preset that the file names at `at`.
    fn or_preset(self, preset: Self, at: Spot) -> Self;
}

/// Completes a target key by key. A macro, so that a key cannot be forgotten: the struct literal
/// names every one, either among those that map columns or among the others.
macro_rules! overridable {
    ($raw:ident, $kind:ident, maps: [$($map:ident),+], other: [$($other:ident),*]) => {
        impl Overridable for $raw {
            const KIND: TargetKind = TargetKind::$kind;

            fn take_preset(&mut self) -> Field<String> {
                std::mem::take(&mut self.preset)
            }

            fn maps_columns(&self) -> bool {
                $(!matches!(self.$map, Field::Absent))||+
            }

            fn take_common(&mut self) -> RawTarget {
                RawTarget {
                    name: std::mem::take(&mut self.name),
                    table: std::mem::take(&mut self.table),
                    filter: std::mem::take(&mut self.filter),
                    probe: std::mem::take(&mut self.probe),
                    read_mode: std::mem::take(&mut self.read_mode),
                    sample_interval: std::mem::take(&mut self.sample_interval),
                }
            }

            fn or_preset(self, preset: Self, at: Spot) -> Self {
                Self {
                    name: self.name.or_preset(preset.name, at),
                    table: self.table.or_preset(preset.table, at),
                    preset: self.preset.or_preset(preset.preset, at),
                    filter: self.filter.or_preset(preset.filter, at),
                    probe: self.probe.or_preset(preset.probe, at),
                    read_mode: self.read_mode.or_preset(preset.read_mode, at),
                    sample_interval: self.sample_interval.or_preset(preset.sample_interval, at),
                    $($map: self.$map.or_preset(preset.$map, at),)+
                    $($other: self.$other.or_preset(preset.$other, at),)*
                }
            }
        }
    };
}

overridable!(
    RawQueue,
    Queue,
    maps: [
        id,
        queue_label,
        lookup,
        state,
        lease,
        claimed_at,
        available_at,
        enqueued_at,
        attempts,
        max_attempts
    ],
    other: [count_done, objectives]
);
overridable!(
    RawAttemptLog,
    AttemptLog,
    maps: [id, queue_label, outcome, attempt, started_at, ended_at, duration, enqueued_at],
    other: [objectives, batch_size, late_window]
);
overridable!(
    RawEnqueueLog,
    EnqueueLog,
    maps: [id, queue_label, enqueued_at],
    other: [batch_size, late_window]
);
overridable!(
    RawRunLog,
    RunLog,
    maps: [id, step, run_step, start, end, duration, candidates, outcome, mutable],
    other: [steps, open_window, lock, objectives, batch_size, late_window]
);
overridable!(
    RawControlTable,
    ControlTable,
    maps: [id, kind, at],
    other: [kinds, batch_size, late_window]
);
