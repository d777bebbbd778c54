//! The real server that some tests run against, when there is one.
//!
//! `SQLQUEUE_TEST_MSSQL` says where it is:
//! `host=...;port=...;user=...;password=...;database=...;encryption=...;ca_file=...`
//! Only `host`, `user` and `password` are required; `encryption` is `required`, `login_only` or
//! `off`, and `ca_file=*` accepts any certificate. A value ends at the next `;`.

use std::io::Write;
use std::path::PathBuf;

use sqlqueue_exporter::config::Secret;
use sqlqueue_exporter::config::{ApplicationIntent, Encryption, Endpoint, Mssql, PasswordSource, Trust};

/// The variable that names the server.
pub const VARIABLE: &str = "SQLQUEUE_TEST_MSSQL";

/// The settings of the server to test against. Without one it says that `test` is skipped, past
/// the test harness, which would keep the line to itself.
pub fn settings(test: &str) -> Option<Mssql> {
    let Ok(variable) = std::env::var(VARIABLE) else {
        let line = format!("SKIPPED {test}: {VARIABLE} is not set, so no real SQL Server was asked\n");
        let _ = std::io::stderr().write_all(line.as_bytes());
        return None;
    };
    Some(parse(&variable).unwrap_or_else(|problem| panic!("{VARIABLE}: {problem}")))
}

fn parse(variable: &str) -> Result<Mssql, String> {
    let mut settings = Mssql {
        host: String::new(),
        endpoint: Endpoint::Port(1433),
        database: "master".to_owned(),
        user: String::new(),
        password: Secret::new(""),
        password_source: PasswordSource::Variable(VARIABLE.to_owned()),
        encryption: Encryption::Required,
        trust: Trust::System,
        application_intent: ApplicationIntent::ReadWrite,
    };
    for field in variable.split(';').filter(|field| !field.is_empty()) {
        let (name, value) = field.split_once('=').ok_or("every field is name=value")?;
        match name {
            "host" => settings.host = value.to_owned(),
            "port" => settings.endpoint = Endpoint::Port(value.parse().map_err(|_| "port is a number")?),
            "database" => settings.database = value.to_owned(),
            "user" => settings.user = value.to_owned(),
            "password" => settings.password = Secret::new(value),
            "ca_file" if value == "*" => settings.trust = Trust::Any,
            "ca_file" => settings.trust = Trust::CaFile(PathBuf::from(value)),
            "encryption" => {
                settings.encryption = match value {
                    "required" => Encryption::Required,
                    "login_only" => Encryption::LoginOnly,
                    "off" => Encryption::Off,
                    _ => return Err("encryption is required, login_only or off".to_owned()),
                }
            }
            // The value may be a misspelt password.
            _ => return Err(format!("there is no field {name}")),
        }
    }
    if settings.host.is_empty() || settings.user.is_empty() {
        return Err("host and user are required".to_owned());
    }
    Ok(settings)
}
