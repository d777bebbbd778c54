//! Stopped time, which only a test moves. For tests with `start_paused`.
#![allow(dead_code, clippy::unwrap_used, reason = "each user needs a part of it; a test fails by panicking")]

use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

/// Keeps paused time from skipping to the next deadline whenever everything waits for the network. Time does
/// not skip while a blocking task runs; this task ends eventually, so that waiting for something that never
/// comes misses its deadlines instead of lasting for ever.
pub struct StoppedTime {
    _until_dropped: Sender<()>,
}

impl StoppedTime {
    pub fn new() -> Self {
        let (until_dropped, dropped) = channel();
        tokio::task::spawn_blocking(move || dropped.recv_timeout(Duration::from_secs(60)));
        Self { _until_dropped: until_dropped }
    }

    /// Lets this much time pass.
    pub async fn pass(&self, time: Duration) {
        tokio::time::advance(time).await;
    }
}

/// Lets paused time pass for ever, at a hundredth of its pace.
pub async fn pass_slowly() -> ! {
    const MOMENT: Duration = Duration::from_millis(1);
    loop {
        tokio::task::spawn_blocking(|| std::thread::sleep(MOMENT * 100)).await.unwrap();
        tokio::time::advance(MOMENT).await;
    }
}
