//! A configuration of several files.

use std::path::Path;

use tempfile::TempDir;

use crate::config::{self, Config, Environment};

const SOURCE: &str = "sqlite: { file: db }, queues: [{ name: q, preset: lease }]";

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn load(path: &Path) -> Result<Config, String> {
    config::load(path, &Environment::empty()).map_err(|error| error.to_string())
}

/// What is wrong, without the folder's name.
fn errors(folder: &TempDir, path: &str) -> String {
    let error = load(&folder.path().join(path)).unwrap_err();
    error
        .replace(&format!("{}/", folder.path().display()), "")
        .replace(&folder.path().display().to_string(), "FOLDER")
}

fn names(config: &Config) -> Vec<&str> {
    config.sources.iter().map(|source| source.name.as_str()).collect()
}

fn source(name: &str) -> String {
    format!("sources: [{{ name: {name}, {SOURCE} }}]\n")
}

#[test]
fn the_files_of_a_folder_are_one_configuration_in_the_order_of_their_names() {
    let folder = folder(&[
        ("20-b.yml", &source("b")),
        ("10-a.yaml", &source("a")),
        ("00-all.yaml", "global: { sample_interval: 20s }\nstate_file: state.json\n"),
        (".30-c.yaml", &source("hidden")),
        ("notes.txt", "not YAML: ["),
    ]);
    let config = load(folder.path()).unwrap();
    assert_eq!(names(&config), ["a", "b"]);
    assert_eq!(config.state_file, Some(folder.path().join("state.json")));
    for source in &config.sources {
        assert_eq!(source.queues[0].target.sample_interval.as_secs(), 20);
        assert_eq!(source.database.to_string(), folder.path().join("db").display().to_string());
    }
}

#[test]
fn a_pattern_picks_files() {
    let folder = folder(&[
        ("a.yaml", &source("a")),
        ("b.yaml", &source("b")),
        ("b.yaml.bak", &source("b")),
        (".c.yaml", &source("c")),
    ]);
    assert_eq!(names(&load(&folder.path().join("*.yaml")).unwrap()), ["a", "b"]);
    assert_eq!(names(&load(&folder.path().join("[b-z].yaml")).unwrap()), ["b"]);
    assert_eq!(
        errors(&folder, "*.yml"),
        "*.yml: cannot read the configuration: no file has a name of this pattern"
    );
    assert!(
        errors(&folder, "a[.yaml").contains("a[.yaml: cannot read the configuration: Pattern syntax error")
    );
}

#[test]
fn a_file_whose_name_looks_like_a_pattern_is_that_file() {
    let folder = folder(&[("a[1].yaml", &source("one")), ("a1.yaml", &source("other"))]);
    assert_eq!(names(&load(&folder.path().join("a[1].yaml")).unwrap()), ["one"]);
}

#[test]
fn a_folder_without_configuration_is_refused() {
    let empty = folder(&[("notes.txt", "")]);
    let expected =
        "FOLDER: cannot read the configuration: the folder has no file whose name ends in .yaml or .yml";
    assert_eq!(
        errors(&empty, "").trim_end_matches('/').replace("FOLDER/", "FOLDER"),
        expected.replace("FOLDER: ", ": ")
    );
    let without = folder(&[("a.yaml", "global: {}\n"), ("b.yaml", "sources: []\n")]);
    assert_eq!(
        load(without.path()).unwrap_err(),
        format!(
            "{}/a.yaml:1:1: key `sources`: is missing; at least one source is needed",
            without.path().display()
        )
    );
}

#[test]
fn a_setting_for_all_sources_stands_in_one_file() {
    let two = folder(&[
        ("a.yaml", &format!("state_file: s\nglobal: {{}}\n{}", source("a"))),
        ("b.yaml", &format!("state_file: s\nglobal: {{}}\n{}", source("b"))),
    ]);
    let path = two.path().join("a.yaml").display().to_string();
    assert_eq!(
        load(two.path()).unwrap_err().replace(&path, "A").replace(&format!("{}/", two.path().display()), ""),
        "b.yaml:1:1: key `state_file`: `state_file` is for all sources, and A has it, too; keep one\n\
         b.yaml:2:1: key `global`: `global` is for all sources, and A has it, too; keep one"
    );
}

#[test]
fn names_of_sources_are_unique_over_all_files_and_each_mistake_names_its_file() {
    let two = folder(&[
        ("a.yaml", &source("orders")),
        ("b.yaml", &source("orders").replace("preset: lease", "preset: leese")),
    ]);
    let path = two.path().join("a.yaml").display().to_string();
    let found =
        load(two.path()).unwrap_err().replace(&path, "A").replace(&format!("{}/", two.path().display()), "");
    let lines: Vec<&str> = found.lines().collect();
    assert_eq!(
        lines[0],
        "b.yaml:1:19: key `sources[0].name`: `orders` is also the name on line 1 of A; names in sources are unique"
    );
    assert!(
        lines[1].starts_with("b.yaml:1:77: key `sources[0].queues[0].preset`: there is no preset `leese`"),
        "{found}"
    );
    assert_eq!(lines.len(), 2);
}

#[test]
fn a_file_that_is_no_yaml_is_named_alone() {
    let two = folder(&[("a.yaml", "sources: ["), ("b.yaml", "nonsense: 1\n")]);
    let found = load(two.path()).unwrap_err();
    assert!(
        found.contains("a.yaml:") && found.contains("b.yaml:1:1: key `nonsense`: unknown key"),
        "{found}"
    );
}
