//! What every target has.

use std::path::Path;

use crate::config::{self, BaseTable, ConfigError, Environment, Probe, TableName};

const KEY: &str = "key `sources[0].queues[0].probe";

/// The only queue's probe, which stands from column 50 of line 5 on.
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

fn errors(value: &str) -> String {
    parse("mssql: { host: h, database: d, user: u, password_env: P }", value).unwrap_err().to_string()
}

#[test]
fn a_probe_names_the_table_behind_a_view_or_a_role_or_both() {
    let table = TableName(vec!["dbo".to_owned(), "Job".to_owned()]);
    let filter = [("Hidden".to_owned(), "0".to_owned())].into();
    let base_table = Some(BaseTable { table, filter });
    assert_eq!(
        probe("{ base_table: dbo.Job, where: { Hidden: 0 }, role: watchers }"),
        Some(Probe { base_table, role: Some("watchers".to_owned()) })
    );
    assert_eq!(
        probe("{ role: watchers }"),
        Some(Probe { base_table: None, role: Some("watchers".to_owned()) })
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
