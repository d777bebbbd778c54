//! The command line.

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
/// Samples the tables named in the configuration on an interval, with statements that `sql` prints,
/// and serves the result on /metrics. Without a sub-command it serves.
#[derive(Debug, Parser)]
#[command(
    name = "sqlqueue-exporter",
    version = VERSION,
    args_conflicts_with_subcommands = true,
    after_help = "Try it now, without a database:  sqlqueue-exporter demo\n\
                  Before you deploy:               sqlqueue-exporter check --connect --config.file=FILE\n\n\
                  Ends with 0 when all is well (also when it was told to stop), with 1 when something is wrong\n\
                  with the configuration, a database or the start, and with 2 when the command line is wrong."
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
    /// Say what is wrong with a configuration before it is deployed.
    ///
    /// Reads the configuration and reports every mistake with file, line and key. With --connect it
    /// also logs in to each database, takes one sample of each target and looks for the indexes
    /// that the statements seek. Exits with 1 when something is wrong.
    Check(CheckArgs),
    /// Print every statement that a configuration would run, ready to paste into a query window.
    Sql(ConfigOptions),
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
struct ServeArgs {
    #[command(flatten)]
    config: ConfigOptions,
    #[command(flatten)]
    web: WebOptions,
    #[command(flatten)]
    web_config: WebConfigOptions,

    /// Serve on the sockets that systemd opened (socket activation) instead of opening any.
    #[arg(long = "web.systemd-socket", conflicts_with = "listen_addresses")]
    systemd_socket: bool,

    /// Let a POST to /-/reload make the exporter read its configuration again, as SIGHUP does.
    ///
    /// Whoever reaches the port can then do so; it is off unless asked for, as in Prometheus.
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

    /// Keep the files in this folder instead of a temporary one.
    ///
    /// They are the database (demo.sqlite), the exporter's configuration (sqlqueue-exporter.yaml) and its
    /// state (state.json). A database that is there is continued; a configuration that no demo wrote is
    /// left alone, and the demo does not start.
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,

    #[command(flatten)]
    web: WebOptions,
    #[command(flatten)]
    web_config: WebConfigOptions,
    #[command(flatten)]
    log: LogOptions,
}

/// Parses the command line and does what it says.
pub fn run() -> ExitCode {
    let Cli { serve, command } = Cli::parse_from(arguments::arranged(std::env::args_os(), &Cli::command()));
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
            // Standard error may be closed; there is nobody left to tell.
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

impl Command {
    /// How to log; nothing of the others is worth a log.
    const fn log(&self) -> Option<&LogOptions> {
        match self {
            Self::Serve(arguments) => Some(&arguments.log),
            Self::Check(arguments) => Some(&arguments.log),
            Self::Demo(arguments) => Some(&arguments.log),
            Self::Sql(_) | Self::Completions { .. } | Self::Man { .. } => None,
        }
    }
}

/// How long requests in flight may take to finish when the process is told to stop; with
/// [`LAST_WAIT`] it is gone within 5 s.
const GRACE: Duration = Duration::from_secs(3);
const LAST_WAIT: Duration = Duration::from_secs(1);

/// What ends a sub-command: a message for a person.
type Failure = Box<dyn std::error::Error>;

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
