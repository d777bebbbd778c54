//! Queue tables: states, leases, attempts.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{queue, queue_errors};
use crate::config::{
    Attempts, AttemptsCount, Lease, MappedState, MaxAttempts, RowState, TableName, TimeColumn, TimeEncoding,
    TimeZone,
};

const KEY: &str = "key `sources[0].queues[0]";

fn column(name: &str) -> TimeColumn {
    TimeColumn {
        column: name.into(),
        encoding: TimeEncoding::Native,
        zone: TimeZone::Utc,
        sentinels: Vec::new(),
        lookup: false,
    }
}

fn state(value: &str) -> RowState {
    queue(&format!("table: T\nstate: {value}")).state
}

fn state_errors(value: &str) -> String {
    queue_errors(&format!("table: T\nstate: {value}"))
}

fn lease(value: &str) -> Lease {
    queue(&format!("table: T\nstate: {{ constant: ready }}\nlease: {value}")).lease
}

/// The errors of a lease, which is on line 8.
fn lease_errors(value: &str) -> String {
    let text = queue_errors(&format!("table: T\nstate: {{ constant: ready }}\nlease: {value}"));
    text.strip_prefix("config.yaml:8:").unwrap().to_owned()
}

#[test]
fn a_whole_mapping_is_read() {
    let queue = queue(
        "table: dbo.[Job Queue]\n\
         queue_label: QueueName\n\
         state: { column: State, map: { R: ready, W: running, D: done, F: failed } }\n\
         count_done: true\n\
         lease: { kind: until, column: { column: LeaseUntil, zone: offset }, token: ClaimToken, tolerance: 30s }\n\
         claimed_at: { column: ClaimedAt, encoding: unix_ms }\n\
         available_at: AvailableAt\n\
         enqueued_at: EnqueuedAt\n\
         attempts: { column: Attempts, counts: failures }\n\
         max_attempts: 5",
    );
    assert_eq!(queue.target.name, "target");
    assert_eq!(queue.target.table, TableName(vec!["dbo".to_owned(), "Job Queue".to_owned()]));
    assert_eq!(queue.queue_label.as_deref(), Some("QueueName"));
    assert!(queue.count_done);
    assert_eq!(
        queue.lease,
        Lease::Until {
            column: TimeColumn { zone: TimeZone::Offset, ..column("LeaseUntil") },
            token: Some("ClaimToken".into()),
            tolerance: Duration::from_secs(30),
        }
    );
    assert_eq!(queue.claimed_at, Some(TimeColumn { encoding: TimeEncoding::UnixMs, ..column("ClaimedAt") }));
    assert_eq!(queue.available_at, Some(column("AvailableAt")));
    assert_eq!(queue.enqueued_at, Some(column("EnqueuedAt")));
    assert_eq!(queue.attempts, Some(Attempts { column: "Attempts".into(), counts: AttemptsCount::Failures }));
    assert_eq!(queue.max_attempts, Some(MaxAttempts::Constant(5)));
}

#[test]
fn a_queue_needs_a_table_and_a_state_or_a_preset() {
    let presets = "or start from a preset; for queues there are lease, lease_minimal, transactional, transactional_owner";
    assert_eq!(
        queue_errors("enqueued_at: E"),
        format!(
            "config.yaml:5:9: {KEY}.table`: is missing; name the table, {presets}\n\
             config.yaml:5:9: {KEY}.state`: is missing; say what state a row is in, {presets}"
        )
    );
}

#[test]
fn a_state_can_be_constant_or_done_when_set() {
    assert_eq!(state("{ constant: failed }"), RowState::Constant(MappedState::Failed));
    assert_eq!(state("{ done_when_set: DispatchedAt }"), RowState::DoneWhenSet("DispatchedAt".into()));
}

#[test]
fn a_state_is_told_in_exactly_one_way() {
    assert_eq!(
        state_errors("{ constant: ready, done_when_set: D }"),
        format!(
            "config.yaml:7:50: {KEY}.state.done_when_set`: `done_when_set` contradicts `constant`: a row has \
             one state; remove one of them"
        )
    );
    assert_eq!(
        state_errors("{ column: S, map: { R: ready }, constant: ready }"),
        format!(
            "config.yaml:7:58: {KEY}.state.constant`: `constant` contradicts `column`: a row has one state; \
             remove one of them"
        )
    );
    assert_eq!(
        state_errors("{}"),
        format!(
            "config.yaml:7:16: {KEY}.state.column`: is missing; give `column` with `map`, or `constant`, or \
             `done_when_set`"
        )
    );
}

#[test]
fn a_state_column_and_its_map_belong_together() {
    assert_eq!(
        state_errors("{ column: S }"),
        format!(
            "config.yaml:7:16: {KEY}.state.map`: is missing; say what the values of the column mean, for \
             example `map: {{ R: ready, W: running }}`"
        )
    );
    assert_eq!(
        state_errors("{ map: { R: ready } }"),
        format!(
            "config.yaml:7:16: {KEY}.state.column`: is missing; `map` needs the column whose values it maps"
        )
    );
    assert_eq!(
        state_errors("{ column: S, map: {} }"),
        format!("config.yaml:7:34: {KEY}.state.map`: is empty; map at least one value to a state")
    );
    assert_eq!(
        state_errors("{ column: S, map: { 1: ready, true: done } }"),
        format!("config.yaml:7:46: {KEY}.state.map.true`: the value `1` is mapped twice")
    );
}

#[test]
fn a_queue_that_says_nothing_of_claims_has_no_lease() {
    assert_eq!(queue("table: T\nstate: { constant: ready }").lease, Lease::None);
    assert_eq!(queue("preset: lease\nlease: null").lease, Lease::None);
}

#[test]
fn every_kind_of_lease_is_read() {
    assert_eq!(
        lease("{ kind: until, column: L }"),
        Lease::Until { column: column("L"), token: None, tolerance: Duration::ZERO }
    );
    assert_eq!(
        lease("{ kind: since, column: { column: L, encoding: unix_s }, timeout: 90s, tolerance: 1s }"),
        Lease::Since {
            column: TimeColumn { encoding: TimeEncoding::UnixS, ..column("L") },
            timeout: Duration::from_secs(90),
            tolerance: Duration::from_secs(1),
        }
    );
    assert_eq!(lease("{ kind: owner, column: TranId }"), Lease::Owner { column: "TranId".into() });
    assert_eq!(lease("{ kind: rowlock }"), Lease::RowLock);
    assert_eq!(lease("{ kind: none }"), Lease::None);
}

#[test]
fn a_lease_needs_what_its_kind_needs() {
    assert_eq!(
        lease_errors("{ column: L }"),
        format!("16: {KEY}.lease.kind`: is missing; one of until, since, owner, rowlock, none")
    );
    assert_eq!(
        lease_errors("{ kind: until }"),
        format!("16: {KEY}.lease.column`: is missing; name the column that holds the end of the lease")
    );
    assert_eq!(
        lease_errors("{ kind: since, column: L }"),
        format!(
            "16: {KEY}.lease.timeout`: is missing; `kind: since` needs the time after which a claim lapses, as \
             the workers have it"
        )
    );
    assert_eq!(
        lease_errors("{ kind: since, column: L, timeout: 0s }"),
        format!("51: {KEY}.lease.timeout`: `0s` is too short; at least `1ms`")
    );
    assert_eq!(
        lease_errors("{ kind: owner, column: { column: L } }"),
        format!("39: {KEY}.lease.column`: expected a column name, found a mapping: an owner is not a time")
    );
}

#[test]
fn a_lease_refuses_what_its_kind_does_not_take() {
    let cases = [
        ("{ kind: until, column: L, timeout: 5m }", 51, "timeout", "until"),
        ("{ kind: since, column: L, timeout: 5m, token: T }", 62, "token", "since"),
        ("{ kind: owner, column: L, tolerance: 5m }", 53, "tolerance", "owner"),
        ("{ kind: rowlock, column: L }", 41, "column", "rowlock"),
        ("{ kind: none, token: L }", 37, "token", "none"),
    ];
    for (value, place, key, kind) in cases {
        assert_eq!(
            lease_errors(value),
            format!(
                "{place}: {KEY}.lease.{key}`: `{key}` contradicts `kind: {kind}`, which has none; remove it"
            )
        );
    }
}

#[test]
fn attempts_are_a_column_that_counts_claims_unless_said_otherwise() {
    let claims = Some(Attempts { column: "A".into(), counts: AttemptsCount::Claims });
    assert_eq!(queue("preset: lease\nattempts: A").attempts, claims);
    assert_eq!(queue("preset: lease\nattempts: { column: A }").attempts, claims);
    assert_eq!(
        queue_errors("preset: lease\nattempts: { counts: claims }"),
        format!("config.yaml:7:19: {KEY}.attempts.column`: is missing; name the column that counts attempts")
    );
}

#[test]
fn the_bound_on_attempts_is_a_number_or_a_column() {
    let bound = |value: &str| queue(&format!("preset: lease\nmax_attempts: {value}")).max_attempts;
    assert_eq!(bound("3"), Some(MaxAttempts::Constant(3)));
    assert_eq!(bound("{ column: M }"), Some(MaxAttempts::Column { column: "M".into() }));
    let errors = |value: &str| queue_errors(&format!("preset: lease\nmax_attempts: {value}"));
    assert_eq!(errors("0"), format!("config.yaml:7:23: {KEY}.max_attempts`: 0 is not between 1 and 1000000"));
    assert_eq!(
        errors("MaxAttempts"),
        format!(
            "config.yaml:7:23: {KEY}.max_attempts`: expected a whole number; for a column write {{ column: \
             MaxAttempts }}"
        )
    );
    assert_eq!(
        errors("true"),
        format!(
            "config.yaml:7:23: {KEY}.max_attempts`: expected a whole number or {{ column: NAME }}, found true \
             or false"
        )
    );
}

#[test]
fn a_bound_without_attempts_is_refused() {
    let expected = "`max_attempts` needs `attempts`: without a count there is nothing to hold against it; name \
                    the column, or set `max_attempts: null`";
    assert_eq!(
        queue_errors("table: T\nstate: { constant: ready }\nmax_attempts: 5"),
        format!("config.yaml:8:23: {KEY}.max_attempts`: {expected}")
    );
    // The bound comes from the preset, so the error is where the preset is named.
    assert_eq!(
        queue_errors("attempts: null\npreset: lease"),
        format!("config.yaml:7:17: {KEY}.preset`: {expected}")
    );
    assert_eq!(queue("preset: lease\nattempts: null\nmax_attempts: null").max_attempts, None);
}

#[test]
fn finished_rows_are_counted_only_where_there_are_some() {
    assert!(queue("preset: lease\ncount_done: true").count_done);
    assert!(!queue("preset: lease").count_done);
    assert!(!queue("table: T\nstate: { done_when_set: D }\ncount_done: false").count_done);
    assert_eq!(
        queue_errors("table: T\nstate: { column: S, map: { R: ready } }\ncount_done: true"),
        format!(
            "config.yaml:8:21: {KEY}.count_done`: `count_done: true` contradicts `state`, where nothing is \
             `done`; map a value to `done`, or remove `count_done`"
        )
    );
    for (state, key) in [("constant: ready", "constant"), ("done_when_set: D", "done_when_set")] {
        assert_eq!(
            queue_errors(&format!("table: T\nstate: {{ {state} }}\ncount_done: true")),
            format!(
                "config.yaml:8:21: {KEY}.count_done`: `count_done: true` has no effect beside `{key}`: only \
                 values of a state column are counted as done; remove `count_done`"
            )
        );
    }
}

#[test]
fn a_whole_table_waits_or_has_failed() {
    for (word, constant) in [
        ("ready", MappedState::Ready),
        ("scheduled", MappedState::Scheduled),
        ("retrying", MappedState::Retrying),
        ("failed", MappedState::Failed),
    ] {
        assert_eq!(state(&format!("{{ constant: {word} }}")), RowState::Constant(constant));
    }
    assert_eq!(
        state_errors("{ constant: running }"),
        format!(
            "config.yaml:7:28: {KEY}.state.constant`: a whole table can be ready, scheduled, retrying or failed; \
             whether a row is being worked on is shown by `lease`: use `constant: ready` and a lease"
        )
    );
    assert_eq!(
        state_errors("{ constant: done }"),
        format!(
            "config.yaml:7:28: {KEY}.state.constant`: a whole table can be ready, scheduled, retrying or failed; \
             finished rows are no queue: remove it, or say with `column` and `map` which rows are done"
        )
    );
}

#[test]
fn a_map_keeps_the_text_of_its_values() {
    let RowState::Column { map, .. } =
        state("{ column: S, map: { R: ready, 1: running, false: done, 02: failed, N: retrying } }")
    else {
        panic!("not a column")
    };
    let expected: BTreeMap<String, MappedState> = [
        ("R", MappedState::Ready),
        ("1", MappedState::Running),
        ("0", MappedState::Done),
        ("02", MappedState::Failed),
        ("N", MappedState::Retrying),
    ]
    .into_iter()
    .map(|(value, state)| (value.to_owned(), state))
    .collect();
    assert_eq!(map, expected);
}

#[test]
fn an_id_is_taken_where_claims_of_a_lease_are_counted() {
    assert_eq!(queue("preset: lease\nid: JobId").id.as_deref(), Some("JobId"));
    let expected = "`id` is for counting jobs whose lease lapsed and that were claimed again; that needs a lease \
                    of `kind: until` or `kind: since`, and `attempts` with `counts: claims`; add them or remove \
                    `id`";
    for without in [
        "attempts: null\nmax_attempts: null",
        "attempts: { column: Attempts, counts: failures }",
        "lease: { kind: owner, column: Owner }",
        "lease: null",
    ] {
        assert_eq!(
            queue_errors(&format!("id: JobId\npreset: lease\n{without}")),
            format!("config.yaml:6:13: {KEY}.id`: {expected}"),
            "{without}"
        );
    }
}

#[test]
fn rows_that_are_locked_have_no_queue_label() {
    let why = "`queue_label` contradicts `lease: { kind: rowlock }`: rows in flight are locked, so they are counted and \
               their columns are not read; give each queue a target of its own with `where`, or do without rows in \
               flight with `lease: { kind: none }`";
    assert_eq!(
        queue_errors("preset: transactional\nqueue_label: Kind"),
        format!("config.yaml:7:22: {KEY}.queue_label`: {why}")
    );
    let queue = queue("preset: transactional\nqueue_label: Kind\nlease: { kind: none }");
    assert_eq!((queue.lease, queue.queue_label.as_deref()), (Lease::None, Some("Kind")));
}
