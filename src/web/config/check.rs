//! Checks of the web configuration.

use std::path::Path;

use crate::yaml::Spanned;
use bcrypt::HashParts;

use super::model::{WebConfig, WebUser};
use super::raw::RawWeb;
use super::{http, tls};
use crate::environment::Environment;
use crate::secret::Secret;
use crate::yaml::{Checker, InvalidFile};
use crate::yaml::{Entries, Located as _};

/// The costs that bcrypt is defined for.
const COSTS: std::ops::RangeInclusive<u32> = 4..=31;

/// Checks a web configuration.
///
/// # Errors
///
/// All mistakes, at least one.
pub(super) fn web_config(
    raw: RawWeb,
    file: &Path,
    yaml: &str,
    environment: &Environment,
) -> Result<WebConfig, InvalidFile> {
    let mut checker = Checker::new(environment, file);
    let http = raw.http_server_config.given().map(|raw| raw.value).unwrap_or_default();
    let http2 = http.http2.given().is_none_or(|given| given.value);
    let headers = http::headers(&mut checker, http.headers);
    let tls = raw.tls_server_config.given().and_then(|raw| {
        let at = raw.location();
        tls::tls(&mut checker, raw.value, at, http2)
    });
    let users = raw.basic_auth_users.given().map(|users| self::users(&mut checker, users.value));
    let rate_limit = http::rate_limit(&mut checker, raw.rate_limit);
    checker.finish(WebConfig { tls, users: users.unwrap_or_default(), headers, rate_limit }, yaml)
}

fn users(checker: &mut Checker<'_>, entries: Entries<String, Secret>) -> Vec<WebUser> {
    let Entries(entries) = entries;
    entries.into_iter().filter_map(|(name, hash)| user(checker, name, hash)).collect()
}

fn user(checker: &mut Checker<'_>, name: Spanned<String>, hash: Spanned<Secret>) -> Option<WebUser> {
    if name.value.contains(':') || name.value.chars().any(char::is_control) {
        let message = "a user name with a colon or a control character cannot log in; rename it";
        checker.report_key(name.location(), message);
        return None;
    }
    // The value may be the password itself, so it is not shown.
    match hash.value.expose().parse::<HashParts>() {
        Ok(parts) if COSTS.contains(&parts.get_cost()) => {
            Some(WebUser { name: name.value, hash: hash.value })
        }
        Ok(parts) => {
            let (least, most) = (COSTS.start(), COSTS.end());
            let message = format!("a bcrypt cost is between {least} and {most}, not {}", parts.get_cost());
            checker.report(hash.location(), message);
            None
        }
        Err(_) => {
            checker.report(
                hash.location(),
                "is not a bcrypt hash; make one with `htpasswd -nBC 10 \"\" | tr -d ':\\n'`",
            );
            None
        }
    }
}
