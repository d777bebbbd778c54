//! Times without an offset: named zones and the zone of the server itself.

use sqlqueue_exporter::source::Value;
use sqlqueue_exporter::statement::Statement;

use super::database::{on_server, unproven};
use super::tests_on;
use crate::backend::Backend;
use crate::support::project_file;

tests_on! { on_server:
    a_named_zone_takes_the_offset_of_the_row_s_own_date
    every_zone_of_the_table_is_known_to_the_server
    the_server_s_zone_is_that_of_its_clock
}

async fn a_named_zone_takes_the_offset_of_the_row_s_own_date(db: Backend) {
    db.execute(
        "CREATE TABLE Local (Id int PRIMARY KEY, Step varchar(20) NOT NULL, Began datetime2(3) NULL, \
         Old datetime NULL)",
    )
    .await;
    db.execute(
        "INSERT INTO Local VALUES (1, 'winter', '2026-11-30T12:30:00', '2026-11-30T12:30:00'), \
         (2, 'summer', '2026-07-01T12:00:00', '2026-07-01T12:00:00')",
    )
    .await;
    // The second name is sent as the first one.
    let zones = ["Central European Standard Time", "Europe/Warsaw"];
    for (column, zone) in ["Began", "Old"].into_iter().flat_map(|column| zones.map(|zone| (column, zone))) {
        let log = format!(
            "    run_logs:\n      - name: log\n        table: Local\n        id: Id\n        step: Step\n        \
             start: {{ column: {column}, zone: {zone} }}\n        end: {{ column: {column}, zone: {zone} }}\n        \
             outcome: {{ default: ok }}\n"
        );
        let series = db.sample(&log).await;
        for (step, unix) in [("winter", 1_796_038_200.0), ("summer", 1_782_900_000.0)] {
            let start = format!(
                r#"sqlqueue_run_last_start_timestamp_seconds{{source="db",run_log="log",step="{step}"}}"#
            );
            series.assert(&start, unix);
        }
        let oldest = r#"sqlqueue_run_log_oldest_row_timestamp_seconds{source="db",run_log="log"}"#;
        series.assert(oldest, 1_796_038_200.0);
    }
}

async fn every_zone_of_the_table_is_known_to_the_server(db: Backend) {
    let table = project_file("src/config/values/time_zone/windows_zones.txt");
    let names = table.lines().filter(|line| !line.starts_with(['#', '-']));
    let names: Vec<&str> = names.map(|line| line.split_once(": ").unwrap().0).collect();
    let text = "SELECT CAST(name AS NVARCHAR(200)) AS name FROM sys.time_zone_info";
    let list = db.query(&Statement { text: text.to_owned(), parameters: Vec::new() }).await;
    let Ok(list) = list else {
        unproven("every zone is known: this server has no sys.time_zone_info, and is asked for every tenth");
        for name in names.iter().step_by(10) {
            let text = format!(
                "SELECT CAST(CAST('2026-07-01T12:00:00' AS datetime2) AT TIME ZONE '{name}' AS NVARCHAR(50)) AS t"
            );
            let answer = db.query(&Statement { text, parameters: Vec::new() }).await;
            answer.unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        return;
    };
    let known = |name: &str| list.rows.contains(&vec![Value::Text(name.to_owned())]);
    let unknown: Vec<&str> = names.into_iter().filter(|name| !known(name)).collect();
    assert_eq!(unknown, Vec::<&str>::new());
}

async fn the_server_s_zone_is_that_of_its_clock(db: Backend) {
    db.fixture("published_run_log").await;
    db.execute("INSERT INTO tabela_powiadomien (rodzaj, klucz) VALUES ('komentarz', 1)").await;
    let step = "INSERT INTO tabela_przebiegow (krok, start, koniec, ms) VALUES ('przebieg', SYSDATETIME(), \
                SYSDATETIME(), 0)";
    let before = db.present().await.unix_s(0);
    db.execute(step).await;
    let series = db
        .sample(
            "    run_logs:
      - { name: runs, preset: notification_run_log_pl }
    control_tables:
      - { name: events, preset: notification_control_pl }
",
        )
        .await;
    let after = db.present().await.unix_s(1);
    for name in [
        r#"sqlqueue_run_last_start_timestamp_seconds{source="db",run_log="runs",step="przebieg"}"#,
        r#"sqlqueue_run_last_success_timestamp_seconds{source="db",run_log="runs",step="przebieg"}"#,
    ] {
        let found = series.get(name).unwrap();
        #[allow(clippy::cast_precision_loss, reason = "seconds since 1970 are exact")]
        let fits = (before as f64..=after as f64).contains(&found);
        assert!(fits, "{name} is {found}, not within {before} and {after}");
    }
    let last = r#"sqlqueue_notification_last_timestamp_seconds{source="db",control_table="events",kind="komentarz"}"#;
    assert!(series.get(last).is_some(), "{series:?}");
}
