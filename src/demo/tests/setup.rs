//! Preparing a folder, and what is written into it.

use super::super::{DemoError, DemoOptions, banner, notifications, prepare, queue, transactional};
use super::{LONG, Lab, counts};

#[test]
fn a_speed_without_sense_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for speed in [0.0, -1.0, f64::NAN, f64::INFINITY, 0.05] {
        let options = DemoOptions { folder: folder.path().to_path_buf(), seed: 1, speed };
        assert!(matches!(prepare(&options), Err(DemoError::Speed(_))), "{speed}");
    }
}

#[test]
fn the_configuration_names_the_database_whatever_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("it's {a} \"path\": \\ # é");
    let database = prepare(&DemoOptions { folder, seed: 1, speed: 1.0 }).unwrap();
    assert_eq!(std::fs::read_to_string(database.config_file()).unwrap(), database.config_yaml());

    let config: serde_json::Value = serde_saphyr::from_str(&database.config_yaml()).unwrap();
    let source = &config["sources"][0];
    assert_eq!(source["sqlite"]["file"].as_str(), database.file().to_str());
    assert_eq!(source["run_logs"][0]["lock"]["resource"], notifications::RUN_LOCK);
    let steps: Vec<_> =
        notifications::Step::ALL.iter().map(|step| step.name()).chain([notifications::RUN]).collect();
    assert_eq!(source["run_logs"][0]["steps"], serde_json::json!(steps));
    let kinds: Vec<_> = notifications::Step::ALL.iter().map(|step| step.kind()).collect();
    assert_eq!(source["control_tables"][0]["kinds"], serde_json::json!(kinds));
}

#[test]
fn a_second_start_goes_on_but_ends_the_sessions_of_the_first() {
    let lab = Lab::new();
    let db = lab.connect();
    queue::enqueue(&db, "invoice", std::time::Duration::ZERO, 1).unwrap();
    let claimed = queue::claim(&db, LONG).unwrap().unwrap();
    let work = transactional::enqueue(&db, "work").unwrap();
    transactional::take(&db, 1).unwrap().unwrap();
    assert!(notifications::take_lock(&db, notifications::RUN_LOCK, "killed").unwrap());

    prepare(&lab.options).unwrap();
    let counted = counts(&db);
    assert_eq!((counted.jobs, counted.work, counted.lock_holder), (1, 1, None));
    assert_eq!(transactional::take(&db, 2).unwrap().unwrap().work_id, work);
    // A lease is no session: it outlives one.
    assert_eq!(queue::complete(&db, claimed.job_id, &claimed.token).unwrap(), queue::Ownership::Held);
}

#[test]
fn the_banner_says_what_to_open() {
    let lab = Lab::new();
    let text =
        banner(&lab.database, &lab.options, &[("Metrics", "http://localhost:10433/metrics".to_owned())]);
    assert!(text.contains("Metrics  http://localhost:10433/metrics\n"), "{text}");
    assert!(text.contains(lab.database.file().to_str().unwrap()), "{text}");
    assert!(!banner(&lab.database, &lab.options, &[]).contains("Open"));
}
