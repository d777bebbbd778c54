//! Preparing a folder, and what is written into it.

use std::path::Path;

use super::super::incident::files;
use super::super::{
    DemoError, DemoOptions, Episode, Incident, banner, notifications, prepare, queue, transactional,
};
use super::{LONG, Lab, counts};
use crate::config::{self, Environment};

#[test]
fn a_speed_without_sense_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for speed in [0.0, -1.0, f64::NAN, f64::INFINITY, 0.05] {
        let options = DemoOptions { folder: folder.path().to_path_buf(), seed: 1, speed, episode: None };
        assert!(matches!(prepare(&options), Err(DemoError::Speed(_))), "{speed}");
    }
}

#[test]
fn the_configuration_names_the_database_whatever_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("it's {a} \"path\": \\ # é");
    let database = prepare(&DemoOptions { folder, seed: 1, speed: 1.0, episode: None }).unwrap();
    assert_eq!(std::fs::read_to_string(database.config_file()).unwrap(), database.config_yaml());

    let config: serde_json::Value = serde_saphyr::from_str(database.config_yaml()).unwrap();
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
fn a_configuration_that_no_demo_wrote_is_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let options = DemoOptions { folder: folder.path().to_path_buf(), seed: 1, speed: 1.0, episode: None };
    let file = folder.path().join("sqlqueue-exporter.yaml");
    for own in ["sources: []\n", "", "# My own.\n# Written by the demo;\n"] {
        std::fs::write(&file, own).unwrap();
        let error = prepare(&options).unwrap_err().to_string();
        assert!(error.contains(file.to_str().unwrap()) && error.contains("`--folder`"), "{error}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), own);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else was written either");
    }
    std::fs::remove_file(&file).unwrap();
    prepare(&options).unwrap();
    let faster = DemoOptions { speed: 2.0, ..options };
    let written = prepare(&faster).unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), written.config_yaml());
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
fn what_a_killed_incident_took_away_is_brought_back() {
    let lab = Lab::new();
    queue::enqueue(&lab.connect(), "invoice", std::time::Duration::ZERO, 1).unwrap();
    let (file, state) = (lab.database.file(), lab.database.state_file());
    std::fs::write(&state, "saved").unwrap();
    files::move_away(file).unwrap();
    files::block(&state).unwrap();
    assert!(!file.exists() && std::fs::write(&state, "new").is_err());

    prepare(&lab.options).unwrap();
    assert_eq!(counts(&lab.connect()).jobs, 1);
    assert_eq!(std::fs::read_to_string(&state).unwrap(), "saved");
}

#[test]
fn a_state_file_that_could_not_be_written_is_not_brought_back_over_a_newer_one() {
    let lab = Lab::new();
    let state = lab.database.state_file();
    std::fs::write(&state, "old").unwrap();
    files::block(&state).unwrap();
    files::unblock(&state).unwrap();
    std::fs::write(&state, "new").unwrap();
    prepare(&lab.options).unwrap();
    assert_eq!(std::fs::read_to_string(&state).unwrap(), "new");
}

#[test]
fn objectives_go_with_the_speed() {
    let lab = Lab::new();
    let options = DemoOptions { speed: 10.0, ..lab.options.clone() };
    let objectives = |yaml: &str| {
        let config = config::parse(yaml, Path::new("demo.yaml"), &Environment::empty()).unwrap();
        let ready_age = config.sources[0].queues[0].objectives.max_ready_age.unwrap();
        (ready_age, config.global.sample_interval, config.global.objectives.sources.max_clock_skew.unwrap())
    };
    let ms = std::time::Duration::from_millis;
    assert_eq!(objectives(lab.database.config_yaml()), (ms(15_000), ms(1000), ms(5000)));
    assert_eq!(objectives(prepare(&options).unwrap().config_yaml()), (ms(1500), ms(250), ms(5000)));
    for speed in [0.1, 100.0] {
        objectives(prepare(&DemoOptions { speed, ..options.clone() }).unwrap().config_yaml());
    }
}

#[test]
fn the_banner_says_what_goes_wrong_when_and_where_to_look() {
    let lab = Lab::new();
    let seconds = std::time::Duration::from_secs;
    let episode = Episode { incident: Incident::NoWorkers, after: seconds(30), lasting: Some(seconds(90)) };
    let options = DemoOptions { speed: 2.0, episode: Some(episode), ..lab.options.clone() };
    let text = banner(&lab.database, &options, &[]);
    let facts = Incident::NoWorkers.facts();
    for part in [
        "Incident no-workers, from 30s after the start, for 1m30s:\n",
        facts.happens,
        facts.series,
        facts.against.unwrap(),
        facts.alert,
        "by 120",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let within = crate::config::duration::text(facts.within / 2);
    assert!(text.contains(&format!("holds within {within}\n")), "{text}");

    let endless = DemoOptions { episode: Some(Episode { lasting: None, ..episode }), ..options };
    assert!(banner(&lab.database, &endless, &[]).contains("until the demo is stopped:"));
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
