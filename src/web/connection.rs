//! One client connection, from the TLS handshake to its end.

use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::Watcher;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::connections::Connection;
use super::routes::Site;
use super::write_limit::WriteLimit;

/// The maximum size of a request line together with its headers, in bytes; a longer head is answered
/// with 431.
const MAX_HEAD_BYTES: usize = 16 * 1024;

/// The maximum number of concurrent requests on one HTTP/2 connection.
const MAX_STREAMS: u32 = 8;

/// Serves connections; shared by all of them.
pub(super) struct ConnectionHandler {
    pub(super) site: Arc<Site>,
    /// See [`super::Options::head_timeout`].
    pub(super) head_timeout: Duration,
    /// See [`super::Options::write_timeout`].
    pub(super) write_timeout: Duration,
    /// Cancelled when the server shuts down.
    pub(super) closing: CancellationToken,
}

/// Why a connection ended early.
#[derive(Debug, thiserror::Error)]
pub(super) enum EarlyEnd {
    #[error("the TLS handshake failed: {0}")]
    Handshake(io::Error),
    #[error("the TLS handshake took too long")]
    SlowHandshake,
    #[error("no request came for too long")]
    Idle,
    #[error("it was the longest idle connection when another client came")]
    Evicted,
    #[error("{0}")]
    Http(Box<dyn Error + Send + Sync>),
}

impl ConnectionHandler {
    /// Serves a client until its connection ends.
    pub(super) async fn serve(
        &self,
        stream: TcpStream,
        connection: Arc<Connection>,
        watcher: Watcher,
    ) -> Result<(), EarlyEnd> {
        let served = tokio::select! {
            served = self.handshake(stream, &connection, watcher) => served,
            () = connection.evicted.cancelled() => Err(EarlyEnd::Evicted),
        };
        connection.close();
        served
    }

    async fn handshake(
        &self,
        stream: TcpStream,
        connection: &Arc<Connection>,
        watcher: Watcher,
    ) -> Result<(), EarlyEnd> {
        // Without this the end of a page may wait for an acknowledgement. A failure costs only that delay.
        let _ = stream.set_nodelay(true);
        // Below TLS, so that the limit also covers the handshake and the closing alert.
        let stream = WriteLimit::new(stream, self.write_timeout);
        let Some(tls) = self.site.security.settings().await.tls.clone() else {
            return self.http(stream, false, connection, watcher).await;
        };
        let handshake = tokio::time::timeout(self.head_timeout, TlsAcceptor::from(tls).accept(stream));
        let stream = tokio::select! {
            done = handshake => done.map_err(|_| EarlyEnd::SlowHandshake)?.map_err(EarlyEnd::Handshake)?,
            // There is no request yet that would have to be finished.
            () = self.closing.cancelled() => return Ok(()),
        };
        let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        self.http(stream, is_http2, connection, watcher).await
    }

    async fn http<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
        &self,
        stream: S,
        is_http2: bool,
        connection: &Arc<Connection>,
        watcher: Watcher,
    ) -> Result<(), EarlyEnd> {
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(self.head_timeout)
            .max_buf_size(MAX_HEAD_BYTES)
            // `printf … | nc` closes its side before it reads, and still gets its answer.
            .half_close(true);
        builder
            .http2()
            .timer(TokioTimer::new())
            .max_concurrent_streams(MAX_STREAMS)
            .max_header_list_size(u32::try_from(MAX_HEAD_BYTES).unwrap_or(u32::MAX));
        let builder = if is_http2 { builder.http2_only() } else { builder.http1_only() };
        // A request is answered without reading its body: hyper drains what arrived with the head, or else
        // closes the connection after the response.
        let service = service_fn(|request: Request<Incoming>| {
            let (site, active) = (Arc::clone(&self.site), connection.begin_request());
            async move {
                let (head, _body) = request.into_parts();
                let response = site.respond(head).await;
                Ok::<_, Infallible>(response.map(|body| active.respond(body)))
            }
        });
        tokio::select! {
            served = watcher.watch(builder.serve_connection(TokioIo::new(stream), service)) => {
                served.map_err(EarlyEnd::Http)
            }
            // HTTP/2 has no head to time out on, and pings could keep a connection open for ever.
            () = connection.idle_for(self.head_timeout), if is_http2 => Err(EarlyEnd::Idle),
        }
    }
}
