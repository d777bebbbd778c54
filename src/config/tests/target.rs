//! Keys that every target has.

use std::path::Path;

use super::{MSSQL, SQLITE, config, errors as errors_in, with_target};
use crate::config::{self, ConfigError, Environment, Filter, Probe, ReadMode, TableName, TargetKind};

const KEY: &str = "key `sources[0].queues[0].probe";

/// The only queue's probe, which begins at line 5, column 50.
fn parse(database: &str, probe: &str) -> Result<Option<Probe>, ConfigError> {
    let yaml = format!(
        "sources:\n  - name: db\n    {database}\n    queues:\n      - {{ name: q, preset: lease, probe: \
         {probe} }}\n"
    );
    let environment = Environment::empty().with_variable("P", "p");
    let mut config = config::parse(&yaml, Path::new("c.yaml"), &environment)?;
    Ok(config.sources.remove(0).queues.remove(0).target.probe)
}

fn probe(value: &str) -> Option<Probe> {
    parse("mssql: { host: h, database: d, user: u, password_env: P }", value).unwrap()
}

fn filter(conditions: &[(&str, &str)]) -> Filter {
    conditions.iter().map(|(column, value)| ((*column).into(), (*value).to_owned())).collect()
}

fn errors(value: &str) -> String {
    parse("mssql: { host: h, database: d, user: u, password_env: P }", value).unwrap_err().to_string()
}

#[test]
fn a_probe_names_the_table_behind_a_view_or_a_role_or_both() {
    assert_eq!(
        probe("{ base_table: dbo.Job, where: { Hidden: 0 }, role: watchers }"),
        Some(Probe {
            base_table: Some(TableName(vec!["dbo".to_owned(), "Job".to_owned()])),
            filter: filter(&[("Hidden", "0")]),
            role: Some("watchers".to_owned()),
        })
    );
    assert_eq!(
        probe("{ role: watchers }"),
        Some(Probe { base_table: None, filter: filter(&[]), role: Some("watchers".to_owned()) })
    );
    assert_eq!(probe("null"), None);
}

#[test]
fn a_probe_that_asks_for_nothing_is_refused() {
    let remedy = "is missing; name the table behind the view, or give `role`";
    assert_eq!(errors("{}"), format!("c.yaml:5:42: {KEY}.base_table`: {remedy}"));
    assert_eq!(
        errors("{ role: watchers, where: { Hidden: 0 } }"),
        format!("c.yaml:5:67: {KEY}.where`: `where` narrows the rows of `base_table`; name that table")
    );
    assert_eq!(errors("{ role: '' }"), format!("c.yaml:5:50: {KEY}.role`: is empty"));
}

#[test]
fn a_sqlite_file_has_no_roles_to_probe() {
    assert_eq!(
        parse("sqlite: { file: db }", "{ role: r }").unwrap_err().to_string(),
        format!(
            "c.yaml:5:50: {KEY}.role`: a SQLite file has no roles; remove `role`, or probe a `base_table`"
        )
    );
}

/// The read mode of the only target of a list, with this global mode and these keys of its own.
fn read_mode(database: &str, global: &str, list: TargetKind, keys: &str) -> ReadMode {
    let yaml = format!("global: {{ {global} }}\n{}", with_target(database, list.key(), keys));
    config(&yaml).sources[0].targets().next().unwrap().target().read_mode
}

#[test]
fn a_target_of_any_kind_is_read_in_its_own_mode_or_else_in_the_global_one() {
    for database in [MSSQL, SQLITE] {
        for list in TargetKind::ALL.iter().copied() {
            let mode = |global: &str, keys: &str| read_mode(database, global, list, keys);
            assert_eq!(mode("", ""), ReadMode::ReadPast, "{list}");
            assert_eq!(mode("", "read_mode: read_committed"), ReadMode::ReadCommitted, "{list}");
            assert_eq!(mode("read_mode: read_committed", ""), ReadMode::ReadCommitted, "{list}");
            assert_eq!(
                mode("read_mode: read_committed", "read_mode: readpast"),
                ReadMode::ReadPast,
                "{list}"
            );
        }
    }
}

#[test]
fn a_read_mode_that_there_is_not_is_refused() {
    for (mode, remedy) in [
        ("read_past", "did you mean `readpast`?"),
        // It would count uncommitted rows.
        ("nolock", "expected one of: readpast, read_committed"),
        ("snapshot", "expected one of: readpast, read_committed"),
    ] {
        assert_eq!(
            errors_in(&with_target(MSSQL, "queues", &format!("preset: lease\nread_mode: {mode}"))),
            format!(
                "config.yaml:7:20: key `sources[0].queues[0].read_mode`: unknown value `{mode}`; {remedy}"
            )
        );
    }
}

#[test]
fn claims_that_are_locks_need_a_mode_that_tells_them() {
    let why = "`kind: rowlock` contradicts `read_mode: read_committed`: rows in flight are those that READPAST \
               leaves out; give the queue `read_mode: readpast`";
    let own = "table: T\nstate: { constant: ready }\nread_mode: read_committed\nlease: { kind: rowlock }";
    for database in [MSSQL, SQLITE] {
        assert_eq!(
            errors_in(&with_target(database, "queues", own)),
            format!("config.yaml:9:16: key `sources[0].queues[0].lease`: {why}")
        );
        // From the preset, and from the global settings.
        let file = with_target(database, "queues", "preset: transactional");
        assert_eq!(
            errors_in(&format!("global: {{ read_mode: read_committed }}\n{file}")),
            format!("config.yaml:7:17: key `sources[0].queues[0].preset`: {why}")
        );
        let keys = "preset: transactional\nread_mode: readpast";
        let mode = read_mode(database, "read_mode: read_committed", TargetKind::Queue, keys);
        assert_eq!(mode, ReadMode::ReadPast);
    }
}
