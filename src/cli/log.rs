//! The log: on standard error, in the formats that Prometheus programs write.

use clap::ValueEnum;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, filter::Targets};

/// How much to log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum LogLevel {
    /// Everything this program has to say; of its libraries, warnings.
    Debug,
    /// What an operator may want to know.
    #[default]
    Info,
    /// What went wrong.
    Warn,
    /// What this program cannot recover from.
    Error,
}

/// How to write the log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// key=value pairs.
    #[default]
    Logfmt,
    /// One JSON object a line.
    Json,
}

/// Starts the log. Once a process: a second call changes nothing.
pub(super) fn start(level: LogLevel, format: LogFormat) {
    let level = match level {
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Error => LevelFilter::ERROR,
    };
    // The libraries never speak below WARN, whatever the level: a TDS driver's own trace shows the
    // login packet.
    let filter =
        Targets::new().with_default(level.min(LevelFilter::WARN)).with_target("sqlqueue_exporter", level);
    let layer = match format {
        LogFormat::Logfmt => tracing_logfmt::builder().layer().with_writer(std::io::stderr).boxed(),
        LogFormat::Json => tracing_subscriber::fmt::layer().json().with_writer(std::io::stderr).boxed(),
    };
    // Fails when a log was started before, which is as good.
    let _ = tracing_subscriber::registry().with(layer.with_filter(filter)).try_init();
}
