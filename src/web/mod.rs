//! The HTTP side: the metrics page, the two probes and the pages for people, over HTTP/1.1 or HTTP/2,
//! and over TLS and behind a login if so configured.
//!
//! The server knows nothing of databases or of the state behind a page. It asks [`Pages`] and
//! takes care of everything between that answer and the socket: negotiation, compression,
//! limits and an orderly end. [`page`] makes the pages for people from the state.

mod auth;
mod bind;
mod connection;
mod discovery;
mod limiter;
mod negotiate;
pub mod page;
mod places;
mod protection;
mod routes;
mod server;
#[cfg(test)]
mod tests;
mod tls;
mod write_limit;

use std::fmt;
use std::pin::Pin;

use self::page::PageError;

pub use bind::{BindError, bind};
pub use protection::Guard;
pub use routes::{TelemetryPath, TelemetryPathError};
pub use server::{Options, serve};

/// What there is to show. Implemented by whoever owns the state.
pub trait Pages: Send + Sync + 'static {
    /// The metrics page in `format`. Runs on a thread that may block for a moment.
    ///
    /// # Errors
    ///
    /// When the page could not be encoded; the client is told so, and the error is logged.
    fn metrics(&self, format: Format) -> Result<Vec<u8>, fmt::Error>;

    /// The names of the databases, each of which [`Pages::probe`] has a page for.
    fn sources(&self) -> Vec<String> {
        Vec::new()
    }

    /// The part of the metrics page that is about one source; empty when there is none of this name.
    /// Runs on a thread that may block for a moment.
    ///
    /// # Errors
    ///
    /// When the page could not be encoded; the client is told so, and the error is logged.
    fn probe(&self, _source: &str, _format: Format) -> Result<Vec<u8>, fmt::Error> {
        Ok(Vec::new())
    }

    /// Whether the exporter is ready to be scraped. Runs on the reactor: it must not block.
    ///
    /// # Errors
    ///
    /// The reason why it is not ready, one line, for the client to read.
    fn ready(&self) -> Result<(), String>;

    /// Takes over the configuration as it is now. By default nobody may ask for that.
    fn reload(&self) -> Pin<Box<dyn Future<Output = Reloaded> + Send>> {
        Box::pin(std::future::ready(Reloaded::NotAllowed))
    }

    /// A page for people, HTML; see [`page`]. Runs on a thread that may block.
    ///
    /// # Errors
    ///
    /// When the page could not be rendered; the client is told so, and the error is logged.
    fn page(&self, page: Page) -> Result<String, PageError>;
}

/// The pages for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Page {
    /// What is known now.
    Overview,
    /// The configuration in force.
    Configuration,
}

/// What came of a request to reload the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reloaded {
    /// It is in force.
    Done,
    /// It is wrong, and the one before stays in force; the reason, for the client to read.
    Refused(String),
    /// Nobody may ask for it over HTTP.
    NotAllowed,
}

/// The formats a metrics page can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// The Prometheus text format, version 0.0.4: what everything can read.
    PrometheusText,
    /// OpenMetrics text, version 1.0.0: given only to a client that names it.
    OpenMetrics,
    /// Prometheus' protobuf messages, each after its length: the only format with native histograms.
    /// Given only to a client that names it.
    Protobuf,
}

impl Format {
    /// The value of the `Content-Type` header.
    #[must_use]
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::PrometheusText => prometheus_client::encoding::prometheus_text::CONTENT_TYPE,
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Protobuf => {
                "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
            }
        }
    }
}
