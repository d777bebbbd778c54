//! The accept loop: connection limit, shutdown and its grace period.

use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Pages;
use super::connection::ConnectionHandler;
use super::connections::Connections;
use super::routes::{Site, TelemetryPath};
use super::security::Security;

/// The pause after the first failed accept; it doubles up to [`MAX_ACCEPT_PAUSE`].
const MIN_ACCEPT_PAUSE: Duration = Duration::from_millis(5);
const MAX_ACCEPT_PAUSE: Duration = Duration::from_secs(1);

/// How the server behaves. The defaults suit a scraper; tests shorten the times.
#[derive(Debug, Clone)]
pub struct Options {
    /// The path of the metrics page.
    pub telemetry_path: TelemetryPath,
    /// TLS, logins, response headers and the rate limit.
    pub security: Security,
    /// The maximum number of open connections, at least one. At the limit a new client takes the place
    /// of the longest idle connection; while all connections wait for a response, it waits as well.
    pub max_connections: usize,
    /// How long a connection may be idle before it can be evicted: long enough to connect, complete the
    /// TLS handshake and send a request.
    pub idle_grace: Duration,
    /// How long a client may take to send the head of a request, from the moment it connects or its
    /// last response ended. It also limits how long a connection may be idle, and how long the TLS
    /// handshake may take.
    pub head_timeout: Duration,
    /// How long a client may go without taking a single byte of its response.
    pub write_timeout: Duration,
    /// How long requests in flight may take to finish on shutdown.
    pub grace: Duration,
}

impl Options {
    /// The default behaviour, with these security settings.
    #[must_use]
    pub fn new(security: Security) -> Self {
        Self {
            telemetry_path: TelemetryPath::default(),
            security,
            max_connections: 256,
            // With that many connections, about a thousand idle clients a second can be evicted.
            idle_grace: Duration::from_millis(250),
            // Not 10 s: a connection that is reused by a scrape every 10 s would then be closed
            // just as the next request arrives. No usual interval ends near 12 s.
            head_timeout: Duration::from_secs(12),
            write_timeout: Duration::from_secs(10),
            grace: Duration::from_secs(5),
        }
    }

    /// The scheme of the pages' URLs.
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        if self.security.has_tls() { "https" } else { "http" }
    }
}

/// Serves `pages` on `listeners` until `shutdown` completes, then shuts down gracefully.
///
/// On shutdown the listeners and all idle connections close at once. Requests in flight may finish
/// within [`Options::grace`]; then they are dropped. No client can end the server.
///
/// # Errors
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
    let handler = Arc::new(ConnectionHandler {
        site: Arc::new(Site::new(pages, options.telemetry_path, options.security)),
        head_timeout: options.head_timeout,
        write_timeout: options.write_timeout,
        closing: CancellationToken::new(),
    });
    let connections = Connections::default();
    let graceful = GracefulShutdown::new();
    let mut tasks = JoinSet::new();
    let mut acceptor = Acceptor { listeners, turn: 0, pause: MIN_ACCEPT_PAUSE };
    let mut shutdown = pin!(shutdown);
    loop {
        let (stream, peer) = tokio::select! {
            biased;
            () = &mut shutdown => break,
            accepted = acceptor.next() => accepted,
        };
        tokio::select! {
            biased;
            () = &mut shutdown => break,
            () = below_limit(&mut tasks, &connections, options.max_connections, options.idle_grace) => {}
        }
        // Created here and not in the task, so that no accepted connection misses the shutdown.
        let (watcher, connection) = (graceful.watcher(), connections.open());
        let handler = Arc::clone(&handler);
        tasks.spawn(async move {
            if let Err(error) = handler.serve(stream, connection, watcher).await {
                // Caused by the client (garbage, a timeout, a reset): nothing an operator must act on.
                tracing::debug!(%peer, %error, "connection ended early");
            }
        });
    }

    drop(acceptor);
    handler.closing.cancel();
    if tokio::time::timeout(options.grace, graceful.shutdown()).await.is_err() {
        while let Some(ended) = tasks.try_join_next() {
            log_panic(ended);
        }
        tracing::warn!(connections = tasks.len(), grace = ?options.grace, "dropping requests still in flight");
        tasks.abort_all();
    }
    while let Some(ended) = tasks.join_next().await {
        log_panic(ended);
    }
    Ok(())
}

/// Waits until another connection may be opened, and evicts idle connections to get there.
async fn below_limit(tasks: &mut JoinSet<()>, connections: &Connections, limit: usize, idle_grace: Duration) {
    while let Some(ended) = tasks.try_join_next() {
        log_panic(ended);
    }
    while tasks.len() >= limit.max(1) {
        let retry_at = connections.evict_idle(idle_grace);
        let retry = tokio::time::sleep_until(retry_at.unwrap_or_else(Instant::now));
        tokio::select! {
            Some(ended) = tasks.join_next() => log_panic(ended),
            () = connections.became_idle.notified() => {}
            () = retry, if retry_at.is_some() => {}
        }
    }
}

/// Accepts clients from all listeners, one at a time.
struct Acceptor {
    listeners: Vec<TcpListener>,
    /// The listener that is polled first. It rotates, so that a busy listener cannot starve the others.
    turn: usize,
    /// How long to wait if the next accept fails.
    pause: Duration,
}

impl Acceptor {
    async fn next(&mut self) -> (TcpStream, SocketAddr) {
        loop {
            match self.accept().await {
                Ok(accepted) => {
                    self.pause = MIN_ACCEPT_PAUSE;
                    return accepted;
                }
                Err(error) if is_client_gone(&error) => {
                    tracing::debug!(%error, "a client left before it was accepted");
                }
                Err(error) => {
                    // Out of file descriptors or memory: the client is still in the queue, and an
                    // immediate retry would fail as well. It passes as connections end.
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
            let mut polled = self
                .listeners
                .iter()
                .cycle()
                .skip(first)
                .take(count)
                .map(|listener| listener.poll_accept(cx));
            polled.find(Poll::is_ready).unwrap_or(Poll::Pending)
        })
        .await
    }
}

/// Whether an accept failed because of that one client, so that the next can be accepted at once.
fn is_client_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::Interrupted
    )
}

/// Logs a connection task that panicked, which is a defect; tasks are aborted on shutdown only.
fn log_panic(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "serving a connection failed");
    }
}
