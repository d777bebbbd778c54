//! Presets: that they are right, and how a file overrides them.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use super::{
    MSSQL, SQLITE, attempt_log, config, control_table, errors, queue, queue_errors, run_log, run_log_errors,
    with_target,
};
use crate::config::{
    AttemptOutcome, Attempts, AttemptsCount, DurationUnit, Lease, MappedState, MaxAttempts, Outcome,
    OutcomeTest, RowState, TableName, TargetKind, TimeColumn, TimeEncoding, TimeZone, presets,
};

fn column(name: &str, zone: TimeZone) -> TimeColumn {
    TimeColumn {
        column: name.into(),
        encoding: TimeEncoding::Native,
        zone,
        sentinels: Vec::new(),
        lookup: false,
    }
}

fn utc(name: &str) -> Option<TimeColumn> {
    Some(column(name, TimeZone::Utc))
}

fn table(name: &str) -> TableName {
    TableName(vec![name.to_owned()])
}

fn states(pairs: &[(&str, MappedState)]) -> RowState {
    let map = pairs.iter().map(|(value, state)| ((*value).to_owned(), *state)).collect::<BTreeMap<_, _>>();
    RowState::Column { column: "State".into(), map }
}

#[test]
fn every_preset_alone_makes_a_target_in_every_database() {
    for preset in presets() {
        for database in [SQLITE, MSSQL] {
            config(&with_target(database, preset.kind.key(), &format!("preset: {}", preset.name)));
        }
    }
}

#[test]
fn every_preset_is_in_the_form_that_a_user_would_write() {
    for preset in presets() {
        // Pasted in place of its name, comments and all, it gives the same target.
        let pasted = config(&with_target(MSSQL, preset.kind.key(), preset.yaml));
        let named = config(&with_target(MSSQL, preset.kind.key(), &format!("preset: {}", preset.name)));
        assert_eq!(pasted, named, "{}", preset.name);
    }
}

#[test]
fn the_names_of_presets_are_unique() {
    let names: HashSet<&str> = presets().iter().map(|preset| preset.name).collect();
    assert_eq!(names.len(), presets().len());
}

#[test]
fn the_lease_preset_maps_the_whole_table() {
    use MappedState::{Done, Failed, Ready, Running};
    let queue = queue("preset: lease");
    assert_eq!(queue.target.table, table("JobQueue"));
    assert_eq!(queue.state, states(&[("R", Ready), ("W", Running), ("D", Done), ("F", Failed)]));
    assert_eq!(
        queue.lease,
        Lease::Until {
            column: column("LeaseUntil", TimeZone::Utc),
            token: Some("ClaimToken".into()),
            tolerance: Duration::ZERO
        }
    );
    assert_eq!(queue.claimed_at, utc("ClaimedAt"));
    assert_eq!(queue.available_at, utc("AvailableAt"));
    assert_eq!(queue.enqueued_at, utc("EnqueuedAt"));
    assert_eq!(queue.attempts, Some(Attempts { column: "Attempts".into(), counts: AttemptsCount::Claims }));
    assert_eq!(queue.max_attempts, Some(MaxAttempts::Column { column: "MaxAttempts".into() }));
}

#[test]
fn the_minimal_lease_preset_knows_no_times() {
    use MappedState::{Done, Ready, Running};
    let queue = queue("preset: lease_minimal");
    assert_eq!(queue.target.table, table("QueueDemo"));
    assert_eq!(queue.state, states(&[("R", Ready), ("W", Running), ("D", Done)]));
    assert!(matches!(queue.lease, Lease::Until { token: Some(_), .. }));
    assert_eq!((queue.claimed_at, queue.available_at, queue.enqueued_at), (None, None, None));
    assert_eq!((queue.attempts, queue.max_attempts), (None, None));
}

#[test]
fn the_transactional_presets_hold_ready_rows_only() {
    let rowlock = queue("preset: transactional");
    assert_eq!(rowlock.target.table, table("WorkQueue"));
    assert_eq!(rowlock.state, RowState::Constant(MappedState::Ready));
    assert_eq!((rowlock.lease, rowlock.enqueued_at), (Lease::RowLock, utc("EnqueuedAt")));
    let owner = queue("preset: transactional_owner");
    assert_eq!(owner.target.table, table("TransactionQueue"));
    assert_eq!(owner.state, RowState::Constant(MappedState::Ready));
    assert_eq!((owner.lease, owner.enqueued_at), (Lease::Owner { column: "TranId".into() }, None));
}

#[test]
fn the_enqueue_log_preset_reads_the_lease_queue_by_its_id() {
    let log = config(&with_target(SQLITE, "enqueue_logs", "preset: enqueue_log"))
        .sources
        .remove(0)
        .enqueue_logs
        .remove(0);
    assert_eq!(log.target.table, queue("preset: lease").target.table);
    assert_eq!((log.id.as_str(), log.queue_label), ("JobId", None));
    assert_eq!(log.enqueued_at, utc("EnqueuedAt"));
}

#[test]
fn the_attempt_log_preset_maps_the_whole_table() {
    let log = attempt_log("preset: attempt_log");
    assert_eq!(log.target.table, table("JobAttempt"));
    assert_eq!((log.id.as_str(), log.queue_label, log.attempt), ("AttemptId", None, Some("Attempt".into())));
    assert_eq!((log.started_at, log.ended_at), (utc("StartedAt"), utc("EndedAt")));
    assert_eq!(log.enqueued_at, utc("EnqueuedAt"));
    let duration = log.duration.unwrap();
    assert_eq!((duration.column.as_str(), duration.unit), ("DurationMs", DurationUnit::Ms));
    let rules: Vec<_> = log.outcome.rules.into_iter().map(|rule| (rule.test, rule.outcome)).collect();
    let equals = |text: &str| OutcomeTest::Equals(text.to_owned());
    assert_eq!(
        rules,
        [
            (equals("ok"), AttemptOutcome::Ok),
            (equals("error"), AttemptOutcome::Error),
            (equals("lost"), AttemptOutcome::Lost)
        ]
    );
    assert_eq!(log.outcome.default, AttemptOutcome::Error);
}

#[test]
fn the_run_log_presets_tell_every_outcome() {
    let english = run_log("preset: notification_run_log");
    assert_eq!(english.target.table, table("RunLog"));
    assert_eq!((english.id.as_str(), english.step.as_str()), ("RunLogId", "Step"));
    assert_eq!(english.run_step.as_deref(), Some("run"));
    assert_eq!((english.start, english.end), (utc("StartedAt"), utc("EndedAt")));
    assert_eq!(english.candidates.as_deref(), Some("Candidates"));
    let rules: Vec<_> = english.outcome.rules.into_iter().map(|rule| (rule.test, rule.outcome)).collect();
    let equals = |text: &str| OutcomeTest::Equals(text.to_owned());
    assert_eq!(
        rules,
        [
            (equals("ok"), Outcome::Ok),
            (equals("warning"), Outcome::Warning),
            (equals("skipped"), Outcome::Skipped),
            (equals("error"), Outcome::Error)
        ]
    );

    let polish = run_log("preset: notification_run_log_pl");
    assert_eq!(polish.target.table, table("tabela_przebiegow"));
    assert_eq!((polish.id.as_str(), polish.step.as_str()), ("id_przebiegu", "krok"));
    assert_eq!(polish.start, Some(column("start", TimeZone::Server)));
    assert_eq!(polish.end, Some(column("koniec", TimeZone::Server)));
    assert_eq!(polish.duration.unwrap().unit, DurationUnit::Ms);
    let rules: Vec<_> = polish.outcome.rules.into_iter().map(|rule| (rule.test, rule.outcome)).collect();
    let like = |text: &str| OutcomeTest::Like(text.to_owned());
    assert_eq!(
        rules,
        [
            (like("POMINIETY%"), Outcome::Skipped),
            (like("BLAD%"), Outcome::Error),
            (OutcomeTest::IsNull, Outcome::Ok)
        ]
    );
    assert_eq!(polish.outcome.default, Outcome::Warning);
}

#[test]
fn the_control_table_presets_map_the_kind_and_the_time() {
    let english = control_table("preset: notification_control");
    assert_eq!(english.target.table, table("NotificationControl"));
    assert_eq!((english.id.as_str(), english.kind.as_str()), ("NotificationId", "Kind"));
    assert_eq!(english.at, utc("CreatedAt"));
    let polish = control_table("preset: notification_control_pl");
    assert_eq!(polish.target.table, table("tabela_powiadomien"));
    assert_eq!((polish.id.as_str(), polish.kind.as_str()), ("id_powiadomienia", "rodzaj"));
    assert_eq!(polish.at, Some(column("kiedy", TimeZone::Server)));
}

#[test]
fn a_key_of_the_file_overrides_the_preset_as_a_whole() {
    let queue = queue("preset: lease\ntable: dbo.Jobs\nlease: { kind: until, column: L }\nclaimed_at: C");
    assert_eq!(queue.target.table, TableName(vec!["dbo".to_owned(), "Jobs".to_owned()]));
    // The token of the preset belonged to the lease that is replaced.
    assert!(matches!(queue.lease, Lease::Until { token: None, .. }));
    assert_eq!(queue.claimed_at, utc("C"));
    assert_eq!(queue.enqueued_at, utc("EnqueuedAt"));
}

#[test]
fn null_removes_what_the_preset_gives() {
    let queue = queue("preset: lease\nclaimed_at: null\nenqueued_at: ~\navailable_at:");
    assert_eq!((queue.claimed_at, queue.enqueued_at, queue.available_at), (None, None, None));
    assert!(queue.attempts.is_some());
    let presets = "or start from a preset; for queues there are lease, lease_minimal, transactional, transactional_owner";
    assert_eq!(
        queue_errors("preset: lease\ntable: null"),
        format!("config.yaml:5:9: key `sources[0].queues[0].table`: is missing; name the table, {presets}")
    );
}

/// Every list of a source, with keys of its targets that say nothing of a column.
const LISTS: [(TargetKind, &str); 5] = [
    (
        TargetKind::Queue,
        "count_done: true\nobjectives: { max_ready_age: 1m }\nprobe: { role: reader }\nread_mode: read_committed",
    ),
    (TargetKind::AttemptLog, "batch_size: 100\nlate_window: 1m"),
    (TargetKind::EnqueueLog, "batch_size: 100\nlate_window: 1m"),
    (TargetKind::RunLog, "steps: [a, b]\nlock: { resource: r }\nbatch_size: 100\nlate_window: 1m"),
    (TargetKind::ControlTable, "kinds: [a, b]\nbatch_size: 100\nlate_window: 1m"),
];

#[test]
fn a_target_that_maps_no_column_takes_the_preset_of_the_shipped_table() {
    for (kind, own) in LISTS {
        let first = presets().iter().find(|preset| preset.kind == kind).unwrap();
        assert_eq!(first.name, kind.default_preset(), "as the README says");
        let preset = format!("preset: {}\n", kind.default_preset());
        for keys in ["", "table: dbo.Other\nwhere: { Tenant: 1 }\nsample_interval: 1m", own] {
            assert_eq!(
                config(&with_target(MSSQL, kind.key(), keys)),
                config(&with_target(MSSQL, kind.key(), &format!("{preset}{keys}"))),
                "{kind}: {keys}"
            );
        }
    }
    assert_eq!(queue("table: Other").target.table, table("Other"));
    assert_eq!(run_log("steps: [a, b]").steps.unwrap(), ["a", "b"]);
}

#[test]
fn a_target_that_says_anything_of_a_column_starts_from_nothing() {
    let maps: [(TargetKind, &[&str]); 5] = [
        (
            TargetKind::Queue,
            &[
                "id",
                "queue_label",
                "lookup",
                "state",
                "lease",
                "claimed_at",
                "available_at",
                "enqueued_at",
                "attempts",
                "max_attempts",
            ],
        ),
        (
            TargetKind::AttemptLog,
            &["id", "queue_label", "outcome", "attempt", "started_at", "ended_at", "duration", "enqueued_at"],
        ),
        (TargetKind::EnqueueLog, &["id", "queue_label", "enqueued_at"]),
        (
            TargetKind::RunLog,
            &["id", "step", "run_step", "start", "end", "duration", "candidates", "outcome", "mutable"],
        ),
        (TargetKind::ControlTable, &["id", "kind", "at"]),
    ];
    for (kind, keys) in maps {
        let list = kind.key();
        // Even a key that is only taken away.
        for key in keys {
            let found = errors(&with_target(MSSQL, list, &format!("{key}: null")));
            assert!(
                found.contains(&format!("key `sources[0].{list}[0].table`: is missing")),
                "{key}: {found}"
            );
        }
    }
}

#[test]
fn a_preset_can_be_declined() {
    for (kind, _) in LISTS {
        let found = errors(&with_target(MSSQL, kind.key(), "preset: null"));
        assert!(found.contains(".table`: is missing; name the table, or start from a preset"), "{found}");
    }
}

#[test]
fn null_removes_what_the_default_preset_gives() {
    let presets = "or start from a preset; for queues there are lease, lease_minimal, transactional, transactional_owner";
    assert_eq!(
        queue_errors("table: null"),
        format!("config.yaml:5:9: key `sources[0].queues[0].table`: is missing; name the table, {presets}")
    );
}

#[test]
fn an_unknown_preset_suggests_the_nearest_and_reports_nothing_else() {
    let key = "config.yaml:6:17: key `sources[0].queues[0].preset`:";
    assert_eq!(
        queue_errors("preset: leese"),
        format!("{key} there is no preset `leese`; did you mean `lease`?")
    );
    assert_eq!(
        queue_errors("preset: hangfire"),
        format!(
            "{key} there is no preset `hangfire`; for queues there are: lease, lease_minimal, transactional, \
             transactional_owner"
        )
    );
    assert_eq!(
        run_log_errors("preset: lease"),
        "config.yaml:6:17: key `sources[0].run_logs[0].preset`: the preset `lease` is for queues; for run_logs \
         there are notification_run_log, notification_run_log_pl"
    );
}

#[test]
fn the_kinds_of_presets_are_the_lists_of_a_source() {
    let kinds: HashSet<String> = presets().iter().map(|preset| preset.kind.to_string()).collect();
    assert_eq!(kinds, LISTS.iter().map(|(kind, _)| kind.key().to_owned()).collect());
}
