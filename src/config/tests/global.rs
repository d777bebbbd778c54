//! Global settings: defaults, bounds, and settings that contradict each other.

use std::time::Duration;

use super::objectives::DEFAULTS;
use super::{config, errors, queue_errors, queue_file};
use crate::config::{Global, ReadMode};

const SECOND: Duration = Duration::from_secs(1);

fn with_global(global: &str) -> String {
    format!("global: {{ {global} }}\n{}", queue_file("preset: lease"))
}

#[test]
fn global_settings_have_defaults() {
    let expected = Global {
        sample_interval: 15 * SECOND,
        query_timeout: 5 * SECOND,
        lock_timeout: SECOND,
        stale_after: 60 * SECOND,
        read_mode: ReadMode::ReadPast,
        max_label_values: 100,
        objectives: DEFAULTS,
    };
    assert_eq!(config(&queue_file("preset: lease")).global, expected);
    assert_eq!(config(&with_global("")).global, expected);
    assert_eq!(config(&format!("global:\n{}", queue_file("preset: lease"))).global, expected);
}

#[test]
fn global_settings_are_read() {
    let global = config(&with_global(
        "sample_interval: 1m30s, query_timeout: 20s, lock_timeout: 0s, stale_after: 1h, read_mode: read_committed, \
         max_label_values: 7",
    ))
    .global;
    assert_eq!(
        global,
        Global {
            sample_interval: 90 * SECOND,
            query_timeout: 20 * SECOND,
            lock_timeout: Duration::ZERO,
            stale_after: 3600 * SECOND,
            read_mode: ReadMode::ReadCommitted,
            max_label_values: 7,
            objectives: DEFAULTS,
        }
    );
}

#[test]
fn the_sample_interval_of_a_target_overrides_the_global_one() {
    let file = with_global("sample_interval: 20s");
    assert_eq!(config(&file).sources[0].queues[0].target.sample_interval, 20 * SECOND);
    let file = queue_file("preset: lease\nsample_interval: 30s");
    assert_eq!(config(&file).sources[0].queues[0].target.sample_interval, 30 * SECOND);
}

#[test]
fn a_lock_timeout_that_outlasts_the_query_timeout_is_refused() {
    assert_eq!(
        errors(&with_global("lock_timeout: 5s")),
        "config.yaml:1:25: key `global.lock_timeout`: `lock_timeout` (5s) must be shorter than \
         `query_timeout` (5s, the default); change one of them"
    );
    assert_eq!(
        errors(&with_global("query_timeout: 500ms")),
        "config.yaml:1:26: key `global.query_timeout`: `lock_timeout` (1s, the default) must be shorter than \
         `query_timeout` (500ms); change one of them"
    );
}

#[test]
fn gauges_may_not_go_stale_between_two_samples() {
    assert_eq!(
        errors(&with_global("sample_interval: 2m")),
        "config.yaml:1:28: key `global.sample_interval`: `sample_interval` (2m) must not be longer than \
         `stale_after` (1m, the default); change one of them"
    );
    assert_eq!(
        queue_errors("preset: lease\nsample_interval: 5m"),
        "config.yaml:7:26: key `sources[0].queues[0].sample_interval`: `sample_interval` (5m) must not be \
         longer than `global.stale_after` (1m, the default); change one of them"
    );
}

#[test]
fn durations_out_of_bounds_are_refused() {
    assert_eq!(
        errors(&with_global("sample_interval: 0s")),
        "config.yaml:1:28: key `global.sample_interval`: `0s` is too short; at least `100ms`"
    );
    assert_eq!(
        errors(&with_global("stale_after: 8d")),
        "config.yaml:1:24: key `global.stale_after`: `8d` is too long; at most `168h`"
    );
}

#[test]
fn a_bare_number_is_not_a_duration() {
    assert_eq!(
        errors(&with_global("sample_interval: 15")),
        "config.yaml:1:28: key `global.sample_interval`: a duration needs a unit; write `15s` for seconds"
    );
}

#[test]
fn the_bound_on_label_values_has_bounds_itself() {
    assert_eq!(
        errors(&with_global("max_label_values: 0")),
        "config.yaml:1:29: key `global.max_label_values`: 0 is not between 1 and 10000"
    );
}
