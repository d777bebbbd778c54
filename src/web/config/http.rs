//! Response headers and the rate limit: `http_server_config` and `rate_limit`.

use std::time::Duration;

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};

use super::model::RateLimit;
use super::names::named;
use super::raw::RawRateLimit;
use crate::yaml::{Bounds, Checker, Entries, Field, Located as _, suggest};

/// The headers that the toolkit lets a file set, with the allowed values; any value if none are listed.
const HEADERS: [(&str, &[&str]); 5] = [
    ("Content-Security-Policy", &[]),
    ("Strict-Transport-Security", &[]),
    ("X-Content-Type-Options", &["nosniff"]),
    ("X-Frame-Options", &["deny", "sameorigin"]),
    ("X-XSS-Protection", &[]),
];

const INTERVALS: Bounds = Bounds { least: Duration::ZERO, most: Duration::from_secs(3600) };
const BURSTS: std::ops::RangeInclusive<u32> = 1..=1_000_000;

/// The headers added to every response.
pub(super) fn headers(checker: &mut Checker<'_>, field: Field<Entries<String, String>>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let entries = field.given().map(|entries| entries.value.0).unwrap_or_default();
    for (name, value) in entries {
        let Some((_, allowed)) = HEADERS.iter().find(|(known, _)| *known == name.value) else {
            let known = HEADERS.map(|(known, _)| known);
            let remedy = suggest::remedy(&name.value, &known, "the headers that can be set are");
            checker.report_key(name.location(), format!("cannot be set; {remedy}"));
            continue;
        };
        if value.value.is_empty() {
            continue;
        }
        let allowed: Vec<(&str, ())> = allowed.iter().map(|value| (*value, ())).collect();
        if !allowed.is_empty() && named(checker, &value, &allowed, &[]).is_none() {
            continue;
        }
        match (HeaderName::from_bytes(name.value.as_bytes()), HeaderValue::from_str(&value.value)) {
            (Ok(name), Ok(value)) => _ = headers.insert(name, value),
            _ => checker.report(value.location(), "has a character that no header can have"),
        }
    }
    headers
}

/// The limit on answered requests; `None` for no limit.
pub(super) fn rate_limit(checker: &mut Checker<'_>, field: Field<RawRateLimit>) -> Option<RateLimit> {
    let raw = field.given()?;
    let at = raw.location();
    // A bare 0 is how the toolkit's documentation switches the limit off.
    let interval = match raw.value.interval {
        Field::Set(value) if value.value == "0" => return None,
        interval => checker.duration(&interval.given()?, INTERVALS)?,
    };
    if interval.is_zero() {
        return None;
    }
    let remedy = "it is how many requests may come at once; without it none would be answered";
    let burst = checker.required(raw.value.burst, at, "burst", remedy)?;
    let burst = checker.number(&burst, *BURSTS.start(), *BURSTS.end())?;
    Some(RateLimit { interval, burst })
}
