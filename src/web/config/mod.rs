//! The web configuration: the file of `--web.config.file`.
//!
//! Its format is that of Prometheus' exporter-toolkit, so that one file serves all exporters of a
//! machine. What this exporter does not support is refused by name: a file that asks for more
//! protection must not be served with less.

mod check;
mod ciphers;
mod client_auth;
mod client_certificates;
mod file;
mod http;
mod load;
mod model;
mod pem;
mod raw;
#[cfg(test)]
mod tests;
mod tls;

pub use file::WebConfigFile;
pub use load::{load, parse};
pub use model::{RateLimit, WebConfig, WebUser};
