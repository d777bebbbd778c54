//! SQL Server: how to reach it and log in.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::secret::Secret;
use crate::yaml::{self, Checker, Field, Located, Location, Spanned, form};

/// The port of a default instance.
const DEFAULT_PORT: u16 = 1433;

/// Endings of the certificate files whose format the driver knows.
const CERTIFICATE_ENDINGS: [&str; 3] = ["pem", "der", "crt"];

/// A SQL Server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mssql {
    /// Host name or address, without port or instance.
    pub host: String,
    /// A TCP port, or an instance name that the SQL Server Browser (UDP 1434) resolves.
    #[serde(flatten)]
    pub endpoint: Endpoint,
    /// The database to log in to.
    pub database: String,
    /// SQL Server login name.
    pub user: String,
    /// The login's password, read at start.
    #[serde(skip)]
    pub password: Secret,
    /// Where the password was read from.
    #[serde(flatten)]
    pub password_source: PasswordSource,
    /// TLS.
    pub encryption: Encryption,
    /// Which server certificates are accepted.
    #[serde(flatten)]
    pub trust: Trust,
    /// Whether the login asks for a readable secondary (`ApplicationIntent=ReadOnly`).
    pub application_intent: ApplicationIntent,
}

/// Where a password is read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum PasswordSource {
    /// A file that holds nothing else.
    #[serde(rename = "password_file")]
    File(#[serde(serialize_with = "super::path_text")] PathBuf),
    /// The environment variable of this name.
    #[serde(rename = "password_env")]
    Variable(String),
    /// The systemd credential of this name.
    #[serde(rename = "password_credential")]
    Credential(String),
}

/// Where on the host the server listens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Endpoint {
    /// A TCP port; 1433 unless configured.
    Port(u16),
    /// A named instance.
    Instance(String),
}

/// How much of the connection is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Encryption {
    /// TLS for the whole session, or no connection.
    #[default]
    Required,
    /// TLS for the login packet only.
    LoginOnly,
    /// No TLS: the password crosses the network readable.
    Off,
}

/// Which server certificates are accepted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Those that a CA in this PEM, DER or CRT file vouches for.
    CaFile(#[serde(serialize_with = "super::path_text")] PathBuf),
    /// Any: no protection against a man in the middle.
    #[serde(rename = "trust_server_certificate", serialize_with = "yaml::write_true")]
    Any,
    /// Those the machine's own root certificates vouch for.
    #[default]
    #[serde(untagged)]
    System,
}

/// Which replica of an availability group a login asks for (`ApplicationIntent`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ApplicationIntent {
    /// A readable secondary.
    ReadOnly,
    /// The primary.
    #[default]
    ReadWrite,
}

form! {
    pub struct MssqlForm {
        /// Host name or address, without port or instance.
        host: Field<String>,
        /// TCP port.
        port: Field<u16>,
        /// Instance name, which the SQL Server Browser (UDP 1434) resolves to a port.
        instance: Field<String>,
        /// The database to log in to.
        database: Field<String>,
        /// The login's name.
        user: Field<String>,
        /// File that holds the login's password.
        password_file: Field<String>,
        /// Environment variable that holds the login's password.
        password_env: Field<String>,
        /// systemd credential that holds the login's password.
        password_credential: Field<String>,
        /// TLS: `required`, `login_only` or `off`.
        encryption: Field<Encryption>,
        /// File of the CA that vouches for the server's certificate; without one, the machine's own roots do.
        ca_file: Field<String>,
        /// Whether any server certificate is accepted.
        trust_server_certificate: Field<bool>,
        /// `read_write`, or `read_only` for a readable secondary.
        application_intent: Field<ApplicationIntent>,
    }
}

impl fmt::Display for Mssql {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, database, endpoint, .. } = self;
        match endpoint {
            Endpoint::Port(port) => write!(f, "{host}:{port}/{database}"),
            Endpoint::Instance(instance) => write!(f, "{host}\\{instance}/{database}"),
        }
    }
}

impl Mssql {
    /// Whether writers' locks are invisible, because a readable secondary is asked for.
    #[must_use]
    pub fn reads_secondary(&self) -> bool {
        self.application_intent == ApplicationIntent::ReadOnly
    }

    pub(super) fn check(checker: &mut Checker<'_>, yaml: Spanned<MssqlForm>) -> Option<Self> {
        let (at, form) = (yaml.location(), yaml.value);
        let host = checker.required(form.host, at, "host", "name the host of the server");
        let host = host.and_then(|value| self::host(checker, value));
        let endpoint = endpoint(checker, form.port, form.instance);
        let remedy = "name the database to log in to";
        let database = checker.required_text(form.database, at, "database", remedy);
        let user = checker.required_text(form.user, at, "user", "name the login");
        let password = password(checker, at, form.password_file, form.password_env, form.password_credential);
        let (encryption, trust) = tls(checker, form.encryption, form.ca_file, form.trust_server_certificate);
        let (password, password_source) = password?;
        Some(Self {
            host: host?,
            endpoint: endpoint?,
            database: database?,
            user: user?,
            password,
            password_source,
            encryption,
            trust: trust?,
            application_intent: form.application_intent.value_or_default(),
        })
    }
}

/// A host alone: what a connection string would append to it has keys of its own.
fn host(checker: &mut Checker<'_>, value: Spanned<String>) -> Option<String> {
    let at = value.location();
    let host = checker.text(value)?;
    let message = if let Some((name, instance)) = host.split_once('\\') {
        format!("`{host}` has an instance in it; write `host: {name}` and `instance: {instance}`")
    } else if host.contains(',') || host.matches(':').count() == 1 {
        format!("`{host}` is more than a host; write the port as `port`")
    } else if host.contains(['[', ']', '/']) || host.contains(char::is_whitespace) {
        format!("`{host}` is not a host name or an address; write it without brackets, slashes and spaces")
    } else if let Some(odd) = host.chars().find(|c| !c.is_alphanumeric() && !"-_.:%".contains(*c)) {
        format!("`{host}` has a `{odd}`, which no host name or address has; write the host alone")
    } else if !host.contains(char::is_alphanumeric) {
        format!(
            "`{host}` is not a host name or an address; write the host alone, such as `db1` or `10.0.0.5`"
        )
    } else {
        return Some(host);
    };
    checker.refuse(at, message)
}

fn endpoint(checker: &mut Checker<'_>, port: Field<u16>, instance: Field<String>) -> Option<Endpoint> {
    let keys = [("port", port.location()), ("instance", instance.location())];
    let why = "the SQL Server Browser looks up the port of an instance; remove one of them";
    checker.only_one(&keys, why)?;
    match (port.given(), instance.given()) {
        (Some(port), _) if port.value == 0 => {
            checker.refuse(port.location(), "0 is not a port; the usual one is 1433")
        }
        (Some(port), _) => Some(Endpoint::Port(port.value)),
        (None, Some(instance)) => checker.text(instance).map(Endpoint::Instance),
        (None, None) => Some(Endpoint::Port(DEFAULT_PORT)),
    }
}

fn password(
    checker: &mut Checker<'_>,
    parent: Location,
    file: Field<String>,
    variable: Field<String>,
    credential: Field<String>,
) -> Option<(Secret, PasswordSource)> {
    let keys = [
        ("password_file", file.location()),
        ("password_env", variable.location()),
        ("password_credential", credential.location()),
    ];
    checker.only_one(&keys, "there is one password; remove one of them")?;
    let environment = checker.environment;
    let at = file.location().or(variable.location()).or(credential.location());
    let (secret, source) = match (file.given(), variable.given(), credential.given()) {
        (Some(file), ..) => {
            let file = checker.path(file)?;
            (environment.secret_from_file(&file), PasswordSource::File(file))
        }
        (_, Some(name), _) => {
            let name = checker.text(name)?;
            (environment.secret_from_variable(&name), PasswordSource::Variable(name))
        }
        (.., Some(name)) => {
            let name = checker.text(name)?;
            (environment.secret_from_credential(&name), PasswordSource::Credential(name))
        }
        (None, None, None) => {
            let remedy = "give one of `password_file`, `password_env` and `password_credential`";
            checker.missing(parent, "password_file", remedy);
            return None;
        }
    };
    Some((checker.accept(at?, secret)?, source))
}

fn tls(
    checker: &mut Checker<'_>,
    encryption: Field<Encryption>,
    ca_file: Field<String>,
    trust_any: Field<bool>,
) -> (Encryption, Option<Trust>) {
    let encryption = encryption.given();
    let level = encryption.as_ref().map(|level| level.value).unwrap_or_default();
    let trust_any = trust_any.given().filter(|trust| trust.value).map(|trust| trust.location());
    let keys = [("ca_file", ca_file.location()), ("trust_server_certificate: true", trust_any)];
    checker.only_one(&keys, "any certificate would do; remove one of them");
    let Some(file) = ca_file.given() else {
        return (level, Some(if trust_any.is_some() { Trust::Any } else { Trust::System }));
    };
    if let Some(encryption) = encryption.filter(|level| level.value != Encryption::Required) {
        let word = yaml::word(&level);
        checker.report(
            encryption.location(),
            format!("`encryption: {word}` contradicts `ca_file`, which needs `encryption: required`"),
        );
    }
    let at = file.location();
    let trust = checker.path(file).and_then(|path| {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if CERTIFICATE_ENDINGS.contains(&ending.to_ascii_lowercase().as_str()) {
            return Some(Trust::CaFile(path));
        }
        checker.refuse(at, format!("`{}` does not end in .pem, .der or .crt", path.display()))
    });
    (level, trust)
}
