//! What the file survives.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "in a test a panic is how a failure is told"
)]

use std::path::PathBuf;

use tempfile::TempDir;

use super::*;
use crate::state::{ControlTableState, KindState, Log};

fn key(name: &str) -> TargetKey {
    TargetKey {
        source: "db".into(),
        kind: "control_table".into(),
        name: name.into(),
        database: "db1:1433/Orders".into(),
        table: vec!["dbo".into(), "Control".into()],
        id: Some("Id".into()),
        filter: std::collections::BTreeMap::new(),
    }
}

fn data(notifications: u64) -> TargetData {
    let mut state = ControlTableState { log: Log::new([], 0), overall: (), labelled: false };
    state
        .log
        .series
        .insert("comment".into(), KindState { notifications, last_ms: Some(5), newest_id: Some(1) });
    TargetData::ControlTable(state)
}

fn folder() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("state.json");
    (folder, path)
}

fn problem(path: &Path) -> String {
    StateFile::open(path).unwrap().problem.map(|problem| problem.to_string()).unwrap_or_default()
}

#[test]
fn what_was_saved_is_there_after_a_restart() {
    let (_folder, path) = folder();
    let mut opened = StateFile::open(&path).unwrap();
    assert!(opened.is_new);
    opened.file.save(key("a"), &data(1)).unwrap();
    opened.file.save(key("b"), &data(2)).unwrap();
    opened.file.save(key("a"), &data(3)).unwrap();
    drop(opened);
    let opened = StateFile::open(&path).unwrap();
    assert!(!opened.is_new && opened.problem.is_none());
    assert_eq!(opened.file.target(&key("a")).unwrap(), Some(data(3)));
    assert_eq!(opened.file.target(&key("b")).unwrap(), Some(data(2)));
    assert_eq!(opened.file.target(&key("c")).unwrap(), None);
    let changes: [fn(&mut TargetKey); 4] = [
        |key| key.table = vec!["Other".into()],
        |key| key.database = "db1:1433/Other".into(),
        |key| key.id = Some("OtherId".into()),
        |key| _ = key.filter.insert("Kind".into(), "1".into()),
    ];
    for change in changes {
        let mut elsewhere = key("a");
        change(&mut elsewhere);
        assert_eq!(opened.file.target(&elsewhere).unwrap(), None, "other rows start anew");
    }
}

#[test]
fn two_exporters_cannot_share_a_file() {
    let (_folder, path) = folder();
    let first = StateFile::open(&path).unwrap();
    let error = StateFile::open(&path).unwrap_err().to_string();
    assert!(error.contains("in use by another exporter") && error.contains("state.json"), "{error}");
    assert_eq!(StateFile::inspect(&path).unwrap_err().to_string(), error);
    drop(first);
    assert!(StateFile::inspect(&path).unwrap().problem.is_none());
    StateFile::open(&path).unwrap();
}

#[test]
fn a_file_cut_in_half_is_refused_and_kept() {
    let (_folder, path) = folder();
    StateFile::open(&path).unwrap().file.save(key("a"), &data(1)).unwrap();
    let whole = std::fs::read(&path).unwrap();
    let half = &whole[..whole.len() / 2];
    std::fs::write(&path, half).unwrap();
    let mut opened = StateFile::open(&path).unwrap();
    let message = opened.problem.take().unwrap().to_string();
    assert!(message.contains("is corrupt") && message.contains("move it away"), "{message}");
    assert!(opened.file.save(key("a"), &data(9)).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), half);
}

#[test]
fn a_file_of_a_newer_version_is_refused_and_kept() {
    let (_folder, path) = folder();
    let newer = r#"{"format":"sqlqueue-exporter state","version":2,"something":"else"}"#;
    std::fs::write(&path, newer).unwrap();
    let mut opened = StateFile::open(&path).unwrap();
    let message = opened.problem.take().unwrap().to_string();
    assert!(message.contains("newer version") && message.contains("format 2"), "{message}");
    assert!(opened.file.save(key("a"), &data(9)).is_err());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), newer);
}

#[test]
fn a_file_of_something_else_is_refused_and_kept() {
    let (_folder, path) = folder();
    for foreign in ["", "hello", "[]", r#"{"format":"other","version":1,"targets":[]}"#] {
        std::fs::write(&path, foreign).unwrap();
        assert!(!problem(&path).is_empty(), "{foreign}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), foreign);
    }
}

#[test]
fn an_entry_that_does_not_fit_makes_the_file_unusable() {
    let (_folder, path) = folder();
    let odd = r#"{"format":"sqlqueue-exporter state","version":1,"targets":[{"target":
        {"source":"s","kind":"k","name":"n","database":"d","table":["t"],"id":"i","filter":{}},"data":{"RunLog":5}}]}"#;
    std::fs::write(&path, odd).unwrap();
    assert!(problem(&path).contains("is corrupt"));
}

#[test]
fn what_is_no_regular_file_is_refused() {
    for odd in ["/dev/full", "/dev/zero"].map(Path::new).into_iter().filter(|path| path.exists()) {
        let (_folder, path) = folder();
        let companions = || [".lock", ".new", ".check"].map(|suffix| beside(odd, suffix).exists());
        let before = companions();
        std::os::unix::fs::symlink(odd, &path).unwrap();
        assert!(problem(&path).contains("not a regular file"), "{}", odd.display());
        let inspected = StateFile::inspect(&path).unwrap().problem.unwrap().to_string();
        assert!(inspected.contains("not a regular file"), "{inspected}");
        assert_eq!(companions(), before, "nothing is made beside a device");
    }
}

#[test]
fn a_link_stays_a_link_and_its_target_is_replaced() {
    let root = TempDir::new().unwrap();
    let [here, there] = ["here", "there"].map(|name| root.path().join(name));
    std::fs::create_dir(&here).unwrap();
    std::fs::create_dir(&there).unwrap();
    let (path, target) = (here.join("state.json"), there.join("real.json"));
    // A link to a link, the second one relative; the target is made by the first save.
    std::os::unix::fs::symlink(there.join("link.json"), &path).unwrap();
    std::os::unix::fs::symlink("real.json", there.join("link.json")).unwrap();
    assert!(StateFile::inspect(&path).unwrap().is_new);
    let mut opened = StateFile::open(&path).unwrap();
    for count in [1, 2] {
        opened.file.save(key("a"), &data(count)).unwrap();
        assert!(path.is_symlink() && std::fs::symlink_metadata(&target).unwrap().is_file());
    }
    assert!(beside(&target, ".lock").exists());
    assert_eq!(std::fs::read_dir(&here).unwrap().count(), 1, "nothing lies beside the link");
    assert!(StateFile::open(&target).is_err(), "it is one file, under either name");
    assert!(StateFile::inspect(&target).is_err() && StateFile::inspect(&path).is_err());
    drop(opened);
    assert_eq!(StateFile::open(&target).unwrap().file.target(&key("a")).unwrap(), Some(data(2)));
}

#[test]
fn a_link_to_itself_is_refused_in_the_words_of_the_system() {
    let (_folder, path) = folder();
    std::os::unix::fs::symlink(&path, &path).unwrap();
    assert!(problem(&path).contains("symbolic links"), "{}", problem(&path));
}

#[test]
fn a_file_that_was_removed_is_saved_again_though_nothing_is_new() {
    let (_folder, path) = folder();
    let mut file = StateFile::open(&path).unwrap().file;
    file.save(key("a"), &data(1)).unwrap();
    for removed in
        [vec![path.clone()], vec![beside(&path, ".lock")], vec![path.clone(), beside(&path, ".lock")]]
    {
        for removed in removed {
            std::fs::remove_file(removed).unwrap();
        }
        file.save(key("a"), &data(1)).unwrap();
        assert!(path.exists() && beside(&path, ".lock").exists());
        assert!(StateFile::open(&path).is_err(), "it is held");
    }
    drop(file);
    assert_eq!(StateFile::open(&path).unwrap().file.target(&key("a")).unwrap(), Some(data(1)));
}

#[test]
fn a_folder_that_is_missing_is_named() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("nowhere/state.json");
    let message = problem(&path);
    assert!(message.contains("nowhere") && message.contains("cannot be saved"), "{message}");
}

#[test]
fn a_save_that_fails_leaves_the_old_file_and_the_next_one_works() {
    let (folder, path) = folder();
    let mut file = StateFile::open(&path).unwrap().file;
    file.save(key("a"), &data(1)).unwrap();
    // A directory where the new file would be written: it cannot be created there.
    let obstacle = beside(&path, ".new");
    std::fs::create_dir(&obstacle).unwrap();
    let message = file.save(key("a"), &data(2)).unwrap_err().to_string();
    assert!(message.contains("state.json.new"), "{message}");
    std::fs::remove_dir(&obstacle).unwrap();
    file.save(key("b"), &data(5)).unwrap();
    drop(file);
    let opened = StateFile::open(&path).unwrap();
    assert_eq!(opened.file.target(&key("a")).unwrap(), Some(data(1)), "what failed was not remembered");
    assert_eq!(opened.file.target(&key("b")).unwrap(), Some(data(5)));
    drop(folder);
}

#[test]
fn a_lock_whose_folder_was_removed_is_taken_anew() {
    let root = TempDir::new().unwrap();
    let folder = root.path().join("state");
    std::fs::create_dir(&folder).unwrap();
    let path = folder.join("state.json");
    let mut file = StateFile::open(&path).unwrap().file;
    file.save(key("a"), &data(1)).unwrap();

    std::fs::remove_dir_all(&folder).unwrap();
    let message = file.save(key("a"), &data(2)).unwrap_err().to_string();
    assert!(message.contains("state.json.lock"), "{message}");

    std::fs::create_dir(&folder).unwrap();
    file.save(key("a"), &data(3)).unwrap();
    assert!(StateFile::open(&path).is_err(), "nobody else may have it");

    // The other way round: who comes back late does not overwrite what is another's by now.
    std::fs::remove_file(beside(&path, ".lock")).unwrap();
    let _other = StateFile::open(&path).unwrap();
    let message = file.save(key("a"), &data(4)).unwrap_err().to_string();
    assert!(message.contains("another exporter"), "{message}");
}
