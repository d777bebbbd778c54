//! The T-SQL of the runbooks, executed.

use sqlqueue_exporter::source::{Reason, SourceError};
use sqlqueue_exporter::statement::Statement;

use super::database::{on_server, server, unproven};
use super::tests_on;
use crate::backend::Backend;
use crate::support::project_file;

/// Features of SQL Server that another server may lack; where one is missing, the test reports it.
const SERVER_S_OWN: [&str; 4] = ["sys.dm_tran_locks", "msdb.dbo.", "EXEC dbo.", "KILL "];

tests_on! { on_server:
    the_statements_of_the_runbooks_run_as_they_are
}

async fn the_statements_of_the_runbooks_run_as_they_are(db: Backend) {
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
            // The server did answer, with types that no statement of the exporter returns.
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
