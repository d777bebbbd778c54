//! Loading a web configuration.

use std::path::Path;

use super::check;
use super::model::WebConfig;
use super::raw::RawWeb;
use crate::environment::Environment;
use crate::yaml::{self, ConfigError, InvalidFile, Setting};

/// Reads and checks a web configuration file, and reads the certificate and the key that it names.
///
/// # Errors
///
/// When the file cannot be read, or when anything in it is wrong.
pub fn load(path: &Path, env: &Environment) -> Result<WebConfig, ConfigError> {
    let yaml = yaml::read_file(path, env)?;
    parse(&yaml, path, env)
}

/// Checks the text of a web configuration file, and reads the certificate and the key that it names.
///
/// `file_name` is the name that errors show; relative paths in the text start from its directory.
///
/// # Errors
///
/// When anything in the text is wrong, or the certificate or the key cannot be used.
pub fn parse(yaml: &str, file_name: &Path, env: &Environment) -> Result<WebConfig, ConfigError> {
    let invalid = |problems| ConfigError::Invalid(vec![InvalidFile { file: file_name.to_owned(), problems }]);
    if is_blank(yaml) {
        return Ok(WebConfig::default());
    }
    let raw = yaml::read::<Setting<RawWeb>>(yaml).map_err(|problem| invalid(vec![problem]))?;
    let raw = raw.value.given().unwrap_or_default();
    check::web_config(raw, file_name, yaml, env).map_err(|invalid| ConfigError::Invalid(vec![invalid]))
}

/// Whether there are only comments: such a file sets nothing, as in the toolkit.
fn is_blank(yaml: &str) -> bool {
    let lines = yaml.trim_start_matches('\u{feff}').lines().map(str::trim);
    lines.into_iter().all(|line| line.is_empty() || line.starts_with('#') || line == "---")
}
