//! Withdrawal: no value outlives its sample, and no 0 stands for "could not look".

use std::collections::BTreeSet;
use std::time::Duration;

use prometheus_client::metrics::MetricType;
use sqlqueue_exporter::exposition::families;

use crate::parse::ParsedPage;
use crate::support::{Bench, Series};

use super::{SCHEMA, full_exporter, pages};

/// Names of the families of one type that describe targets.
fn about_targets(page: &ParsedPage, gauges: bool) -> BTreeSet<&str> {
    let targets = page.families.iter().filter(|family| {
        let of_target = |name| family.samples.iter().any(|sample| sample.label(name).is_some());
        (family.kind == "gauge") == gauges
            && ["queue", "attempt_log", "run_log", "control_table"].into_iter().any(of_target)
    });
    targets.map(|family| family.name.as_str()).collect()
}

#[tokio::test]
async fn gauges_are_withdrawn_when_their_sample_is_stale_and_counters_stay() {
    let bench = Bench::new(&[]);
    let exporter = full_exporter(&bench).await;
    let (fresh, _) = pages(&exporter);
    let of_no_target =
        ["sqlqueue_up", "sqlqueue_clock_skew_seconds", "sqlqueue_objective_max_clock_skew_seconds"];
    let declared: BTreeSet<String> = families::ALL
        .iter()
        .filter(|family| family.kind == MetricType::Gauge)
        .map(|family| family.full_name())
        .filter(|name| !name.starts_with("process_") && !name.starts_with("sqlqueue_exporter_"))
        .filter(|name| !of_no_target.contains(&name.as_str()))
        .collect();
    assert!(about_targets(&fresh, true).into_iter().eq(&declared), "{declared:?} {fresh:#?}");

    bench.clock.advance(Duration::from_secs(60));
    assert_eq!(about_targets(&pages(&exporter).0, true), about_targets(&fresh, true), "not older than that");

    bench.clock.advance(Duration::from_millis(1));
    let (stale, _) = pages(&exporter);
    // They come from the configuration, not from a sample.
    let (objectives, sampled): (Vec<_>, Vec<_>) =
        about_targets(&stale, true).into_iter().partition(|name| name.starts_with("sqlqueue_objective_"));
    let configured = declared.iter().filter(|name| name.starts_with("sqlqueue_objective_"));
    assert!(objectives.into_iter().eq(configured));
    assert_eq!(
        sampled,
        ["sqlqueue_last_sample_timestamp_seconds", "sqlqueue_stale_after_seconds"],
        "which is how a reader knows how old the numbers were"
    );
    assert_eq!(about_targets(&stale, false), about_targets(&fresh, false));
    assert_eq!(stale.named("sqlqueue_clock_skew_seconds").next(), None);

    exporter.sample_once().await;
    assert_eq!(about_targets(&pages(&exporter).0, true), about_targets(&fresh, true), "they come back");
}

#[tokio::test]
async fn a_missing_database_file_is_down_and_has_no_jobs() {
    let bench = Bench::new(&[]);
    std::fs::remove_file(&bench.file).unwrap();
    let exporter = bench.exporter(
        "    queues: [{ name: jobs, preset: lease }]\n    run_logs: [{ name: runs, preset: notification_run_log }]\n",
    );
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(r#"sqlqueue_up{source="db"}"#, 0.0);
    let connect =
        |target: &str| format!(r#"sqlqueue_sample_errors_total{{source="db",{target},reason="connect"}}"#);
    series.assert(&connect(r#"queue="jobs""#), 1.0);
    series.assert(&connect(r#"run_log="runs""#), 1.0);
    series.assert_absent("sqlqueue_jobs");
    series.assert_absent("sqlqueue_run_consecutive_skips");
    series.assert_absent("sqlqueue_last_sample_timestamp_seconds");
    assert!(!bench.file.exists(), "it is not created either");
}

#[tokio::test]
async fn a_missing_table_costs_no_other_target_its_sample() {
    let bench = Bench::new(&[]);
    bench.execute(SCHEMA);
    let exporter = bench.exporter(
        "    queues:
      - { name: gone, table: Gone, preset: lease }
      - { name: jobs, preset: lease }
",
    );
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(r#"sqlqueue_up{source="db"}"#, 1.0);
    series.assert(r#"sqlqueue_sample_errors_total{source="db",queue="gone",reason="missing_object"}"#, 1.0);
    series.assert(r#"sqlqueue_samples_total{source="db",queue="gone"}"#, 0.0);
    series.assert(r#"sqlqueue_samples_total{source="db",queue="jobs"}"#, 1.0);
    series.assert(r#"sqlqueue_jobs{source="db",queue="jobs",state="ready"}"#, 0.0);
    assert_eq!(series.get(r#"sqlqueue_jobs{source="db",queue="gone",state="ready"}"#), None);
}

#[tokio::test]
async fn an_empty_table_is_zero() {
    let bench = Bench::new(&[]);
    bench.execute(SCHEMA);
    let exporter = bench.exporter("    queues: [{ name: jobs, preset: lease }]\n");
    exporter.sample_once().await;
    let (page, _) = pages(&exporter);
    for (family, series) in [
        ("sqlqueue_jobs", 8),
        ("sqlqueue_oldest_ready_age_seconds", 1),
        ("sqlqueue_expired_leases", 1),
        ("sqlqueue_oldest_expired_lease_seconds", 1),
        ("sqlqueue_longest_running_seconds", 1),
        ("sqlqueue_retrying_jobs", 1),
        ("sqlqueue_max_attempts", 1),
        ("sqlqueue_future_timestamp_rows", 1),
    ] {
        let samples: Vec<_> = page.named(family).collect();
        assert_eq!(samples.len(), series, "{family}: {samples:?}");
        assert!(samples.iter().all(|sample| sample.value == 0.0), "{samples:?}");
    }
}
