//! Options shared by several sub-commands.

use std::io::ErrorKind;
use std::path::PathBuf;

use clap::Args;

use super::{Failure, GRACE, LogFormat, LogLevel};
use crate::config::{self, Config, ConfigError, Environment};
use crate::web::config::{WebConfig, WebConfigFile};
use crate::web::{self, Security, TelemetryPath};

/// The configuration: databases and tables.
#[derive(Debug, Args)]
pub(super) struct ConfigOptions {
    /// The YAML file with the databases and tables to watch; or a folder, or a pattern.
    ///
    /// The YAML files in a folder (or those that a pattern such as '/etc/exporter/*.yaml' matches) form
    /// one configuration: one of them holds the settings for all sources, and each adds its own sources.
    /// SIGHUP makes the exporter read them again.
    #[arg(
        long = "config.file",
        value_name = "FILE",
        default_value = "sqlqueue-exporter.yaml",
        env = "SQLQUEUE_EXPORTER_CONFIG_FILE"
    )]
    pub(super) config_file: PathBuf,
}

/// The web server's addresses and paths.
#[derive(Debug, Args)]
pub(super) struct WebOptions {
    /// The address to serve on: HOST:PORT, [IPV6]:PORT, or :PORT for every address. Repeatable.
    #[arg(
        long = "web.listen-address",
        value_name = "ADDRESS",
        default_values_t = [String::from(":10433")]
    )]
    pub(super) listen_addresses: Vec<String>,

    /// The path of the metrics page.
    #[arg(long = "web.telemetry-path", value_name = "PATH", default_value_t)]
    pub(super) telemetry_path: TelemetryPath,
}

/// Access to the web server.
#[derive(Debug, Args)]
pub(super) struct WebConfigOptions {
    /// A YAML file with the TLS certificate and the users of the web server, in Prometheus' format.
    ///
    /// The format is the web configuration of the exporter-toolkit, so one file can serve all exporters:
    /// TLS with client certificates, users, HTTP headers and a rate limit. The file and the certificates
    /// that it names are read again when they change; a mistake in them is logged, and the previous
    /// settings stay in force.
    #[arg(long = "web.config.file", value_name = "FILE")]
    pub(super) web_config_file: Option<PathBuf>,
}

/// The log's level and format.
#[derive(Debug, Args)]
pub(super) struct LogOptions {
    /// How much to log.
    #[arg(long = "log.level", value_name = "LEVEL", value_enum, default_value_t)]
    pub(super) log_level: LogLevel,

    /// How to write the log, which goes to standard error.
    #[arg(long = "log.format", value_name = "FORMAT", value_enum, default_value_t)]
    pub(super) log_format: LogFormat,
}

impl ConfigOptions {
    /// Reads and checks the configuration.
    pub(super) fn load(&self, environment: &Environment) -> Result<Config, Failure> {
        config::load(&self.config_file, environment).map_err(|error| match error {
            ConfigError::Unreadable { error: ref cause, .. } if cause.kind() == ErrorKind::NotFound => {
                let remedy = "name the file with --config.file; for a first look without one, run \
                              `sqlqueue-exporter demo`";
                format!("{error}; {remedy}").into()
            }
            error => error.into(),
        })
    }
}

impl WebConfigOptions {
    /// The access rules of the web server, from the web configuration if there is one.
    pub(super) fn security(&self) -> Result<Security, Failure> {
        Ok(match &self.web_config_file {
            Some(file) => {
                let (file, config) = WebConfigFile::open(file, &Environment::process())?;
                Security::new(config, Some(file))?
            }
            None => Security::new(WebConfig::default(), None)?,
        })
    }
}

impl WebOptions {
    /// The options of the web server.
    pub(super) fn with(&self, security: Security) -> web::Options {
        web::Options {
            telemetry_path: self.telemetry_path.clone(),
            grace: GRACE,
            ..web::Options::new(security)
        }
    }
}
