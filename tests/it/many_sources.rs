//! Many databases behind one process: each is sampled on time, threads and connections stay bounded, and each
//! can be scraped separately.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use rusqlite::Connection;
use sqlqueue_exporter::sampler::CONCURRENT_SOURCES;
use tempfile::TempDir;

use crate::binary::wait_for;
use crate::process::{Process, eventually, exporter};
use crate::support::Series;
use crate::tds::server::{Fault, TdsServer};

const SOURCES: usize = 200;
/// Long compared with the delays of a busy machine.
const INTERVAL: f64 = 10.0;

/// A folder of configuration files, one per source, with as many databases.
fn world(sources: usize) -> TempDir {
    let folder = TempDir::new().unwrap();
    let config = folder.path().join("config");
    std::fs::create_dir(&config).unwrap();
    let global = format!(
        "global: {{ sample_interval: {INTERVAL}s, query_timeout: 1h, lock_timeout: 30m }}\nstate_file: ../state.json\n"
    );
    std::fs::write(config.join("global.yaml"), global).unwrap();
    let first = folder.path().join("0.db");
    let database = Connection::open(&first).unwrap();
    database.execute_batch(include_str!("../../sql/sqlite/schema.sql")).unwrap();
    database
        .execute_batch(
            "INSERT INTO JobQueue (State, AvailableAt, EnqueuedAt, MaxAttempts, Payload) VALUES
             ('R', '2026-11-30 11:59:00.000', '2026-11-30 11:59:00.000', 5, 'x')",
        )
        .unwrap();
    for number in 0..sources {
        let file = folder.path().join(format!("{number}.db"));
        if number > 0 {
            std::fs::copy(&first, &file).unwrap();
        }
        let yaml = format!(
            "sources:\n  - name: 's {number}'\n    sqlite: {{ file: ../{number}.db }}\n    queues: [{{ name: jobs }}]\n    run_logs: [{{ name: runs }}]\n"
        );
        std::fs::write(config.join(format!("{number}.yaml")), yaml).unwrap();
    }
    folder
}

fn start(folder: &Path) -> Process {
    let mut command = exporter(&folder.join("config"));
    command.env("PASSWORD", "secret");
    Process::start(command)
}

/// A number that the kernel reports for the process.
fn status(process: &Process, key: &str) -> usize {
    let text = std::fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
#[ignore = "takes 25 s; tests/run runs it"]
fn two_hundred_sources_are_sampled_within_two_intervals_though_one_hangs() {
    let folder = world(SOURCES);
    let server = TdsServer::start();
    server.at_statement("", Fault::Silence);
    let hanging = format!(
        "sources:\n  - name: hangs\n    mssql: {{ host: 127.0.0.1, port: {}, database: d, user: u, password_env: PASSWORD, \
         encryption: off }}\n    queues: [{{ name: jobs, table: dbo.jobs, preset: lease_minimal }}]\n",
        server.port()
    );
    // Its name sorts first, so it is started first.
    std::fs::write(folder.path().join("config/.hangs.yaml"), "").unwrap();
    std::fs::write(folder.path().join("config/+hangs.yaml"), hanging).unwrap();
    let process = start(folder.path());
    let ready = |number: usize| format!(r#"sqlqueue_jobs{{source="s {number}",queue="jobs",state="ready"}}"#);
    let all = |series: &Series, samples: f64| {
        (0..SOURCES).all(|number| {
            let sampled = |target: &str| {
                series.get(&format!(r#"sqlqueue_samples_total{{source="s {number}",{target}}}"#))
            };
            sampled(r#"queue="jobs""#) >= Some(samples) && sampled(r#"run_log="runs""#) >= Some(samples)
        })
    };
    // Within two intervals: no source has a third sample before every other has a first.
    let most = |series: &Series| {
        let count = |number: usize| {
            series.get(&format!(r#"sqlqueue_samples_total{{source="s {number}",queue="jobs"}}"#))
        };
        (0..SOURCES).filter_map(count).fold(0.0, f64::max)
    };
    eventually("every source is sampled", || {
        let series = process.scrape();
        let is_done = all(&series, 1.0);
        assert!(is_done || most(&series) <= 2.0, "one has {} samples, another none", most(&series));
        is_done
    });
    let series = process.scrape();
    for number in 0..SOURCES {
        series.assert(&ready(number), 1.0);
    }
    assert_ne!(series.get(r#"sqlqueue_up{source="hangs"}"#), Some(1.0));
    eventually("every source is sampled again while one hangs", || all(&process.scrape(), 2.0));
    process.scrape().assert(r#"sqlqueue_samples_total{source="hangs",queue="jobs"}"#, 0.0);
    assert_eq!(server.open(), 1);
    // The reactor's threads, one per source that may be queried at a time, and a few for pages and saves.
    let threads = status(&process, "Threads:");
    assert!(
        threads <= CONCURRENT_SOURCES + 16 + 2 * std::thread::available_parallelism().unwrap().get(),
        "{threads}"
    );
    let descriptors = std::fs::read_dir(format!("/proc/{}/fd", process.id())).unwrap().count();
    assert!(descriptors <= SOURCES + 64, "{descriptors}");
}

#[test]
fn one_source_can_be_scraped_for_itself() {
    let folder = world(3);
    let process = start(folder.path());
    eventually("every source is sampled", || {
        let series = process.scrape();
        (0..3).all(|number| {
            let sampled = |target: &str| {
                series.get(&format!(r#"sqlqueue_samples_total{{source="s {number}",{target}}}"#))
            };
            sampled(r#"queue="jobs""#) >= Some(1.0) && sampled(r#"run_log="runs""#) >= Some(1.0)
        })
    });
    let probe = |number: usize| {
        let response = process.get(&format!("/probe?target=s%20{number}"), "*/*");
        let (head, page) = response.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        let series = Series::parse(page);
        series.assert(&format!(r#"sqlqueue_up{{source="s {number}"}}"#), 1.0);
        let names: Vec<String> = series.all().keys().cloned().collect();
        for name in &names {
            assert!(name.contains(&format!(r#"source="s {number}""#)), "{name}");
        }
        names
    };
    // Together they are the metrics page, except for what is about the exporter. The next sample may come
    // between two of them.
    wait_for("the same series on the whole page", || {
        let of_sources: BTreeSet<String> = (0..3).flat_map(probe).collect();
        let whole = process.scrape();
        let about_sources = whole.all().keys().filter(|name| name.contains("source=")).cloned().collect();
        let differs: Vec<&String> = of_sources.symmetric_difference(&about_sources).collect();
        if differs.is_empty() { Ok(()) } else { Err(format!("{differs:?}")) }
    });

    assert!(process.get("/probe?target=none", "*/*").starts_with("HTTP/1.1 404"));
    assert!(process.get("/probe", "*/*").starts_with("HTTP/1.1 400"));
    let openmetrics = process.get("/probe?target=s+1", "application/openmetrics-text");
    assert!(openmetrics.trim_end().ends_with("# EOF"), "{openmetrics}");
}

#[test]
fn the_sources_are_listed_for_service_discovery() {
    let folder = world(2);
    let process = start(folder.path());
    let output = Command::new("curl")
        .args(["-s", "-i", &format!("http://{}/sd", process.address())])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.to_ascii_lowercase().contains("content-type: application/json"), "{head}");
    let list: serde_json::Value = serde_json::from_str(body).unwrap();
    let entry = |name: &str| {
        serde_json::json!({
            "targets": [process.address()],
            "labels": { "__scheme__": "http", "__metrics_path__": "/probe", "__param_target": name },
        })
    };
    assert_eq!(list, serde_json::json!([entry("s 0"), entry("s 1")]));
}
