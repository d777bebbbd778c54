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
    let layer = match format {
        // Without the names of modules and spans: a line has each key once, and `target` is what
        // the sampler calls its table.
        LogFormat::Logfmt => tracing_logfmt::builder()
            .with_target(false)
            .with_span_name(false)
            .with_span_path(false)
            .layer()
            .with_writer(std::io::stderr)
            .boxed(),
        LogFormat::Json => tracing_subscriber::fmt::layer().json().with_writer(std::io::stderr).boxed(),
    };
    // Fails when a log was started before, which is as good.
    let _ = tracing_subscriber::registry().with(layer.with_filter(filter(level))).try_init();
}

/// What of all that is said reaches the log.
fn filter(level: LevelFilter) -> Targets {
    Targets::new()
        // The libraries never speak below WARN, whatever the level.
        .with_default(level.min(LevelFilter::WARN))
        .with_target("sqlqueue_exporter", level)
        // The driver logs every error that a server sends, and hands it over as a value too, which
        // the sampler logs once and with its target. Its trace shows the login packet.
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
