//! The demo's exporter configuration, scaled to its speed.

use std::time::Duration;

use minijinja::{Environment, context};

use super::DemoError;
use crate::config::duration;

/// The start of each configuration that a demo writes.
const MARK: &[u8] = b"# Written by the demo;";

/// Whether a demo wrote this, so that another one may overwrite it.
pub(super) fn is_of_a_demo(text: &[u8]) -> bool {
    text.starts_with(MARK)
}

/// The configuration for a database file.
pub(super) fn yaml(file: &str, speed: f64) -> Result<String, DemoError> {
    let mut environment = Environment::new();
    // A time in milliseconds at speed 1, and the least that it becomes at other speeds.
    environment.add_filter("paced", move |ms: u64, least: Option<u64>| {
        let least = Duration::from_millis(least.unwrap_or(100));
        duration::text(Duration::from_millis(ms).div_f64(speed).max(least))
    });
    // A JSON string is also a YAML string, whatever the path contains.
    let file = serde_json::Value::from(file).to_string();
    Ok(environment.render_str(include_str!("sqlqueue-exporter.yaml"), context! { file })?)
}
