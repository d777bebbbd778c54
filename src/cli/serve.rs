//! `serve`: sample and serve until told to stop.

use std::process::ExitCode;

use tracing::info;

use super::{Failure, Options, block_on, load};
use crate::clock::SystemClock;
use crate::config::{Config, Environment};
use crate::exporter::Exporter;
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
    let listeners = web::bind(&options.listen_addresses).await?;
    let exporter = Exporter::new(config, SystemClock::shared())?;
    exporter.run(listeners, web, stop).await?;
    info!("stopped");
    Ok(())
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
