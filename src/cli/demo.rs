//! `demo`: the exporter on an embedded database with simulated workers.

use std::process::ExitCode;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::serve::stop_signal;
use super::{DemoArgs, Failure, WebOptions, block_on, print};
use crate::clock::SystemClock;
use crate::config::{self, Environment};
use crate::demo::{self, DemoDatabase, DemoOptions, Episode, HostClock, Incident};
use crate::exporter::Exporter;
use crate::web;

pub(super) fn run(arguments: DemoArgs) -> Result<ExitCode, Failure> {
    let DemoArgs { seed, speed, incident, incident_after, incident_for, folder, web, web_config, log: _ } =
        arguments;
    demo::check_speed(speed)?;
    let episode = incident.map(|incident| {
        let after = incident_after.unwrap_or(incident.facts().after.div_f64(speed));
        Episode { incident, after, lasting: incident_for }
    });
    let server = web.with(web_config.security()?);
    // A temporary folder is deleted when it goes out of scope.
    let (folder, _temporary, afterwards) = match folder {
        Some(folder) => (folder, None, "the files stay"),
        None => {
            let temporary = tempfile::Builder::new().prefix("sqlqueue-exporter-demo-").tempdir()?;
            (temporary.path().to_owned(), Some(temporary), "the files are removed")
        }
    };
    let options = DemoOptions { folder, seed, speed, episode };
    let database = demo::prepare(&options)?;
    block_on(run_database(&web, server, &options, &database, afterwards))?;
    Ok(ExitCode::SUCCESS)
}

/// The names of the incidents on the command line.
impl ValueEnum for Incident {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let facts = self.facts();
        Some(PossibleValue::new(facts.name).help(format!("{}: {}", facts.alert, facts.happens)))
    }
}

async fn run_database(
    options: &WebOptions,
    web: web::Options,
    demo_options: &DemoOptions,
    database: &DemoDatabase,
    afterwards: &str,
) -> Result<(), Failure> {
    let asked_to_stop = stop_signal();
    let listeners = web::bind(&options.listen_addresses).await?;
    let config = config::load(&database.config_file(), &Environment::process())?;
    let urls = urls(&listeners, &web);
    print(&demo::banner(database, demo_options, &urls))?;
    print(&format!("Ctrl-C stops it; {afterwards}.\n"))?;

    // When either half ends, the other ends too: a demo without a workload shows nothing.
    let stop = CancellationToken::new();
    let host_clock = HostClock::new(SystemClock::shared());
    let exporter = Exporter::new(config, host_clock.clone())?;
    let serving = async {
        let served = exporter.run(listeners, web, None, stop.cancelled()).await;
        stop.cancel();
        served
    };
    let working = async {
        let worked = demo::run_workload(database, demo_options, &host_clock, stop.cancelled()).await;
        stop.cancel();
        worked
    };
    let asked = async {
        tokio::select! {
            () = asked_to_stop => stop.cancel(),
            () = stop.cancelled() => {}
        }
    };
    let (served, worked, ()) = tokio::join!(serving, working, asked);
    served?;
    print(&format!("{}\n", worked?))?;
    Ok(())
}

/// The pages to open, with the port actually bound.
fn urls(listeners: &[TcpListener], web: &web::Options) -> Vec<(&'static str, String)> {
    let Some(address) = listeners.first().and_then(|listener| listener.local_addr().ok()) else {
        return Vec::new();
    };
    let host = if address.ip().is_unspecified() { "localhost".to_owned() } else { address.ip().to_string() };
    let host = if host.contains(':') { format!("[{host}]") } else { host };
    let base = format!("{}://{host}:{}", web.scheme(), address.port());
    vec![("overview", format!("{base}/")), ("metrics", format!("{base}{}", web.telemetry_path))]
}
