//! Permissions: what login.sql and permissions.sql let the exporter do, and what not.

use super::database::unproven;
use super::installed::{OnServer, check, on_installed_server};
use super::tests_on;
use crate::reference::database::Session as _;
use crate::reference::exporter::targets;
use crate::support::Series;

tests_on! { on_installed_server:
    the_exporter_s_role_is_enough_for_every_sample_and_for_nothing_else
}

const PASSWORD: &str = "It's a Secret: 12345678";

/// What the exporter must not do.
const FORBIDDEN: [&str; 6] = [
    "SELECT Payload FROM JobQueue",
    "SELECT LastError FROM JobQueue",
    "SELECT Recipient FROM OutgoingMessage",
    "UPDATE JobQueue SET State = 'D'",
    "DELETE FROM RunLog",
    "EXEC dbo.RunNotifications",
];

async fn the_exporter_s_role_is_enough_for_every_sample_and_for_nothing_else(db: OnServer) {
    let mut admin = db.connect().await;
    let user = format!("exporter_{}", db.logged_in_as("", "").database);
    // sqlcmd pastes the password between quotes.
    let password = PASSWORD.replace('\'', "''");
    let variables = [("SchemaName", "dbo"), ("ExporterUser", &user), ("ExporterPassword", &password)];
    let mut granted = Vec::new();
    for _ in 0..2 {
        for file in ["login.sql", "permissions.sql"] {
            let script = db.edited_script(file, &variables, &|_, text| text);
            granted.push(db.connect().await.run_script(script).await);
        }
    }

    // A login outlives the database, so it is dropped before anything can fail.
    let settings = db.logged_in_as(&user, PASSWORD);
    // The newest rows of a log are read through a predicate as well.
    let filtered =
        "control_tables: [{ name: comments, preset: notification_control, where: { Kind: comment } }, ";
    let targets = targets(&db).replace("control_tables: [", filtered);
    let exporter = db.exporter_as(&settings, &targets);
    exporter.sample_once().await;
    let mut refused = Vec::new();
    {
        let mut session = db.connect_as(&settings).await;
        for sql in FORBIDDEN {
            refused.push((sql, session.attempt(sql).await));
        }
    }
    if db.is_babelfish() {
        unproven("what GRANT VIEW DEFINITION shows to `check`: this server does not have it");
        for table in ["JobQueue", "JobAttempt", "WorkQueue", "RunLog", "NotificationControl"] {
            granted
                .push(admin.attempt(&format!("GRANT SELECT ON OBJECT::{table} TO sqlqueue_exporter")).await);
        }
    }
    let checked = check(&settings, &targets);
    granted.push(admin.attempt(&format!("DROP USER [{user}]")).await);
    crate::reference::in_time(async || admin.attempt(&format!("DROP LOGIN [{user}]")).await.ok()).await;

    for outcome in granted {
        outcome.unwrap();
    }
    let series = Series::of(&exporter);
    series.assert(r#"sqlqueue_up{source="db"}"#, 1.0);
    assert_eq!(series.sum("sqlqueue_samples_total", ""), 7.0, "{series:?}");
    assert_eq!(series.sum("sqlqueue_sample_errors_total", ""), 0.0, "{series:?}");
    for (sql, outcome) in refused {
        let refusal = outcome.expect_err(sql);
        let says = |word| refusal.message.contains(word);
        assert!(says("permission") && says("denied"), "{sql}: {refusal:?}");
    }
    assert!(checked.stdout.ends_with("7 good targets, 0 warnings, 0 failures\n"), "{}", checked.stdout);
}
