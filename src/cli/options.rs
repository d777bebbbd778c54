//! Options that several sub-commands have.

use std::path::{Path, PathBuf};

use clap::Args;

use super::{Failure, GRACE, LogFormat, LogLevel};
use crate::config::{self, Config, ConfigError, Environment, WebConfig, WebConfigFile};
use crate::web::{self, Guard, TelemetryPath};

/// Which databases and tables.
#[derive(Debug, Args)]
pub(super) struct ConfigOptions {
    /// The YAML file that says which databases and tables to watch; or a folder, or a pattern.
    ///
    /// The YAML files of a folder (or those that a pattern such as '/etc/exporter/*.yaml' matches)
    /// are one configuration: settings for all sources stand in one of them, and each has sources of
    /// its own. SIGHUP makes the exporter read it again.
    #[arg(
        long = "config.file",
        value_name = "FILE",
        default_value = "sqlqueue-exporter.yaml",
        env = "SQLQUEUE_EXPORTER_CONFIG_FILE"
    )]
    config_file: PathBuf,
}

/// Where the pages are.
#[derive(Debug, Args)]
pub(super) struct WebOptions {
    /// Where to serve: HOST:PORT, [IPV6]:PORT, or :PORT for every address. Repeatable.
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

/// Who may see the pages.
#[derive(Debug, Args)]
pub(super) struct WebConfigOptions {
    /// A YAML file with the TLS certificate and the users of the pages, in Prometheus' format.
    ///
    /// It is the web configuration of the exporter-toolkit, so one file may serve all exporters: TLS
    /// with certificates of clients, users, HTTP headers and a rate limit. The file and the
    /// certificates that it names are read again when they change; after a mistake the exporter says
    /// so, and goes on as before.
    #[arg(long = "web.config.file", value_name = "FILE")]
    pub(super) web_config_file: Option<PathBuf>,
}

/// What is logged, and how.
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
    /// Reads the configuration.
    pub(super) fn load(&self, environment: &Environment) -> Result<Config, Failure> {
        config::load(&self.config_file, environment).map_err(|error| {
            if is_missing(&error) {
                let remedy = "name the file with --config.file; for a first look without one, run \
                              `sqlqueue-exporter demo`";
                return format!("{error}; {remedy}").into();
            }
            error.into()
        })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.config_file
    }
}

fn is_missing(error: &ConfigError) -> bool {
    matches!(error, ConfigError::Unreadable { error, .. } if error.kind() == std::io::ErrorKind::NotFound)
}

impl WebConfigOptions {
    /// Who may see the pages; reads the web configuration, if there is one.
    pub(super) fn guard(&self) -> Result<Guard, Failure> {
        Ok(match &self.web_config_file {
            Some(file) => {
                let (file, config) = WebConfigFile::open(file, &Environment::process())?;
                Guard::following(file, config)?
            }
            None => Guard::fixed(WebConfig::default())?,
        })
    }
}

impl WebOptions {
    /// How the web server behaves.
    pub(super) fn with(&self, guard: Guard) -> web::Options {
        web::Options { telemetry_path: self.telemetry_path.clone(), grace: GRACE, ..web::Options::new(guard) }
    }
}
