//! `serve`: sample and serve until told to stop.

use std::process::ExitCode;

use tokio::sync::mpsc;
use tracing::info;

use super::{Failure, Options, block_on, load, service};
use crate::clock::SystemClock;
use crate::config::{self, Config, Environment};
use crate::exporter::{Exporter, Reloading};
use crate::web;

pub(super) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let config = load(options, &Environment::process())?;
    let web = options.web()?;
    block_on(serve(options, config, web))?;
    Ok(ExitCode::SUCCESS)
}

async fn serve(options: &Options, config: Config, web: web::Options) -> Result<(), Failure> {
    let stop = stop_signal();
    // Bound before anything is sampled: a port that is taken is told at once.
    let listeners = if options.systemd_socket {
        service::sockets()?
    } else {
        web::bind(&options.listen_addresses).await?
    };
    let exporter = Exporter::new(config, SystemClock::shared())?;
    let file = options.config_file.clone();
    let reloading = Reloading {
        read: Box::new(move || {
            service::reloading();
            config::load(&file, &Environment::process())
        }),
        asked: reload_signal(),
        done: Box::new(service::ready),
        over_http: options.enable_lifecycle,
    };
    let stop = async {
        stop.await;
        service::stopping();
    };
    // The sockets are open: whoever connects from now on is served.
    service::ready();
    tokio::select! {
        served = exporter.run(listeners, web, Some(reloading), stop) => served?,
        () = service::keep_watchdog_quiet() => {}
    }
    info!("stopped");
    Ok(())
}

/// A message each time that the process is asked to read its configuration again: SIGHUP.
fn reload_signal() -> mpsc::Receiver<()> {
    let (asking, asked) = mpsc::channel(1);
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        // Registered before anything is started, so that an early signal does not end the process.
        if let Ok(mut hangups) = signal(SignalKind::hangup()) {
            tokio::spawn(
                async move { while hangups.recv().await.is_some() && asking.send(()).await.is_ok() {} },
            );
        }
    }
    #[cfg(not(unix))]
    drop(asking);
    asked
}

/// Resolves when the process is asked to stop: SIGTERM or SIGINT. Listens from the call on, so that
/// a signal that comes while the program is still starting ends it in order too.
pub(super) fn stop_signal() -> impl Future<Output = ()> {
    #[cfg(unix)]
    let terminate = {
        use tokio::signal::unix::{SignalKind, signal};
        (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    };
    async move {
        #[cfg(unix)]
        if let (Ok(mut terminate), Ok(mut interrupt)) = terminate {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            return;
        }
        // Without signals the process is stopped by other means.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
