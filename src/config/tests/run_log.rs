//! Run logs and control tables.

use std::time::Duration;

use super::{SQLITE, control_table, errors, run_log, run_log_errors, with_target};
use crate::config::{
    AppLock, DurationColumn, DurationUnit, Outcome, OutcomeRule, OutcomeRules, OutcomeTest, TimeColumn,
    TimeEncoding, TimeZone,
};

const KEY: &str = "key `sources[0].run_logs[0]";
const BASE: &str = "table: T\nid: I\nstep: S\n";

fn server(column: &str) -> TimeColumn {
    TimeColumn {
        column: column.into(),
        encoding: TimeEncoding::Native,
        zone: TimeZone::Server,
        sentinels: Vec::new(),
        lookup: false,
    }
}

fn outcome(value: &str) -> OutcomeRules {
    run_log(&format!("{BASE}outcome: {value}")).outcome
}

/// The errors of an outcome, which is on line 9.
fn outcome_errors(value: &str) -> String {
    let text = run_log_errors(&format!("{BASE}outcome: {value}"));
    text.strip_prefix("config.yaml:9:").unwrap().to_owned()
}

#[test]
fn a_whole_mapping_is_read() {
    let log = run_log(
        "table: dbo.tabela_przebiegow\n\
         sample_interval: 20s\n\
         where: { system: 1 }\n\
         id: id_przebiegu\n\
         step: krok\n\
         run_step: przebieg\n\
         steps: [komentarze, przebieg]\n\
         start: { column: start, zone: server }\n\
         end: { column: koniec, zone: server }\n\
         duration: { column: ms, unit: s }\n\
         candidates: kandydatow\n\
         outcome: { column: blad, rules: [ { like: 'POMINIETY%', outcome: skipped }, { is_null: true, outcome: ok }, { equals: 0, outcome: ok } ], default: warning }\n\
         lock: { resource: dbo.powiadomienia_przebieg }\n\
         batch_size: 50\n\
         late_window: 5m",
    );
    assert_eq!(log.target.filter[&"system".into()], "1");
    assert_eq!(log.target.sample_interval, Duration::from_secs(20));
    assert_eq!((&*log.id, &*log.step), ("id_przebiegu", "krok"));
    assert_eq!(log.run_step.as_deref(), Some("przebieg"));
    assert_eq!(log.steps.unwrap(), ["komentarze", "przebieg"]);
    assert_eq!(log.start, Some(server("start")));
    assert_eq!(log.end, Some(server("koniec")));
    assert_eq!(log.duration, Some(DurationColumn { column: "ms".into(), unit: DurationUnit::S }));
    assert_eq!(log.candidates.as_deref(), Some("kandydatow"));
    assert_eq!(
        log.outcome,
        OutcomeRules {
            column: Some("blad".into()),
            rules: vec![
                OutcomeRule { test: OutcomeTest::Like("POMINIETY%".to_owned()), outcome: Outcome::Skipped },
                OutcomeRule { test: OutcomeTest::IsNull, outcome: Outcome::Ok },
                OutcomeRule { test: OutcomeTest::Equals("0".to_owned()), outcome: Outcome::Ok },
            ],
            default: Outcome::Warning,
        }
    );
    assert_eq!(log.lock, Some(AppLock { resource: "dbo.powiadomienia_przebieg".to_owned() }));
    assert_eq!(log.batch_size.0, 50);
    assert_eq!(log.late_window.0, Duration::from_secs(300));
}

#[test]
fn a_run_log_has_defaults() {
    let log = run_log(&format!("{BASE}duration: D\noutcome: {{ default: ok }}"));
    assert_eq!(log.batch_size.0, 1000);
    assert_eq!(log.late_window.0, Duration::from_secs(600));
    assert_eq!(log.duration, Some(DurationColumn { column: "D".into(), unit: DurationUnit::Ms }));
    assert_eq!(log.outcome, OutcomeRules { column: None, rules: Vec::new(), default: Outcome::Ok });
    assert!(log.steps.is_none() && log.run_step.is_none() && log.lock.is_none());
}

#[test]
fn a_run_log_needs_its_columns_or_a_preset() {
    let presets =
        "or start from a preset; for run_logs there are notification_run_log, notification_run_log_pl";
    assert_eq!(
        run_log_errors("run_step: run"),
        format!(
            "config.yaml:5:9: {KEY}.table`: is missing; name the table, {presets}\n\
             config.yaml:5:9: {KEY}.id`: is missing; name the ascending id column, {presets}\n\
             config.yaml:5:9: {KEY}.step`: is missing; name the column that names the step, {presets}\n\
             config.yaml:5:9: {KEY}.outcome`: is missing; say how to derive a row's outcome, at least `outcome: {{ \
             default: ok }}`, {presets}"
        )
    );
}

#[test]
fn every_unit_of_a_duration_is_read() {
    for (word, unit) in [("ms", DurationUnit::Ms), ("s", DurationUnit::S), ("hhmmss", DurationUnit::Hhmmss)] {
        let keys = format!("{BASE}outcome: {{ default: ok }}\nduration: {{ column: D, unit: {word} }}");
        assert_eq!(run_log(&keys).duration.unwrap().unit, unit);
    }
    assert_eq!(
        run_log_errors(&format!("{BASE}outcome: {{ default: ok }}\nduration: {{ unit: ms }}")),
        format!(
            "config.yaml:10:19: {KEY}.duration.column`: is missing; name the column that holds the duration"
        )
    );
}

#[test]
fn an_outcome_needs_a_default_and_rules_need_a_column() {
    assert_eq!(outcome("{ default: skipped }").default, Outcome::Skipped);
    assert_eq!(
        outcome_errors("{ column: C, rules: [{ is_null: true, outcome: ok }] }"),
        format!(
            "18: {KEY}.outcome.default`: is missing; say the outcome of a row that no rule fits: one of ok, \
             warning, error, skipped"
        )
    );
    assert_eq!(
        outcome_errors("{ rules: [{ is_null: true, outcome: ok }], default: ok }"),
        format!("18: {KEY}.outcome.column`: is missing; `rules` need the column that they look at")
    );
    assert_eq!(
        outcome_errors("{ column: C, default: ok }"),
        format!("18: {KEY}.outcome.rules`: is missing; `column` needs rules that look at it")
    );
}

#[test]
fn a_rule_has_one_test_and_an_outcome() {
    let errors = |rule: &str| outcome_errors(&format!("{{ column: C, default: ok, rules: [{rule}] }}"));
    let key = format!("{KEY}.outcome.rules[0]");
    assert_eq!(
        errors("{ outcome: ok }"),
        format!("52: {key}`: has no test; give `is_null: true`, `equals` or `like`")
    );
    assert_eq!(
        errors("{ equals: a }"),
        format!("52: {key}.outcome`: is missing; one of ok, warning, error, skipped")
    );
    assert_eq!(
        errors("{ equals: a, like: 'a%', outcome: ok }"),
        format!("71: {key}.like`: `like` contradicts `equals`: a rule has one test; make two rules")
    );
    assert_eq!(
        errors("{ is_null: true, equals: a, outcome: ok }"),
        format!("77: {key}.equals`: `equals` contradicts `is_null`: a rule has one test; make two rules")
    );
    assert_eq!(
        errors("{ is_null: false, outcome: ok }"),
        format!("63: {key}.is_null`: only `is_null: true` is a test; remove the rule")
    );
    assert_eq!(
        errors("{ like: a, outcome: fine }"),
        format!("72: {key}.outcome`: unknown value `fine`; expected one of: ok, warning, error, skipped")
    );
}

#[test]
fn declared_steps_are_distinct_and_not_more_than_are_exported() {
    let keys = format!("{BASE}outcome: {{ default: ok }}\nsteps: [a, '', a]");
    assert_eq!(
        run_log_errors(&keys),
        format!(
            "config.yaml:10:20: {KEY}.steps[1]`: is empty\n\
             config.yaml:10:24: {KEY}.steps[2]`: `a` is given twice"
        )
    );
    let file = with_target(SQLITE, "run_logs", "preset: notification_run_log\nsteps: [a, b]");
    assert_eq!(
        errors(&format!("global: {{ max_label_values: 1 }}\n{file}")),
        format!(
            "config.yaml:8:16: {KEY}.steps`: declares 2 values, more than `global.max_label_values` (1); raise \
             that or declare fewer"
        )
    );
}

#[test]
fn a_lock_needs_the_name_of_its_resource() {
    assert_eq!(
        run_log_errors("preset: notification_run_log\nlock: {}"),
        format!(
            "config.yaml:7:15: {KEY}.lock.resource`: is missing; name the lock, the @Resource of sp_getapplock"
        )
    );
    let long = "x".repeat(256);
    assert_eq!(
        run_log_errors(&format!("preset: notification_run_log\nlock: {{ resource: {long} }}")),
        format!(
            "config.yaml:7:27: {KEY}.lock.resource`: has more than 255 characters, the limit of sp_getapplock"
        )
    );
}

#[test]
fn batches_and_windows_have_bounds() {
    assert_eq!(
        run_log_errors("preset: notification_run_log\nbatch_size: 15\nlate_window: 2d"),
        format!(
            "config.yaml:7:21: {KEY}.batch_size`: 15 is not between 16 and 10000\n\
             config.yaml:8:22: {KEY}.late_window`: `2d` is too long; at most `24h`"
        )
    );
    assert_eq!(
        run_log_errors("preset: notification_run_log\nbatch_size: 10001"),
        format!("config.yaml:7:21: {KEY}.batch_size`: 10001 is not between 16 and 10000")
    );
    for size in [16, 10_000] {
        let log = run_log(&format!("preset: notification_run_log\nbatch_size: {size}"));
        assert_eq!(log.batch_size.0, size);
    }
    assert_eq!(run_log("preset: notification_run_log\nlate_window: 0s").late_window.0, Duration::ZERO);
}

#[test]
fn a_control_table_is_read() {
    let table = control_table(
        "table: dbo.tabela_powiadomien\nid: id_powiadomienia\nkind: rodzaj\nkinds: [komentarz]\nat: { column: kiedy, zone: server }\nbatch_size: 20\nlate_window: 1m",
    );
    assert_eq!((&*table.id, &*table.kind), ("id_powiadomienia", "rodzaj"));
    assert_eq!(table.kinds.unwrap(), ["komentarz"]);
    assert_eq!(table.at, Some(server("kiedy")));
    assert_eq!((table.batch_size.0, table.late_window.0), (20, Duration::from_secs(60)));
}

#[test]
fn a_control_table_needs_its_columns_or_a_preset() {
    let presets =
        "or start from a preset; for control_tables there are notification_control, notification_control_pl";
    let key = "key `sources[0].control_tables[0]";
    assert_eq!(
        errors(&with_target(SQLITE, "control_tables", "at: T")),
        format!(
            "config.yaml:5:9: {key}.table`: is missing; name the table, {presets}\n\
             config.yaml:5:9: {key}.id`: is missing; name the ascending id column, {presets}\n\
             config.yaml:5:9: {key}.kind`: is missing; name the column that names the kind of notification, \
             {presets}"
        )
    );
}
