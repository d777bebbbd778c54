//! What the exporter's own words are called on the page.

/// The kind of a target, which [`crate::state::TargetState::label`] names as a label.
pub(super) fn kind(label: &str) -> String {
    label.replace('_', " ")
}
