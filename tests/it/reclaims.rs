//! Reclaims: jobs claimed again after their lease lapsed, in a table that keeps no history.

use crate::support::{Bench, Series};

const RECLAIMS: &str = r#"sqlqueue_lease_reclaims_total{source="db",queue="q"}"#;
const FOLLOWED: &str = "    queues:\n      - { name: q, preset: lease, id: JobId }\n";

/// One job, claimed for the first time, its lease lapsed a minute ago.
fn lapsed() -> Bench {
    let bench = Bench::new(&["lease.sql"]);
    bench.execute(
        "INSERT INTO JobQueue (JobId, State, ClaimToken, LeaseUntil, ClaimedAt, AvailableAt, EnqueuedAt, Attempts, \
         MaxAttempts) VALUES (1, 'W', 'a', '2026-11-30 11:59:00', '2026-11-30 11:58:00', '2026-11-30 11:58:00', \
         '2026-11-30 11:58:00', 1, 5)",
    );
    bench
}

const CLAIMED_AGAIN: &str =
    "UPDATE JobQueue SET Attempts = 2, ClaimToken = 'b', LeaseUntil = '2026-11-30 12:05:00' WHERE JobId = 1";

#[tokio::test]
async fn a_reclaim_across_a_restart_is_counted_and_the_count_stays() {
    let bench = lapsed();
    let state_file = bench.file.with_file_name("state.json");
    let config = format!("{FOLLOWED}state_file: '{}'\n", state_file.display());
    let first = bench.exporter(&config);
    first.sample_once().await;
    Series::of(&first).assert(RECLAIMS, 0.0);
    drop(first);

    bench.execute(CLAIMED_AGAIN);
    let second = bench.exporter(&config);
    second.sample_once().await;
    Series::of(&second).assert(RECLAIMS, 1.0);
    drop(second);

    // The count is shown before the database is asked again.
    Series::of(&bench.exporter(&config)).assert(RECLAIMS, 1.0);
}

#[tokio::test]
async fn a_queue_whose_mapping_names_no_id_has_no_count() {
    let bench = lapsed();
    let exporter = bench.exporter("    queues:\n      - { name: q, preset: lease }\n");
    exporter.sample_once().await;
    Series::of(&exporter).assert_absent("sqlqueue_lease_reclaims_total");
}

#[tokio::test]
async fn an_attempt_history_is_believed_before_two_samples() {
    let bench = Bench::new(&["lease.sql", "attempt_log.sql"]);
    let exporter =
        bench.exporter(&format!("{FOLLOWED}    attempt_logs:\n      - {{ name: q, preset: attempt_log }}\n"));
    exporter.sample_once().await;
    bench.execute(
        "INSERT INTO JobAttempt (JobId, Attempt, Outcome, EnqueuedAt, StartedAt, EndedAt) VALUES (7, 1, 'lost', \
         '2026-11-30 11:58:00', '2026-11-30 11:58:00', '2026-11-30 11:59:00')",
    );
    exporter.sample_once().await;
    Series::of(&exporter).assert(RECLAIMS, 1.0);
}

#[tokio::test]
async fn the_count_does_not_fall_when_the_history_comes_to_name_the_queue() {
    let bench = Bench::new(&["lease.sql", "attempt_log.sql"]);
    bench.execute(
        "INSERT INTO JobQueue (JobId, State, ClaimToken, LeaseUntil, AvailableAt, EnqueuedAt, Attempts, MaxAttempts) \
         VALUES (1, 'W', 'a', '2026-11-30 11:59:00', '2026-11-30 11:58:00', '2026-11-30 11:58:00', 1, 5)",
    );
    let logs = "    attempt_logs:\n      - { name: all, preset: attempt_log, queue_label: QueueName }\n";
    let exporter = bench.exporter(&format!("{FOLLOWED}{logs}"));
    exporter.sample_once().await;
    bench.execute(CLAIMED_AGAIN);
    exporter.sample_once().await;
    Series::of(&exporter).assert(RECLAIMS, 1.0);
    let lost = "INSERT INTO JobAttempt (QueueName, JobId, Attempt, Outcome) VALUES ('q', 1, 1, 'lost')";
    // From a history that was kept from then on.
    for count in [1.0, 2.0, 3.0, 4.0] {
        bench.execute(lost);
        exporter.sample_once().await;
        Series::of(&exporter).assert(RECLAIMS, count);
    }
}

#[tokio::test]
async fn the_history_of_another_queue_takes_no_count_away() {
    let bench = lapsed();
    bench.execute("CREATE TABLE JobAttempt (AttemptId INTEGER PRIMARY KEY, Attempt, Outcome, StartedAt, EndedAt, DurationMs, EnqueuedAt)");
    let exporter = bench
        .exporter(&format!("{FOLLOWED}    attempt_logs:\n      - {{ name: other, preset: attempt_log }}\n"));
    exporter.sample_once().await;
    bench.execute(CLAIMED_AGAIN);
    exporter.sample_once().await;
    Series::of(&exporter).assert(RECLAIMS, 1.0);
}
