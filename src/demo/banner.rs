//! The demo's banner: what runs, what to open and what will go wrong.

use std::fmt::Write as _;

use super::{DemoDatabase, DemoOptions, Episode, TEMPO, workload};
use crate::config::duration;

/// The banner. `urls` are the pages that the caller serves, each with its name.
#[must_use]
pub fn banner(database: &DemoDatabase, options: &DemoOptions, urls: &[(&str, String)]) -> String {
    let mut text = format!(
        "Demo on {file}\n\
         \x20 a lease queue (JobQueue, JobAttempt) with {workers} workers, of which some fail, crash or stall\n\
         \x20 a transactional queue (WorkQueue) with {consumers} consumers\n\
         \x20 notification runs (RunLog, NotificationControl) by {schedulers} schedulers that overlap\n\
         Seed {seed}, speed {speed}. Exporter configuration: {config}\n",
        file = database.file().display(),
        workers = workload::WORKERS,
        consumers = workload::CONSUMERS,
        schedulers = workload::SCHEDULERS,
        seed = options.seed,
        speed = options.speed,
        config = database.config_file().display(),
    );
    if let Some(episode) = options.episode {
        text.push_str(&guidance(episode, options.speed));
    }
    if !urls.is_empty() {
        text.push_str("Open:\n");
    }
    let width = urls.iter().map(|(what, _)| what.chars().count()).max().unwrap_or(0);
    for (what, url) in urls {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {what:width$}  {url}");
    }
    text
}

/// The incident: what will happen, when, and where to look.
fn guidance(episode: Episode, speed: f64) -> String {
    let facts = episode.incident.facts();
    let after = duration::text(episode.after);
    let end = match episode.lasting {
        Some(lasting) => format!("for {}", duration::text(lasting)),
        None => "until the demo is stopped".to_owned(),
    };
    let against = facts.against.map(|series| format!("\n  against  {series}")).unwrap_or_default();
    let within = duration::text(facts.within.div_f64(speed));
    format!(
        "Incident {name}, from {after} after the start, {end}:\n\
         \x20 {happens}\n\
         \x20 look at  {series}{against}\n\
         \x20 alert    {alert}, whose condition holds within {within}\n\
         \x20 tempo    divide the durations in the alert rules by {factor}\n",
        name = facts.name,
        happens = facts.happens,
        series = facts.series,
        alert = facts.alert,
        factor = TEMPO * speed,
    )
}
