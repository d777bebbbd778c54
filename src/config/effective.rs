//! The configuration in force, as YAML: every default and every preset filled in, in the form of a
//! configuration file. Reading it gives the same configuration again.
//!
//! A password is not in it: only where it is read from, which is what the file says, too.

mod objectives;
mod target;
mod yaml;

use std::path::Path;
use std::time::Duration;

use self::yaml::{Mapping, Yaml};
use super::model::{Config, Database, Encryption, Endpoint, Global, Mssql, PasswordSource, Source, Trust};
use crate::duration;

/// The configuration could not be written, which is a defect.
#[derive(Debug, thiserror::Error)]
#[error("the configuration cannot be written as YAML: {0}")]
pub struct UnwritableConfig(String);

impl Config {
    /// The configuration in force, as YAML. No secrets.
    ///
    /// # Errors
    /// When it cannot be written, which is a defect.
    pub fn to_yaml(&self) -> Result<String, UnwritableConfig> {
        let Self { global, state_file, sources } = self;
        let config = Mapping::default()
            .with("global", self::global(global))
            .with("state_file", state_file.as_deref().map(path))
            .with("sources", Yaml::list(sources.iter().map(source)));
        serde_saphyr::to_string(&config).map_err(|error| UnwritableConfig(error.to_string()))
    }
}

fn global(global: &Global) -> Mapping {
    let Global {
        sample_interval,
        query_timeout,
        lock_timeout,
        stale_after,
        read_mode,
        max_label_values,
        objectives,
    } = global;
    Mapping::default()
        .with("sample_interval", time(*sample_interval))
        .with("query_timeout", time(*query_timeout))
        .with("lock_timeout", time(*lock_timeout))
        .with("stale_after", time(*stale_after))
        .with("read_mode", target::read_mode(*read_mode))
        .with("max_label_values", *max_label_values)
        .with("objectives", objectives::all(objectives))
}

fn source(source: &Source) -> Mapping {
    let Source { name, database, objectives, queues, attempt_logs, enqueue_logs, run_logs, control_tables } =
        source;
    let (kind, settings) = match database {
        Database::Mssql(server) => ("mssql", mssql(server)),
        Database::Sqlite(sqlite) => ("sqlite", Mapping::default().with("file", path(&sqlite.file))),
    };
    Mapping::default()
        .with("name", name)
        .with(kind, settings)
        .with("objectives", objectives::of_source(objectives))
        .with("queues", Yaml::list(queues.iter().map(target::queue)))
        .with("attempt_logs", Yaml::list(attempt_logs.iter().map(target::attempt_log)))
        .with("enqueue_logs", Yaml::list(enqueue_logs.iter().map(target::enqueue_log)))
        .with("run_logs", Yaml::list(run_logs.iter().map(target::run_log)))
        .with("control_tables", Yaml::list(control_tables.iter().map(target::control_table)))
}

fn mssql(server: &Mssql) -> Mapping {
    let Mssql { host, endpoint, database, user, password: _, .. } = server;
    let mapping = Mapping::default().with("host", host);
    let mapping = match endpoint {
        Endpoint::Port(port) => mapping.with("port", u32::from(*port)),
        Endpoint::Instance(instance) => mapping.with("instance", instance),
    };
    let mapping = mapping.with("database", database).with("user", user);
    let mapping = match &server.password_source {
        PasswordSource::File(file) => mapping.with("password_file", path(file)),
        PasswordSource::Variable(name) => mapping.with("password_env", name),
        PasswordSource::Credential(name) => mapping.with("password_credential", name),
    };
    let encryption = match server.encryption {
        Encryption::Required => "required",
        Encryption::LoginOnly => "login_only",
        Encryption::Off => "off",
    };
    let mapping = mapping.with("encryption", encryption);
    let mapping = match &server.trust {
        Trust::System => mapping,
        Trust::CaFile(file) => mapping.with("ca_file", path(file)),
        Trust::Any => mapping.with("trust_server_certificate", true),
    };
    let intent = if server.read_only_intent { "read_only" } else { "read_write" };
    mapping.with("application_intent", intent)
}

fn path(path: &Path) -> Yaml {
    path.display().to_string().into()
}

fn time(duration: Duration) -> Yaml {
    duration::text(duration).into()
}
