//! From a request to a response: routes, methods and headers.

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

use super::discovery::{PROBE, SERVICE_DISCOVERY};
use super::protection::{Guard, Protection};
use super::{Format, Page, Pages, Reloaded, negotiate, page};

/// Pages rendered at the same time; more requests wait for their turn. Rendering and compressing
/// is pure computation: more threads than this would only take the processor from the samplers.
const CONCURRENT_RENDERS: usize = 4;

const HEALTHY: &str = "/-/healthy";
const READY: &str = "/-/ready";
const RELOAD: &str = "/-/reload";
pub(super) const PLAIN: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");

/// Where the metrics are: an absolute path that collides with no other route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TelemetryPath(String);

/// Why a text is not a [`TelemetryPath`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TelemetryPathError {
    /// It is no absolute path.
    #[error("telemetry path `{0}` does not begin with `/`: write it as in /metrics")]
    NotAbsolute(String),
    /// It holds something that cannot be part of a path.
    #[error("telemetry path `{0}` holds a character other than letters, digits and -._~/")]
    Character(String),
    /// It is that of another page, or below `/-/`.
    #[error("telemetry path `{0}` is taken: /config, /probe, /sd and what begins with /-/ are other pages")]
    Reserved(String),
}

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
        if !path.starts_with('/') {
            return Err(TelemetryPathError::NotAbsolute(path.to_owned()));
        }
        // Only what needs no percent-encoding: requests are compared as they come.
        if !path.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~/".contains(&b)) {
            return Err(TelemetryPathError::Character(path.to_owned()));
        }
        let taken = [PROBE, SERVICE_DISCOVERY, page::CONFIG];
        if path == "/-" || path.starts_with("/-/") || taken.contains(&path) {
            return Err(TelemetryPathError::Reserved(path.to_owned()));
        }
        Ok(Self(path.to_owned()))
    }
}

/// Everything that answers requests; shared by all connections.
pub(super) struct Site {
    pages: Arc<dyn Pages>,
    telemetry_path: TelemetryPath,
    guard: Guard,
    renders: Arc<Semaphore>,
}

impl Site {
    pub(super) fn new(pages: Arc<dyn Pages>, telemetry_path: TelemetryPath, guard: Guard) -> Self {
        Self { pages, telemetry_path, guard, renders: Arc::new(Semaphore::new(CONCURRENT_RENDERS)) }
    }

    /// Answers one request. The head is all it needs: no route takes a body.
    pub(super) async fn respond(&self, head: request::Parts) -> Response<Bytes> {
        let path = head.uri.path();
        let protection = self.guard.protection().await;
        let mut response = if !within_limit(&protection) {
            reply(StatusCode::TOO_MANY_REQUESTS, PLAIN, "too many requests\n")
        } else if !admits(&protection, &head.headers).await {
            let mut refusal = reply(StatusCode::UNAUTHORIZED, PLAIN, "unauthorized\n");
            refusal.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Basic"));
            refusal
        } else if !self.is_route(path) {
            let hint = format!("not found: the metrics are at {}\n", self.telemetry_path);
            reply(StatusCode::NOT_FOUND, PLAIN, hint)
        } else if path == RELOAD {
            self.reload(&head.method).await
        } else if head.method != Method::GET && head.method != Method::HEAD {
            let mut refusal =
                reply(StatusCode::METHOD_NOT_ALLOWED, PLAIN, "method not allowed: use GET or HEAD\n");
            refusal.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
            refusal
        } else if path == self.telemetry_path.as_str() {
            self.series(&head.headers, |pages, format| pages.metrics(format)).await
        } else {
            match path {
                HEALTHY => reply(StatusCode::OK, PLAIN, "healthy\n"),
                READY => self.ready(),
                PROBE => self.probe(&head).await,
                SERVICE_DISCOVERY => self.service_discovery(&head, &protection),
                page::CONFIG => self.page(Page::Configuration, &head.headers).await,
                _ => self.page(Page::Overview, &head.headers).await,
            }
        };
        let (method, status, version) = (&head.method, response.status().as_u16(), head.version);
        tracing::debug!(%method, path, status, ?version, "request answered");

        let headers = response.headers_mut();
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        // Last, so that what is configured goes before what the page itself asks for.
        headers.extend(protection.headers.clone());
        if head.method == Method::HEAD {
            // Content-Length stays: it tells how long the page would be.
            *response.body_mut() = Bytes::new();
        }
        response
    }

    fn is_route(&self, path: &str) -> bool {
        path == self.telemetry_path.as_str()
            || matches!(path, HEALTHY | READY | RELOAD | PROBE | SERVICE_DISCOVERY | page::CONFIG | "/")
    }

    /// What there is to show.
    pub(super) fn pages(&self) -> &dyn Pages {
        self.pages.as_ref()
    }

    /// A page of series, in the format and the compression that the client takes.
    pub(super) async fn series(
        &self,
        headers: &HeaderMap,
        write: impl FnOnce(&dyn Pages, Format) -> Result<Vec<u8>, fmt::Error> + Send + 'static,
    ) -> Response<Bytes> {
        let format = negotiate::format(&negotiate::joined(headers, header::ACCEPT));
        let gzip = negotiate::gzip(&negotiate::joined(headers, header::ACCEPT_ENCODING));
        let rendered = self.render(move |pages| {
            let page = write(pages, format)?;
            Ok::<_, fmt::Error>(if gzip { compressed(page) } else { (page, false) })
        });
        let Some((body, gzipped)) = rendered.await else {
            return failure("the metrics page could not be written; see the exporter's log\n");
        };
        let content_type = HeaderValue::from_static(format.content_type());
        let mut response = reply(StatusCode::OK, content_type, body);
        let headers = response.headers_mut();
        headers.insert(header::VARY, HeaderValue::from_static("Accept, Accept-Encoding"));
        if gzipped {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }

    fn ready(&self) -> Response<Bytes> {
        match self.pages.ready() {
            Ok(()) => reply(StatusCode::OK, PLAIN, "ready\n"),
            Err(reason) => reply(StatusCode::SERVICE_UNAVAILABLE, PLAIN, reason + "\n"),
        }
    }

    /// As in Prometheus: POST or PUT, and forbidden unless a flag allows it.
    async fn reload(&self, method: &Method) -> Response<Bytes> {
        if method != Method::POST && method != Method::PUT {
            let hint = "method not allowed: use POST or PUT\n";
            let mut refusal = reply(StatusCode::METHOD_NOT_ALLOWED, PLAIN, hint);
            refusal.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST, PUT"));
            return refusal;
        }
        match self.pages.reload().await {
            Reloaded::Done => reply(StatusCode::OK, PLAIN, "the configuration is reloaded\n"),
            Reloaded::Refused(reason) => {
                let reason =
                    format!("the configuration is not reloaded, the one before stays in force: {reason}\n");
                reply(StatusCode::BAD_REQUEST, PLAIN, reason)
            }
            Reloaded::NotAllowed => reply(
                StatusCode::FORBIDDEN,
                PLAIN,
                "reloading over HTTP is off: start with --web.enable-lifecycle\n",
            ),
        }
    }

    async fn page(&self, page: Page, headers: &HeaderMap) -> Response<Bytes> {
        let gzip = negotiate::gzip(&negotiate::joined(headers, header::ACCEPT_ENCODING));
        let rendered = self.render(move |pages| {
            let html = pages.page(page)?.into_bytes();
            Ok::<_, page::PageError>(if gzip { compressed(html) } else { (html, false) })
        });
        let Some((body, gzipped)) = rendered.await else {
            return failure("the page could not be written; see the exporter's log\n");
        };
        let mut response = reply(StatusCode::OK, HTML, body);
        let headers = response.headers_mut();
        let policy = HeaderValue::from_static(page::content_security_policy());
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        // What it says is true for a moment only.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
        if gzipped {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }

    /// Runs `write` off the reactor, so that a page of thousands of series delays nobody else's
    /// sockets and timers. A failure, a panic too, is logged here and yields nothing.
    async fn render<T: Send + 'static, E: fmt::Display + Send + 'static>(
        &self,
        write: impl FnOnce(&dyn Pages) -> Result<T, E> + Send + 'static,
    ) -> Option<T> {
        let pages = Arc::clone(&self.pages);
        // The permit goes along with the work, which goes on when the client hangs up. The
        // semaphore is never closed.
        let permit = Arc::clone(&self.renders).acquire_owned().await.ok();
        let task = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            write(pages.as_ref())
        });
        match task.await {
            Ok(Ok(page)) => Some(page),
            Ok(Err(error)) => {
                tracing::error!(%error, "cannot write a page");
                None
            }
            Err(error) => {
                tracing::error!(%error, "writing a page was cut short");
                None
            }
        }
    }
}

fn within_limit(protection: &Protection) -> bool {
    protection.limiter.as_ref().is_none_or(|limiter| limiter.admits(Instant::now()))
}

/// Whether the client may see anything at all; probes are no exception, as in Prometheus.
async fn admits(protection: &Protection, headers: &HeaderMap) -> bool {
    match &protection.auth {
        Some(auth) => auth.admits(headers).await,
        None => true,
    }
}

pub(super) fn reply(
    status: StatusCode,
    content_type: HeaderValue,
    body: impl Into<Bytes>,
) -> Response<Bytes> {
    let body = body.into();
    let length = HeaderValue::from(body.len());
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response.headers_mut().insert(header::CONTENT_LENGTH, length);
    response
}

fn failure(text: &'static str) -> Response<Bytes> {
    reply(StatusCode::INTERNAL_SERVER_ERROR, PLAIN, text)
}

/// The page compressed and `true`, or, should that fail, as it was and `false`.
fn compressed(page: Vec<u8>) -> (Vec<u8>, bool) {
    // Metrics repeat themselves so much that the fast level already shrinks them tenfold; the
    // higher ones would spend several times the processor time on the last few per cent.
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
