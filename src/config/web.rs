//! The file of `--web.config.file`: how the exporter's own pages are protected.
//!
//! Its format is that of Prometheus' exporter-toolkit, so that one file serves all exporters of a
//! machine. What this exporter does not do is refused by name: a file that asks for client
//! certificates must not be served without them.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio_rustls::rustls::ServerConfig;

use super::error::{ConfigError, InvalidFile};
use super::setting::{Entries, Field, Setting};
use super::{Environment, Secret, files, validate, yaml};

/// How the exporter's own pages are protected. The default is not at all.
#[derive(Clone, Default)]
pub struct WebConfig {
    /// Serve over TLS with this certificate.
    pub tls: Option<Arc<ServerConfig>>,
    /// Who may see the pages; everybody when there are none.
    pub users: Vec<WebUser>,
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
        f.debug_struct("WebConfig").field("tls", &self.tls.is_some()).field("users", &self.users).finish()
    }
}

/// Reads and checks a web configuration file, and reads the certificate and the key that it names.
///
/// # Errors
///
/// When the file cannot be read, or when anything in it is wrong.
pub fn load_web(path: &Path, env: &Environment) -> Result<WebConfig, ConfigError> {
    let yaml = files::read(path)?;
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
    validate::web(raw, file_name, env).map_err(|findings| invalid(validate::problems(&findings, yaml)))
}

/// Whether there is nothing but comments. To the toolkit such a file asks for nothing.
fn says_nothing(yaml: &str) -> bool {
    let lines = yaml.trim_start_matches('\u{feff}').lines().map(str::trim);
    lines.into_iter().all(|line| line.is_empty() || line.starts_with('#') || line == "---")
}

/// A key of the toolkit's format that this exporter does not know how to obey.
pub(super) type Unsupported = Field<IgnoredAny>;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawWeb {
    pub(super) tls_server_config: Field<RawTls>,
    pub(super) basic_auth_users: Field<Entries<String, Secret>>,
    pub(super) http_server_config: Unsupported,
    pub(super) rate_limit: Unsupported,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawTls {
    pub(super) cert_file: Field<String>,
    pub(super) key_file: Field<String>,
    pub(super) cert: Field<String>,
    pub(super) key: Field<Secret>,
    pub(super) min_version: Field<String>,
    pub(super) max_version: Unsupported,
    pub(super) client_auth_type: Unsupported,
    pub(super) client_ca_file: Unsupported,
    pub(super) client_ca: Unsupported,
    pub(super) client_allowed_sans: Unsupported,
    pub(super) cipher_suites: Unsupported,
    pub(super) prefer_server_cipher_suites: Unsupported,
    pub(super) curve_preferences: Unsupported,
}
