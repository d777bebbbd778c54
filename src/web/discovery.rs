//! Probes of one source, and service discovery: for an exporter of many databases whose scrapes are
//! spread over several Prometheus servers or kept apart by label.
//!
//! `/probe?target=NAME` is the part of the metrics page for one source. `/sd` lists the sources in
//! Prometheus' [HTTP service-discovery format][http-sd], each as a scrape of that page.
//!
//! [http-sd]: https://prometheus.io/docs/prometheus/latest/http_sd/

use hyper::body::Bytes;
use hyper::header;
use hyper::http::request;
use hyper::{Response, StatusCode};
use serde_json::json;

use super::response::{JSON, plain, reply};

/// The path of the metrics of one source.
pub(super) const PROBE: &str = "/probe";
/// The path of the list of sources.
pub(super) const SERVICE_DISCOVERY: &str = "/sd";

/// The source that a probe asks for.
///
/// # Errors
/// The status and the text to answer with.
pub(super) fn probed_source(
    head: &request::Parts,
    sources: &[String],
) -> Result<String, (StatusCode, &'static str)> {
    let Some(source) = target(head.uri.query().unwrap_or_default()) else {
        let hint = "which source? name one: /probe?target=NAME; /sd lists them\n";
        return Err((StatusCode::BAD_REQUEST, hint));
    };
    if !sources.contains(&source) {
        return Err((StatusCode::NOT_FOUND, "no source has this name; /sd lists them\n"));
    }
    Ok(source)
}

/// The list of sources, to be scraped with `scheme` from the address in the request.
pub(super) fn list(head: &request::Parts, scheme: &'static str, sources: &[String]) -> Response<Bytes> {
    let Some(address) = address(head) else {
        let hint = "the request does not say how this exporter is reached: it has no Host header\n";
        return plain(StatusCode::BAD_REQUEST, hint);
    };
    let group = |target: &String| {
        let labels = json!({ "__scheme__": scheme, "__metrics_path__": PROBE, "__param_target": target });
        json!({ "targets": [address], "labels": labels })
    };
    let groups: serde_json::Value = sources.iter().map(group).collect();
    reply(StatusCode::OK, JSON, groups.to_string())
}

/// The first value of `target` in a query.
fn target(query: &str) -> Option<String> {
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    pairs.find(|(key, value)| key == "target" && !value.is_empty()).map(|(_, value)| value.into_owned())
}

/// The address that the client used, and that Prometheus will use.
fn address(head: &request::Parts) -> Option<String> {
    let authority = head.uri.authority().map(ToString::to_string);
    let host = || head.headers.get(header::HOST)?.to_str().ok().map(ToOwned::to_owned);
    authority.or_else(host).filter(|address| !address.is_empty())
}

#[cfg(test)]
mod tests {
    use super::target;

    #[test]
    fn the_target_of_a_query_is_decoded() {
        assert_eq!(target("target=orders"), Some("orders".to_owned()));
        assert_eq!(target("x=1&target=a%20b%2Fc+d%C5%BC"), Some("a b/c d\u{17c}".to_owned()));
        for query in ["", "target", "target=", "Target=a", "x=target"] {
            assert_eq!(target(query), None, "{query}");
        }
    }
}
