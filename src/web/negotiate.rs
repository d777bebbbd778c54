//! Content negotiation: the format and the encoding of a response.
//!
//! No client is turned away: one that accepts none of the formats still gets the Prometheus text format,
//! as it would from the Go client library.

use hyper::HeaderMap;
use hyper::header::HeaderName;

use super::Format;

/// All values of a header as one list, which a client may split over several lines (RFC 9110 5.3). A line
/// that is not text is ignored.
pub(super) fn joined(headers: &HeaderMap, name: HeaderName) -> String {
    let lines: Vec<&str> = headers.get_all(name).iter().filter_map(|line| line.to_str().ok()).collect();
    lines.join(",")
}

/// The format for an `Accept` header; an empty one counts as absent.
///
/// The highest quality wins. Among equals a named type precedes a wildcard, as in goautoneg, and then the
/// order in the header decides. Wildcards stand for the Prometheus text format: a client that does not
/// expect OpenMetrics or protobuf cannot read it, so those have to be asked for by name.
pub(super) fn format(accept: &str) -> Format {
    let mut best = None;
    for entry in entries(accept) {
        let Some((format, named)) = offer(&entry) else { continue };
        let rank = (entry.quality, named);
        // Strictly greater, so that the first entry wins a tie.
        if entry.quality > 0.0 && best.is_none_or(|(top, _)| rank > top) {
            best = Some((rank, format));
        }
    }
    best.map_or(Format::PrometheusText, |(_, format)| format)
}

/// The format for an entry of `Accept`, and whether the entry names it; otherwise it is a wildcard.
fn offer(entry: &Entry<'_>) -> Option<(Format, bool)> {
    let version = entry.parameter("version");
    let (format, fits) = match entry.value.to_ascii_lowercase().as_str() {
        // prometheus/common (expfmt.NegotiateAccept) accepts 1.0.0 and 0.0.1, and takes a missing version
        // for 0.0.1. The two do not differ in anything written here, so 1.0.0 answers all three.
        "application/openmetrics-text" => {
            (Format::OpenMetrics, matches!(version, None | Some("1.0.0" | "0.0.1")))
        }
        // As in prometheus/common, both are required: without them the bytes are ambiguous.
        "application/vnd.google.protobuf" => {
            let proto = entry.parameter("proto") == Some("io.prometheus.client.MetricFamily");
            (Format::Protobuf, proto && entry.parameter("encoding") == Some("delimited"))
        }
        // Prometheus 3 also offers text/plain;version=1.0.0, the format with UTF-8 names. It is not needed:
        // no name here has to be escaped in the older one.
        "text/plain" => (Format::PrometheusText, matches!(version, None | Some("0.0.4"))),
        "text/*" | "*/*" => return Some((Format::PrometheusText, false)),
        _ => return None,
    };
    fits.then_some((format, true))
}

/// Whether an `Accept-Encoding` header asks for gzip; an empty one counts as absent.
///
/// `*` includes gzip unless it is named. A client that prefers `identity` gets that.
pub(super) fn gzip(accept_encoding: &str) -> bool {
    let (mut gzip, mut any, mut identity) = (None, None, None);
    for entry in entries(accept_encoding) {
        let slot = match entry.value.to_ascii_lowercase().as_str() {
            // RFC 9110 8.4.1.3: a recipient treats x-gzip as gzip.
            "gzip" | "x-gzip" => &mut gzip,
            "*" => &mut any,
            "identity" => &mut identity,
            _ => continue,
        };
        slot.get_or_insert(entry.quality);
    }
    let wanted = gzip.or(any).unwrap_or(0.0);
    wanted > 0.0 && wanted >= identity.unwrap_or(0.0)
}

/// One entry of a list with qualities.
struct Entry<'a> {
    value: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
    quality: f32,
}

impl<'a> Entry<'a> {
    fn parameter(&self, wanted: &str) -> Option<&'a str> {
        let found = self.parameters.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        found.map(|(_, argument)| *argument)
    }
}

fn entries(list: &str) -> impl Iterator<Item = Entry<'_>> {
    split_unquoted(list, ',').filter_map(|item| {
        let mut parts = split_unquoted(item, ';').map(str::trim);
        let value = parts.next().filter(|value| !value.is_empty())?;
        let parameters = parts.filter_map(|part| {
            let (name, argument) = part.split_once('=')?;
            Some((name.trim(), argument.trim().trim_matches('"')))
        });
        let mut entry = Entry { value, parameters: parameters.collect(), quality: 1.0 };
        entry.quality = entry.parameter("q").map_or(1.0, quality);
        Some(entry)
    })
}

/// An invalid quality counts as absent, as in goautoneg: a typo must not exclude the format that was
/// named.
fn quality(text: &str) -> f32 {
    match text.parse::<f32>() {
        Ok(quality) if quality.is_finite() => quality.clamp(0.0, 1.0),
        _ => 1.0,
    }
}

/// Splits at `separator`, but not inside a quoted string.
fn split_unquoted(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    text.split(move |c| {
        quoted ^= c == '"';
        c == separator && !quoted
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Format::{OpenMetrics, PrometheusText, Protobuf};

    #[test]
    fn what_prometheus_sends_gets_openmetrics() {
        for accept in [
            // 3.x
            "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,\
             application/openmetrics-text;version=0.0.1;q=0.4,\
             text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
            // 2.x
            "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,\
             text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
            // before 2.23
            "application/openmetrics-text; version=0.0.1,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
        ] {
            assert_eq!(format(accept), OpenMetrics, "{accept}");
        }
    }

    #[test]
    fn what_prometheus_sends_to_get_native_histograms_gets_protobuf() {
        let kind = "application/vnd.google.protobuf";
        let rest = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,\
             application/openmetrics-text;version=0.0.1;q=0.4,\
             text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1";
        let message = "proto=io.prometheus.client.MetricFamily";
        for first in [
            format!("{kind};{message};encoding=delimited;q=0.6"),
            format!("{kind}; {message}; encoding=delimited; escaping=allow-utf-8; q=0.6"),
            format!("{kind};encoding=\"delimited\";proto=\"io.prometheus.client.MetricFamily\""),
        ] {
            assert_eq!(format(&format!("{first},{rest}")), Protobuf, "{first}");
        }
        for first in [
            kind.to_owned(),
            format!("{kind};{message}"),
            format!("{kind};encoding=delimited"),
            format!("{kind};{message};encoding=text"),
            format!("{kind};proto=io.prometheus.client.Metric;encoding=delimited"),
            format!("{kind};{message};encoding=delimited;q=0.05"),
        ] {
            assert_eq!(format(&format!("{first},{rest}")), OpenMetrics, "{first}");
        }
    }

    #[test]
    fn a_scraper_always_gets_something() {
        for accept in [
            "",
            " , ;q=1,",
            "*/*",
            "text/*",
            "application/json",
            "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text",
            "application/openmetrics-text;version=2.0.0",
            "text/plain;version=1.0.0",
            "text/plain;q=0",
            "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            "\"application/openmetrics-text",
        ] {
            assert_eq!(format(accept), PrometheusText, "{accept}");
        }
    }

    #[test]
    fn the_highest_quality_wins_then_the_order() {
        for (accept, expected) in [
            ("application/openmetrics-text", OpenMetrics),
            ("application/openmetrics-text;q=0.1,text/plain;q=0.2", PrometheusText),
            ("text/plain;q=0.1,application/openmetrics-text;q=0.2", OpenMetrics),
            ("text/plain,application/openmetrics-text", PrometheusText),
            ("application/openmetrics-text,text/plain", OpenMetrics),
            ("*/*,application/openmetrics-text", OpenMetrics),
            ("*/*;q=0.3,application/openmetrics-text;q=0.2", PrometheusText),
            ("application/openmetrics-text;q=0,text/plain;q=0.1", PrometheusText),
            ("application/openmetrics-text;q=0,*/*", PrometheusText),
            ("text/plain;q=0,application/openmetrics-text;q=0.001", OpenMetrics),
        ] {
            assert_eq!(format(accept), expected, "{accept}");
        }
    }

    #[test]
    fn spelling_does_not_matter() {
        for accept in [
            "Application/OpenMetrics-Text ; Version = 1.0.0 ; Q = 0.9 , text/plain;q=0.5",
            "application/openmetrics-text;version=\"1.0.0\";note=\"a,b;q=0\", text/plain;q=0.5",
            "application/openmetrics-text;q=banana,text/plain;q=0.5",
            "application/openmetrics-text;q=7,text/plain",
            "application/openmetrics-text;q=NaN,text/plain;q=0.5",
            "application/openmetrics-text;charset=utf-8;flag,text/plain;q=-1",
        ] {
            assert_eq!(format(accept), OpenMetrics, "{accept}");
        }
    }

    #[test]
    fn gzip_is_for_those_who_ask() {
        for accept in
            ["gzip", "GZIP", "x-gzip", "deflate, gzip;q=0.5", "*", "*;q=0.1", "identity;q=0.5, gzip", "br, *"]
        {
            assert!(gzip(accept), "{accept}");
        }
        for accept in [
            "",
            "identity",
            "deflate",
            "gzip;q=0",
            "gzip;q=0.000",
            "gzip;q=0, *",
            "*;q=0",
            "identity, gzip;q=0.5",
            "identity, *;q=0.5",
        ] {
            assert!(!gzip(accept), "{accept}");
        }
    }

    #[test]
    fn headers_sent_in_pieces_are_one_list() {
        let mut headers = HeaderMap::new();
        let accept = hyper::header::ACCEPT;
        headers.append(&accept, hyper::header::HeaderValue::from_static("text/plain;q=0.1"));
        headers.append(&accept, hyper::header::HeaderValue::from_static("application/openmetrics-text"));
        assert_eq!(format(&joined(&headers, accept)), OpenMetrics);
    }
}
