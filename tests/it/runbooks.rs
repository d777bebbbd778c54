//! The T-SQL of the runbooks, executed. What an alert says is checked in tests/alerts.

use sqlqueue_exporter::source::{Reason, SourceError};
use sqlqueue_exporter::statement::Statement;

use crate::backend::{Backend, on_server, server, unproven};
use crate::support::project_file;

/// What SQL Server has and a stand-in may lack; where it is missing, the test says so.
const SERVER_S_OWN: [&str; 4] = ["sys.dm_tran_locks", "msdb.dbo.", "EXEC dbo.", "KILL "];

#[tokio::test]
async fn the_statements_of_the_runbooks_run_as_they_are() {
    on_server("runbooks::the_statements_of_the_runbooks_run_as_they_are", statements).await;
}

async fn statements(db: Backend) {
    for system in ["lease_queue", "notifications"] {
        for table in create_tables(&project_file(&format!("sql/mssql/{system}/tables.sql"))) {
            db.execute(&table).await;
        }
    }
    db.execute(
        "INSERT INTO dbo.JobQueue (State, AvailableAt, EnqueuedAt, Attempts, MaxAttempts, Payload) \
         VALUES (N'R', '20200101', '20200101', 5, 5, N'a'); \
         INSERT INTO dbo.JobAttempt (JobId, Attempt, Outcome, EnqueuedAt, EndedAt) \
         VALUES (1, 5, N'lost', '20200101', '20200101'); \
         INSERT INTO dbo.RunLog (Step, StartedAt, EndedAt, DurationMs, Outcome) \
         VALUES (N'run', SYSUTCDATETIME(), SYSUTCDATETIME(), 0, N'error')",
    )
    .await;

    let runbooks = project_file("alerts/runbooks.md");
    let mut executed = 0;
    for sql in blocks(&runbooks) {
        let mut session = server(&db).session().await;
        let answer = session.query(&Statement { text: sql.to_owned(), parameters: Vec::new() }).await;
        match answer {
            Ok(_) => executed += 1,
            // The server did answer, with types that no statement of the exporter has.
            Err(SourceError { reason: Reason::Decode, .. }) => executed += 1,
            Err(error) if SERVER_S_OWN.iter().any(|own| sql.contains(own)) => {
                unproven(&format!("runbooks: {error}: {}", sql.lines().next().unwrap_or_default()));
            }
            Err(error) => panic!("{error}\n{sql}"),
        }
    }
    assert!(executed > 20, "{executed} statements");
}

/// The batches that create a table, for the schema `dbo`.
fn create_tables(script: &str) -> Vec<String> {
    let batches = script.split("\nGO\n").filter(|batch| batch.contains("CREATE TABLE"));
    batches.map(|batch| batch.replace("$(SchemaName)", "dbo")).collect()
}

fn blocks(markdown: &str) -> impl Iterator<Item = &str> {
    markdown.split("```sql\n").skip(1).filter_map(|rest| rest.split("```").next())
}

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
