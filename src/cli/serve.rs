//! `serve`: samples and serves until asked to stop.

use std::process::ExitCode;
use std::sync::Arc;

use tokio::sync::mpsc;
use tracing::info;

use super::{Failure, ServeArgs, block_on, service};
use crate::clock::SystemClock;
use crate::config::{self, Config, Environment};
use crate::exporter::{Exporter, Reloading};
use crate::web;

pub(super) fn run(arguments: &ServeArgs) -> Result<ExitCode, Failure> {
    let config = arguments.config.load(&Environment::process())?;
    let web = arguments.web.with(arguments.web_config.security()?);
    block_on(serve(arguments, config, web))?;
    Ok(ExitCode::SUCCESS)
}

async fn serve(arguments: &ServeArgs, config: Config, web: web::Options) -> Result<(), Failure> {
    let stop = stop_signal();
    // Bound before anything is sampled, so that a port in use is reported at once.
    let listeners = if arguments.systemd_socket {
        service::sockets()?
    } else {
        web::bind(&arguments.web.listen_addresses).await?
    };
    let exporter = Exporter::new(config, SystemClock::shared())?;
    let file = arguments.config.config_file.clone();
    let reloading = Reloading {
        read: Arc::new(move || {
            service::reloading();
            config::load(&file, &Environment::process())
        }),
        asked: reload_signal(),
        done: Box::new(service::ready),
        over_http: arguments.enable_lifecycle,
    };
    let stop = async {
        stop.await;
        service::stopping();
    };
    // The sockets are open: clients that connect from now on are served.
    service::ready();
    tokio::select! {
        served = exporter.run(listeners, web, Some(reloading), stop) => served?,
        () = service::keep_watchdog_quiet() => {}
    }
    info!("stopped");
    Ok(())
}

/// A message for each request to read the configuration again: SIGHUP.
fn reload_signal() -> mpsc::Receiver<()> {
    let (asking, asked) = mpsc::channel(1);
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        // Registered before anything starts, so that an early signal does not end the process.
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

/// Resolves when the process is asked to stop: SIGTERM or SIGINT. Listens from the moment of the call,
/// so that a signal during the start also ends the program in order.
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
