//! The log: written to standard error, in the formats of Prometheus' own programs.

use clap::ValueEnum;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, filter::Targets};

/// How much to log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum LogLevel {
    /// Everything from this program, and warnings from its libraries.
    Debug,
    /// Events of interest to an operator.
    #[default]
    Info,
    /// Failures that the program recovers from.
    Warn,
    /// Failures that it cannot recover from.
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

/// Starts the log, once per process: a second call changes nothing.
pub(super) fn start(level: LogLevel, format: LogFormat) {
    let level = match level {
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Error => LevelFilter::ERROR,
    };
    let layer = match format {
        // Without the names of modules and spans: each key appears once a line, and `target` is the
        // sampler's name for its table.
        LogFormat::Logfmt => tracing_logfmt::builder()
            .with_target(false)
            .with_span_name(false)
            .with_span_path(false)
            .layer()
            .with_writer(std::io::stderr)
            .boxed(),
        LogFormat::Json => tracing_subscriber::fmt::layer().json().with_writer(std::io::stderr).boxed(),
    };
    // Fails when a log was started before, which is just as good.
    let _ = tracing_subscriber::registry().with(layer.with_filter(filter(level))).try_init();
}

/// Which events reach the log.
fn filter(level: LevelFilter) -> Targets {
    Targets::new()
        // Libraries log warnings and errors only, whatever the level.
        .with_default(level.min(LevelFilter::WARN))
        .with_target("sqlqueue_exporter", level)
        // The driver logs every error that a server sends and also returns it; the sampler logs it once,
        // with its target. The driver's trace shows the login packet.
        .with_target("tiberius", LevelFilter::OFF)
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn the_driver_is_never_heard_and_other_libraries_from_warnings_on() {
        let filter = filter(LevelFilter::DEBUG);
        assert!(!filter.would_enable("tiberius::tds::stream::token", &Level::ERROR));
        assert!(!filter.would_enable("tiberius::tds::codec::login", &Level::TRACE));
        assert!(filter.would_enable("hyper::proto", &Level::WARN));
        assert!(!filter.would_enable("hyper::proto", &Level::INFO));
        assert!(filter.would_enable("sqlqueue_exporter::sampler", &Level::DEBUG));
    }

    #[test]
    fn a_stricter_level_holds_for_everything() {
        let filter = filter(LevelFilter::ERROR);
        assert!(!filter.would_enable("hyper::proto", &Level::WARN));
        assert!(!filter.would_enable("sqlqueue_exporter::sampler", &Level::WARN));
    }
}
