//! Who holds a place among the open connections, and who has to leave when there is none left.
//!
//! A connection is silent while nothing is done for its client: no request is being answered, and no
//! more of an answer is taken. Bytes alone do not count, so that a client which sends its head a byte
//! at a time is as silent as one that sends nothing. The one that has been silent for longest makes room
//! for the next client.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// A response is handed over in pieces of this size, so that it shows how much of it is taken.
const PIECE: usize = 16 * 1024;

/// All places that are taken.
#[derive(Debug, Default)]
pub(super) struct Places {
    taken: Mutex<Vec<Weak<Place>>>,
    silence: Arc<Notify>,
}

/// The place of one connection, for as long as it is held.
#[derive(Debug)]
pub(super) struct Place {
    activity: Mutex<Activity>,
    leave: CancellationToken,
    silence: Arc<Notify>,
}

#[derive(Debug)]
struct Activity {
    /// Requests that are being answered.
    requests: usize,
    /// When something was last done.
    last: Instant,
    /// The connection is no more, though an answer of it may still wait to be dropped.
    gone: bool,
}

impl Places {
    /// Takes a place.
    pub(super) fn take(&self) -> Arc<Place> {
        let place = Arc::new(Place {
            activity: Mutex::new(Activity { requests: 0, last: Instant::now(), gone: false }),
            leave: CancellationToken::new(),
            silence: Arc::clone(&self.silence),
        });
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.retain(|place| place.strong_count() > 0);
        taken.push(Arc::downgrade(&place));
        place
    }

    /// Asks the connection that has been silent for longest to leave, if that is `patience` or more,
    /// and unless one is on its way out already. Otherwise says when to ask again, if none falls
    /// silent or leaves before.
    pub(super) fn make_room(&self, patience: Duration) -> Option<Instant> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let mut places: Vec<Arc<Place>> = taken.iter().filter_map(Weak::upgrade).collect();
        drop(taken);
        places.retain(|place| !place.activity().gone);
        if places.iter().any(|place| place.leave.is_cancelled()) {
            return None;
        }
        let silent = places.iter().filter_map(|place| Some((place.silent_since()?, place)));
        let (since, longest) = silent.min_by_key(|(since, _)| *since)?;
        let end = since + patience;
        if end > Instant::now() {
            return Some(end);
        }
        longest.leave.cancel();
        None
    }

    /// Resolves when a connection falls silent.
    pub(super) async fn silence(&self) {
        self.silence.notified().await;
    }
}

impl Place {
    /// A request has come; it is being answered until what is returned is dropped.
    pub(super) fn answering(self: &Arc<Self>) -> Answering {
        let mut activity = self.activity();
        activity.requests += 1;
        activity.last = Instant::now();
        drop(activity);
        Answering(Arc::clone(self))
    }

    /// Gives the place back.
    pub(super) fn give_back(&self) {
        self.activity().gone = true;
    }

    /// Resolves when the connection has to make room for another.
    pub(super) async fn to_leave(&self) {
        self.leave.cancelled().await;
    }

    /// Resolves when the connection has been silent for `limit`.
    pub(super) async fn silent_for(&self, limit: Duration) {
        loop {
            let now = Instant::now();
            // While it is not silent, it cannot have been for so long at any time before.
            let end = self.silent_since().unwrap_or(now) + limit;
            if end <= now {
                return;
            }
            tokio::time::sleep_until(end).await;
        }
    }

    fn silent_since(&self) -> Option<Instant> {
        let activity = self.activity();
        (activity.requests == 0).then_some(activity.last)
    }

    fn activity(&self) -> std::sync::MutexGuard<'_, Activity> {
        self.activity.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that is being answered.
#[derive(Debug)]
pub(super) struct Answering(Arc<Place>);

impl Answering {
    /// The answer is there; what is left is to take it.
    pub(super) fn finished(self, body: Bytes) -> Answer {
        Answer { rest: body, place: Arc::clone(&self.0) }
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        let mut activity = self.0.activity();
        activity.requests = activity.requests.saturating_sub(1);
        activity.last = Instant::now();
        if activity.requests == 0 {
            self.0.silence.notify_one();
        }
    }
}

/// The body of a response. Each piece that is taken of it is a sign of life.
#[derive(Debug)]
pub(super) struct Answer {
    rest: Bytes,
    place: Arc<Place>,
}

impl Body for Answer {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        self.place.activity().last = Instant::now();
        let length = self.rest.len().min(PIECE);
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
    #![allow(clippy::unwrap_used, reason = "in a test a panic is how a failure is told")]

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_has_been_silent_for_longest_leaves_first_and_one_at_a_time() {
        let places = Places::default();
        let second = Duration::from_secs(1);
        let (oldest, busy) = (places.take(), places.take());
        let answering = busy.answering();
        tokio::time::advance(second).await;
        let newest = places.take();
        tokio::time::advance(second).await;
        drop(oldest.answering());

        let leaving = || [&oldest, &busy, &newest].map(|place| place.leave.is_cancelled());
        let end = newest.silent_since().unwrap() + 2 * second;
        assert_eq!(places.make_room(2 * second), Some(end), "it may still be about to ask");
        assert_eq!(leaving(), [false, false, false]);
        assert_eq!(places.make_room(second), None);
        assert_eq!(leaving(), [false, false, true], "the oldest was answered since");
        assert_eq!(places.make_room(Duration::ZERO), None);
        assert_eq!(leaving(), [false, false, true], "one is on its way");
        newest.give_back();
        let leaving = || [&oldest, &busy].map(|place| place.leave.is_cancelled());
        assert_eq!(places.make_room(Duration::ZERO), None);
        assert_eq!(leaving(), [true, false]);
        drop(oldest);
        assert_eq!(places.make_room(Duration::ZERO), None);
        assert!(!busy.leave.is_cancelled(), "it waits for its answer");
        drop(answering);
        places.silence().await;
        assert_eq!(places.make_room(Duration::ZERO), None);
        busy.to_leave().await;
    }

    #[tokio::test(start_paused = true)]
    async fn silence_ends_with_a_request_and_with_each_piece_that_is_taken() {
        let place = Places::default().take();
        let (second, limit) = (Duration::from_secs(1), Duration::from_secs(12));
        let started = Instant::now();
        let answering = place.answering();
        tokio::time::advance(100 * second).await;
        let mut answer = answering.finished(Bytes::from(vec![b'x'; 2 * PIECE + 1]));
        for left in [PIECE + 1, 1, 0] {
            tokio::time::advance(10 * second).await;
            let frame = std::future::poll_fn(|cx| Pin::new(&mut answer).poll_frame(cx)).await;
            assert!(frame.is_some());
            assert_eq!(answer.size_hint().exact(), u64::try_from(left).ok());
        }
        assert!(answer.is_end_stream());
        place.silent_for(limit).await;
        assert_eq!(started.elapsed(), 130 * second + limit);
    }
}
