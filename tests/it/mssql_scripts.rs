//! Scripts of sql/mssql: what they say about each other, and about the presets.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use sqlqueue_exporter::config::{self, Environment};
use sqlqueue_exporter::statement::{self, Dialect, TailRequest};

use crate::support::project_file;

/// Scripts that are run on their own.
const NOT_INCLUDED: [&str; 5] =
    ["install.sql", "uninstall.sql", "login.sql", "permissions.sql", "notifications/step_template.sql"];

fn script(name: &str) -> String {
    let text = project_file(&format!("sql/mssql/{name}"));
    assert!(!text.is_empty(), "{name}");
    text
}

/// The text after a word, up to the next white space or bracket.
fn after<'a>(text: &'a str, word: &str) -> BTreeSet<&'a str> {
    let words = text.split(word).skip(1);
    words.map(|rest| rest.split([' ', '\n', ';', '(']).next().unwrap()).collect()
}

fn included() -> Vec<String> {
    let install = script("install.sql");
    install.lines().filter_map(|line| line.strip_prefix(":r ")).map(str::to_owned).collect()
}

/// The scripts below a folder, by their paths from sql/mssql.
fn on_disk(folder: &str, found: &mut BTreeSet<String>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("sql/mssql").join(folder);
    for entry in std::fs::read_dir(path).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{folder}{}", entry.file_name().into_string().unwrap());
        if entry.file_type().unwrap().is_dir() {
            on_disk(&format!("{name}/"), found);
        } else if name.ends_with(".sql") {
            found.insert(name);
        }
    }
}

#[test]
fn the_installation_includes_every_script_once() {
    let mut found = BTreeSet::new();
    on_disk("", &mut found);
    let named: Vec<String> = included().into_iter().chain(NOT_INCLUDED.map(str::to_owned)).collect();
    assert_eq!(named.iter().cloned().collect::<BTreeSet<_>>(), found);
    assert_eq!(named.len(), found.len());
}

#[test]
fn the_installation_marks_every_object_that_it_makes() {
    let made: String = included().iter().map(|name| script(name)).collect();
    let tables = after(&made, "CREATE TABLE [$(SchemaName)].");
    let procedures = after(&made, "CREATE OR ALTER PROCEDURE [$(SchemaName)].");
    assert!(!tables.is_empty() && !procedures.is_empty());

    let objects = script("objects.sql");
    let listed = |kind: &str| -> BTreeSet<&str> {
        objects
            .split(&format!("('{kind}', N'"))
            .skip(1)
            .map(|rest| rest.split('\'').next().unwrap())
            .collect()
    };
    assert_eq!(listed("TABLE"), tables);
    assert_eq!(listed("PROCEDURE"), procedures);
}

/// The columns that samples of each table read, with the configuration for the scripts' tables.
fn read_by_the_exporter() -> BTreeMap<String, BTreeSet<String>> {
    let environment = Environment::empty().with_file("/run/secrets/db", "secret");
    let yaml = project_file("sql/mssql/sqlqueue-exporter.yaml");
    let config = config::parse(&yaml, Path::new("sqlqueue-exporter.yaml"), &environment)
        .unwrap_or_else(|error| panic!("{error}"));
    let mut read: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for target in config.sources.iter().flat_map(|source| source.targets()) {
        for request in [TailRequest::Head, TailRequest::After { watermark: 0, gaps: vec![(1, 2)] }] {
            let statement =
                statement::sample(Dialect::Mssql, target, &request, Duration::from_secs(1)).unwrap();
            let (before, _) = statement.text.split_once("] AS t").unwrap();
            let (_, table) = before.rsplit_once('[').unwrap();
            let columns = statement.text.split("t.[").skip(1).map(|rest| rest.split(']').next().unwrap());
            read.entry(table.to_owned()).or_default().extend(columns.map(str::to_owned));
        }
    }
    read
}

#[test]
fn the_exporter_may_read_the_columns_that_its_presets_map_and_no_other() {
    let permissions = script("permissions.sql");
    let mut granted = BTreeMap::new();
    for grant in permissions.split("GRANT SELECT (").skip(1) {
        let (columns, rest) = grant.split_once(')').unwrap();
        let (_, rest) = rest.split_once("ON OBJECT::[$(SchemaName)].").unwrap();
        let table = rest.split(' ').next().unwrap();
        let columns = columns.split(", ").map(str::to_owned).collect();
        assert!(granted.insert(table.to_owned(), columns).is_none(), "{table}");
    }
    let read = read_by_the_exporter();
    assert_eq!(granted, read);
    assert_eq!(
        permissions.matches("GRANT ").count(),
        2 * read.len(),
        "and `check` may look for their indexes"
    );
    let visible: BTreeSet<String> = after(&permissions, "GRANT VIEW DEFINITION ON OBJECT::[$(SchemaName)].")
        .into_iter()
        .map(str::to_owned)
        .collect();
    assert_eq!(visible, read.into_keys().collect());
}
