//! Presets: mappings of well-known tables, written as a user would write them.

use super::TargetKind;

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

macro_rules! presets {
    ($($kind:ident $name:literal,)+) => {
        static PRESETS: &[Preset] = &[$(Preset {
            kind: TargetKind::$kind,
            name: $name,
            yaml: include_str!(concat!("presets/", $name, ".yaml")),
        },)+];
    };
}

presets! {
    Queue "lease",
    Queue "lease_minimal",
    Queue "transactional",
    Queue "transactional_owner",
    AttemptLog "attempt_log",
    EnqueueLog "enqueue_log",
    RunLog "notification_run_log",
    RunLog "notification_run_log_pl",
    ControlTable "notification_control",
    ControlTable "notification_control_pl",
}

/// Every preset, kind by kind.
#[must_use]
pub fn presets() -> &'static [Preset] {
    PRESETS
}

/// The presets of one kind.
pub(super) fn of_kind(kind: TargetKind) -> impl Iterator<Item = &'static Preset> {
    PRESETS.iter().filter(move |preset| preset.kind == kind)
}

/// The remedy for a missing key that a preset could supply.
pub(crate) fn or_preset(remedy: &str, kind: TargetKind) -> String {
    let names: Vec<&str> = of_kind(kind).map(|preset| preset.name).collect();
    format!("{remedy}, or start from a preset; for {kind} there are {}", names.join(", "))
}
