//! The web server: metrics, health checks and HTML pages over HTTP/1.1 or HTTP/2, with optional TLS and
//! logins.
//!
//! The server knows nothing about databases or the state behind a page. It asks [`Pages`], and does
//! everything between that answer and the socket: negotiation, compression, limits and graceful
//! shutdown. [`page`] renders the HTML pages from the state.

mod auth;
mod bind;
pub mod config;
mod connection;
mod connections;
mod discovery;
mod limiter;
mod negotiate;
pub mod page;
mod response;
mod routes;
mod security;
mod server;
#[cfg(test)]
mod tests;
mod write_limit;

use std::fmt;
use std::pin::Pin;

use self::page::PageError;

pub use bind::{BindError, bind};
pub use routes::{TelemetryPath, TelemetryPathError};
pub use security::Security;
pub use server::{Options, serve};

/// The content of the pages, implemented by the owner of the state.
pub trait Pages: Send + Sync + 'static {
    /// The metrics page in `format`. Runs on a thread that may block briefly.
    ///
    /// # Errors
    /// When the page cannot be encoded; the client gets an error response, and the error is logged.
    fn metrics(&self, format: Format) -> Result<Vec<u8>, fmt::Error>;

    /// The names of the sources, each of which has a [`Pages::probe`].
    fn sources(&self) -> Vec<String> {
        Vec::new()
    }

    /// The metrics of one source; empty when there is no source of this name.
    /// Runs on a thread that may block briefly.
    ///
    /// # Errors
    /// When the page cannot be encoded; the client gets an error response, and the error is logged.
    fn probe(&self, _source: &str, _format: Format) -> Result<Vec<u8>, fmt::Error> {
        Ok(Vec::new())
    }

    /// Whether the exporter is ready to be scraped. Runs on the reactor: it must not block.
    ///
    /// # Errors
    /// Why it is not ready, as one line for the client.
    fn ready(&self) -> Result<(), String>;

    /// Reloads the configuration. By default this is not allowed.
    fn reload(&self) -> Pin<Box<dyn Future<Output = Reloaded> + Send>> {
        Box::pin(std::future::ready(Reloaded::NotAllowed))
    }

    /// An HTML page; see [`page`]. Runs on a thread that may block.
    ///
    /// # Errors
    /// When the page cannot be rendered; the client gets an error response, and the error is logged.
    fn page(&self, page: Page) -> Result<String, PageError>;
}

/// The HTML pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Page {
    /// The state of sources and targets now.
    Overview,
    /// The configuration in force.
    Configuration,
}

/// The outcome of a request to reload the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reloaded {
    /// The new configuration is in force.
    Done,
    /// It is wrong, and the previous one stays in force. Contains the reason, for the client.
    Refused(String),
    /// Reloading over HTTP is not allowed.
    NotAllowed,
}

/// The formats of the metrics page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// The Prometheus text format, version 0.0.4, which every client can read.
    PrometheusText,
    /// OpenMetrics text, version 1.0.0: only for clients that ask for it by name.
    OpenMetrics,
    /// Prometheus' protobuf messages, each after its length: the only format with native histograms.
    /// Only for clients that ask for it by name.
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
