//! Odd rows: NULL where a value belongs, labels that are empty or differ only in spaces. Unknown values are
//! absent, never 0 and never negative; known ones stay.

use crate::support::{Bench, Series};

const QUEUE: &str = "    queues:\n      - { name: jobs, table: Job, preset: lease }\n";
const LABELLED: &str = "    queues:\n      - { name: jobs, table: Job, preset: lease, queue_label: Queue }\n";
const RUN_LOG: &str =
    "    run_logs:\n      - { name: runs, table: Log, preset: notification_run_log, steps: [work] }\n";
const MUTABLE_LOG: &str = "    run_logs:
      - name: runs
        table: Log
        preset: notification_run_log
        steps: [work]
        mutable: true
";
const CONTROL: &str = "    control_tables:
      - { name: events, table: Control, preset: notification_control, kinds: [comment] }
";

/// The tables of the presets, with columns that take any value.
const TABLES: &str = "
CREATE TABLE Job (
    JobId INTEGER PRIMARY KEY, Queue TEXT, State TEXT, ClaimToken TEXT, LeaseUntil TEXT, ClaimedAt TEXT,
    AvailableAt TEXT, EnqueuedAt TEXT, Attempts INTEGER, MaxAttempts INTEGER);
CREATE TABLE Log (
    RunLogId INTEGER PRIMARY KEY, Step TEXT, StartedAt TEXT, EndedAt TEXT, DurationMs INTEGER,
    Candidates INTEGER, Outcome TEXT);
CREATE TABLE Control (NotificationId INTEGER PRIMARY KEY, Kind TEXT, CreatedAt TEXT);
";

fn bench() -> Bench {
    let bench = Bench::new(&[]);
    bench.execute(TABLES);
    bench
}

const JOB_FAMILIES: [&str; 8] = [
    "sqlqueue_jobs",
    "sqlqueue_oldest_ready_age_seconds",
    "sqlqueue_expired_leases",
    "sqlqueue_oldest_expired_lease_seconds",
    "sqlqueue_longest_running_seconds",
    "sqlqueue_retrying_jobs",
    "sqlqueue_max_attempts",
    "sqlqueue_future_timestamp_rows",
];

/// A complete ready job and a complete running one, by column.
const READY: [(&str, &str); 9] = [
    ("State", "'R'"),
    ("ClaimToken", "NULL"),
    ("LeaseUntil", "NULL"),
    ("ClaimedAt", "NULL"),
    ("AvailableAt", "'2026-11-30 11:59:00'"),
    ("EnqueuedAt", "'2026-11-30 11:58:00'"),
    ("Attempts", "2"),
    ("MaxAttempts", "5"),
    ("Queue", "'mail'"),
];
const RUNNING: [(&str, &str); 9] = [
    ("State", "'W'"),
    ("ClaimToken", "'t'"),
    ("LeaseUntil", "'2026-11-30 12:01:00'"),
    ("ClaimedAt", "'2026-11-30 11:59:30'"),
    ("AvailableAt", "'2026-11-30 11:59:00'"),
    ("EnqueuedAt", "'2026-11-30 11:58:00'"),
    ("Attempts", "3"),
    ("MaxAttempts", "5"),
    ("Queue", "'mail'"),
];

/// The page of one job whose `nulls` are NULL.
async fn page_of(job: [(&str, &str); 9], nulls: &[&str]) -> Series {
    let bench = bench();
    insert(&bench, job, nulls);
    let exporter = bench.exporter(QUEUE);
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(r#"sqlqueue_samples_total{source="db",queue="jobs"}"#, 1.0);
    for family in JOB_FAMILIES {
        series.assert_never_negative(family);
    }
    series
}

fn insert(bench: &Bench, job: [(&str, &str); 9], nulls: &[&str]) {
    let columns = job.map(|(column, _)| column).join(", ");
    let values = job.map(|(column, value)| if nulls.contains(&column) { "NULL" } else { value }).join(", ");
    bench.execute(&format!("INSERT INTO Job ({columns}) VALUES ({values})"));
}

fn gauge(family: &str) -> String {
    format!(r#"{family}{{source="db",queue="jobs"}}"#)
}

#[track_caller]
fn assert_jobs(series: &Series, state: &str, of: &str) {
    assert_eq!(series.sum("sqlqueue_jobs", r#"source="db""#), 1.0, "{of}: one job is one job");
    let jobs = format!(r#"sqlqueue_jobs{{source="db",queue="jobs",state="{state}"}}"#);
    assert_eq!(series.get(&jobs), Some(1.0), "{of}: {series:#?}");
}

/// A table without a schema could be taken for the part of the statement with the same name.
#[tokio::test]
async fn tables_may_be_called_what_they_hold() {
    for table in ["Job", "Claim", "Queue"] {
        let bench = bench();
        if table != "Job" {
            bench.execute(&format!("ALTER TABLE Job RENAME TO {table}"));
        }
        bench.execute(&format!("INSERT INTO {table} (State) VALUES ('R')"));
        let exporter = bench.exporter(&QUEUE.replace("Job", table));
        exporter.sample_once().await;
        Series::of(&exporter).assert(r#"sqlqueue_jobs{source="db",queue="jobs",state="ready"}"#, 1.0);
    }
    for table in ["Log", "Entry", "Step"] {
        let bench = bench();
        if table != "Log" {
            bench.execute(&format!("ALTER TABLE Log RENAME TO {table}"));
        }
        let exporter = bench.exporter(&RUN_LOG.replace("Log", table));
        exporter.sample_once().await;
        exporter.sample_once().await;
        Series::of(&exporter).assert(r#"sqlqueue_samples_total{source="db",run_log="runs"}"#, 2.0);
    }
}

#[tokio::test]
async fn null_in_a_column_of_a_ready_job() {
    // What is NULL, the state of the job, its age, and the highest number of attempts.
    for (nulls, state, age, attempts) in [
        (&[][..], "ready", Some(60.0), Some(2.0)),
        // No unfinished job is left that could be ready or tried.
        (&["State"], "unknown", Some(0.0), Some(0.0)),
        (&["AvailableAt"], "ready", Some(120.0), Some(2.0)),
        (&["EnqueuedAt"], "ready", Some(60.0), Some(2.0)),
        (&["AvailableAt", "EnqueuedAt"], "ready", None, Some(2.0)),
        (&["Attempts"], "ready", Some(60.0), None),
        (&["MaxAttempts"], "ready", Some(60.0), Some(2.0)),
        (&["Queue"], "ready", Some(60.0), Some(2.0)),
    ] {
        let series = page_of(READY, nulls).await;
        let of = format!("{nulls:?}");
        assert_jobs(&series, state, &of);
        assert_eq!(series.get(&gauge("sqlqueue_oldest_ready_age_seconds")), age, "{of}");
        assert_eq!(series.get(&gauge("sqlqueue_max_attempts")), attempts, "{of}");
        series.assert(&gauge("sqlqueue_longest_running_seconds"), 0.0);
        series.assert(&gauge("sqlqueue_expired_leases"), 0.0);
        series.assert(&gauge("sqlqueue_future_timestamp_rows"), 0.0);
        let tried = if nulls.contains(&"Attempts") || state == "unknown" { 0.0 } else { 1.0 };
        series.assert(&gauge("sqlqueue_retrying_jobs"), tried);
    }
}

#[tokio::test]
async fn null_in_a_column_of_a_running_job() {
    for (nulls, running) in [
        (&[][..], Some(30.0)),
        // The state says that the job is claimed; without an end, its lease does not lapse.
        (&["ClaimToken"], Some(30.0)),
        (&["LeaseUntil"], Some(30.0)),
        (&["ClaimedAt"], None),
        (&["AvailableAt", "EnqueuedAt"], Some(30.0)),
        (&["Attempts", "MaxAttempts"], Some(30.0)),
    ] {
        let series = page_of(RUNNING, nulls).await;
        let of = format!("{nulls:?}");
        assert_jobs(&series, "running", &of);
        assert_eq!(series.get(&gauge("sqlqueue_longest_running_seconds")), running, "{of}");
        series.assert(&gauge("sqlqueue_oldest_ready_age_seconds"), 0.0);
        series.assert(&gauge("sqlqueue_expired_leases"), 0.0);
        series.assert(&gauge("sqlqueue_oldest_expired_lease_seconds"), 0.0);
        let attempts = if nulls.contains(&"Attempts") { None } else { Some(3.0) };
        assert_eq!(series.get(&gauge("sqlqueue_max_attempts")), attempts, "{of}");
    }
}

#[tokio::test]
async fn what_one_row_does_not_tell_another_may() {
    let bench = bench();
    insert(&bench, READY, &["AvailableAt", "EnqueuedAt", "Attempts"]);
    insert(&bench, READY, &[]);
    let exporter = bench.exporter(QUEUE);
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(r#"sqlqueue_jobs{source="db",queue="jobs",state="ready"}"#, 2.0);
    series.assert(&gauge("sqlqueue_oldest_ready_age_seconds"), 60.0);
    series.assert(&gauge("sqlqueue_max_attempts"), 2.0);
}

#[tokio::test]
async fn times_in_the_future_and_attempts_below_zero_are_no_negative_values() {
    let mut job = RUNNING;
    job[3].1 = "'2026-11-30 12:00:30'";
    job[5].1 = "'2026-11-30 12:00:45'";
    job[6].1 = "-4";
    let series = page_of(job, &[]).await;
    assert_jobs(&series, "running", "a future job");
    series.assert(&gauge("sqlqueue_longest_running_seconds"), 0.0);
    series.assert(&gauge("sqlqueue_max_attempts"), 0.0);
    series.assert(&gauge("sqlqueue_future_timestamp_rows"), 1.0);
    // The same with claimed jobs listed.
    let bench = bench();
    bench.execute(
        "INSERT INTO Job (State, ClaimToken, LeaseUntil, Attempts) VALUES ('W', 'a', '2026-11-30 11:59:00', -4)",
    );
    let exporter = bench.exporter(&QUEUE.replace(" }", ", id: JobId }"));
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    series.assert(&gauge("sqlqueue_expired_leases"), 1.0);
    series.assert(&gauge("sqlqueue_max_attempts"), 0.0);
    job = READY;
    job[5].1 = "'2026-11-30 12:00:45'";
    page_of(job, &[]).await.assert(&gauge("sqlqueue_oldest_ready_age_seconds"), 0.0);
}

#[tokio::test]
async fn queue_labels_that_differ_by_trailing_spaces_are_one_queue() {
    let bench = bench();
    for (label, enqueued) in [
        ("'mail'", "11:50:00"),
        ("'mail  '", "11:40:00"),
        ("NULL", "11:59:00"),
        ("''", "11:58:00"),
        ("'  '", "11:57:00"),
    ] {
        bench.execute(&format!(
            "INSERT INTO Job (Queue, State, EnqueuedAt, Attempts) VALUES ({label}, 'R', '2026-11-30 {enqueued}', 1)"
        ));
    }
    let exporter = bench.exporter(LABELLED);
    exporter.sample_once().await;
    // Reading the page fails when a series appears twice.
    let series = Series::of(&exporter);
    for (queue, jobs, age) in [("mail", 2.0, 1200.0), ("", 3.0, 180.0)] {
        series.assert(&format!(r#"sqlqueue_jobs{{source="db",queue="{queue}",state="ready"}}"#), jobs);
        series.assert(&format!(r#"sqlqueue_oldest_ready_age_seconds{{source="db",queue="{queue}"}}"#), age);
        series.assert(&format!(r#"sqlqueue_retrying_jobs{{source="db",queue="{queue}"}}"#), jobs);
    }
}

/// The page of an exporter that has seen the end of the empty log, after one more sample.
async fn page_after(targets: &str, rows: &str) -> Series {
    let bench = bench();
    let exporter = bench.exporter(targets);
    exporter.sample_once().await;
    bench.execute(rows);
    // A new label value is shown at 0 before it counts.
    exporter.sample_once().await;
    exporter.sample_once().await;
    let series = Series::of(&exporter);
    assert_eq!(series.sum("sqlqueue_samples_total", ""), 3.0, "{series:#?}");
    series
}

fn step(family: &str, step: &str) -> String {
    format!(r#"{family}{{source="db",run_log="runs",step="{step}"}}"#)
}

fn outcome(step: &str, outcome: &str) -> String {
    format!(r#"sqlqueue_run_steps_total{{source="db",run_log="runs",step="{step}",outcome="{outcome}"}}"#)
}

const LOG_COLUMNS: [(&str, &str); 6] = [
    ("Step", "'work'"),
    ("StartedAt", "'2026-11-30 11:59:00'"),
    ("EndedAt", "'2026-11-30 11:59:02'"),
    ("DurationMs", "2000"),
    ("Candidates", "7"),
    ("Outcome", "'ok'"),
];

#[tokio::test]
async fn null_in_a_column_of_a_run_log() {
    let start = 1_796_039_940.0;
    // What is NULL; step and outcome counted; durations; candidates; last start; last success.
    for (null, counted, durations, candidates, last_start, last_success) in [
        ("", ("work", "ok"), 1.0, 7.0, Some(start), Some(start + 2.0)),
        ("Step", ("", "ok"), 1.0, 7.0, Some(start), Some(start + 2.0)),
        ("StartedAt", ("work", "ok"), 1.0, 7.0, None, Some(start + 2.0)),
        // The next best indication of the end.
        ("EndedAt", ("work", "ok"), 1.0, 7.0, Some(start), Some(start)),
        ("DurationMs", ("work", "ok"), 0.0, 7.0, Some(start), Some(start + 2.0)),
        ("Candidates", ("work", "ok"), 1.0, 0.0, Some(start), Some(start + 2.0)),
        // An outcome that the mapping does not know must not pass for a success.
        ("Outcome", ("work", "error"), 1.0, 7.0, Some(start), None),
    ] {
        let columns = LOG_COLUMNS.map(|(column, _)| column).join(", ");
        let values =
            LOG_COLUMNS.map(|(column, value)| if column == null { "NULL" } else { value }).join(", ");
        let series = page_after(RUN_LOG, &format!("INSERT INTO Log ({columns}) VALUES ({values})")).await;
        let (name, ended) = counted;
        assert_eq!(series.sum("sqlqueue_run_steps_total", ""), 1.0, "{null}: one row is one row");
        series.assert(&outcome(name, ended), 1.0);
        series.assert(&step("sqlqueue_run_step_duration_seconds_count", name), durations);
        series.assert(&step("sqlqueue_run_step_duration_seconds_sum", name), 2.0 * durations);
        series.assert(&step("sqlqueue_run_step_candidates_total", name), candidates);
        let last = |family| series.get(&step(family, name));
        assert_eq!(last("sqlqueue_run_last_start_timestamp_seconds"), last_start, "{null}");
        assert_eq!(last("sqlqueue_run_last_success_timestamp_seconds"), last_success, "{null}");
    }
}

#[tokio::test]
async fn a_row_that_runs_and_does_not_say_since_when_is_in_progress_without_a_time() {
    let rows = "INSERT INTO Log (Step, StartedAt, Outcome) VALUES ('work', NULL, 'ok')";
    let series = page_after(MUTABLE_LOG, rows).await;
    series.assert(&outcome("work", "ok"), 0.0);
    assert_eq!(series.get(&step("sqlqueue_run_in_progress_seconds", "work")), None);

    let rows = "INSERT INTO Log (Step, StartedAt, Outcome) VALUES ('work', NULL, 'ok'),
        ('work', '2026-11-30 11:59:00', 'ok')";
    let series = page_after(MUTABLE_LOG, rows).await;
    series.assert(&step("sqlqueue_run_in_progress_seconds", "work"), 60.0);
}

#[tokio::test]
async fn durations_and_candidates_below_zero_are_not_counted() {
    let rows = "INSERT INTO Log (Step, DurationMs, Candidates, Outcome) VALUES ('work', -5, -3, 'ok')";
    let series = page_after(RUN_LOG, rows).await;
    series.assert(&outcome("work", "ok"), 1.0);
    series.assert(&step("sqlqueue_run_step_duration_seconds_count", "work"), 0.0);
    series.assert(&step("sqlqueue_run_step_candidates_total", "work"), 0.0);
}

#[tokio::test]
async fn steps_that_differ_by_trailing_spaces_are_one_step() {
    let rows = "INSERT INTO Log (Step, DurationMs, Outcome) VALUES
        ('work', 1000, 'ok'), ('work  ', 1000, 'ok '), ('', 1000, 'ok'), (NULL, 1000, 'ok'), ('   ', 1000, 'ok')";
    let series = page_after(RUN_LOG, rows).await;
    // In SQLite 'ok ' is not 'ok', as it would be in SQL Server.
    series.assert(&outcome("work", "ok"), 1.0);
    series.assert(&outcome("work", "error"), 1.0);
    series.assert(&outcome("", "ok"), 3.0);
    series.assert(&step("sqlqueue_run_step_duration_seconds_sum", "work"), 2.0);
}

#[tokio::test]
async fn null_and_trailing_spaces_in_a_control_table() {
    let rows = "INSERT INTO Control (Kind, CreatedAt) VALUES
        ('comment', NULL), ('comment ', NULL), (NULL, '2026-11-30 11:59:00'), ('', NULL)";
    let series = page_after(CONTROL, rows).await;
    let kind =
        |family: &str, kind: &str| format!(r#"{family}{{source="db",control_table="events",kind="{kind}"}}"#);
    series.assert(&kind("sqlqueue_notifications_total", "comment"), 2.0);
    series.assert(&kind("sqlqueue_notifications_total", ""), 2.0);
    let last = |name| series.get(&kind("sqlqueue_notification_last_timestamp_seconds", name));
    assert_eq!(last("comment"), None);
    assert_eq!(last(""), Some(1_796_039_940.0));
}

#[tokio::test]
async fn a_time_that_cannot_be_read_is_an_error_and_not_a_missing_time() {
    for stored in ["1796039400", "'soon'", "''"] {
        let bench = Bench::new(&[]);
        bench.execute(&format!(
            "CREATE TABLE Work (Id INTEGER PRIMARY KEY, AvailableAt);
            INSERT INTO Work (AvailableAt) VALUES (NULL), ('2026-11-30 13:00:00'), ({stored})"
        ));
        let exporter = bench.exporter(
            "    queues: [{ name: q, table: Work, state: { constant: ready }, available_at: AvailableAt }]\n",
        );
        exporter.sample_once().await;
        let series = Series::of(&exporter);
        series.assert(r#"sqlqueue_sample_errors_total{source="db",queue="q",reason="decode"}"#, 1.0);
        series.assert_absent("sqlqueue_jobs");

        bench.execute("DELETE FROM Work WHERE Id = 3");
        exporter.sample_once().await;
        let series = Series::of(&exporter);
        series.assert(r#"sqlqueue_jobs{source="db",queue="q",state="ready"}"#, 1.0);
        series.assert(r#"sqlqueue_jobs{source="db",queue="q",state="scheduled"}"#, 1.0);
    }
}
