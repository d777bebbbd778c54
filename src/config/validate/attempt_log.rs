//! The attempt history of a lease queue.

use serde_saphyr::Spanned;

use super::checker::Checker;
use super::log::{duration, key_column, tail};
use super::objectives;
use super::outcome::outcome;
use super::target::Scope;
use crate::config::TargetKind;
use crate::config::model::{AttemptLog, Target};
use crate::config::outcome::AttemptOutcome;
use crate::config::raw::RawAttemptLog;
use crate::config::setting::{Field, Placed};

pub(super) fn attempt_log(
    checker: &mut Checker<'_>,
    raw: Spanned<RawAttemptLog>,
    scope: &Scope,
    target: Option<Target>,
) -> Option<AttemptLog> {
    let at = raw.spot();
    let raw = raw.value;
    let kind = TargetKind::AttemptLog;
    let id = key_column(checker, raw.id, at, "id", "name the ascending id column", kind);
    let queue_label = checker.optional_column(raw.queue_label);
    let outcome = outcome(checker, raw.outcome, at, kind);
    let sees_lost = outcome.as_ref().is_none_or(|outcome| outcome.can_tell(AttemptOutcome::Lost));
    let own = objectives::given(raw.objectives);
    let objectives = objectives::attempt_log(checker, own, scope.objectives.attempt_logs, sees_lost);
    let attempt = checker.optional_column(raw.attempt);
    if let (Field::Set(enqueued_at), false) = (&raw.enqueued_at, matches!(raw.ended_at, Field::Set(_))) {
        checker.report(
            enqueued_at.spot(),
            "`enqueued_at` needs `ended_at`: the completion delay lies between the two; name that column, or \
             set `enqueued_at: null`",
        );
    }
    let started_at = checker.own_time(raw.started_at, scope.backend);
    let ended_at = checker.own_time(raw.ended_at, scope.backend);
    let duration = duration(checker, raw.duration);
    let enqueued_at = checker.own_time(raw.enqueued_at, scope.backend);
    let (batch_size, late_window) = tail(checker, raw.batch_size, raw.late_window);
    Some(AttemptLog {
        target: target?,
        id: id?,
        queue_label,
        outcome: outcome?,
        attempt,
        started_at,
        ended_at,
        duration,
        enqueued_at,
        objectives,
        batch_size,
        late_window,
    })
}
