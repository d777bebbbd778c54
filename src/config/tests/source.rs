//! Sources: reaching a database, TLS.

use std::path::PathBuf;

use super::{LOGIN, MSSQL, PASSWORD, SQLITE, config, errors, mssql_file, queue_file, with_target};
use crate::config::{
    ApplicationIntent, Database, Encryption, Endpoint, Mssql, PasswordSource, Secret, Sqlite, TimeZone, Trust,
};

fn mssql(keys: &str) -> Mssql {
    match config(&mssql_file(keys)).sources.remove(0).database {
        Database::Mssql(mssql) => mssql,
        Database::Sqlite(_) => panic!("not SQL Server"),
    }
}

pub(super) fn mssql_errors(keys: &str) -> String {
    errors(&mssql_file(keys))
}

/// A login whose password comes from `password`, on line 7.
pub(super) fn login(password: &str) -> String {
    format!("{LOGIN}{password}")
}

#[test]
fn a_server_has_safe_defaults() {
    assert_eq!(
        mssql(&login("password_env: DB_PASSWORD")),
        Mssql {
            host: "db1".to_owned(),
            endpoint: Endpoint::Port(1433),
            database: "Orders".to_owned(),
            user: "sqlqueue".to_owned(),
            password: Secret::new(PASSWORD),
            password_source: PasswordSource::Variable("DB_PASSWORD".to_owned()),
            encryption: Encryption::Required,
            trust: Trust::System,
            application_intent: ApplicationIntent::ReadWrite,
        }
    );
}

#[test]
fn every_setting_of_a_server_is_read() {
    let server = mssql(&login(
        "password_file: /run/secrets/db\ninstance: SQLEXPRESS\nencryption: login_only\ntrust_server_certificate: true\napplication_intent: read_only",
    ));
    assert_eq!(server.endpoint, Endpoint::Instance("SQLEXPRESS".to_owned()));
    assert_eq!(server.password, Secret::new(PASSWORD));
    assert_eq!(server.encryption, Encryption::LoginOnly);
    assert_eq!(server.trust, Trust::Any);
    assert!(server.reads_secondary());

    let server = mssql(&login(
        "password_file: /run/secrets/db\nport: 14330\nencryption: required\nca_file: /etc/ca.crt\ntrust_server_certificate: false\napplication_intent: read_write",
    ));
    assert_eq!(server.endpoint, Endpoint::Port(14330));
    assert_eq!(server.trust, Trust::CaFile(PathBuf::from("/etc/ca.crt")));
    assert!(!server.reads_secondary());

    assert_eq!(mssql(&login("password_env: DB_PASSWORD\nencryption: off")).encryption, Encryption::Off);
}

#[test]
fn a_lock_is_looked_for_in_the_database_of_its_log() {
    let log = |table: &str, lock: &str| {
        let target = format!("{{ name: r, preset: notification_run_log, table: {table}{lock} }}");
        format!("sources:\n  - name: db\n    {MSSQL}\n    run_logs: [{target}]\n")
    };
    let lock = ", lock: { resource: run }";
    assert_eq!(
        errors(&log("Archive.dbo.RunLog", lock)),
        "config.yaml:4:90: key `sources[0].run_logs[0].lock`: `lock` contradicts the table Archive.dbo.RunLog: an \
         application lock belongs to a database and is looked for in `Orders`, which the source logs in to, so this \
         one would always look free; watch it through a source of its own with `database: Archive`, or remove `lock`"
    );
    for fine in [
        log("Archive.dbo.RunLog", ""),
        log("ORDERS.dbo.RunLog", lock),
        log("dbo.RunLog", lock),
        log("RunLog", lock),
    ] {
        config(&fine);
    }
}

/// A source that asks for a readable secondary, with these targets from line 4 on.
fn secondary(targets: &str) -> String {
    let server = MSSQL.replace(" }", ", application_intent: read_only }");
    format!("sources:\n  - name: db\n    {server}\n{targets}\n")
}

#[test]
fn locks_are_looked_for_on_the_primary_only() {
    let why = "contradicts `application_intent: read_only`: on a readable secondary the locks of the primary \
               cannot be seen, so";
    let remedy = "watch it through a source with `application_intent: read_write`";
    assert_eq!(
        errors(&secondary(
            "    run_logs: [{ name: r, preset: notification_run_log, lock: { resource: run } }]"
        )),
        format!(
            "config.yaml:4:63: key `sources[0].run_logs[0].lock`: `lock` {why} this one would always look free; \
             {remedy}, or remove `lock`"
        )
    );
    assert_eq!(
        errors(&secondary(
            "    queues: [{ name: q, table: T, state: { constant: ready }, lease: { kind: rowlock } }]"
        )),
        format!(
            "config.yaml:4:70: key `sources[0].queues[0].lease`: `kind: rowlock` {why} claimed rows would \
             look ready; {remedy}"
        )
    );
    assert_eq!(
        errors(&secondary("    queues: [{ name: q, preset: transactional }]")),
        format!(
            "config.yaml:4:33: key `sources[0].queues[0].preset`: `kind: rowlock` {why} claimed rows would look \
             ready; {remedy}"
        )
    );
    // What is stored in rows can be read there.
    config(&secondary("    queues: [{ name: q, preset: lease }, { name: o, preset: transactional_owner }]"));
    config(&secondary("    run_logs: [{ name: r, preset: notification_run_log }]"));
}

#[test]
fn a_sqlite_file_is_a_source() {
    let source = config(&queue_file("preset: lease")).sources.remove(0);
    assert_eq!(source.database, Database::Sqlite(Sqlite { file: PathBuf::from("/queue.db") }));
    assert_eq!(
        errors("sources:\n  - name: a\n    sqlite: {}\n    queues: [{ name: q, preset: lease }]\n"),
        "config.yaml:3:13: key `sources[0].sqlite.file`: is missing; name the database file"
    );
}

#[test]
fn a_source_is_exactly_one_database() {
    assert_eq!(
        errors(&format!(
            "sources:\n  - name: a\n    {MSSQL}\n    {SQLITE}\n    queues: [{{ name: q, preset: lease }}]\n"
        )),
        "config.yaml:4:13: key `sources[0].sqlite`: `sqlite` contradicts `mssql`: a source is one database; \
         remove one of them"
    );
    assert_eq!(
        errors("sources:\n  - name: a\n    queues: [{ name: q, preset: lease }]\n"),
        "config.yaml:2:5: key `sources[0].mssql`: is missing; say how to reach the database with `mssql` or \
         `sqlite`"
    );
}

#[test]
fn a_source_watches_something() {
    let expected = "config.yaml:2:5: key `sources[0]`: watches nothing; add `queues`, `attempt_logs`, \
                    `enqueue_logs`, `run_logs` or `control_tables`";
    assert_eq!(errors(&format!("sources:\n  - name: a\n    {SQLITE}\n")), expected);
    assert_eq!(
        errors(&format!("sources:\n  - name: a\n    {SQLITE}\n    queues: []\n    run_logs:\n")),
        expected
    );
}

#[test]
fn a_server_needs_host_database_login_and_password() {
    assert_eq!(
        mssql_errors("port: 1433"),
        "config.yaml:4:7: key `sources[0].mssql.host`: is missing; name the host of the server\n\
         config.yaml:4:7: key `sources[0].mssql.database`: is missing; name the database to log in to\n\
         config.yaml:4:7: key `sources[0].mssql.user`: is missing; name the login\n\
         config.yaml:4:7: key `sources[0].mssql.password_file`: is missing; give one of `password_file`, \
         `password_env` and `password_credential`"
    );
}

#[test]
fn a_host_is_only_a_host() {
    let cases = [
        (
            r"db1\SQLEXPRESS",
            r"`db1\SQLEXPRESS` has an instance in it; write `host: db1` and `instance: SQLEXPRESS`",
        ),
        ("db1,1433", "`db1,1433` is more than a host; write the port as `port`"),
        ("db1:1433", "`db1:1433` is more than a host; write the port as `port`"),
        (
            "'[::1]'",
            "`[::1]` is not a host name or an address; write it without brackets, slashes and spaces",
        ),
        (
            "db1;Database=x",
            "`db1;Database=x` has a `;`, which no host name or address has; write the host alone",
        ),
        ("db1=x", "`db1=x` has a `=`, which no host name or address has; write the host alone"),
        ("db1\"", "`db1\"` has a `\"`, which no host name or address has; write the host alone"),
        ("db'1", "`db'1` has a `'`, which no host name or address has; write the host alone"),
        ("(local)", "`(local)` has a `(`, which no host name or address has; write the host alone"),
        (
            "db1 ; x",
            "`db1 ; x` is not a host name or an address; write it without brackets, slashes and spaces",
        ),
        ("'.'", "`.` is not a host name or an address; write the host alone, such as `db1` or `10.0.0.5`"),
    ];
    for (host, expected) in cases {
        let keys = format!("host: {host}\ndatabase: d\nuser: u\npassword_env: DB_PASSWORD");
        assert_eq!(mssql_errors(&keys), format!("config.yaml:4:13: key `sources[0].mssql.host`: {expected}"));
    }
    for host in ["::1", "fe80::1%eth0", "10.0.0.5", "db-1.example.org.", "sql_server", "bücher.example"] {
        let keys = format!("host: '{host}'\ndatabase: d\nuser: u\npassword_env: DB_PASSWORD");
        assert_eq!(mssql(&keys).host, host);
    }
}

#[test]
fn port_and_instance_contradict_each_other() {
    assert_eq!(
        mssql_errors(&login("password_env: DB_PASSWORD\nport: 1433\ninstance: SQLEXPRESS")),
        "config.yaml:9:17: key `sources[0].mssql.instance`: `instance` contradicts `port`: the SQL Server \
         Browser looks up the port of an instance; remove one of them"
    );
    assert_eq!(
        mssql_errors(&login("password_env: DB_PASSWORD\nport: 0")),
        "config.yaml:8:13: key `sources[0].mssql.port`: 0 is not a port; the usual one is 1433"
    );
    assert_eq!(
        mssql_errors(&login("password_env: DB_PASSWORD\nport: 70000")),
        "config.yaml:8:13: key `sources[0].mssql.port`: expected a whole number from 1 to 65535, found a number"
    );
}

#[test]
fn a_ca_file_needs_full_encryption_and_excludes_trusting_everyone() {
    assert_eq!(
        mssql_errors(&login("password_env: DB_PASSWORD\nca_file: /ca.pem\ntrust_server_certificate: true")),
        "config.yaml:9:33: key `sources[0].mssql.trust_server_certificate`: `trust_server_certificate: true` \
         contradicts `ca_file`: any certificate would do; remove one of them"
    );
    for level in ["off", "login_only"] {
        assert_eq!(
            mssql_errors(&login(&format!(
                "password_env: DB_PASSWORD\nca_file: /ca.pem\nencryption: {level}"
            ))),
            format!(
                "config.yaml:9:19: key `sources[0].mssql.encryption`: `encryption: {level}` contradicts \
                 `ca_file`, which needs `encryption: required`"
            )
        );
    }
    assert_eq!(
        mssql_errors(&login("password_env: DB_PASSWORD\nca_file: /etc/ca.cer")),
        "config.yaml:8:16: key `sources[0].mssql.ca_file`: `/etc/ca.cer` does not end in .pem, .der or .crt"
    );
}

#[test]
fn a_named_zone_needs_sql_server() {
    for name in ["Central European Standard Time", "Europe/Warsaw"] {
        let keys = format!("preset: lease\nenqueued_at: {{ column: E, zone: {name} }}");
        let mut source = config(&with_target(MSSQL, "queues", &keys)).sources.remove(0);
        let enqueued_at = source.queues.remove(0).enqueued_at.unwrap();
        assert_eq!(enqueued_at.zone, TimeZone::Named("Central European Standard Time".to_owned()));
        assert_eq!(
            errors(&with_target(SQLITE, "queues", &keys)),
            format!(
                "config.yaml:7:41: key `sources[0].queues[0].enqueued_at.zone`: SQLite has no rules of time \
                 zones, so `{name}` needs SQL Server; with sqlite a zone is one of utc, offset, server"
            )
        );
    }
}

#[test]
fn a_table_in_sqlite_has_two_parts_at_most() {
    let keys = "preset: lease\ntable: a.b.c";
    assert_eq!(config(&with_target(MSSQL, "queues", keys)).sources[0].queues[0].target.table.0.len(), 3);
    assert_eq!(
        errors(&with_target(SQLITE, "queues", keys)),
        "config.yaml:7:16: key `sources[0].queues[0].table`: `a.b.c` has three parts; in sqlite a table is \
         `table` or `schema.table`"
    );
}
