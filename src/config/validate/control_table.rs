//! A control table of notifications.

use serde_saphyr::Spanned;

use super::checker::Checker;
use super::log::{key_column, tail};
use super::target::Scope;
use crate::config::TargetKind;
use crate::config::model::{ControlTable, Target};
use crate::config::raw::RawControlTable;
use crate::config::setting::Placed;

pub(super) fn control_table(
    checker: &mut Checker<'_>,
    raw: Spanned<RawControlTable>,
    scope: &Scope,
    target: Option<Target>,
) -> Option<ControlTable> {
    let at = raw.spot();
    let raw = raw.value;
    let target_kind = TargetKind::ControlTable;
    let id = key_column(checker, raw.id, at, "id", "name the ascending id column", target_kind);
    let remedy = "name the column that names the kind of notification";
    let kind = key_column(checker, raw.kind, at, "kind", remedy, target_kind);
    let declared_kinds = checker.declared(raw.kinds, scope);
    let at_column = checker.own_time(raw.at, scope.backend);
    let (batch_size, late_window) = tail(checker, raw.batch_size, raw.late_window);
    Some(ControlTable {
        target: target?,
        id: id?,
        kind: kind?,
        declared_kinds,
        at: at_column,
        batch_size,
        late_window,
    })
}
