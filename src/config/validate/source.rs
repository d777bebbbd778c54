//! A source: how to reach one database, and what is watched in it.

use crate::yaml::Spanned;

use super::target::{Backend, Scope};
use super::{Resolved, attempt_log, control_table, enqueue_log, objectives, queue, run_log};
use crate::config::Secret;
use crate::config::model::{
    Database, Encryption, Endpoint, Global, Mssql, PasswordSource, Source, Sqlite, Trust,
};
use crate::config::raw::{RawIntent, RawMssql, RawSource, RawSqlite};
use crate::yaml::{Checker, Names};
use crate::yaml::{Field, Located, Location};

/// The port of a default instance.
const DEFAULT_PORT: u16 = 1433;

/// Endings of certificate files that the driver knows the format of.
const CERTIFICATE_ENDINGS: [&str; 3] = ["pem", "der", "crt"];

pub(super) fn source(
    checker: &mut Checker<'_>,
    raw: Spanned<RawSource>,
    global: &Global,
    stale_after: Option<Resolved>,
    names: &mut Names,
) -> Option<Source> {
    let at = raw.location();
    let raw = raw.value;
    let name = checker.name(raw.name, at, names);
    let (backend, database) = match (raw.mssql.given(), raw.sqlite.given()) {
        (Some(mssql), None) => (Backend::Mssql, self::mssql(checker, mssql).map(Database::Mssql)),
        (None, Some(sqlite)) => (Backend::Sqlite, self::sqlite(checker, sqlite).map(Database::Sqlite)),
        (Some(_), Some(sqlite)) => {
            let message = "`sqlite` contradicts `mssql`: a source is one database; remove one of them";
            checker.report(sqlite.location(), message);
            (Backend::Mssql, None)
        }
        (None, None) => {
            checker.missing(at, "mssql", "say how to reach the database with `mssql` or `sqlite`");
            (Backend::Mssql, None)
        }
    };
    let own = objectives::given(raw.objectives);
    let objectives = objectives::source(checker, own, global.objectives.sources);
    let scope = Scope {
        backend,
        database: match &database {
            Some(Database::Mssql(mssql)) => Some(mssql.database.clone()),
            Some(Database::Sqlite(_)) | None => None,
        },
        reads_secondary: matches!(&database, Some(Database::Mssql(mssql)) if mssql.read_only_intent),
        sample_interval: global.sample_interval,
        read_mode: global.read_mode,
        stale_after,
        max_label_values: global.max_label_values,
        objectives: global.objectives,
    };
    let lists = [
        is_empty(&raw.queues),
        is_empty(&raw.attempt_logs),
        is_empty(&raw.enqueue_logs),
        is_empty(&raw.run_logs),
        is_empty(&raw.control_tables),
    ];
    if lists.iter().all(|empty| *empty) {
        let message = "watches nothing; add `queues`, `attempt_logs`, `enqueue_logs`, `run_logs` or \
                       `control_tables`";
        checker.report(at, message);
    }
    let queues = checker.targets(raw.queues, &scope, queue::queue);
    let attempt_logs = checker.targets(raw.attempt_logs, &scope, attempt_log::attempt_log);
    let enqueue_logs = checker.targets(raw.enqueue_logs, &scope, enqueue_log::enqueue_log);
    let run_logs = checker.targets(raw.run_logs, &scope, run_log::run_log);
    let control_tables = checker.targets(raw.control_tables, &scope, control_table::control_table);
    Some(Source {
        name: name?,
        database: database?,
        objectives,
        queues,
        attempt_logs,
        enqueue_logs,
        run_logs,
        control_tables,
    })
}

fn is_empty<T>(list: &Field<Vec<T>>) -> bool {
    !matches!(list, Field::Set(list) if !list.value.is_empty())
}

fn sqlite(checker: &mut Checker<'_>, raw: Spanned<RawSqlite>) -> Option<Sqlite> {
    let at = raw.location();
    let file = checker.required(raw.value.file, at, "file", "name the database file")?;
    Some(Sqlite { file: checker.path(file)? })
}

fn mssql(checker: &mut Checker<'_>, raw: Spanned<RawMssql>) -> Option<Mssql> {
    let at = raw.location();
    let raw = raw.value;
    let host = checker.required(raw.host, at, "host", "name the host of the server");
    let host = host.and_then(|value| self::host(checker, value));
    let endpoint = endpoint(checker, raw.port, raw.instance);
    let database = checker.required(raw.database, at, "database", "name the database to log in to");
    let database = database.and_then(|value| checker.text(value));
    let user = checker.required(raw.user, at, "user", "name the login");
    let user = user.and_then(|value| checker.text(value));
    let password = password(checker, at, raw.password_file, raw.password_env, raw.password_credential);
    let (encryption, trust) = tls(checker, raw.encryption, raw.ca_file, raw.trust_server_certificate);
    let intent = raw.application_intent.given().map_or(RawIntent::ReadWrite, |intent| intent.value);
    let (password, password_source) = password?;
    Some(Mssql {
        host: host?,
        endpoint: endpoint?,
        database: database?,
        user: user?,
        password,
        password_source,
        encryption,
        trust: trust?,
        read_only_intent: intent == RawIntent::ReadOnly,
    })
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
    checker.report(at, message);
    None
}

fn endpoint(checker: &mut Checker<'_>, port: Field<u16>, instance: Field<String>) -> Option<Endpoint> {
    match (port.given(), instance.given()) {
        (Some(_), Some(instance)) => {
            checker.report(
                instance.location(),
                "`instance` contradicts `port`: the SQL Server Browser tells the port of an instance; remove \
                 one of them",
            );
            None
        }
        (Some(port), None) if port.value == 0 => {
            checker.report(port.location(), "0 is not a port; the usual one is 1433");
            None
        }
        (Some(port), None) => Some(Endpoint::Port(port.value)),
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
    let mut given = [
        ("password_file", file.given()),
        ("password_env", variable.given()),
        ("password_credential", credential.given()),
    ]
    .into_iter()
    .filter_map(|(key, value)| value.map(|value| (key, value)));
    let Some((key, value)) = given.next() else {
        let remedy = "give one of `password_file`, `password_env` and `password_credential`";
        checker.missing(parent, "password_file", remedy);
        return None;
    };
    if let Some((second, other)) = given.next() {
        checker.report(
            other.location(),
            format!("`{second}` contradicts `{key}`: there is one password; remove one of them"),
        );
        return None;
    }
    let at = value.location();
    let source = match key {
        "password_file" => PasswordSource::File(checker.path(value)?),
        "password_env" => PasswordSource::Variable(checker.text(value)?),
        _ => PasswordSource::Credential(checker.text(value)?),
    };
    let secret = match &source {
        PasswordSource::File(file) => checker.environment.secret_from_file(file),
        PasswordSource::Variable(name) => checker.environment.secret_from_variable(name),
        PasswordSource::Credential(name) => checker.environment.secret_from_credential(name),
    };
    secret.map(|secret| (secret, source)).map_err(|message| checker.report(at, message)).ok()
}

fn tls(
    checker: &mut Checker<'_>,
    encryption: Field<Encryption>,
    ca_file: Field<String>,
    trust_any: Field<bool>,
) -> (Encryption, Option<Trust>) {
    let encryption = encryption.given();
    let level = encryption.as_ref().map(|level| level.value).unwrap_or_default();
    let trust_any = trust_any.given().filter(|trust| trust.value);
    let Some(file) = ca_file.given() else {
        return (level, Some(if trust_any.is_some() { Trust::Any } else { Trust::System }));
    };
    if let Some(trust) = trust_any {
        checker.report(
            trust.location(),
            "`trust_server_certificate: true` contradicts `ca_file`: any certificate would do; remove one of \
             them",
        );
    }
    if let Some(encryption) = encryption.filter(|level| level.value != Encryption::Required) {
        let word = if level == Encryption::Off { "off" } else { "login_only" };
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
        checker.report(at, format!("`{}` does not end in .pem, .der or .crt", path.display()));
        None
    });
    (level, trust)
}
