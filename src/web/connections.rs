//! Connection admission: tracks the open connections and evicts the longest idle one for a new client.
//!
//! A connection is idle while no request on it is being answered and its client takes no more of a
//! response. Received bytes do not count: a client that sends its head one byte at a time is as idle as
//! one that sends nothing.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The size of the chunks in which a response body is handed to hyper, in bytes. Taking a chunk counts
/// as activity.
const CHUNK_BYTES: usize = 16 * 1024;

/// The open connections.
#[derive(Debug, Default)]
pub(super) struct Connections {
    open: Mutex<Vec<Weak<Connection>>>,
    /// Notified when a connection becomes idle.
    pub(super) became_idle: Arc<Notify>,
}

/// One open connection.
#[derive(Debug)]
pub(super) struct Connection {
    activity: Mutex<Activity>,
    /// Cancelled when the connection has to close in favour of another.
    pub(super) evicted: CancellationToken,
    became_idle: Arc<Notify>,
}

#[derive(Debug)]
struct Activity {
    /// Requests that are being answered.
    requests: usize,
    /// When the connection was last active.
    last: Instant,
    /// The socket is closed, even if a response body is still waiting to be dropped.
    closed: bool,
}

impl Connections {
    /// Registers a new connection.
    pub(super) fn open(&self) -> Arc<Connection> {
        let connection = Arc::new(Connection {
            activity: Mutex::new(Activity { requests: 0, last: Instant::now(), closed: false }),
            evicted: CancellationToken::new(),
            became_idle: Arc::clone(&self.became_idle),
        });
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|connection| connection.strong_count() > 0);
        open.push(Arc::downgrade(&connection));
        connection
    }

    /// Evicts the longest idle connection, if it has been idle for `grace` and no evicted one is still
    /// closing. Otherwise returns when to try again, unless a connection becomes idle or closes before
    /// that; `None` means that only such an event can help.
    pub(super) fn evict_idle(&self, grace: Duration) -> Option<Instant> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let mut connections: Vec<Arc<Connection>> = open.iter().filter_map(Weak::upgrade).collect();
        drop(open);
        connections.retain(|connection| !connection.activity().closed);
        if connections.iter().any(|connection| connection.evicted.is_cancelled()) {
            return None;
        }
        let idle = connections.iter().filter_map(|connection| Some((connection.idle_since()?, connection)));
        let (since, longest) = idle.min_by_key(|(since, _)| *since)?;
        let end = since + grace;
        if end > Instant::now() {
            return Some(end);
        }
        longest.evicted.cancel();
        None
    }
}

impl Connection {
    /// Registers a request, which counts as activity until the returned value is dropped.
    pub(super) fn begin_request(self: &Arc<Self>) -> ActiveRequest {
        let mut activity = self.activity();
        activity.requests += 1;
        activity.last = Instant::now();
        drop(activity);
        ActiveRequest(Arc::clone(self))
    }

    /// Marks the connection as closed.
    pub(super) fn close(&self) {
        self.activity().closed = true;
    }

    /// Resolves when the connection has been idle for `limit`.
    pub(super) async fn idle_for(&self, limit: Duration) {
        loop {
            let now = Instant::now();
            // An active connection cannot reach the limit before `limit` from now.
            let end = self.idle_since().unwrap_or(now) + limit;
            if end <= now {
                return;
            }
            tokio::time::sleep_until(end).await;
        }
    }

    fn idle_since(&self) -> Option<Instant> {
        let activity = self.activity();
        (activity.requests == 0).then_some(activity.last)
    }

    fn activity(&self) -> MutexGuard<'_, Activity> {
        self.activity.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that is being answered.
#[derive(Debug)]
pub(super) struct ActiveRequest(Arc<Connection>);

impl ActiveRequest {
    /// Ends the request: the response is ready, and the client has yet to take it.
    pub(super) fn respond(self, body: Bytes) -> ResponseBody {
        ResponseBody { rest: body, connection: Arc::clone(&self.0) }
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        let mut activity = self.0.activity();
        activity.requests = activity.requests.saturating_sub(1);
        activity.last = Instant::now();
        if activity.requests == 0 {
            self.0.became_idle.notify_one();
        }
    }
}

/// A response body that records activity on its connection with each chunk the client takes.
#[derive(Debug)]
pub(super) struct ResponseBody {
    rest: Bytes,
    connection: Arc<Connection>,
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        self.connection.activity().last = Instant::now();
        let length = self.rest.len().min(CHUNK_BYTES);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(length)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(u64::try_from(self.rest.len()).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_longest_idle_connection_is_evicted_first_and_one_at_a_time() {
        let connections = Connections::default();
        let second = Duration::from_secs(1);
        let (oldest, busy) = (connections.open(), connections.open());
        let request = busy.begin_request();
        tokio::time::advance(second).await;
        let newest = connections.open();
        tokio::time::advance(second).await;
        drop(oldest.begin_request());

        let evicted = || [&oldest, &busy, &newest].map(|connection| connection.evicted.is_cancelled());
        let end = newest.idle_since().unwrap() + 2 * second;
        assert_eq!(connections.evict_idle(2 * second), Some(end), "it may still be about to ask");
        assert_eq!(evicted(), [false, false, false]);
        assert_eq!(connections.evict_idle(second), None);
        assert_eq!(evicted(), [false, false, true], "the oldest has been answered since");
        assert_eq!(connections.evict_idle(Duration::ZERO), None);
        assert_eq!(evicted(), [false, false, true], "one is still closing");
        newest.close();
        let evicted = || [&oldest, &busy].map(|connection| connection.evicted.is_cancelled());
        assert_eq!(connections.evict_idle(Duration::ZERO), None);
        assert_eq!(evicted(), [true, false]);
        drop(oldest);
        assert_eq!(connections.evict_idle(Duration::ZERO), None);
        assert!(!busy.evicted.is_cancelled(), "it is waiting for its response");
        drop(request);
        connections.became_idle.notified().await;
        assert_eq!(connections.evict_idle(Duration::ZERO), None);
        busy.evicted.cancelled().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_and_each_chunk_that_is_taken_end_idleness() {
        let connection = Connections::default().open();
        let (second, limit) = (Duration::from_secs(1), Duration::from_secs(12));
        let started = Instant::now();
        let request = connection.begin_request();
        tokio::time::advance(100 * second).await;
        let mut body = request.respond(Bytes::from(vec![b'x'; 2 * CHUNK_BYTES + 1]));
        for left in [CHUNK_BYTES + 1, 1, 0] {
            tokio::time::advance(10 * second).await;
            let frame = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await;
            assert!(frame.is_some());
            assert_eq!(body.size_hint().exact(), u64::try_from(left).ok());
        }
        assert!(body.is_end_stream());
        connection.idle_for(limit).await;
        assert_eq!(started.elapsed(), 130 * second + limit);
    }
}
