//! Loading and checking a web configuration.

use std::collections::BTreeMap;
use std::path::Path;

use bcrypt::HashParts;

use super::model::WebConfig;
use super::raw::RawWeb;
use super::{http, tls};
use crate::environment::Environment;
use crate::secret::Secret;
use crate::yaml::{self, Checker, ConfigError, Entries, InvalidFile, Located as _, Setting, Spanned};

/// The costs that bcrypt is defined for.
const COSTS: std::ops::RangeInclusive<u32> = 4..=31;

/// Reads and checks a web configuration file, and reads the certificate and the key that it names.
///
/// # Errors
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
/// When anything in the text is wrong, or the certificate or the key cannot be used.
pub fn parse(yaml: &str, file_name: &Path, env: &Environment) -> Result<WebConfig, ConfigError> {
    let invalid = |problems| ConfigError::Invalid(vec![InvalidFile { file: file_name.to_owned(), problems }]);
    if is_blank(yaml) {
        return Ok(WebConfig::default());
    }
    let raw = yaml::read::<Setting<RawWeb>>(yaml).map_err(|problem| invalid(vec![problem]))?;
    let raw = raw.value.given().unwrap_or_default();
    let mut checker = Checker::new(env, file_name);
    let http = raw.http_server_config.given().map(|raw| raw.value).unwrap_or_default();
    let http2 = http.http2.given().is_none_or(|given| given.value);
    let headers = http::headers(&mut checker, http.headers);
    let tls = raw.tls_server_config.given().and_then(|raw| {
        let at = raw.location();
        tls::tls(&mut checker, raw.value, at, http2)
    });
    let users = raw.basic_auth_users.given().map(|users| self::users(&mut checker, users.value));
    let rate_limit = http::rate_limit(&mut checker, raw.rate_limit);
    let config = WebConfig { tls, users: users.unwrap_or_default(), headers, rate_limit };
    checker.finish(config, yaml).map_err(|invalid| ConfigError::Invalid(vec![invalid]))
}

/// Whether there are only comments: such a file sets nothing, as in the toolkit.
fn is_blank(yaml: &str) -> bool {
    let lines = yaml.trim_start_matches('\u{feff}').lines().map(str::trim);
    lines.into_iter().all(|line| line.is_empty() || line.starts_with('#') || line == "---")
}

fn users(checker: &mut Checker<'_>, Entries(entries): Entries<String, Secret>) -> BTreeMap<String, Secret> {
    entries.into_iter().filter_map(|(name, hash)| user(checker, name, hash)).collect()
}

fn user(checker: &mut Checker<'_>, name: Spanned<String>, hash: Spanned<Secret>) -> Option<(String, Secret)> {
    if name.value.contains(':') || name.value.chars().any(char::is_control) {
        let message = "a user name with a colon or a control character cannot log in; rename it";
        checker.report_key(name.location(), message);
        return None;
    }
    // The value may be the password itself, so it is not shown.
    let message = match hash.value.expose().parse::<HashParts>() {
        Ok(parts) if COSTS.contains(&parts.get_cost()) => return Some((name.value, hash.value)),
        Ok(parts) => {
            let (least, most) = (COSTS.start(), COSTS.end());
            format!("a bcrypt cost is between {least} and {most}, not {}", parts.get_cost())
        }
        Err(_) => "is not a bcrypt hash; make one with `htpasswd -nBC 10 \"\" | tr -d ':\\n'`".to_owned(),
    };
    checker.report(hash.location(), message);
    None
}
