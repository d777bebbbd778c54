//! The service manager, systemd: sockets that it opened, readiness, reloads and the watchdog. Without
//! systemd all of it does nothing.

use listenfd::ListenFd;
use tokio::net::TcpListener;

use super::Failure;

pub(super) use manager::{keep_watchdog_quiet, ready, reloading, stopping};

/// The sockets of a `.socket` unit.
pub(super) fn sockets() -> Result<Vec<TcpListener>, Failure> {
    let mut given = ListenFd::from_env();
    let mut listeners = Vec::with_capacity(given.len());
    for position in 0..given.len() {
        let Some(listener) = given.take_tcp_listener(position)? else { continue };
        listener.set_nonblocking(true)?;
        listeners.push(TcpListener::from_std(listener)?);
    }
    if listeners.is_empty() {
        return Err(
            "--web.systemd-socket: systemd gave this process no socket; start it with a .socket unit that has \
             ListenStream=, or leave the flag out"
                .into(),
        );
    }
    Ok(listeners)
}

#[cfg(target_os = "linux")]
mod manager {
    use std::time::Duration;

    use sd_notify::NotifyState;

    /// Reports that the process serves, with this configuration.
    pub(in crate::cli) fn ready() {
        notify(&[NotifyState::Ready, NotifyState::Status("serving")]);
    }

    /// Reports that the configuration is being read again.
    pub(in crate::cli) fn reloading() {
        match NotifyState::monotonic_usec_now() {
            Ok(now) => notify(&[NotifyState::Reloading, now]),
            Err(_) => notify(&[NotifyState::Reloading]),
        }
    }

    /// Reports that the process is shutting down.
    pub(in crate::cli) fn stopping() {
        notify(&[NotifyState::Stopping, NotifyState::Status("stopping")]);
    }

    /// Tells the watchdog that the process is alive, for as long as this is polled.
    pub(in crate::cli) async fn keep_watchdog_quiet() {
        let Some(limit) = sd_notify::watchdog_enabled() else {
            return std::future::pending().await;
        };
        // Twice within the limit, as systemd advises.
        let mut ticks = tokio::time::interval((limit / 2).max(Duration::from_millis(10)));
        loop {
            ticks.tick().await;
            notify(&[NotifyState::Watchdog]);
        }
    }

    /// A service manager that does not listen is not worth a failure.
    fn notify(states: &[NotifyState<'_>]) {
        if let Err(error) = sd_notify::notify(states) {
            tracing::debug!(%error, "the service manager was not notified");
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod manager {
    pub(in crate::cli) fn ready() {}
    pub(in crate::cli) fn reloading() {}
    pub(in crate::cli) fn stopping() {}
    pub(in crate::cli) async fn keep_watchdog_quiet() {
        std::future::pending().await
    }
}
