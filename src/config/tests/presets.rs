//! Presets: that they are right, and how a file overrides them.

use std::collections::HashSet;

use super::{
    MSSQL, SQLITE, assert_current, config, errors, queue, queue_errors, run_log, run_log_errors, with_target,
};
use crate::config::{Lease, TableName, TargetKind, TimeColumn, TimeEncoding, TimeZone, presets};

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
fn every_preset_comes_to_what_the_golden_file_shows() {
    let lists = TargetKind::ALL.iter().map(|kind| {
        let of_kind = presets().iter().filter(|preset| preset.kind == *kind);
        let targets: String =
            of_kind.map(|preset| format!("      - {{ name: {0}, preset: {0} }}\n", preset.name)).collect();
        format!("    {kind}:\n{targets}")
    });
    let file = format!("sources:\n  - name: presets\n    {MSSQL}\n{}", lists.collect::<String>());
    assert_current("tests/golden/presets.yaml", &config(&file).to_yaml().unwrap());
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

/// Every list of a source, with keys of its targets that map no column.
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
