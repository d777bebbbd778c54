//! The director: begins and ends an incident.
//!
//! Most of an incident is how the other actors behave while it lasts, see [`variation`](super::variation).
//! The rest is done here, once at its start, and undone at its end or when the demo is stopped.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::watch;
use tracing::info;

use super::super::incident::{Episode, Incident, files};
use super::super::{DemoDatabase, DemoError, HostClock, queue, sql};
use super::DemoSummary;
use super::actor::Actor;
use super::script;

/// How far ahead the clock of the exporter's host is set.
const AHEAD_MS: i64 = 10_000;

/// Announces the incident to the other actors for as long as it lasts.
pub(super) async fn director(
    actor: Actor,
    episode: Episode,
    database: DemoDatabase,
    host_clock: Arc<HostClock>,
    announce: watch::Sender<Option<Incident>>,
) -> Result<DemoSummary, DemoError> {
    let Episode { incident, after, lasting } = episode;
    let name = incident.facts().name;
    if actor.wait(after).await {
        switch(incident, true, &actor, &database, &host_clock).await?;
        announce.send_replace(Some(incident));
        info!(incident = name, "the incident begins");
        actor.wait(lasting.unwrap_or(Duration::MAX)).await;
        announce.send_replace(None);
        switch(incident, false, &actor, &database, &host_clock).await?;
        info!(incident = name, "the incident ends");
    }
    Ok(DemoSummary::default())
}

/// What an incident leaves in a table, a folder or the clock: puts it there as it begins, and takes it
/// away as it ends.
async fn switch(
    incident: Incident,
    begins: bool,
    actor: &Actor,
    database: &DemoDatabase,
    host_clock: &HostClock,
) -> Result<(), DemoError> {
    let statement = match (incident, begins) {
        (Incident::StarvingJob, true) => sql!("incident/starving_job_begin"),
        (Incident::StarvingJob, false) => sql!("incident/starving_job_end"),
        (Incident::BrokenTarget, true) => sql!("incident/broken_target_begin"),
        (Incident::BrokenTarget, false) => sql!("incident/broken_target_end"),
        (Incident::PoisonJob, true) => {
            let enqueue = |db: &mut Connection| queue::enqueue(db, script::ENDLESS, Duration::ZERO, u32::MAX);
            return actor.database(enqueue).await.map(drop);
        }
        (Incident::DatabaseDown, true) => return files::move_away(database.file()),
        (Incident::DatabaseDown, false) => return files::move_back(database.file()),
        (Incident::StateNotSaved, true) => return files::block(&database.state_file()),
        (Incident::StateNotSaved, false) => return files::unblock(&database.state_file()),
        (Incident::ClockSkew, _) => {
            host_clock.set_ahead(if begins { AHEAD_MS } else { 0 });
            return Ok(());
        }
        // The poison job succeeds as soon as it can be read.
        _ => return Ok(()),
    };
    actor.database(move |db| db.execute(statement, ())).await.map(drop)
}
