//! The simulated server with scripted answers, and an exporter configured for it.

use sqlqueue_exporter::clock::SharedClock;
use sqlqueue_exporter::config::{Config, Environment, TargetConfig};
use sqlqueue_exporter::exporter::Exporter;
use sqlqueue_exporter::statement::{self, Dialect, Statement, TailRequest};

use crate::support::patient_config;
use crate::tds::server::TdsServer;

/// The configuration of one source with these targets (YAML, indented by four): the embedded database's, with
/// `mssql:` in place of `sqlite:`.
pub fn config(server: &TdsServer, targets: &str) -> Config {
    let port = server.port();
    let database = format!(
        "mssql: {{ host: 127.0.0.1, port: {port}, database: Orders, user: sqlqueue, password_file: /password, \
         encryption: off }}"
    );
    let environment = Environment::empty().with_file("/password", "p@ss;w{}rd'\" zażółć");
    patient_config(&database, targets, &environment)
}

pub fn exporter(server: &TdsServer, targets: &str, clock: SharedClock) -> Exporter {
    Exporter::new(config(server, targets), clock).unwrap()
}

/// The SQL Server twin of a target's statement.
pub fn twin(config: &Config, target: TargetConfig<'_>, request: &TailRequest) -> Statement {
    statement::sample(Dialect::Mssql, target, request, config.global.lock_timeout).unwrap()
}
