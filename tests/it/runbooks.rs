//! Runbooks: the tables and procedures that they name. A real server executes their T-SQL in
//! mssql/runbooks.rs; tests/checks/alerts compares them with the alerts.

use crate::support::project_file;

#[test]
fn every_table_that_the_runbooks_read_is_one_that_is_shipped() {
    let scripts = ["lease_queue", "work_queue", "notifications"]
        .map(|system| project_file(&format!("sql/mssql/{system}/tables.sql")))
        .concat();
    let embedded = project_file("sql/sqlite/schema.sql");
    let runbooks = project_file("alerts/runbooks.md");
    let named: Vec<&str> = runbooks
        .split("FROM dbo.")
        .skip(1)
        .map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap())
        .collect();
    assert!(named.len() > 20, "{named:?}");
    for table in named {
        assert!(scripts.contains(&format!("CREATE TABLE [$(SchemaName)].{table} (")), "{table}");
        assert!(embedded.contains(&format!("CREATE TABLE IF NOT EXISTS {table} (")), "{table}");
    }
}

#[test]
fn every_procedure_that_the_runbooks_name_is_one_that_is_shipped() {
    let objects = project_file("sql/mssql/objects.sql");
    let runbooks = project_file("alerts/runbooks.md");
    let calls = runbooks.split(['`', ' ']).filter_map(|word| word.strip_prefix("dbo."));
    let procedures: Vec<&str> = calls
        .map(|call| call.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap())
        .filter(|name| !["JobQueue", "JobAttempt", "RunLog", "NotificationControl"].contains(name))
        .filter(|name| !name.is_empty())
        .collect();
    assert!(procedures.len() > 5, "{procedures:?}");
    for procedure in procedures {
        assert!(objects.contains(&format!("N'{procedure}'")), "{procedure}");
    }
}
