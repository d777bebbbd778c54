//! The same configuration gives the same series.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use sqlqueue_exporter::clock::SharedClock;
use sqlqueue_exporter::config::Database;
use sqlqueue_exporter::exporter::Exporter;
use sqlqueue_exporter::source::SqliteConnector;

use super::recorder::{Record, Recorder, request};
use super::server::{config, exporter, twin};
use crate::support::{Bench, PUBLISHED_LEASE, PUBLISHED_RUN_LOG, PUBLISHED_TRANSACTIONAL, Series};
use crate::tds::answers::rows as answer;
use crate::tds::request::Request;
use crate::tds::server::TdsServer;

/// Two exporters with the same targets: one on the embedded database, one over TDS on a server
/// that answers what the embedded database answered.
struct Pair {
    bench: Bench,
    record: Record,
    embedded: Exporter,
    server: TdsServer,
    over_tds: Exporter,
    targets: &'static str,
}

impl Pair {
    async fn new(fixtures: &[&str], targets: &'static str) -> Self {
        let bench = Bench::new(fixtures);
        let record = Record::default();
        let clock: SharedClock = bench.clock.clone();
        let embedded = {
            let (record, clock) = (Arc::clone(&record), Arc::clone(&clock));
            Exporter::with_connectors(bench.config(targets), Arc::clone(&clock), move |source, global| {
                let Database::Sqlite(sqlite) = &source.database else { panic!("not an embedded database") };
                let inner =
                    SqliteConnector::new(sqlite.clone(), Some(Arc::clone(&clock)), global.lock_timeout);
                Arc::new(Recorder { inner, record: Arc::clone(&record) })
            })
            .unwrap()
        };
        let server = TdsServer::start();
        let over_tds = exporter(&server, targets, clock);
        Self { bench, record, embedded, server, over_tds, targets }
    }

    /// Samples both, and compares their pages series by series.
    async fn sample(&self) {
        self.embedded.sample_once().await;
        let record = std::mem::take(&mut *self.record.lock().unwrap());
        let config = config(&self.server, self.targets);
        let mut expected = Vec::new();
        assert_eq!(record.len(), config.sources[0].targets().count(), "one statement a target");
        for (target, (statement, rows)) in config.sources[0].targets().zip(&record) {
            let twin = twin(&config, target, &request(statement));
            let asked = Request::from(&twin);
            let embedded = Request::from(statement);
            assert_eq!(asked.parameters, embedded.parameters, "the same values travel in both dialects");
            self.server.answer(asked.clone(), answer(rows));
            expected.push(asked);
        }
        self.over_tds.sample_once().await;
        assert_eq!(self.server.seen(), expected, "as rendered, parameters included, in this order");
        assert_eq!(data(&self.over_tds), data(&self.embedded));
    }
}

/// The series of a page that depend on the databases.
fn data(exporter: &Exporter) -> BTreeMap<String, f64> {
    let page = Series::of(exporter);
    let mut series = page.all().clone();
    // Memory, descriptors and processor time belong to the process and change from page to page.
    series.retain(|name, _| !name.starts_with("process_"));
    assert!(series.keys().any(|name| name.starts_with("sqlqueue_up")), "{series:#?}");
    series
}

#[tokio::test]
async fn of_a_lease_queue() {
    let pair = Pair::new(&["published_lease.sql"], PUBLISHED_LEASE).await;
    pair.sample().await;
    Series::of(&pair.over_tds).assert(r#"sqlqueue_jobs{source="db",queue="demo",state="expired"}"#, 1.0);
    pair.bench.execute("DELETE FROM QueueDemo");
    pair.sample().await;
    Series::of(&pair.over_tds).assert(r#"sqlqueue_jobs{source="db",queue="demo",state="expired"}"#, 0.0);
}

#[tokio::test]
async fn of_a_lease_queue_with_every_column() {
    let targets = "    queues:\n      - { name: jobs, preset: lease, queue_label: ClaimToken }\n";
    let pair = Pair::new(&["lease.sql"], targets).await;
    pair.sample().await;
    pair.bench.execute(
        "INSERT INTO JobQueue (State, ClaimToken, LeaseUntil, ClaimedAt, AvailableAt, EnqueuedAt, Attempts, \
         MaxAttempts) VALUES
         ('R', NULL, NULL, NULL, '2026-11-30T11:50:00', '2026-11-30T11:40:00', 0, 3),
         ('W', 'zażółć', '2026-11-30T12:05:00', '2026-11-30T11:59:00', '2026-11-30T11:50:00', \
          '2026-11-30T11:40:00', 1, 3),
         ('W', '', '2026-11-30T11:55:00', '2026-11-30T11:50:00', '2026-11-30T11:50:00', \
          '2026-11-30T11:40:00', 3, 3),
         ('?', 'x', NULL, NULL, '2026-11-30T11:50:00', '2026-11-30T13:00:00', 0, 3)",
    );
    pair.sample().await;
    let running = r#"sqlqueue_longest_running_seconds{source="db",queue="zażółć"}"#;
    Series::of(&pair.over_tds).assert(running, 60.0);
}

#[tokio::test]
async fn of_an_enqueue_log() {
    let targets = "    enqueue_logs:\n      - { name: jobs, preset: enqueue_log, queue_label: ClaimToken }\n";
    let pair = Pair::new(&["lease.sql"], targets).await;
    pair.sample().await;
    for id in [1, 3, 2] {
        pair.bench.execute(&format!(
            "INSERT INTO JobQueue VALUES ({id}, 'D', 'zażółć', NULL, NULL, '2026-11-30T11:50:00', \
             '2026-11-30T11:40:00', 1, 3)"
        ));
        pair.sample().await;
    }
    pair.sample().await;
    let series = Series::of(&pair.over_tds);
    series.assert(r#"sqlqueue_enqueued_total{source="db",queue="zażółć"}"#, 3.0);
    series.assert(r#"sqlqueue_late_rows_total{source="db",enqueue_log="jobs"}"#, 1.0);
}

#[tokio::test]
async fn of_a_transactional_queue() {
    let pair = Pair::new(&["published_transactional.sql"], PUBLISHED_TRANSACTIONAL).await;
    pair.sample().await;
    Series::of(&pair.over_tds).assert(r#"sqlqueue_jobs{source="db",queue="items",state="running"}"#, 1.0);
    pair.bench.execute("DELETE FROM TransactionQueue");
    pair.sample().await;
}

#[tokio::test]
async fn of_a_run_log_and_a_control_table() {
    let pair = Pair::new(&["published_run_log.sql"], PUBLISHED_RUN_LOG).await;
    pair.sample().await;
    pair.bench.execute(
        "INSERT INTO tabela_przebiegow (id_przebiegu, krok, start, koniec, ms, kandydatow, blad) VALUES
        (1, 'komentarze', '2026-11-30T11:50:00.000', '2026-11-30T11:50:00.012', 12, 2, NULL),
        (2, 'przebieg', '2026-11-30T11:50:00.000', '2026-11-30T11:50:00.015', 15, NULL, NULL),
        (5, 'przebieg', '2026-11-30T11:52:00.000', '2026-11-30T11:52:00.000', 0, NULL,
            'POMINIETY: poprzedni przebieg jeszcze trwa (kod -1)'),
        (6, 'komentarze', '2026-11-30T11:53:00.000', '2026-11-30T11:53:00.007', 7, NULL,
            'BLAD 1205: Transaction was deadlocked');
        INSERT INTO tabela_powiadomien (rodzaj, klucz, klucz2, kiedy) VALUES
        ('komentarz', 1, 2, '2026-11-30T11:50:00.000'), ('zamowienie', 2, 3, '2026-11-30T11:51:00.000');
        INSERT INTO application_lock VALUES ('dbo.powiadomienia_przebieg', 'run', '')",
    );
    pair.sample().await;
    // A row not yet committed, and a lock that is still held.
    pair.bench.execute(
        "INSERT INTO tabela_przebiegow (id_przebiegu, krok, start, ms) VALUES
        (3, 'zamówienia', '2026-11-30T11:50:30.000', 9)",
    );
    pair.bench.clock.advance(Duration::from_secs(15));
    pair.sample().await;
    pair.sample().await;
    let series = Series::of(&pair.over_tds);
    series.assert(r#"sqlqueue_late_rows_total{source="db",run_log="runs"}"#, 1.0);
    series.assert(r#"sqlqueue_run_lock_held_seconds{source="db",run_log="runs"}"#, 15.0);
    series.assert(
        r#"sqlqueue_run_steps_total{source="db",run_log="runs",step="zamówienia",outcome="ok"}"#,
        1.0,
    );
    series
        .assert(r#"sqlqueue_notifications_total{source="db",control_table="events",kind="zamowienie"}"#, 1.0);
}
