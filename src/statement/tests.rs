//! Statements as text: quoting, and that every template renders in every dialect.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::collections::BTreeMap;
use std::time::Duration;

use super::*;
use crate::config::*;

fn time(column: &str) -> TimeColumn {
    TimeColumn { column: column.into(), encoding: TimeEncoding::Native, zone: TimeZone::Utc }
}

fn target(table: &str) -> Target {
    Target {
        name: "orders".into(),
        table: TableName(vec![table.into()]),
        filter: BTreeMap::from([("Hub".into(), "it's".into())]),
        sample_interval: Duration::from_secs(15),
    }
}

fn lease_queue(table: &str) -> Queue {
    let map = [("R", MappedState::Ready), ("W", MappedState::Running), ("D", MappedState::Done), ("A", MappedState::Done)];
    Queue {
        target: target(table),
        queue_label: None,
        state: RowState::Column {
            column: "State".into(),
            map: map.into_iter().map(|(value, state)| (value.to_owned(), state)).collect(),
        },
        lease: Lease::Until { column: time("LeaseUntil"), token: None, tolerance: Duration::ZERO },
        claimed_at: Some(time("ClaimedAt")),
        available_at: Some(time("AvailableAt")),
        enqueued_at: Some(time("EnqueuedAt")),
        attempts: Some(Attempts { column: "Attempts".into(), counts: AttemptsCount::Claims }),
        max_attempts: Some(MaxAttempts::Constant(5)),
        count_done: false,
    }
}

#[test]
fn show() {
    for dialect in [Dialect::Mssql, Dialect::Sqlite] {
        println!("{}", queue(dialect, &lease_queue("Job]\"Queue"), 1000).unwrap().text);
    }
    let log = RunLog {
        target: target("RunLog"), id: "Id".into(), step: "krok".into(), run_step: None, declared_steps: vec![],
        start: Some(time("start")), end: None, duration: None, candidates: None,
        outcome: OutcomeRules { column: Some("blad".into()), rules: vec![OutcomeRule{test: OutcomeTest::IsNull, outcome: Outcome::Ok}, OutcomeRule{test: OutcomeTest::Like("BLAD%".into()), outcome: Outcome::Error}], default: Outcome::Warning },
        lock: Some(AppLock { resource: "x".into() }), batch_size: 1000, late_window: Duration::from_secs(600),
    };
    for dialect in [Dialect::Mssql, Dialect::Sqlite] {
    for r in [TailRequest::Head, TailRequest::After{watermark: 5, gaps: vec![(1,2)]}] {
        println!("{}", runnable(dialect, &run_log(dialect, &log, &r, 1000).unwrap()));
    }}
}
