//! Web configuration: the file of `--web.config.file`.
//!
//! The format is that of Prometheus' exporter-toolkit, so one file can serve all exporters on a machine.
//! Unsupported settings are refused by name: a file that asks for more protection must not be served with
//! less.

mod ciphers;
mod client_auth;
mod client_certificates;
mod file;
mod http;
mod load;
mod model;
mod names;
mod pem;
mod raw;
#[cfg(test)]
mod tests;
mod tls;

pub use file::WebConfigFile;
pub use load::{load, parse};
pub use model::{RateLimit, WebConfig};
