//! Secrets: where a password comes from, and that no error shows it.

use std::path::Path;

use super::source::{login, mssql_errors};
use super::{Environment, PASSWORD, config, environment, mssql_file, parse};
use crate::config::Database;

/// The errors of a login in this environment.
fn errors_in(environment: &Environment, password: &str) -> String {
    parse(&mssql_file(&login(password)), Path::new("config.yaml"), environment).unwrap_err().to_string()
}

#[test]
fn there_is_exactly_one_password() {
    assert_eq!(
        mssql_errors(&login("password_file: /run/secrets/db\npassword_env: DB_PASSWORD")),
        "config.yaml:8:21: key `sources[0].mssql.password_env`: `password_env` contradicts `password_file`: \
         there is one password; remove one of them"
    );
}

#[test]
fn a_password_in_the_file_is_refused_and_not_repeated() {
    for key in ["password", "Password", "pwd"] {
        assert_eq!(
            mssql_errors(&login(&format!("{key}: {PASSWORD}"))),
            format!(
                "config.yaml:7:7: key `sources[0].mssql.{key}`: a password is never written into this file; use \
                 `password_file`, `password_env` or `password_credential`"
            )
        );
    }
    mssql_errors(&login(&format!("password_env: {PASSWORD}")));
    mssql_errors(&login(&format!("password_file: !{PASSWORD}")));
    mssql_errors(&login(&format!("password_file: *{PASSWORD}")));
    mssql_errors(&login(&format!("port: {PASSWORD}")));
    mssql_errors(&login(&format!("password_file: \"{PASSWORD}")));
    mssql_errors(&login(&format!("password_file: x: {PASSWORD}")));
    mssql_errors(&login(&format!("password_file: `{PASSWORD}")));
    mssql_errors(&login(&format!("password_file: {{ {PASSWORD} }}")));
    mssql_errors(&login(&format!("password_file: [{PASSWORD}]")));
}

#[test]
fn only_the_line_end_of_a_password_file_is_stripped() {
    let cases = [
        ("secret\n", "secret"),
        ("secret\r\n", "secret"),
        ("secret", "secret"),
        (" secret \n", " secret "),
        ("secret\n\n", "secret\n"),
        ("zażółć\n", "zażółć"),
    ];
    for (content, expected) in cases {
        let environment = Environment::empty().with_file("/p", content);
        let file = mssql_file(&login("password_file: /p"));
        let config = parse(&file, Path::new("config.yaml"), &environment).unwrap();
        let Database::Mssql(mssql) = &config.sources[0].database else { panic!("not SQL Server") };
        assert_eq!(mssql.password.expose(), expected);
    }
}

#[test]
fn a_password_that_cannot_be_read_names_where_it_was_looked_for() {
    let key = "config.yaml:7:22: key `sources[0].mssql.password_file`:";
    assert_eq!(
        errors_in(&Environment::empty(), "password_file: /absent"),
        format!("{key} cannot read `/absent`: No such file or directory (os error 2)")
    );
    assert_eq!(
        errors_in(&Environment::empty().with_file("/p", "\n"), "password_file: /p"),
        format!("{key} `/p` is empty; it must hold the password")
    );
    assert_eq!(
        errors_in(&Environment::empty().with_file("/p", [0xff]), "password_file: /p"),
        format!("{key} `/p` is not UTF-8 text")
    );
    assert_eq!(
        errors_in(&Environment::process(), "password_file: /dev/zero"),
        format!("{key} `/dev/zero` is too large for a password")
    );
    let key = "config.yaml:7:21: key `sources[0].mssql.password_env`:";
    assert_eq!(
        errors_in(&Environment::empty(), "password_env: ORDERS_PASSWORD"),
        format!("{key} the environment variable `ORDERS_PASSWORD` is not set")
    );
    assert_eq!(
        errors_in(&Environment::empty(), "password_env: hunter2"),
        format!("{key} the environment variable named here is not set")
    );
    assert_eq!(
        errors_in(&Environment::empty().with_variable("P", ""), "password_env: P"),
        format!("{key} the environment variable `P` is empty; it must hold the password")
    );
}

#[test]
fn a_systemd_credential_is_read_from_its_directory() {
    let environment = Environment::empty()
        .with_credentials_directory("/run/credentials/sqlqueue-exporter.service")
        .with_file("/run/credentials/sqlqueue-exporter.service/db", "from systemd\n");
    let file = mssql_file(&login("password_credential: db"));
    let config = parse(&file, Path::new("config.yaml"), &environment).unwrap();
    let Database::Mssql(mssql) = &config.sources[0].database else { panic!("not SQL Server") };
    assert_eq!(mssql.password.expose(), "from systemd");

    let key = "config.yaml:7:28: key `sources[0].mssql.password_credential`:";
    assert_eq!(
        errors_in(&environment, "password_credential: other"),
        format!(
            "{key} cannot read `/run/credentials/sqlqueue-exporter.service/other`: No such file or directory \
             (os error 2)"
        )
    );
    assert_eq!(
        errors_in(&environment, "password_credential: 'p@ss word'"),
        format!("{key} the credential named here cannot be read")
    );
    assert_eq!(
        errors_in(&environment, "password_credential: ../db"),
        format!("{key} a credential is named, not located; for a path there is `password_file`")
    );
    assert_eq!(
        errors_in(&Environment::empty(), "password_credential: db"),
        format!(
            "{key} $CREDENTIALS_DIRECTORY is not set; run as a systemd unit with `LoadCredential=`, or use \
             `password_file`"
        )
    );
}

#[test]
fn secrets_are_not_in_the_debug_output() {
    let shown = format!("{:?} {:?}", environment(), config(&mssql_file(&login("password_env: DB_PASSWORD"))));
    assert!(shown.contains("DB_PASSWORD") && !shown.contains(PASSWORD), "{shown}");
}
