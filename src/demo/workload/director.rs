//! Who begins an incident and ends it.
//!
//! Most of an incident is how the other actors behave while it lasts, see [`variation`](super::variation).
//! The rest is done here: once at its beginning, and undone at its end or when the demo is stopped.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::watch;
use tracing::info;

use super::super::incident::{Episode, Incident, files};
use super::super::{DemoDatabase, DemoError, HostClock, queue};
use super::DemoSummary;
use super::actor::Actor;
use super::script;

/// How wrong the clock of the exporter's host is set.
const AHEAD_MS: i64 = 10_000;

/// What is no table, and yet can go wrong.
#[derive(Debug, Clone)]
pub(super) struct Surroundings {
    pub(super) database: DemoDatabase,
    pub(super) host_clock: Arc<HostClock>,
}

/// Tells the other actors what is wrong, from the beginning of the episode to its end.
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
        Incident::StarvingJob => {
            actor
                .database(|db| {
                    execute(db, include_str!("../../../sql/sqlite/incident/starving_job_begin.sql"))
                })
                .await
        }
        Incident::PoisonJob => {
            actor.database(|db| queue::enqueue(db, script::ENDLESS, Duration::ZERO, u32::MAX).map(drop)).await
        }
        Incident::BrokenTarget => {
            actor
                .database(|db| {
                    execute(db, include_str!("../../../sql/sqlite/incident/broken_target_begin.sql"))
                })
                .await
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
        Incident::StarvingJob => {
            actor
                .database(|db| execute(db, include_str!("../../../sql/sqlite/incident/starving_job_end.sql")))
                .await
        }
        Incident::BrokenTarget => {
            actor
                .database(|db| {
                    execute(db, include_str!("../../../sql/sqlite/incident/broken_target_end.sql"))
                })
                .await
        }
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

fn execute(db: &Connection, statement: &str) -> rusqlite::Result<()> {
    db.execute(statement, ()).map(drop)
}
