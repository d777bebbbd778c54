//! Connections: who may come in, for how long, and how it ends.

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
use tokio_util::sync::CancellationToken;

use super::Pages;
use super::connection::Lobby;
use super::places::Places;
use super::protection::Guard;
use super::routes::{Site, TelemetryPath};

/// The pause after the first failed accept; it doubles up to [`MAX_ACCEPT_PAUSE`].
const MIN_ACCEPT_PAUSE: Duration = Duration::from_millis(5);
const MAX_ACCEPT_PAUSE: Duration = Duration::from_secs(1);

/// How the server behaves. The defaults suit a scraper; tests shorten the times.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where the metrics are.
    pub telemetry_path: TelemetryPath,
    /// TLS, logins and the like.
    pub guard: Guard,
    /// Connections served at a time, at least one. When another client comes, the one that has been
    /// silent for longest makes room; while all of them wait for an answer, it waits its turn.
    pub max_connections: usize,
    /// How long a connection may be silent before it has to make room: long enough to connect, shake
    /// hands and ask.
    pub patience: Duration,
    /// How long a client may take to send the head of a request, from the moment it connects or
    /// its last response ended; so this is also how long a connection may be idle, and how long
    /// the handshake of TLS may take.
    pub head_timeout: Duration,
    /// How long a client may go without taking a single byte of its response.
    pub write_timeout: Duration,
    /// How long requests in flight may take to finish once the server is told to stop.
    pub grace: Duration,
}

impl Options {
    /// The usual behaviour, with the pages protected by `guard`.
    #[must_use]
    pub fn new(guard: Guard) -> Self {
        Self {
            telemetry_path: TelemetryPath::default(),
            guard,
            max_connections: 256,
            // With as many places, a thousand silent clients a second can be told to leave.
            patience: Duration::from_millis(250),
            // Not 10 s: a connection that is reused by a scrape every 10 s would then be closed
            // just as the next request arrives. No usual interval ends near 12 s.
            head_timeout: Duration::from_secs(12),
            write_timeout: Duration::from_secs(10),
            grace: Duration::from_secs(5),
        }
    }

    /// How the addresses of the pages begin.
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        if self.guard.has_tls() { "https" } else { "http" }
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
    let site = Arc::new(Site::new(pages, options.telemetry_path.clone(), options.guard.clone()));
    let lobby = Arc::new(Lobby {
        site,
        guard: options.guard.clone(),
        head_timeout: options.head_timeout,
        write_timeout: options.write_timeout,
        closing: CancellationToken::new(),
    });
    let places = Places::default();
    let graceful = GracefulShutdown::new();
    let mut open = JoinSet::new();
    let mut door = Door { listeners, turn: 0, pause: MIN_ACCEPT_PAUSE };
    let mut shutdown = pin!(shutdown);
    loop {
        let (stream, peer) = tokio::select! {
            biased;
            () = &mut shutdown => break,
            accepted = door.next() => accepted,
        };
        tokio::select! {
            biased;
            () = &mut shutdown => break,
            () = make_room(&mut open, &places, &options) => {}
        }
        // Made here and not in the task: what is let in before the shutdown is told of it.
        let (watcher, place) = (graceful.watcher(), places.take());
        let lobby = Arc::clone(&lobby);
        open.spawn(async move {
            if let Err(error) = lobby.attend(stream, place, watcher).await {
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

/// Waits until another connection may be opened, and sees to it that it comes to that.
async fn make_room(open: &mut JoinSet<()>, places: &Places, options: &Options) {
    while let Some(ended) = open.try_join_next() {
        report(ended);
    }
    while open.len() >= options.max_connections.max(1) {
        let again = places.make_room(options.patience);
        let again = async {
            match again {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            Some(ended) = open.join_next() => report(ended),
            () = places.silence() => {}
            () = again => {}
        }
    }
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
    /// The next client.
    async fn next(&mut self) -> (TcpStream, SocketAddr) {
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
