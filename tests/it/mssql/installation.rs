//! Installation: install.sql and uninstall.sql, on a real server only.

use std::collections::BTreeSet;

use sqlqueue_exporter::source::Value;

use super::installed::{OnServer, on_empty_server};
use super::script;
use super::session::ServerSession;
use super::tests_on;
use crate::reference::database::{Conveniences as _, Refusal, Session, int, text};

tests_on! { on_empty_server:
    installing_twice_changes_nothing
    an_uninstallation_leaves_nothing_behind_and_can_be_undone
    an_installation_that_breaks_off_leaves_nothing
    a_schema_of_its_own_comes_and_goes_with_the_installation
    an_uninstallation_leaves_foreign_objects_alone
    an_uninstallation_that_would_break_a_foreign_object_removes_nothing
    an_object_of_somebody_else_is_neither_replaced_nor_removed
}

/// A schema that a database does not come with.
const OWN_SCHEMA: &str = "work queue";

/// Names in lower case, because not every server keeps the case of a name.
type Names = BTreeSet<String>;

fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> Names {
    names.into_iter().map(str::to_lowercase).collect()
}

/// The objects that objects.sql lists.
fn ours() -> Names {
    let objects = script::text("objects.sql");
    let listed = objects.split("('TABLE', N'").skip(1).chain(objects.split("('PROCEDURE', N'").skip(1));
    names(listed.map(|rest| rest.split('\'').next().unwrap()))
}

/// The tables and procedures in a schema.
async fn found(session: &mut ServerSession, schema: &str) -> Names {
    let rows = session
        .rows(&format!(
            "SELECT CAST(o.name AS NVARCHAR(128)) AS name FROM sys.objects AS o \
             WHERE o.schema_id = SCHEMA_ID(N'{schema}') AND o.type IN ('U', 'P')"
        ))
        .await;
    rows.iter().map(|row| text(&row[0]).unwrap().to_lowercase()).collect()
}

async fn schema_exists(session: &mut ServerSession, schema: &str) -> bool {
    let sql = format!("SELECT CASE WHEN SCHEMA_ID(N'{schema}') IS NULL THEN 0 ELSE 1 END AS found");
    session.number(&sql).await == 1
}

/// Runs a script in a session of its own, so that anything left open ends with it.
async fn run(db: &OnServer, file: &str, schema: &str) -> Result<(), Refusal> {
    db.connect().await.run_script(db.script(file, schema)).await
}

async fn installing_twice_changes_nothing(db: OnServer) {
    let mut session = db.connect().await;
    run(&db, "install.sql", "dbo").await.unwrap();
    assert_eq!(found(&mut session, "dbo").await, ours(), "objects.sql and the scripts agree");
    let id = session.add("send invoice", 5).await;
    let job = session.job(id).await;
    let indexes = "SELECT COUNT(*) FROM sys.indexes AS i WHERE OBJECT_SCHEMA_NAME(i.object_id) = N'dbo'";
    let before = session.number(indexes).await;
    assert!(before > 0);
    run(&db, "install.sql", "dbo").await.unwrap();
    assert_eq!(found(&mut session, "dbo").await, ours());
    assert_eq!(session.number(indexes).await, before);
    assert_eq!(session.job(id).await, job);
    let claim = session.take().await;
    assert_eq!(claim.job_id, id);
}

async fn an_uninstallation_leaves_nothing_behind_and_can_be_undone(db: OnServer) {
    let mut session = db.connect().await;
    for _ in 0..2 {
        run(&db, "install.sql", "dbo").await.unwrap();
        assert_eq!(found(&mut session, "dbo").await, ours());
        session.add("send invoice", 5).await;
        assert_eq!(session.count("JobQueue").await, 1, "with all rows");
        run(&db, "uninstall.sql", "dbo").await.unwrap();
        assert_eq!(found(&mut session, "dbo").await, Names::new());
        run(&db, "uninstall.sql", "dbo").await.unwrap();
    }
    assert!(schema_exists(&mut session, "dbo").await);
}

async fn an_installation_that_breaks_off_leaves_nothing(db: OnServer) {
    let mut session = db.connect().await;
    let mut script = db.script("install.sql", "dbo");
    script.truncate(script.len() / 2);
    db.connect().await.run_script(script).await.unwrap();
    // That session and its transaction are gone as soon as the server has noticed.
    crate::reference::in_time(async || found(&mut session, "dbo").await.is_empty().then_some(())).await;
    run(&db, "install.sql", "dbo").await.unwrap();
    assert_eq!(found(&mut session, "dbo").await, ours());
}

async fn a_schema_of_its_own_comes_and_goes_with_the_installation(db: OnServer) {
    let mut session = db.connect().await;
    run(&db, "install.sql", "dbo").await.unwrap();
    run(&db, "install.sql", OWN_SCHEMA).await.unwrap();
    assert_eq!(found(&mut session, OWN_SCHEMA).await, ours());
    // Nothing in it refers to the other one.
    session.execute(&format!("EXEC [{OWN_SCHEMA}].EnqueueJob @Payload = N'send invoice'")).await;
    let claimed = session.rows(&format!("EXEC [{OWN_SCHEMA}].ClaimJobs @LeaseMs = 60000")).await;
    assert_eq!(claimed.len(), 1);
    assert_eq!(session.count("JobQueue").await, 0);
    assert_eq!(session.count(&format!("[{OWN_SCHEMA}].JobQueue")).await, 1);
    run(&db, "uninstall.sql", OWN_SCHEMA).await.unwrap();
    assert!(!schema_exists(&mut session, OWN_SCHEMA).await);
    assert_eq!(found(&mut session, "dbo").await, ours());
    // The scripts must not remove a schema that existed before.
    session.execute(&format!("CREATE SCHEMA [{OWN_SCHEMA}]")).await;
    run(&db, "install.sql", OWN_SCHEMA).await.unwrap();
    run(&db, "uninstall.sql", OWN_SCHEMA).await.unwrap();
    assert!(schema_exists(&mut session, OWN_SCHEMA).await);
}

async fn an_uninstallation_leaves_foreign_objects_alone(db: OnServer) {
    let mut session = db.connect().await;
    run(&db, "install.sql", OWN_SCHEMA).await.unwrap();
    session.execute(&format!("CREATE TABLE [{OWN_SCHEMA}].Invoice (Id INT NOT NULL PRIMARY KEY)")).await;
    session.execute(&format!("INSERT INTO [{OWN_SCHEMA}].Invoice (Id) VALUES (7)")).await;
    session.execute(&format!("CREATE PROCEDURE [{OWN_SCHEMA}].SendInvoice AS SELECT 1 AS n")).await;
    run(&db, "uninstall.sql", OWN_SCHEMA).await.unwrap();
    assert_eq!(found(&mut session, OWN_SCHEMA).await, names(["Invoice", "SendInvoice"]));
    assert_eq!(session.rows(&format!("SELECT Id FROM [{OWN_SCHEMA}].Invoice")).await, [[Value::Int(7)]]);
    let sent = session.rows(&format!("EXEC [{OWN_SCHEMA}].SendInvoice")).await;
    assert_eq!(int(&sent[0][0]), 1);
}

async fn an_uninstallation_that_would_break_a_foreign_object_removes_nothing(db: OnServer) {
    let mut session = db.connect().await;
    run(&db, "install.sql", "dbo").await.unwrap();
    session.execute("CREATE TABLE Invoice (JobId BIGINT NOT NULL REFERENCES JobQueue (JobId))").await;
    let refusal = run(&db, "uninstall.sql", "dbo").await.unwrap_err();
    assert_eq!(refusal.number, Some(3726), "{refusal:?}");
    let all = ours().union(&names(["Invoice"])).cloned().collect::<Names>();
    assert_eq!(found(&mut session, "dbo").await, all);
    session.execute("DROP TABLE Invoice").await;
    run(&db, "uninstall.sql", "dbo").await.unwrap();
    assert_eq!(found(&mut session, "dbo").await, Names::new());
}

async fn an_object_of_somebody_else_is_neither_replaced_nor_removed(db: OnServer) {
    let mut session = db.connect().await;
    let theirs = names(["PurgeRunLog"]);
    session.execute("CREATE PROCEDURE PurgeRunLog AS SELECT 7 AS n").await;
    for file in ["install.sql", "uninstall.sql"] {
        let refusal = run(&db, file, "dbo").await.unwrap_err();
        assert_eq!(refusal.number, Some(50012), "{refusal:?}");
        assert!(refusal.message.to_lowercase().contains("dbo.purgerunlog"), "{refusal:?}");
        assert_eq!(found(&mut session, "dbo").await, theirs);
    }
    assert_eq!(session.number("EXEC PurgeRunLog").await, 7);

    // The same when another object replaces one of ours.
    session.execute("DROP PROCEDURE PurgeRunLog").await;
    run(&db, "install.sql", "dbo").await.unwrap();
    session.execute("DROP PROCEDURE PurgeRunLog").await;
    session.execute("CREATE PROCEDURE PurgeRunLog AS SELECT 7 AS n").await;
    for file in ["install.sql", "uninstall.sql"] {
        assert_eq!(run(&db, file, "dbo").await.unwrap_err().number, Some(50012));
        assert_eq!(found(&mut session, "dbo").await, ours());
    }
    assert_eq!(session.number("EXEC PurgeRunLog").await, 7);
}
