//! Connection settings of the real server, from the variable `SQLQUEUE_TEST_MSSQL`:
//! `host=...;port=...;user=...;password=...;database=...;encryption=...;ca_file=...`
//! Only `host`, `user` and `password` are required; `encryption` is `required`, `login_only` or
//! `off`, and `ca_file=*` accepts any certificate. A value ends at the next `;`.

use std::path::PathBuf;

use sqlqueue_exporter::config::Secret;
use sqlqueue_exporter::config::{ApplicationIntent, Encryption, Endpoint, Mssql, PasswordSource, Trust};

/// The variable with the server's settings.
pub const VARIABLE: &str = "SQLQUEUE_TEST_MSSQL";

/// The settings of the server to test against.
pub fn settings() -> Mssql {
    let variable = std::env::var(VARIABLE).unwrap_or_else(|_| {
        panic!(
            "{VARIABLE} is not set: it names the server that the ignored tests need, see docs/verification.md"
        )
    });
    parse(&variable).unwrap_or_else(|problem| panic!("{VARIABLE}: {problem}"))
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
