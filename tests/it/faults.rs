//! Faults of a server: whatever it does to one target or source, the others are sampled, the failure has its
//! reason, and the first good answer afterwards is a good sample.

use std::path::Path;

use sqlqueue_exporter::clock::ManualClock;
use sqlqueue_exporter::config::{self, Environment};
use sqlqueue_exporter::exporter::Exporter;
use tempfile::TempDir;

use crate::process::{Process, TERM, eventually, exporter};
use crate::stopped_time::StoppedTime;
use crate::support::{NOW_MS, Series};
use crate::tds::server::{DEADLINE, Fault, TdsServer};

const BROKEN: &str = "broken";
const OTHER: &str = "other";

/// A source with two targets on a server that will fail, and one on a server that will not. For the exporter,
/// time passes only while the failing server keeps it waiting, so the speed of the machine makes no
/// difference. For tests with paused time.
struct World {
    faulty: TdsServer,
    healthy: TdsServer,
    exporter: Exporter,
}

impl World {
    /// `targets` are in the order in which they are sampled.
    fn new(targets: [&str; 2], encryption: &str) -> Self {
        let (faulty, healthy) = (TdsServer::start(), TdsServer::start());
        let yaml = [
            format!("global: {{ query_timeout: {}s }}\nsources:\n", DEADLINE.as_secs()),
            source("faulty", &faulty, encryption, &targets),
            source("healthy", &healthy, "off", &[OTHER]),
        ]
        .concat();
        let environment = Environment::empty().with_variable("PASSWORD", "secret");
        let config = config::parse(&yaml, Path::new("test.yaml"), &environment)
            .unwrap_or_else(|error| panic!("{error}\n{yaml}"));
        let exporter = Exporter::new(config, ManualClock::at(NOW_MS)).unwrap();
        Self { faulty, healthy, exporter }
    }

    /// One pass over all targets, and the page afterwards.
    async fn pass(&mut self) -> Series {
        let time = StoppedTime::new();
        let passing = async {
            loop {
                time.pass(self.faulty.kept_waiting().await).await;
            }
        };
        tokio::select! {
            () = self.exporter.sample_once() => {}
            () = passing => {}
        }
        Series::of(&self.exporter)
    }

    /// One pass over all targets, in which the healthy source must get one more good sample.
    async fn pass_beside_a_healthy_source(&mut self, passes: f64) -> Series {
        let series = self.pass().await;
        series.assert(r#"sqlqueue_up{source="healthy"}"#, 1.0);
        series.assert(&samples("healthy", OTHER), passes);
        assert_eq!(series.sum("sqlqueue_sample_errors_total", r#"source="healthy""#), 0.0);
        series.assert(&ready("healthy", OTHER), 3.0);
        assert!(self.faulty.highest() <= 1 && self.healthy.highest() <= 1, "one connection a source");
        series
    }
}

/// The configuration of a source, without the key of its list.
fn source(name: &str, server: &TdsServer, encryption: &str, queues: &[&str]) -> String {
    let queues: Vec<String> = queues
        .iter()
        .map(|queue| format!("{{ name: {queue}, table: dbo.{queue}, preset: lease_minimal }}"))
        .collect();
    format!(
        "  - name: {name}
    mssql: {{ host: 127.0.0.1, port: {}, database: Orders, user: watcher, password_env: PASSWORD, encryption: {encryption} }}
    queues: [{}]\n",
        server.port(),
        queues.join(", ")
    )
}

fn samples(source: &str, queue: &str) -> String {
    format!(r#"sqlqueue_samples_total{{source="{source}",queue="{queue}"}}"#)
}

fn ready(source: &str, queue: &str) -> String {
    format!(r#"sqlqueue_jobs{{source="{source}",queue="{queue}",state="ready"}}"#)
}

#[track_caller]
fn assert_errors(series: &Series, queue: &str, reason: &str, count: f64) {
    let of_queue = format!(r#"source="faulty",queue="{queue}""#);
    series.assert(&format!(r#"sqlqueue_sample_errors_total{{{of_queue},reason="{reason}"}}"#), count);
    assert_eq!(series.sum("sqlqueue_sample_errors_total", &of_queue), count, "no other reason: {series:#?}");
}

/// A fault of one target's statements, its reason, whether the database answered, and whether the connection
/// survives.
const STATEMENT_FAULTS: [(Fault, &str, f64, bool); 10] = [
    (Fault::Server(208), "missing_object", 1.0, true),
    (Fault::Server(229), "permission", 1.0, true),
    (Fault::Server(1205), "deadlock", 1.0, true),
    (Fault::Server(1222), "lock_timeout", 1.0, true),
    (Fault::WrongTypes, "decode", 1.0, true),
    (Fault::MillionRows, "decode", 1.0, true),
    (Fault::Stall, "timeout", 1.0, true),
    (Fault::DisconnectInRow, "connect", 0.0, false),
    (Fault::Silence, "timeout", 0.0, false),
    (Fault::Drip, "timeout", 0.0, false),
];

#[tokio::test(start_paused = true)]
async fn a_fault_of_one_statement_costs_only_its_target_a_sample() {
    for (fault, reason, up, connection_survives) in STATEMENT_FAULTS {
        for targets in [[BROKEN, OTHER], [OTHER, BROKEN]] {
            let mut world = World::new(targets, "off");
            world.faulty.at_statement(BROKEN, fault);
            let series = world.pass_beside_a_healthy_source(1.0).await;
            assert_errors(&series, BROKEN, reason, 1.0);
            assert_eq!(series.get(&ready("faulty", BROKEN)), None, "{fault:?}: nothing is known, not 0");
            assert_errors(&series, OTHER, reason, 0.0);
            series.assert(&samples("faulty", OTHER), 1.0);
            series.assert(&ready("faulty", OTHER), 3.0);
            let broken_is_last = targets == [OTHER, BROKEN];
            series.assert(r#"sqlqueue_up{source="faulty"}"#, if broken_is_last { up } else { 1.0 });
            let connections = if connection_survives || broken_is_last { 1 } else { 2 };
            assert_eq!(world.faulty.accepted(), connections, "{fault:?}");

            world.faulty.recover();
            let series = world.pass_beside_a_healthy_source(2.0).await;
            series.assert(r#"sqlqueue_up{source="faulty"}"#, 1.0);
            series.assert(&samples("faulty", BROKEN), 1.0);
            series.assert(&ready("faulty", BROKEN), 3.0);
            assert_errors(&series, BROKEN, reason, 1.0);
            assert_eq!(world.faulty.open(), 0, "{fault:?}: every connection was closed");
        }
    }
}

/// A fault of every connection, and its reason.
const CONNECTION_FAULTS: [(Fault, &str, &str); 7] = [
    (Fault::Close, "off", "connect"),
    (Fault::Garbage, "off", "connect"),
    (Fault::Tls, "required", "connect"),
    (Fault::Login(18456), "off", "login"),
    (Fault::Login(4060), "off", "login"),
    (Fault::Silence, "off", "timeout"),
    (Fault::Drip, "off", "timeout"),
];

#[tokio::test(start_paused = true)]
async fn a_fault_of_the_connection_costs_no_other_source_a_sample() {
    for (fault, encryption, reason) in CONNECTION_FAULTS {
        let mut world = World::new([BROKEN, OTHER], encryption);
        world.faulty.at_connection(fault);
        let series = world.pass_beside_a_healthy_source(1.0).await;
        assert_source_is_down(&series, reason);
        assert_eq!(world.faulty.open(), 0, "{fault:?}: every connection was closed");

        world.faulty.recover();
        if encryption == "off" {
            assert_source_is_back(&mut world, reason).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_closed_port_costs_no_other_source_a_sample() {
    let mut world = World::new([BROKEN, OTHER], "off");
    world.faulty.refuse();
    assert_source_is_down(&world.pass_beside_a_healthy_source(1.0).await, "connect");
    assert_eq!(world.faulty.accepted(), 0);
    world.faulty.recover();
    assert_source_is_back(&mut world, "connect").await;
}

#[track_caller]
fn assert_source_is_down(series: &Series, reason: &str) {
    series.assert(r#"sqlqueue_up{source="faulty"}"#, 0.0);
    for queue in [BROKEN, OTHER] {
        assert_errors(series, queue, reason, 1.0);
        series.assert(&samples("faulty", queue), 0.0);
        assert_eq!(series.get(&ready("faulty", queue)), None);
    }
}

async fn assert_source_is_back(world: &mut World, reason: &str) {
    let series = world.pass_beside_a_healthy_source(2.0).await;
    series.assert(r#"sqlqueue_up{source="faulty"}"#, 1.0);
    for queue in [BROKEN, OTHER] {
        assert_errors(&series, queue, reason, 1.0);
        series.assert(&samples("faulty", queue), 1.0);
        series.assert(&ready("faulty", queue), 3.0);
    }
}

#[tokio::test(start_paused = true)]
async fn gauges_of_a_good_sample_stay_for_a_while_when_the_next_one_fails() {
    let mut world = World::new([BROKEN, OTHER], "off");
    world.pass_beside_a_healthy_source(1.0).await.assert(&ready("faulty", BROKEN), 3.0);
    world.faulty.at_statement(BROKEN, Fault::Server(1222));
    world.pass_beside_a_healthy_source(2.0).await.assert(&ready("faulty", BROKEN), 3.0);
}

#[test]
fn a_failing_target_is_told_at_once_and_then_less_and_less_often() {
    let mut server = TdsServer::start();
    server.at_statement(BROKEN, Fault::Server(208));
    let folder = TempDir::new().unwrap();
    let config = folder.path().join("config.yaml");
    let yaml = [
        "global: { sample_interval: 100ms, query_timeout: 1h }\nsources:\n".to_owned(),
        source("faulty", &server, "off", &[BROKEN, OTHER]),
    ]
    .concat();
    std::fs::write(&config, yaml).unwrap();
    let mut command = exporter(&config);
    command.env("PASSWORD", "secret");
    let process = Process::start(command);
    let failed = |page: &Series| page.sum("sqlqueue_sample_errors_total", r#"queue="broken""#);
    let good = |page: &Series| page.get(&samples("faulty", OTHER)).unwrap();
    eventually("the failing target is asked less and less often", || {
        let page = process.scrape();
        failed(&page) >= 5.0 && good(&page) > 2.0 * failed(&page)
    });
    // No other statement is sent while one hangs, so the count does not change.
    server.recover();
    server.at_statement("", Fault::Silence);
    let answered = server.statements();
    eventually("a statement hangs", || server.statements() > answered);
    let counted = failed(&process.scrape()) as usize;
    let (status, log) = process.stop(TERM);
    assert_eq!(status.code(), Some(0), "{log}");
    let told: Vec<&str> = log.lines().filter(|line| line.contains("Invalid object name")).collect();
    assert_eq!(told.len(), counted, "one line for each failed sample, in {log}");
    // The first, the second, the fourth, …; the rest only at a more detailed level.
    let warned = told.iter().filter(|line| line.contains(r#""level":"WARN""#)).count();
    assert_eq!(warned, (usize::BITS - counted.leading_zeros()) as usize, "warnings, in {log}");
}
