//! The command line: options, sub-commands and exit codes.

mod arguments;
mod check;
mod demo;
mod log;
mod manual;
mod missing;
mod options;
mod serve;
mod service;
mod sql;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, CommandFactory as _, Parser, Subcommand};

pub use log::{LogFormat, LogLevel};
use options::{ConfigOptions, LogOptions, WebConfigOptions, WebOptions};

use crate::config::duration;
use crate::demo::Incident;

/// Prometheus metrics from the work-queue and run-log tables of SQL Server.
///
/// Samples the tables named in the configuration at an interval, with the statements that `sql` prints,
/// and serves the result on /metrics. Without a sub-command it serves.
#[derive(Debug, Parser)]
#[command(
    name = "sqlqueue-exporter",
    version = VERSION,
    args_conflicts_with_subcommands = true,
    after_help = "Try it now, without a database:  sqlqueue-exporter demo\n\
                  Before you deploy:               sqlqueue-exporter check --connect --config.file=FILE\n\n\
                  Exits with 0 when all is well (also after a request to stop), with 1 when the configuration,\n\
                  a database or the start fails, and with 2 when the command line is wrong."
)]
pub struct Cli {
    #[command(flatten)]
    serve: ServeArgs,
    #[command(subcommand)]
    command: Option<Command>,
}

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (commit ", env!("SQLQUEUE_EXPORTER_COMMIT"), ")");

#[derive(Debug, Subcommand)]
enum Command {
    /// Sample the tables and serve the metrics (the default).
    Serve(ServeArgs),
    /// Find the mistakes in a configuration before it is deployed.
    ///
    /// Reads the configuration and reports every mistake with its file, line and key. With --connect it
    /// also logs in to each database, takes one sample of each target and looks for the indexes that the
    /// statements need. Exits with 1 when it finds a mistake.
    Check(CheckArgs),
    /// Print every statement that a configuration would run, ready to paste into a query window.
    Sql(ConfigOptions),
    /// Print the shell completions, for example
    /// `sqlqueue-exporter completions bash >/etc/bash_completion.d/sqlqueue-exporter`.
    Completions {
        /// The shell.
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Print a manual page: `sqlqueue-exporter man check | man -l -`.
    Man {
        /// The sub-command to describe; without one, the whole program.
        command: Option<String>,
    },
    /// Run a demo: the exporter on an embedded database with simulated workers and notification runs.
    Demo(DemoArgs),
}

#[derive(Debug, Args)]
struct ServeArgs {
    #[command(flatten)]
    config: ConfigOptions,
    #[command(flatten)]
    web: WebOptions,
    #[command(flatten)]
    web_config: WebConfigOptions,

    /// Serve on the sockets that systemd opened (socket activation) instead of opening its own.
    #[arg(long = "web.systemd-socket", conflicts_with = "listen_addresses")]
    systemd_socket: bool,

    /// Let a POST to /-/reload reload the configuration, as SIGHUP does.
    ///
    /// Anybody who reaches the port can then reload, so it is off by default, as in Prometheus.
    #[arg(long = "web.enable-lifecycle")]
    enable_lifecycle: bool,

    #[command(flatten)]
    log: LogOptions,
}

#[derive(Debug, Args)]
struct CheckArgs {
    #[command(flatten)]
    config: ConfigOptions,
    #[command(flatten)]
    web_config: WebConfigOptions,

    /// Also log in, take one sample of each target and look for the indexes.
    #[arg(long)]
    connect: bool,

    #[command(flatten)]
    log: LogOptions,
}

#[derive(Debug, Args)]
struct DemoArgs {
    /// The seed of everything random in the demo: the same seed makes the same decisions.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// How fast time passes: 2 halves every pause, duration, lease and objective. Between 0.1 and 100.
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR")]
    speed: f64,

    /// Cause this incident, and show what to look at.
    #[arg(long, value_name = "NAME", value_enum)]
    incident: Option<Incident>,

    /// How long all goes well before the incident, in real time. Default: 30s at speed 1, or longer where
    /// the incident needs a past.
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, requires = "incident")]
    incident_after: Option<Duration>,

    /// How long the incident lasts, in real time. Default: until the demo is stopped.
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, requires = "incident")]
    incident_for: Option<Duration>,

    /// Keep the files in this folder instead of a temporary one.
    ///
    /// They are the database (demo.sqlite), the exporter's configuration (sqlqueue-exporter.yaml) and its
    /// state (state.json). The demo continues a database that it finds there. It refuses to start where a
    /// sqlqueue-exporter.yaml stands that no demo wrote.
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,

    #[command(flatten)]
    web: WebOptions,
    #[command(flatten)]
    web_config: WebConfigOptions,
    #[command(flatten)]
    log: LogOptions,
}

/// Parses the command line and runs the sub-command.
pub fn run() -> ExitCode {
    let Cli { serve, command } =
        Cli::parse_from(arguments::subcommand_first(std::env::args_os(), &Cli::command()));
    let command = command.unwrap_or(Command::Serve(serve));
    if let Some(log) = command.log() {
        log::start(log.log_level, log.log_format);
    }
    let outcome = match command {
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Sql(options) => sql::run(&options),
        Command::Demo(arguments) => demo::run(arguments),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man { command } => manual::page(command.as_deref()),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            // Standard error may be closed; then nobody is left to read this.
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

impl Command {
    /// The log options; sub-commands that only print have no log.
    const fn log(&self) -> Option<&LogOptions> {
        match self {
            Self::Serve(arguments) => Some(&arguments.log),
            Self::Check(arguments) => Some(&arguments.log),
            Self::Demo(arguments) => Some(&arguments.log),
            Self::Sql(_) | Self::Completions { .. } | Self::Man { .. } => None,
        }
    }
}

/// How long requests in flight may take to finish once the process is asked to stop; together with
/// [`LAST_WAIT`] it exits within 5 s.
const GRACE: Duration = Duration::from_secs(3);
const LAST_WAIT: Duration = Duration::from_secs(1);

/// Why a sub-command failed: a message for the user.
type Failure = Box<dyn std::error::Error>;

/// Writes to standard output. A reader that closes it early (`| head`) is not an error.
fn print(text: &str) -> Result<(), Failure> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Runs a future to its end. A thread that hangs in a database or on a disk does not keep the process
/// from exiting.
fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(work);
    runtime.shutdown_timeout(LAST_WAIT);
    outcome
}
