//! The file of `--web.config.file`: how the exporter's own pages are protected.
//!
//! Its format is that of Prometheus' exporter-toolkit, so that one file serves all exporters of a
//! machine. What this exporter cannot do is refused by name: a file that asks for more protection
//! must not be served with less.

mod client_certificates;
mod file;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::yaml::Spanned;
use hyper::HeaderMap;
use serde::Deserialize;
use tokio_rustls::rustls::ServerConfig;

pub(super) use client_certificates::{AllowedNames, AnyCertificate};
pub use file::WebConfigFile;

use super::validate;
use crate::environment::Environment;
use crate::secret::Secret;
use crate::yaml;
use crate::yaml::{ConfigError, InvalidFile};
use crate::yaml::{Entries, Field, Setting};

/// How the exporter's own pages are protected. The default is not at all.
#[derive(Clone, Default)]
pub struct WebConfig {
    /// Serve over TLS as this says: certificate, versions, protocols, and whom to ask for a
    /// certificate in turn.
    pub tls: Option<Arc<ServerConfig>>,
    /// Who may see the pages; everybody when there are none.
    pub users: Vec<WebUser>,
    /// Headers that every response has.
    pub headers: HeaderMap,
    /// How many requests are answered; all of them when there is no limit.
    pub rate_limit: Option<RateLimit>,
}

impl WebConfig {
    /// Whether anybody at all may see the pages, and whoever listens on the way.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.tls.is_none() && self.users.is_empty()
    }
}

/// How many requests are answered: `burst` at once, and one more with each `interval`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimit {
    /// The time in which one request may be made, in the long run; above 0.
    pub interval: Duration,
    /// How many requests may come at once after a while without; at least 1.
    pub burst: u32,
}

/// Somebody who may see the pages.
#[derive(Debug, Clone)]
pub struct WebUser {
    /// The name, as it is given at login.
    pub name: String,
    /// The bcrypt hash of the password.
    pub hash: Secret,
}

impl fmt::Debug for WebConfig {
    // What rustls shows of its configuration is not for this program to vouch for.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebConfig")
            .field("tls", &self.tls.is_some())
            .field("users", &self.users)
            .field("headers", &self.headers)
            .field("rate_limit", &self.rate_limit)
            .finish()
    }
}

/// Reads and checks a web configuration file, and reads the certificate and the key that it names.
///
/// # Errors
///
/// When the file cannot be read, or when anything in it is wrong.
pub fn load_web(path: &Path, env: &Environment) -> Result<WebConfig, ConfigError> {
    let yaml = yaml::read_file(path, env)?;
    parse_web(&yaml, path, env)
}

/// Checks the text of a web configuration file, and reads the certificate and the key that it names.
///
/// `file_name` is the name that errors show; relative paths in the text start from its directory.
///
/// # Errors
///
/// When anything in the text is wrong, or the certificate or the key cannot be used.
pub fn parse_web(yaml: &str, file_name: &Path, env: &Environment) -> Result<WebConfig, ConfigError> {
    let invalid = |problems| ConfigError::Invalid(vec![InvalidFile { file: file_name.to_owned(), problems }]);
    if says_nothing(yaml) {
        return Ok(WebConfig::default());
    }
    let raw = yaml::read::<Setting<RawWeb>>(yaml).map_err(|problem| invalid(vec![problem]))?;
    let raw = raw.value.given().unwrap_or_default();
    validate::web(raw, file_name, yaml, env).map_err(|invalid| ConfigError::Invalid(vec![invalid]))
}

/// Whether there is nothing but comments. To the toolkit such a file asks for nothing.
fn says_nothing(yaml: &str) -> bool {
    let lines = yaml.trim_start_matches('\u{feff}').lines().map(str::trim);
    lines.into_iter().all(|line| line.is_empty() || line.starts_with('#') || line == "---")
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawWeb {
    pub(super) tls_server_config: Field<RawTls>,
    pub(super) http_server_config: Field<RawHttp>,
    pub(super) basic_auth_users: Field<Entries<String, Secret>>,
    pub(super) rate_limit: Field<RawRateLimit>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawTls {
    pub(super) cert_file: Field<String>,
    pub(super) key_file: Field<String>,
    pub(super) cert: Field<String>,
    pub(super) key: Field<Secret>,
    pub(super) client_auth_type: Field<String>,
    pub(super) client_ca_file: Field<String>,
    pub(super) client_ca: Field<String>,
    pub(super) client_allowed_sans: Field<Vec<Spanned<String>>>,
    pub(super) min_version: Field<String>,
    pub(super) max_version: Field<String>,
    pub(super) cipher_suites: Field<Vec<Spanned<String>>>,
    pub(super) prefer_server_cipher_suites: Field<bool>,
    pub(super) curve_preferences: Field<Vec<Spanned<String>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawHttp {
    pub(super) http2: Field<bool>,
    pub(super) headers: Field<Entries<String, String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawRateLimit {
    pub(super) interval: Field<String>,
    pub(super) burst: Field<u32>,
}
