//! One client, from the handshake to the end.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::Watcher;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::places::Place;
use super::protection::Guard;
use super::routes::Site;
use super::write_limit::WriteLimit;

/// The most a request line and its headers may take together; a longer head is answered 431.
const MAX_HEAD_BYTES: usize = 16 * 1024;

/// Requests that one connection may have under way with HTTP/2.
const MAX_STREAMS: u32 = 8;

/// What every connection needs.
pub(super) struct Lobby {
    pub(super) site: Arc<Site>,
    pub(super) guard: Guard,
    /// See [`super::Options::head_timeout`].
    pub(super) head_timeout: Duration,
    /// See [`super::Options::write_timeout`].
    pub(super) write_timeout: Duration,
    /// Cancelled when the server winds down.
    pub(super) closing: CancellationToken,
}

/// Why a connection ended early.
#[derive(Debug, thiserror::Error)]
pub(super) enum EarlyEnd {
    #[error("the TLS handshake failed: {0}")]
    Handshake(io::Error),
    #[error("the TLS handshake took too long")]
    SlowHandshake,
    #[error("nothing was asked for too long")]
    Silent,
    #[error("it had been silent for longest when another client came")]
    MadeRoom,
    #[error("{0}")]
    Http(#[from] hyper::Error),
}

impl Lobby {
    /// Serves a client to the end.
    pub(super) async fn attend(
        &self,
        stream: TcpStream,
        place: Arc<Place>,
        watcher: Watcher,
    ) -> Result<(), EarlyEnd> {
        let served = tokio::select! {
            served = self.serve(stream, &place, watcher) => served,
            () = place.to_leave() => Err(EarlyEnd::MadeRoom),
        };
        place.give_back();
        served
    }

    async fn serve(&self, stream: TcpStream, place: &Arc<Place>, watcher: Watcher) -> Result<(), EarlyEnd> {
        // Without it the end of a page may wait for an acknowledgement. Failing to set it costs
        // that delay only.
        let _ = stream.set_nodelay(true);
        // Below TLS, so that it holds for the handshake and for the last goodbye too.
        let stream = WriteLimit::new(stream, self.write_timeout);
        let protection = self.guard.protection().await;
        let Some(tls) = &protection.tls else {
            return self.http1(stream, place, watcher).await;
        };
        let handshake = tokio::time::timeout(self.head_timeout, tls.accept(stream));
        let stream = tokio::select! {
            shaken = handshake => {
                shaken.map_err(|_| EarlyEnd::SlowHandshake)?.map_err(EarlyEnd::Handshake)?
            }
            // Nothing was asked yet that would have to be finished.
            () = self.closing.cancelled() => return Ok(()),
        };
        if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
            self.http2(stream, place, watcher).await
        } else {
            self.http1(stream, place, watcher).await
        }
    }

    async fn http1<S>(&self, stream: S, place: &Arc<Place>, watcher: Watcher) -> Result<(), EarlyEnd>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(self.head_timeout)
            .max_buf_size(MAX_HEAD_BYTES)
            // `printf … | nc` ends its side before it reads: it still gets its answer.
            .half_close(true);
        let service = service_fn(|request| answer(Arc::clone(&self.site), Arc::clone(place), request));
        Ok(watcher.watch(builder.serve_connection(TokioIo::new(stream), service)).await?)
    }

    async fn http2<S>(&self, stream: S, place: &Arc<Place>, watcher: Watcher) -> Result<(), EarlyEnd>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder
            .timer(TokioTimer::new())
            .max_concurrent_streams(MAX_STREAMS)
            .max_header_list_size(u32::try_from(MAX_HEAD_BYTES).unwrap_or(u32::MAX));
        let (site, holder) = (Arc::clone(&self.site), Arc::clone(place));
        let service = service_fn(move |request| answer(Arc::clone(&site), Arc::clone(&holder), request));
        let served = watcher.watch(builder.serve_connection(TokioIo::new(stream), service));
        tokio::select! {
            served = served => Ok(served?),
            // HTTP/2 has no end of a head to wait for, and pings would keep it open for ever.
            () = place.silent_for(self.head_timeout) => Err(EarlyEnd::Silent),
        }
    }
}

/// The body is never read: hyper drains what came along with the head, or else closes the connection
/// after the response.
async fn answer(
    site: Arc<Site>,
    place: Arc<Place>,
    request: Request<Incoming>,
) -> Result<hyper::Response<super::places::Answer>, Infallible> {
    let answering = place.answering();
    let (head, _body) = request.into_parts();
    let response = site.respond(head).await;
    Ok(response.map(|body| answering.finished(body)))
}
