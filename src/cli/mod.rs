//! The command line.

mod check;
mod demo;
mod log;
mod manual;
mod serve;
mod service;
mod sql;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

pub use log::{LogFormat, LogLevel};

use crate::config::{self, Config, ConfigError, Environment, WebConfig, WebConfigFile, duration};
use crate::demo::Incident;
use crate::web::{self, Guard, TelemetryPath};

/// Prometheus metrics from the work-queue and run-log tables of SQL Server.
///
/// Samples the tables named in the configuration on an interval, with statements that `sql` prints,
/// and serves the result on /metrics. Without a sub-command it serves.
#[derive(Debug, Parser)]
#[command(
    name = "sqlqueue-exporter",
    version = concat!(env!("CARGO_PKG_VERSION"), " (commit ", env!("SQLQUEUE_EXPORTER_COMMIT"), ")"),
    after_help = "Try it now, without a database:  sqlqueue-exporter demo\n\
                  Before you deploy:               sqlqueue-exporter check --connect --config.file=FILE\n\n\
                  Ends with 0 when all is well (also when it was told to stop), with 1 when something is wrong\n\
                  with the configuration, a database or the start, and with 2 when the command line is wrong."
)]
pub struct Cli {
    #[command(flatten)]
    options: Options,
    #[command(subcommand)]
    command: Option<Command>,
}

/// The options that every sub-command understands.
#[derive(Debug, Args)]
struct Options {
    /// The YAML file that says which databases and tables to watch; or a folder, or a pattern.
    ///
    /// The YAML files of a folder (or those that a pattern such as '/etc/exporter/*.yaml' matches)
    /// are one configuration: settings for all sources stand in one of them, and each has sources of
    /// its own. SIGHUP makes the exporter read it again.
    #[arg(
        long = "config.file",
        value_name = "FILE",
        default_value = "sqlqueue-exporter.yaml",
        env = "SQLQUEUE_EXPORTER_CONFIG_FILE",
        global = true
    )]
    config_file: PathBuf,

    /// Where to serve: HOST:PORT, [IPV6]:PORT, or :PORT for every address. Repeatable.
    #[arg(
        long = "web.listen-address",
        value_name = "ADDRESS",
        default_values_t = [String::from(":10433")],
        global = true
    )]
    listen_addresses: Vec<String>,

    /// Serve on the sockets that systemd opened (socket activation) instead of opening any.
    #[arg(long = "web.systemd-socket", global = true, conflicts_with = "listen_addresses")]
    systemd_socket: bool,

    /// The path of the metrics page.
    #[arg(long = "web.telemetry-path", value_name = "PATH", default_value_t, global = true)]
    telemetry_path: TelemetryPath,

    /// A YAML file with the TLS certificate and the users of the pages, in Prometheus' format.
    ///
    /// It is the web configuration of the exporter-toolkit, so one file may serve all exporters: TLS
    /// with certificates of clients, users, HTTP headers and a rate limit. The file and the
    /// certificates that it names are read again when they change; after a mistake the exporter says
    /// so, and goes on as before.
    #[arg(long = "web.config.file", value_name = "FILE", global = true)]
    web_config_file: Option<PathBuf>,

    /// Let a POST to /-/reload make the exporter read its configuration again, as SIGHUP does.
    ///
    /// Whoever reaches the port can then do so; it is off unless asked for, as in Prometheus.
    #[arg(long = "web.enable-lifecycle", global = true)]
    enable_lifecycle: bool,

    /// How much to log.
    #[arg(long = "log.level", value_name = "LEVEL", value_enum, default_value_t, global = true)]
    log_level: LogLevel,

    /// How to write the log, which goes to standard error.
    #[arg(long = "log.format", value_name = "FORMAT", value_enum, default_value_t, global = true)]
    log_format: LogFormat,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Sample the tables and serve the metrics (the default).
    Serve,
    /// Say what is wrong with a configuration before it is deployed.
    ///
    /// Reads the configuration and reports every mistake with file, line and key. With --connect it
    /// also logs in to each database, takes one sample of each target and looks for the indexes
    /// that the statements seek. Exits with 1 when something is wrong.
    Check(CheckArgs),
    /// Print every statement that a configuration would run, ready to paste into a query window.
    Sql,
    /// Print what makes a shell complete this program's options, for example
    /// `sqlqueue-exporter completions bash >/etc/bash_completion.d/sqlqueue-exporter`.
    Completions {
        /// The shell.
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Print a page of the manual: `sqlqueue-exporter man check | man -l -`.
    Man {
        /// The sub-command that it is about; without one, the program.
        command: Option<String>,
    },
    /// Run the whole thing on an embedded database with simulated workers and notification runs.
    Demo(DemoArgs),
}

#[derive(Debug, Args)]
struct CheckArgs {
    /// Also log in, take one sample of each target and look for the indexes.
    #[arg(long)]
    connect: bool,
}

#[derive(Debug, Args)]
struct DemoArgs {
    /// The seed of all that is random in the demo: the same seed makes the same decisions.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// How fast it goes: 2 halves every pause, duration, lease and objective. Between 0.1 and 100.
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR")]
    speed: f64,

    /// Cause this incident, and say what to look at.
    #[arg(long, value_name = "NAME", value_enum)]
    incident: Option<Incident>,

    /// How long all goes well before the incident, whatever the speed; without it, 30s at speed 1, or for
    /// as long as the incident needs a past.
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, requires = "incident")]
    incident_after: Option<Duration>,

    /// How long the incident lasts, whatever the speed; without it, until the demo is stopped.
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, requires = "incident")]
    incident_for: Option<Duration>,

    /// Keep the database in this folder instead of a temporary one.
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
}

impl Options {
    /// How the web server behaves; reads the web configuration, if there is one.
    fn web(&self) -> Result<web::Options, Failure> {
        let guard = match &self.web_config_file {
            Some(file) => {
                let (file, config) = WebConfigFile::open(file, &Environment::process())?;
                Guard::following(file, config)?
            }
            None => Guard::fixed(WebConfig::default())?,
        };
        Ok(web::Options {
            telemetry_path: self.telemetry_path.clone(),
            grace: GRACE,
            ..web::Options::new(guard)
        })
    }
}

/// Parses the command line and does what it says.
pub fn run() -> ExitCode {
    let Cli { options, command } = Cli::parse();
    log::start(options.log_level, options.log_format);
    let outcome = match command.unwrap_or(Command::Serve) {
        Command::Serve => serve::run(&options),
        Command::Check(arguments) => check::run(&options, &arguments),
        Command::Sql => sql::run(&options),
        Command::Demo(arguments) => demo::run(&options, arguments),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man { command } => manual::page(command.as_deref()),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            // Standard error may be closed; there is nobody left to tell.
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// How long requests in flight may take to finish when the process is told to stop; with
/// [`LAST_WAIT`] it is gone within 5 s.
const GRACE: Duration = Duration::from_secs(3);
const LAST_WAIT: Duration = Duration::from_secs(1);

/// What ends a sub-command: a message for a person.
type Failure = Box<dyn std::error::Error>;

/// Reads the configuration file of the options.
fn load(options: &Options, environment: &Environment) -> Result<Config, ConfigError> {
    config::load(&options.config_file, environment)
}

/// Writes to standard output; a reader that went away (`| head`) is not an error.
fn print(text: &str) -> Result<(), Failure> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Runs what waits for something. A thread that hangs in a database or on a disk does not keep the
/// process from ending.
fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(work);
    runtime.shutdown_timeout(LAST_WAIT);
    outcome
}
