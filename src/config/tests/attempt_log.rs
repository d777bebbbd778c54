//! Attempt logs.

use std::time::Duration;

use super::{SQLITE, attempt_log, errors, with_target};
use crate::config::{
    AttemptOutcome, DurationColumn, DurationUnit, OutcomeRule, OutcomeRules, OutcomeTest, TimeColumn,
    TimeEncoding, TimeZone,
};

const KEY: &str = "key `sources[0].attempt_logs[0]";
const BASE: &str = "table: T\nid: I\n";

fn attempt_log_errors(keys: &str) -> String {
    errors(&with_target(SQLITE, "attempt_logs", keys))
}

fn time(column: &str, encoding: TimeEncoding, zone: TimeZone) -> Option<TimeColumn> {
    Some(TimeColumn { column: column.into(), encoding, zone, sentinels: Vec::new(), lookup: false })
}

#[test]
fn a_whole_mapping_is_read() {
    let log = attempt_log(
        "table: dbo.JobAttempt\n\
         sample_interval: 20s\n\
         where: { Tenant: 1 }\n\
         id: AttemptId\n\
         queue_label: QueueName\n\
         outcome: { column: Outcome, rules: [ { like: 'ok%', outcome: ok }, { is_null: true, outcome: lost } ], default: error }\n\
         attempt: Attempt\n\
         started_at: { column: StartedAt, encoding: unix_ms }\n\
         ended_at: { column: EndedAt, zone: server }\n\
         duration: { column: Took, unit: s }\n\
         enqueued_at: EnqueuedAt\n\
         batch_size: 50\n\
         late_window: 5m",
    );
    assert_eq!(log.target.filter[&"Tenant".into()], "1");
    assert_eq!(log.target.sample_interval, Duration::from_secs(20));
    assert_eq!((&*log.id, log.queue_label.as_deref()), ("AttemptId", Some("QueueName")));
    assert_eq!(
        log.outcome,
        OutcomeRules {
            column: Some("Outcome".into()),
            rules: vec![
                OutcomeRule { test: OutcomeTest::Like("ok%".to_owned()), outcome: AttemptOutcome::Ok },
                OutcomeRule { test: OutcomeTest::IsNull, outcome: AttemptOutcome::Lost },
            ],
            default: AttemptOutcome::Error,
        }
    );
    assert_eq!(log.attempt.as_deref(), Some("Attempt"));
    assert_eq!(log.started_at, time("StartedAt", TimeEncoding::UnixMs, TimeZone::Utc));
    assert_eq!(log.ended_at, time("EndedAt", TimeEncoding::Native, TimeZone::Server));
    assert_eq!(log.duration, Some(DurationColumn { column: "Took".into(), unit: DurationUnit::S }));
    assert_eq!(log.enqueued_at, time("EnqueuedAt", TimeEncoding::Native, TimeZone::Utc));
    assert_eq!((log.batch_size.0, log.late_window.0), (50, Duration::from_secs(300)));
}

#[test]
fn only_table_id_and_outcome_are_needed() {
    let log = attempt_log(&format!("{BASE}outcome: {{ default: ok }}"));
    assert_eq!((log.queue_label, log.attempt, log.duration), (None, None, None));
    assert_eq!((log.started_at, log.ended_at, log.enqueued_at), (None, None, None));
    assert_eq!((log.batch_size.0, log.late_window.0), (1000, Duration::from_secs(600)));
    let presets = "or start from a preset; for attempt_logs there are attempt_log";
    assert_eq!(
        attempt_log_errors("attempt: A"),
        format!(
            "config.yaml:5:9: {KEY}.table`: is missing; name the table, {presets}\n\
             config.yaml:5:9: {KEY}.id`: is missing; name the ascending id column, {presets}\n\
             config.yaml:5:9: {KEY}.outcome`: is missing; say how to derive a row's outcome, at least `outcome: {{ \
             default: ok }}`, {presets}"
        )
    );
}

#[test]
fn an_attempt_has_outcomes_of_its_own() {
    let errors = |outcome: &str| attempt_log_errors(&format!("{BASE}outcome: {outcome}"));
    assert_eq!(
        errors("{ default: skipped }"),
        format!(
            "config.yaml:8:29: {KEY}.outcome.default`: unknown value `skipped`; expected one of: ok, error, lost"
        )
    );
    assert_eq!(
        errors("{ column: C, rules: [{ is_null: true }] }"),
        format!(
            "config.yaml:8:18: {KEY}.outcome.default`: is missing; say the outcome of a row that no rule fits: one \
             of ok, error, lost\n\
             config.yaml:8:39: {KEY}.outcome.rules[0].outcome`: is missing; one of ok, error, lost"
        )
    );
}

#[test]
fn a_completion_delay_needs_both_its_ends() {
    let message = "`enqueued_at` needs `ended_at`: the completion delay lies between the two; name that column, \
                   or set `enqueued_at: null`";
    assert_eq!(
        attempt_log_errors(&format!("{BASE}outcome: {{ default: ok }}\nenqueued_at: E")),
        format!("config.yaml:9:22: {KEY}.enqueued_at`: {message}")
    );
    assert_eq!(
        attempt_log_errors("preset: attempt_log\nended_at: null"),
        format!("config.yaml:6:17: {KEY}.preset`: {message}")
    );
    assert!(attempt_log("preset: attempt_log\nended_at: null\nenqueued_at: null").duration.is_some());
}

#[test]
fn names_are_unique_among_attempt_logs() {
    let file = format!(
        "sources:\n  - name: a\n    {SQLITE}\n    attempt_logs:\n      - {{ name: x, preset: attempt_log }}\n      - {{ name: x, preset: attempt_log }}\n"
    );
    assert_eq!(
        errors(&file),
        "config.yaml:6:17: key `sources[0].attempt_logs[1].name`: `x` is also the name on line 5; names in the attempt \
         logs of a source are unique"
    );
}
