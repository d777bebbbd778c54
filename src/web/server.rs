//! Connections: who may come in, for how long, and how it ends.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulConnection, GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use super::Pages;
use super::auth::BasicAuth;
use super::routes::{Site, TelemetryPath};
use super::tls::Tls;
use super::write_limit::WriteLimit;

/// The most a request line and its headers may take together; a longer head is answered 431.
const MAX_HEAD_BYTES: usize = 16 * 1024;

/// The pause after the first failed accept; it doubles up to [`MAX_ACCEPT_PAUSE`].
const MIN_ACCEPT_PAUSE: Duration = Duration::from_millis(5);
const MAX_ACCEPT_PAUSE: Duration = Duration::from_secs(1);

/// How the server behaves. The defaults suit a scraper; tests shorten the times.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where the metrics are.
    pub telemetry_path: TelemetryPath,
    /// Serve over TLS, and nothing without it.
    pub tls: Option<Tls>,
    /// Answer those who log in, and nobody else.
    pub auth: Option<Arc<BasicAuth>>,
    /// Connections served at a time, at least one; further ones wait in the system's queue.
    pub max_connections: usize,
    /// How long a client may take to send the head of a request, from the moment it connects or
    /// its last response ended; so this is also how long a connection may be idle, and how long
    /// the handshake of TLS may take.
    pub head_timeout: Duration,
    /// How long a client may go without taking a single byte of its response.
    pub write_timeout: Duration,
    /// How long requests in flight may take to finish once the server is told to stop.
    pub grace: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            telemetry_path: TelemetryPath::default(),
            tls: None,
            auth: None,
            max_connections: 128,
            // Not 10 s: a connection that is reused by a scrape every 10 s would then be closed
            // just as the next request arrives. No usual interval ends near 12 s.
            head_timeout: Duration::from_secs(12),
            write_timeout: Duration::from_secs(10),
            grace: Duration::from_secs(5),
        }
    }
}

impl Options {
    /// How the addresses of the pages begin.
    #[must_use]
    pub const fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }
}

/// Serves `pages` on `listeners` until `shutdown` completes, then winds down in order.
///
/// On shutdown the listeners close at once, idle connections too, and requests in flight may
/// finish within [`Options::grace`]; what is left then is dropped. No client can end the server.
///
/// # Errors
///
/// When there is no listener to serve on.
pub async fn serve(
    listeners: Vec<TcpListener>,
    pages: Arc<dyn Pages>,
    options: Options,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    if listeners.is_empty() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "there is no socket to serve on"));
    }
    let scheme = options.scheme();
    for listener in &listeners {
        let address = listener.local_addr()?;
        tracing::info!(%address, scheme, path = %options.telemetry_path, "serving metrics");
    }
    let site = Site::new(pages, options.telemetry_path.clone(), options.auth.clone());
    let lobby =
        Arc::new(Lobby { site: Arc::new(site), options: options.clone(), closing: CancellationToken::new() });
    let graceful = GracefulShutdown::new();
    let mut open = JoinSet::new();
    let mut door = Door { listeners, turn: 0, pause: MIN_ACCEPT_PAUSE };
    let mut shutdown = pin!(shutdown);
    loop {
        let (stream, peer) = tokio::select! {
            biased;
            () = &mut shutdown => break,
            accepted = door.next(&mut open, options.max_connections) => accepted,
        };
        // Made here and not in the task: what is let in before the shutdown is told of it.
        let watcher = graceful.watcher();
        let lobby = Arc::clone(&lobby);
        open.spawn(async move {
            if let Err(error) = lobby.attend(stream, watcher).await {
                // A client's doing (garbage, a timeout, a reset): nothing an operator must act on.
                tracing::debug!(%peer, %error, "connection ended early");
            }
        });
    }

    drop(door);
    lobby.closing.cancel();
    if tokio::time::timeout(options.grace, graceful.shutdown()).await.is_err() {
        while let Some(ended) = open.try_join_next() {
            report(ended);
        }
        tracing::warn!(connections = open.len(), grace = ?options.grace, "dropping requests still in flight");
        open.abort_all();
    }
    while let Some(ended) = open.join_next().await {
        report(ended);
    }
    Ok(())
}

/// What every connection needs.
struct Lobby {
    site: Arc<Site>,
    options: Options,
    /// Cancelled when the server winds down.
    closing: CancellationToken,
}

/// Why a connection ended early.
#[derive(Debug, thiserror::Error)]
enum EarlyEnd {
    #[error("the TLS handshake failed: {0}")]
    Handshake(io::Error),
    #[error("the TLS handshake took too long")]
    SlowHandshake,
    #[error("{0}")]
    Http(#[from] hyper::Error),
}

impl Lobby {
    /// Serves a client from the handshake to the end.
    async fn attend(&self, stream: TcpStream, watcher: Watcher) -> Result<(), EarlyEnd> {
        // Without it the end of a page may wait for an acknowledgement. Failing to set it costs
        // that delay only.
        let _ = stream.set_nodelay(true);
        // Below TLS, so that it holds for the handshake and for the last goodbye too.
        let stream = WriteLimit::new(stream, self.options.write_timeout);
        let site = Arc::clone(&self.site);
        let Some(tls) = &self.options.tls else {
            return Ok(watcher.watch(connection(stream, site, &self.options)).await?);
        };
        let handshake = tokio::time::timeout(self.options.head_timeout, tls.accept(stream));
        let stream = tokio::select! {
            shaken = handshake => {
                shaken.map_err(|_| EarlyEnd::SlowHandshake)?.map_err(EarlyEnd::Handshake)?
            }
            // Nothing was asked yet that would have to be finished.
            () = self.closing.cancelled() => return Ok(()),
        };
        Ok(watcher.watch(connection(stream, site, &self.options)).await?)
    }
}

fn connection<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    site: Arc<Site>,
    options: &Options,
) -> impl GracefulConnection<Error = hyper::Error> + use<S> {
    let service = service_fn(move |request: Request<Incoming>| {
        let site = Arc::clone(&site);
        // The body is never read: hyper drains what came along with the head, or else closes the
        // connection after the response.
        let (head, _body) = request.into_parts();
        async move { Ok::<_, Infallible>(site.respond(head).await) }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(options.head_timeout)
        .max_buf_size(MAX_HEAD_BYTES)
        // `printf … | nc` ends its side before it reads: it still gets its answer.
        .half_close(true)
        .serve_connection(TokioIo::new(stream), service)
}

/// Lets clients in, one at a time.
struct Door {
    listeners: Vec<TcpListener>,
    /// The listener that is asked first, so that a busy one cannot starve the others.
    turn: usize,
    /// How long to wait should the next accept fail.
    pause: Duration,
}

impl Door {
    /// The next client, once fewer than `limit` connections are `open`.
    ///
    /// Until then clients wait in the system's queue: no task, no memory of ours.
    async fn next(&mut self, open: &mut JoinSet<()>, limit: usize) -> (TcpStream, SocketAddr) {
        while let Some(ended) = open.try_join_next() {
            report(ended);
        }
        while open.len() >= limit.max(1) {
            if let Some(ended) = open.join_next().await {
                report(ended);
            }
        }
        loop {
            match self.accept().await {
                Ok(accepted) => {
                    self.pause = MIN_ACCEPT_PAUSE;
                    return accepted;
                }
                Err(error) if client_gone(&error) => {
                    tracing::debug!(%error, "a client left before it was let in");
                }
                Err(error) => {
                    // Out of file descriptors or memory: the client is still in the queue, and
                    // asking again at once would fail at once. It passes as connections end.
                    tracing::warn!(%error, retry_in = ?self.pause, "cannot accept connections");
                    tokio::time::sleep(self.pause).await;
                    self.pause = (self.pause * 2).min(MAX_ACCEPT_PAUSE);
                }
            }
        }
    }

    async fn accept(&mut self) -> io::Result<(TcpStream, SocketAddr)> {
        self.turn = self.turn.wrapping_add(1);
        let count = self.listeners.len();
        let first = self.turn.checked_rem(count).unwrap_or(0);
        poll_fn(|cx| {
            for listener in self.listeners.iter().cycle().skip(first).take(count) {
                if let Poll::Ready(accepted) = listener.poll_accept(cx) {
                    return Poll::Ready(accepted);
                }
            }
            Poll::Pending
        })
        .await
    }
}

/// Whether a failed accept is about that one client, and the next may be let in at once.
fn client_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::Interrupted
    )
}

/// A connection's task ends by itself, or is aborted at the end; a panic is a fault to report.
fn report(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "serving a connection failed");
    }
}
