//! A table that keeps a row of every job that was enqueued.

use serde_saphyr::Spanned;

use super::checker::Checker;
use super::log::{key_column, tail};
use super::target::Scope;
use crate::config::TargetKind;
use crate::config::model::{EnqueueLog, Target};
use crate::config::raw::RawEnqueueLog;
use crate::config::setting::Placed;

pub(super) fn enqueue_log(
    checker: &mut Checker<'_>,
    raw: Spanned<RawEnqueueLog>,
    scope: &Scope,
    target: Option<Target>,
) -> Option<EnqueueLog> {
    let at = raw.spot();
    let raw = raw.value;
    let id = key_column(checker, raw.id, at, "id", "name the ascending id column", TargetKind::EnqueueLog);
    let queue_label = checker.optional_column(raw.queue_label);
    let enqueued_at = checker.own_time(raw.enqueued_at, scope.backend);
    let (batch_size, late_window) = tail(checker, raw.batch_size, raw.late_window);
    Some(EnqueueLog { target: target?, id: id?, queue_label, enqueued_at, batch_size, late_window })
}
