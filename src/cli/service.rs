//! What passes between this process and systemd: sockets that it opened, readiness, reloads and the
//! watchdog. Without systemd all of it does nothing.

use std::io;
use std::time::Duration;

use listenfd::ListenFd;
use sd_notify::NotifyState;
use tokio::net::TcpListener;

use super::Failure;

/// The sockets of a `.socket` unit.
pub(super) fn sockets() -> Result<Vec<TcpListener>, Failure> {
    let mut given = ListenFd::from_env();
    let mut listeners = Vec::with_capacity(given.len());
    for place in 0..given.len() {
        let Some(listener) = given.take_tcp_listener(place)? else { continue };
        listener.set_nonblocking(true)?;
        listeners.push(TcpListener::from_std(listener)?);
    }
    if listeners.is_empty() {
        return Err(
            "--web.systemd-socket: systemd gave this process no socket; start it by a .socket unit with \
                    ListenStream=, or leave the flag out"
                .into(),
        );
    }
    Ok(listeners)
}

/// The process serves, with this configuration.
pub(super) fn ready() {
    tell(&[NotifyState::Ready, NotifyState::Status("serving")]);
}

/// The configuration is being read again.
pub(super) fn reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => tell(&[NotifyState::Reloading, now]),
        Err(_) => tell(&[NotifyState::Reloading]),
    }
}

/// The process was told to stop.
pub(super) fn stopping() {
    tell(&[NotifyState::Stopping, NotifyState::Status("stopping")]);
}

/// Tells the watchdog that the process lives, for as long as it is polled.
pub(super) async fn keep_watchdog_quiet() {
    let Some(limit) = sd_notify::watchdog_enabled() else {
        return std::future::pending().await;
    };
    // Twice within the limit, as systemd advises.
    let mut ticks = tokio::time::interval((limit / 2).max(Duration::from_millis(10)));
    loop {
        ticks.tick().await;
        tell(&[NotifyState::Watchdog]);
    }
}

/// A service manager that does not listen is not worth a failure.
fn tell(states: &[NotifyState<'_>]) {
    let told: io::Result<()> = sd_notify::notify(states);
    if let Err(error) = told {
        tracing::debug!(%error, "the service manager was not told");
    }
}
