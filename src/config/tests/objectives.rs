//! Objectives: defaults, overrides, none at all, and those that no target can be held to.

use std::time::Duration;

use super::{
    SQLITE, attempt_log, config, errors, queue, queue_errors, queue_file, run_log, run_log_errors,
    with_target,
};
use crate::config::{
    AttemptLogObjectives, Objectives, QueueObjectives, Ratio, RunLogObjectives, SourceObjectives,
};

const MINUTE: Duration = Duration::from_secs(60);

/// The defaults.
pub(super) const DEFAULTS: Objectives = Objectives {
    sources: SourceObjectives { max_clock_skew: Some(Duration::from_secs(30)) },
    queues: QueueObjectives {
        max_ready_age: Some(Duration::from_secs(900)),
        max_expired_age: Some(Duration::from_secs(300)),
        max_attempts: Some(10),
        max_failed_jobs: Some(10),
    },
    attempt_logs: AttemptLogObjectives { max_lost_ratio: Some(Ratio::percent(20)) },
    run_logs: RunLogObjectives {
        max_run_gap: Some(Duration::from_secs(3600)),
        max_consecutive_skips: Some(3),
        max_skip_ratio: Some(Ratio::percent(20)),
        max_error_ratio: Some(Ratio::percent(20)),
        max_warning_ratio: Some(Ratio::percent(50)),
        max_slowdown: Some(Ratio::percent(300)),
        max_log_age: Some(Duration::from_secs(90 * 86_400)),
    },
};

fn with_global(objectives: &str, rest: &str) -> String {
    format!("global: {{ objectives: {{ {objectives} }} }}\n{rest}")
}

#[test]
fn a_target_that_says_nothing_has_the_defaults() {
    assert_eq!(queue("preset: lease").objectives, DEFAULTS.queues);
    assert_eq!(queue("preset: lease\nobjectives:").objectives, DEFAULTS.queues);
    assert_eq!(attempt_log("preset: attempt_log").objectives, DEFAULTS.attempt_logs);
    assert_eq!(run_log("preset: notification_run_log").objectives, DEFAULTS.run_logs);
    let config = config(&with_global("", &queue_file("preset: lease")));
    assert_eq!(config.global.objectives, DEFAULTS);
    assert_eq!(config.sources[0].objectives, DEFAULTS.sources);
}

#[test]
fn a_global_objective_holds_for_each_target_without_its_own() {
    let file = with_global(
        "max_ready_age: 1h, max_attempts: 7, max_run_gap: 1d, max_clock_skew: 1m",
        &queue_file("preset: lease\nobjectives: { max_attempts: 3 }"),
    );
    let config = config(&file);
    assert_eq!(config.global.objectives.run_logs.max_run_gap, Some(24 * 60 * MINUTE));
    assert_eq!(config.sources[0].objectives.max_clock_skew, Some(MINUTE));
    assert_eq!(
        config.sources[0].queues[0].objectives,
        QueueObjectives { max_ready_age: Some(60 * MINUTE), max_attempts: Some(3), ..DEFAULTS.queues }
    );
}

#[test]
fn every_objective_of_a_run_log_is_read() {
    let keys = "preset: notification_run_log\n\
                objectives: { max_run_gap: 10m, max_consecutive_skips: 0, max_skip_ratio: 0.25, \
                max_error_ratio: 0, max_warning_ratio: 1, max_slowdown: 2.5, max_log_age: 400d }";
    assert_eq!(
        run_log(keys).objectives,
        RunLogObjectives {
            max_run_gap: Some(10 * MINUTE),
            max_consecutive_skips: Some(0),
            max_skip_ratio: Some(Ratio::percent(25)),
            max_error_ratio: Some(Ratio::percent(0)),
            max_warning_ratio: Some(Ratio::percent(100)),
            max_slowdown: Some(Ratio::percent(250)),
            max_log_age: Some(400 * 24 * 60 * MINUTE),
        }
    );
}

#[test]
fn sources_and_attempt_logs_have_objectives_of_their_own() {
    let own = attempt_log("preset: attempt_log\nobjectives: { max_lost_ratio: 0.05 }").objectives;
    assert_eq!(own.max_lost_ratio, Some(Ratio::percent(5)));
    let file = queue_file("preset: lease")
        .replace(SQLITE, &format!("{SQLITE}\n    objectives: {{ max_clock_skew: 2s }}"));
    assert_eq!(config(&file).sources[0].objectives.max_clock_skew, Some(Duration::from_secs(2)));
}

#[test]
fn none_and_null_mean_no_objective() {
    for none in ["none", "null", ""] {
        let keys = format!("preset: lease\nobjectives: {{ max_ready_age: {none}, max_failed_jobs: {none} }}");
        let expected = QueueObjectives { max_ready_age: None, max_failed_jobs: None, ..DEFAULTS.queues };
        assert_eq!(queue(&keys).objectives, expected, "{none:?}");
        let keys = format!("preset: attempt_log\nobjectives: {{ max_lost_ratio: {none} }}");
        assert_eq!(attempt_log(&keys).objectives.max_lost_ratio, None, "{none:?}");
    }
    let file =
        with_global("max_ready_age: none", &queue_file("preset: lease\nobjectives: { max_ready_age: 5m }"));
    assert_eq!(config(&file).sources[0].queues[0].objectives, {
        QueueObjectives { max_ready_age: Some(5 * MINUTE), ..DEFAULTS.queues }
    });
}

#[test]
fn a_misspelt_objective_suggests_the_nearest() {
    assert_eq!(
        queue_errors("preset: lease\nobjectives: { max_redy_age: 5m }"),
        "config.yaml:7:23: key `sources[0].queues[0].objectives.max_redy_age`: unknown key; did you mean \
         `max_ready_age`?"
    );
    assert_eq!(
        errors(&with_global("run_gap: 5m", &queue_file("preset: lease"))),
        "config.yaml:1:25: key `global.objectives.run_gap`: unknown key; did you mean `max_run_gap`?"
    );
}

#[test]
fn an_objective_of_another_kind_of_target_is_unknown() {
    assert_eq!(
        queue_errors("preset: lease\nobjectives: { max_log_age: 5m }"),
        "config.yaml:7:23: key `sources[0].queues[0].objectives.max_log_age`: unknown key; valid keys: \
         max_ready_age, max_expired_age, max_attempts, max_failed_jobs"
    );
    let control = with_target(SQLITE, "control_tables", "preset: notification_control\nobjectives: {}");
    assert!(errors(&control).contains("control_tables[0].objectives`: unknown key"), "{}", errors(&control));
}

#[test]
fn a_value_that_is_no_objective_is_refused() {
    for (objective, message) in [
        ("max_ready_age: 5", "a duration needs a unit; write `5s` for seconds"),
        ("max_ready_age: 0s", "`0s` is too short; at least `100ms`"),
        ("max_ready_age: 11y", "`11y` is too long; at most `87600h`"),
        (
            "max_ready_age: soon",
            "`soon` is not a duration; write for example `500ms`, `15s`, `10m` or `1h30m`",
        ),
        ("max_expired_age: 4000d", "`4000d` is too long; at most `87600h`"),
        ("max_expired_age: [5m]", "expected a string, found a list"),
        ("max_attempts: many", "expected a whole number or `none`, found a string"),
        ("max_attempts: 1.5", "expected a whole number or `none`, found a decimal number"),
        ("max_attempts: 0", "0 is not between 1 and 1000000"),
        ("max_failed_jobs: -1", "-1 is not between 0 and 1000000000"),
        ("max_failed_jobs: { column: X }", "expected a whole number or `none`, found a mapping"),
    ] {
        let key = objective.split(':').next().unwrap();
        let found = queue_errors(&format!("preset: lease\nobjectives: {{ {objective} }}"));
        let expected = format!("key `sources[0].queues[0].objectives.{key}`: {message}");
        assert!(found.starts_with("config.yaml:7:") && found.contains(&expected), "{found}");
        let found = errors(&with_global(objective, &queue_file("preset: lease")));
        let expected = format!("key `global.objectives.{key}`: {message}");
        assert!(found.starts_with("config.yaml:1:") && found.contains(&expected), "{found}");
    }
    assert_eq!(
        queue_errors("preset: lease\nobjectives: 15m"),
        "config.yaml:7:21: key `sources[0].queues[0].objectives`: expected a mapping of keys to values, found \
         a string"
    );
}

#[test]
fn a_value_that_is_no_ratio_is_refused() {
    for (objective, message) in [
        ("max_skip_ratio: 20%", "expected a number or `none`, found a string"),
        ("max_skip_ratio: 20", "20 is not between 0 and 1"),
        ("max_skip_ratio: -0.1", "-0.1 is not between 0 and 1"),
        ("max_slowdown: 0.9", "0.9 is not between 1 and 1000"),
        ("max_slowdown: 1000.5", "1000.5 is not between 1 and 1000"),
    ] {
        let found = run_log_errors(&format!("preset: notification_run_log\nobjectives: {{ {objective} }}"));
        assert!(found.ends_with(message), "{found}");
    }
}

#[test]
fn an_objective_that_the_table_cannot_be_held_to_is_refused() {
    let minimal = "table: T\nstate: { constant: ready }";
    for (objective, lacking) in [
        ("max_ready_age: 5m", "neither `enqueued_at` nor `available_at` says how old a job is"),
        ("max_expired_age: 5m", "only a lease of `kind: until` or `kind: since` can lapse"),
        ("max_attempts: 5", "no `attempts` says how often a job was tried"),
        ("max_failed_jobs: 5", "`state` calls no job `failed`"),
    ] {
        let key = objective.split(':').next().unwrap();
        let found = queue_errors(&format!("{minimal}\nobjectives: {{ {objective} }}"));
        let expected =
            format!("queues[0].objectives.{key}`: has no effect: {lacking}; remove this objective");
        assert!(found.ends_with(&expected), "{found}");
    }
    let minimal = "table: T\nid: Id\nstep: Step\noutcome: { default: ok }";
    for (objective, lacking) in [
        ("max_run_gap: 5m", "no `start` says when a row's step began"),
        ("max_log_age: 5d", "no `start` says when a row's step began"),
        ("max_consecutive_skips: 5", "`outcome` calls no row `skipped`"),
        ("max_skip_ratio: 0.5", "`outcome` calls no row `skipped`"),
        ("max_error_ratio: 0.5", "`outcome` calls no row `error`"),
        ("max_warning_ratio: 0.5", "`outcome` calls no row `warning`"),
        ("max_slowdown: 2", "neither `duration` nor `start` and `end` say how long a step took"),
    ] {
        let found = run_log_errors(&format!("{minimal}\nobjectives: {{ {objective} }}"));
        assert!(found.ends_with(&format!("has no effect: {lacking}; remove this objective")), "{found}");
    }
    let keys = "table: T\nid: Id\noutcome: { default: ok }\nobjectives: { max_lost_ratio: 0.5 }";
    let found = errors(&with_target(SQLITE, "attempt_logs", keys));
    assert!(
        found.ends_with("has no effect: `outcome` calls no row `lost`; remove this objective"),
        "{found}"
    );
}

#[test]
fn a_default_does_not_hold_where_the_table_cannot_be_held_to_it() {
    assert_eq!(queue("table: T\nstate: { constant: ready }").objectives, QueueObjectives::default());
    let keys = "table: T\nid: Id\nstep: Step\noutcome: { default: ok }";
    assert_eq!(run_log(keys).objectives, RunLogObjectives::default());
    let keys = "table: T\nid: Id\noutcome: { default: ok }";
    assert_eq!(attempt_log(keys).objectives, AttemptLogObjectives::default());
    // Nor does it have to be taken back there.
    let none = "objectives: { max_attempts: none }";
    let taken_back = queue(&format!("table: T\nstate: {{ constant: ready }}\n{none}"));
    assert_eq!(taken_back.objectives, QueueObjectives::default());
}

#[test]
fn what_is_wrong_with_the_mapping_comes_before_what_the_objective_lacks() {
    let found = queue_errors(
        "table: T\nstate: { column: S }\nlease: { kind: until }\nattempts: 5\n\
         objectives: { max_expired_age: 5m, max_attempts: 5, max_failed_jobs: 5 }",
    );
    assert!(!found.contains("objectives"), "{found}");
}
