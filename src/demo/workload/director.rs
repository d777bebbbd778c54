//! The director: begins and ends an incident.
//!
//! Most of an incident is how the other actors behave while it lasts, see [`variation`](super::variation).
//! The rest is done here, once at its start, and undone at its end or when the demo is stopped.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tracing::info;

use super::super::incident::{Episode, Incident, files};
use super::super::{DemoDatabase, DemoError, HostClock, queue, sql};
use super::DemoSummary;
use super::actor::Actor;
use super::script;

/// How far ahead the clock of the exporter's host is set.
const AHEAD_MS: i64 = 10_000;

/// What can go wrong outside the tables.
#[derive(Debug, Clone)]
pub(super) struct Surroundings {
    pub(super) database: DemoDatabase,
    pub(super) host_clock: Arc<HostClock>,
}

/// Announces the incident to the other actors for as long as it lasts.
pub(super) async fn director(
    actor: Actor,
    episode: Episode,
    surroundings: Surroundings,
    announce: watch::Sender<Option<Incident>>,
) -> Result<DemoSummary, DemoError> {
    let Episode { incident, after, lasting } = episode;
    let name = incident.facts().name;
    if actor.wait(after).await {
        begin(incident, &actor, &surroundings).await?;
        announce.send_replace(Some(incident));
        info!(incident = name, "the incident begins");
        actor.wait(lasting.unwrap_or(Duration::MAX)).await;
        announce.send_replace(None);
        end(incident, &actor, &surroundings).await?;
        info!(incident = name, "the incident ends");
    }
    Ok(DemoSummary::default())
}

async fn begin(incident: Incident, actor: &Actor, surroundings: &Surroundings) -> Result<(), DemoError> {
    match incident {
        Incident::StarvingJob => execute(actor, sql!("incident/starving_job_begin")).await,
        Incident::BrokenTarget => execute(actor, sql!("incident/broken_target_begin")).await,
        Incident::PoisonJob => {
            actor.database(|db| queue::enqueue(db, script::ENDLESS, Duration::ZERO, u32::MAX).map(drop)).await
        }
        Incident::DatabaseDown => files::move_away(surroundings.database.file()),
        Incident::StateNotSaved => files::block(&surroundings.database.state_file()),
        Incident::ClockSkew => {
            surroundings.host_clock.set_ahead(AHEAD_MS);
            Ok(())
        }
        _ => Ok(()),
    }
}

async fn end(incident: Incident, actor: &Actor, surroundings: &Surroundings) -> Result<(), DemoError> {
    match incident {
        Incident::StarvingJob => execute(actor, sql!("incident/starving_job_end")).await,
        Incident::BrokenTarget => execute(actor, sql!("incident/broken_target_end")).await,
        Incident::DatabaseDown => files::move_back(surroundings.database.file()),
        Incident::StateNotSaved => files::unblock(&surroundings.database.state_file()),
        Incident::ClockSkew => {
            surroundings.host_clock.set_ahead(0);
            Ok(())
        }
        // The poison job succeeds as soon as it can be read.
        _ => Ok(()),
    }
}

async fn execute(actor: &Actor, statement: &'static str) -> Result<(), DemoError> {
    actor.database(move |db| db.execute(statement, ()).map(drop)).await
}
