//! Routes: paths and methods, and the headers of their responses.

use std::fmt;
use std::io::Write;
use std::str::FromStr;
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::body::Bytes;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::http::request;
use hyper::{Method, Response, StatusCode};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::discovery::{self, PROBE, SERVICE_DISCOVERY};
use super::response::{HTML, method_not_allowed, plain, reply};
use super::security::Security;
use super::{Format, Page, Pages, Reloaded, negotiate, page};

/// The number of pages that are rendered at the same time; more requests wait. Rendering and compressing
/// is pure computation: more threads would only take processor time from the samplers.
const CONCURRENT_RENDERS: usize = 4;

const HEALTHY: &str = "/-/healthy";
const READY: &str = "/-/ready";
const RELOAD: &str = "/-/reload";

/// All paths but that of the metrics.
const ROUTES: [&str; 7] = [HEALTHY, READY, RELOAD, PROBE, SERVICE_DISCOVERY, page::CONFIG, "/"];

/// The path of the metrics page: absolute, and not that of another route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TelemetryPath(String);

/// A text that is not a [`TelemetryPath`], and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("telemetry path `{0}` {1}")]
pub struct TelemetryPathError(String, &'static str);

impl TelemetryPath {
    /// The path as it appears in a request.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for TelemetryPath {
    fn default() -> Self {
        Self("/metrics".to_owned())
    }
}

impl fmt::Display for TelemetryPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for TelemetryPath {
    type Err = TelemetryPathError;

    fn from_str(path: &str) -> Result<Self, Self::Err> {
        let problem = if !path.starts_with('/') {
            "does not begin with `/`: write it as in /metrics"
        } else if !path.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~/".contains(&b)) {
            // Only what needs no percent-encoding: requests are compared as they come.
            "contains a character other than letters, digits and -._~/"
        } else if path == "/-"
            || path.starts_with("/-/")
            || [PROBE, SERVICE_DISCOVERY, page::CONFIG].contains(&path)
        {
            "is taken: /config, /probe, /sd and paths that begin with /-/ are other pages"
        } else {
            return Ok(Self(path.to_owned()));
        };
        Err(TelemetryPathError(path.to_owned(), problem))
    }
}

/// Answers requests; shared by all connections.
pub(super) struct Site {
    pages: Arc<dyn Pages>,
    telemetry_path: TelemetryPath,
    pub(super) security: Security,
    renders: Arc<Semaphore>,
}

impl Site {
    pub(super) fn new(pages: Arc<dyn Pages>, telemetry_path: TelemetryPath, security: Security) -> Self {
        Self { pages, telemetry_path, security, renders: Arc::new(Semaphore::new(CONCURRENT_RENDERS)) }
    }

    /// Answers one request. The head is all it needs: no route takes a body.
    pub(super) async fn respond(&self, head: request::Parts) -> Response<Bytes> {
        let path = head.uri.path();
        let settings = self.security.settings().await;
        let mut response = if settings.limiter.as_ref().is_some_and(|limiter| !limiter.admits(Instant::now()))
        {
            plain(StatusCode::TOO_MANY_REQUESTS, "too many requests\n")
        } else if let Some(auth) = &settings.auth
            // The probes are no exception, as in Prometheus.
            && !auth.admits(&head.headers).await
        {
            let mut refusal = plain(StatusCode::UNAUTHORIZED, "unauthorized\n");
            refusal.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Basic"));
            refusal
        } else if path != self.telemetry_path.as_str() && !ROUTES.contains(&path) {
            plain(StatusCode::NOT_FOUND, format!("not found: the metrics are at {}\n", self.telemetry_path))
        } else if path == RELOAD {
            self.reload(&head.method).await
        } else if head.method != Method::GET && head.method != Method::HEAD {
            method_not_allowed("GET, HEAD", "method not allowed: use GET or HEAD\n")
        } else if path == self.telemetry_path.as_str() {
            self.metrics(&head.headers, |pages, format| pages.metrics(format)).await
        } else {
            match path {
                HEALTHY => plain(StatusCode::OK, "healthy\n"),
                READY => match self.pages.ready() {
                    Ok(()) => plain(StatusCode::OK, "ready\n"),
                    Err(reason) => plain(StatusCode::SERVICE_UNAVAILABLE, reason + "\n"),
                },
                PROBE => match discovery::probed_source(&head, &self.pages.sources()) {
                    Ok(source) => {
                        self.metrics(&head.headers, move |pages, format| pages.probe(&source, format)).await
                    }
                    Err((status, hint)) => plain(status, hint),
                },
                SERVICE_DISCOVERY => {
                    let scheme = if settings.tls.is_some() { "https" } else { "http" };
                    discovery::list(&head, scheme, &self.pages.sources())
                }
                page::CONFIG => self.page(Page::Configuration, &head.headers).await,
                _ => self.page(Page::Overview, &head.headers).await,
            }
        };
        let (method, status, version) = (&head.method, response.status().as_u16(), head.version);
        tracing::debug!(%method, path, status, ?version, "request answered");

        let headers = response.headers_mut();
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        // Last, so that configured headers override those of the page.
        headers.extend(settings.headers.clone());
        if head.method == Method::HEAD {
            // Content-Length stays: it is the length of the page that GET returns.
            *response.body_mut() = Bytes::new();
        }
        response
    }

    /// Metrics, in the format and the compression that the client accepts.
    async fn metrics(
        &self,
        headers: &HeaderMap,
        write: impl FnOnce(&dyn Pages, Format) -> Result<Vec<u8>, fmt::Error> + Send + 'static,
    ) -> Response<Bytes> {
        let format = negotiate::format(&negotiate::joined(headers, header::ACCEPT));
        let content_type = HeaderValue::from_static(format.content_type());
        let rendered = self.render(headers, content_type, move |pages| write(pages, format));
        let Some(mut response) = rendered.await else {
            return failure("the metrics page could not be written; see the exporter's log\n");
        };
        response.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept, Accept-Encoding"));
        response
    }

    /// As in Prometheus: POST or PUT, and forbidden unless a flag allows it.
    async fn reload(&self, method: &Method) -> Response<Bytes> {
        if method != Method::POST && method != Method::PUT {
            return method_not_allowed("POST, PUT", "method not allowed: use POST or PUT\n");
        }
        match self.pages.reload().await {
            Reloaded::Done => plain(StatusCode::OK, "the configuration is reloaded\n"),
            Reloaded::Refused(reason) => {
                let reason =
                    format!("the configuration is not reloaded, the previous one stays in force: {reason}\n");
                plain(StatusCode::BAD_REQUEST, reason)
            }
            Reloaded::NotAllowed => plain(
                StatusCode::FORBIDDEN,
                "reloading over HTTP is off: start with --web.enable-lifecycle\n",
            ),
        }
    }

    async fn page(&self, page: Page, headers: &HeaderMap) -> Response<Bytes> {
        let rendered = self.render(headers, HTML, move |pages| pages.page(page).map(String::into_bytes));
        let Some(mut response) = rendered.await else {
            return failure("the page could not be written; see the exporter's log\n");
        };
        let headers = response.headers_mut();
        let policy = HeaderValue::from_static(page::content_security_policy());
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        // The page describes one moment only.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
        response
    }

    /// Runs `write` off the reactor, so that a page of thousands of series delays nobody else's
    /// sockets and timers, and compresses its page if the client accepts that. A failure, even a panic,
    /// is logged here and yields `None`.
    async fn render<E: fmt::Display + Send + 'static>(
        &self,
        headers: &HeaderMap,
        content_type: HeaderValue,
        write: impl FnOnce(&dyn Pages) -> Result<Vec<u8>, E> + Send + 'static,
    ) -> Option<Response<Bytes>> {
        let gzip = negotiate::gzip(&negotiate::joined(headers, header::ACCEPT_ENCODING));
        let pages = Arc::clone(&self.pages);
        // The task holds the permit, because it continues when the client disconnects. The semaphore
        // is never closed.
        let permit = Arc::clone(&self.renders).acquire_owned().await.ok();
        let task = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let page = write(pages.as_ref())?;
            Ok::<_, E>(if gzip { compressed(page) } else { (page, false) })
        });
        match task.await {
            Ok(Ok((body, gzipped))) => {
                let mut response = reply(StatusCode::OK, content_type, body);
                if gzipped {
                    response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
                }
                Some(response)
            }
            Ok(Err(error)) => {
                tracing::error!(%error, "cannot write a page");
                None
            }
            Err(error) => {
                tracing::error!(%error, "writing a page was interrupted");
                None
            }
        }
    }
}

fn failure(text: &'static str) -> Response<Bytes> {
    plain(StatusCode::INTERNAL_SERVER_ERROR, text)
}

/// The compressed page and `true`, or the unchanged page and `false` if compression fails.
fn compressed(page: Vec<u8>) -> (Vec<u8>, bool) {
    // Metrics are so repetitive that the fast level already shrinks them tenfold; higher levels would
    // spend several times the processor time on the last few per cent.
    let mut encoder = GzEncoder::new(Vec::with_capacity(page.len() / 8), Compression::fast());
    match encoder.write_all(&page).and_then(|()| encoder.finish()) {
        Ok(small) => (small, true),
        Err(error) => {
            tracing::warn!(%error, "cannot compress a page; sending it as it is");
            (page, false)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_telemetry_path_is_absolute_plain_and_free() {
        for path in ["/metrics", "/", "/a/b-c_d.e~f", "/-x"] {
            assert_eq!(path.parse::<TelemetryPath>().map(|p| p.to_string()), Ok(path.to_owned()));
        }
        for path in ["", "metrics", "/a b", "/m?x=1", "/m#x", "/\u{fc}", "/%41", "/-", "/-/ready", "/config"]
        {
            assert!(path.parse::<TelemetryPath>().is_err(), "{path}");
        }
    }
}
