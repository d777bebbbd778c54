//! One source at a time, and the list of them: for many databases behind one exporter, whose scrapes are
//! spread over several Prometheus servers or kept apart by label.
//!
//! `/probe?target=NAME` is the part of the metrics page that is about one source. `/sd` lists the
//! sources in Prometheus' [HTTP service-discovery format][http-sd], each as a scrape of that page.
//!
//! [http-sd]: https://prometheus.io/docs/prometheus/latest/http_sd/

use hyper::body::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::http::request;
use hyper::{Response, StatusCode};
use serde::Serialize;

use super::protection::Protection;
use super::routes::{PLAIN, Site, reply};

/// Where one source's series are.
pub(super) const PROBE: &str = "/probe";
/// Where the sources are listed.
pub(super) const SERVICE_DISCOVERY: &str = "/sd";

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// An entry of the list: what to scrape, and with which labels.
#[derive(Serialize)]
struct TargetGroup {
    targets: [String; 1],
    labels: Labels,
}

#[derive(Serialize)]
struct Labels {
    #[serde(rename = "__scheme__")]
    scheme: &'static str,
    #[serde(rename = "__metrics_path__")]
    path: &'static str,
    #[serde(rename = "__param_target")]
    target: String,
}

impl Site {
    /// The series of the source that the query names.
    pub(super) async fn probe(&self, head: &request::Parts) -> Response<Bytes> {
        let Some(source) = target(head.uri.query().unwrap_or_default()) else {
            let hint = "which source? name one: /probe?target=NAME; /sd lists them\n";
            return reply(StatusCode::BAD_REQUEST, PLAIN, hint);
        };
        if !self.pages().sources().contains(&source) {
            return reply(StatusCode::NOT_FOUND, PLAIN, "no source has this name; /sd lists them\n");
        }
        self.series(&head.headers, move |pages, format| pages.probe(&source, format)).await
    }

    /// The list of sources.
    pub(super) fn service_discovery(
        &self,
        head: &request::Parts,
        protection: &Protection,
    ) -> Response<Bytes> {
        let Some(address) = address(head) else {
            let hint = "the request does not say how this exporter is reached: it has no Host header\n";
            return reply(StatusCode::BAD_REQUEST, PLAIN, hint);
        };
        let scheme = if protection.tls.is_some() { "https" } else { "http" };
        let group = |target| TargetGroup {
            targets: [address.clone()],
            labels: Labels { scheme, path: PROBE, target },
        };
        let groups: Vec<TargetGroup> = self.pages().sources().into_iter().map(group).collect();
        match serde_json::to_string(&groups) {
            Ok(list) => reply(StatusCode::OK, JSON, list),
            Err(error) => {
                tracing::error!(%error, "cannot write the list of sources");
                reply(StatusCode::INTERNAL_SERVER_ERROR, PLAIN, "the list could not be written\n")
            }
        }
    }
}

/// The first value of `target` in a query.
fn target(query: &str) -> Option<String> {
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    pairs.find(|(key, value)| key == "target" && !value.is_empty()).map(|(_, value)| value.into_owned())
}

/// How the client reached this exporter, and so how Prometheus will.
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
