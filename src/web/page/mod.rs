//! HTML pages: the status page, and the configuration.
//!
//! The HTML has inline SVG, no script, and loads nothing. The template engine escapes all text from tables
//! and the configuration. As a second defence, the `Content-Security-Policy` allows nothing but the one
//! style sheet.

mod chart;
mod elements;
mod objectives;
mod problem;
mod problems;
mod quantity;
mod queue;
mod run_log;
mod source;

use std::sync::LazyLock;
use std::time::Duration;

use aws_lc_rs::digest;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value, context};

use self::chart::Window;
use self::elements::Ids;
use self::problem::{Problem, Severity};
use self::quantity::{Moment, counted};
use super::Page;
use crate::state::{State, TargetData};

/// The path of the configuration page.
pub(super) const CONFIG: &str = "/config";

/// The style sheet of every page.
const STYLE: &str = include_str!("templates/style.css");

const FILES: [(&str, &str); 7] = [
    ("layout.html", include_str!("templates/layout.html")),
    ("overview.html", include_str!("templates/overview.html")),
    ("parts.html", include_str!("templates/parts.html")),
    ("queue.html", include_str!("templates/queue.html")),
    ("run_log.html", include_str!("templates/run_log.html")),
    ("source.html", include_str!("templates/source.html")),
    ("config.html", include_str!("templates/config.html")),
];

static TEMPLATES: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    // For every template name.
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    for (name, text) in FILES {
        // A template that does not parse is missing from the environment. Rendering it fails with its name,
        // and tests render them all.
        let _ = environment.add_template(name, text);
    }
    environment
});

/// The present, by the exporter's clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// The monotonic clock.
    pub monotonic: Duration,
    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub unix_ms: i64,
}

/// A page could not be rendered: a defect, because the templates are part of the program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the page template {template} cannot be rendered: {message}")]
pub struct PageError {
    template: &'static str,
    message: String,
}

/// The content of a page, taken out of the state and ready to be rendered.
#[derive(Debug)]
pub struct Prepared {
    template: &'static str,
    content: Value,
}

/// Takes the content of a page out of the state. `telemetry_path` is the path of the metrics.
#[must_use]
pub fn prepare(page: Page, state: &State, now: Now, telemetry_path: &str) -> Prepared {
    let (template, content) = match page {
        Page::Overview => ("overview.html", overview(state, now)),
        Page::Configuration => ("config.html", context!(yaml => state.config_yaml.clone())),
    };
    let content = context! {
        style => STYLE,
        version => env!("CARGO_PKG_VERSION"),
        // Relative, as all addresses on a page are: the dot keeps it valid behind the path prefix of a proxy.
        metrics => format!(".{telemetry_path}"),
        now => Moment::new(now.unix_ms, now.unix_ms),
        ..content
    };
    Prepared { template, content }
}

impl Prepared {
    /// The page as HTML.
    ///
    /// # Errors
    /// [`PageError`], when a shipped template is broken.
    pub fn render(&self) -> Result<String, PageError> {
        let template = self.template;
        TEMPLATES
            .get_template(template)
            .and_then(|found| found.render(self.content.clone()))
            .map_err(|error| PageError { template, message: format!("{error:#}") })
    }
}

/// The `Content-Security-Policy` of every page: nothing but its own style sheet is allowed.
pub(super) fn content_security_policy() -> &'static str {
    static POLICY: LazyLock<String> = LazyLock::new(|| {
        let hash = STANDARD.encode(digest::digest(&digest::SHA256, STYLE.as_bytes()));
        format!(
            "default-src 'none'; style-src 'sha256-{hash}'; img-src data:; base-uri 'none'; form-action 'none'; \
             frame-ancestors 'none'"
        )
    });
    &POLICY
}

fn overview(state: &State, now: Now) -> Value {
    let problems = problems::all(state, now);
    let window = Window::new(now.monotonic, oldest_point(state));
    let mut ids = Ids::default();
    let (verdict, verdict_class) = verdict(state, &problems);
    let sources = state.sources.iter().map(|source| source::view(source, state, now, &window, &mut ids));
    let moment = |at_ms| Moment::new(at_ms, now.unix_ms);
    context! {
        verdict,
        verdict_class,
        problems => Value::from(Serde(problems)),
        sources => sources.collect::<Vec<_>>(),
        config_read => moment(state.config.last_success_ms),
        has_state_file => state.saving.is_some(),
        saved => state.saving.and_then(|saving| saving.last_success_ms).map(moment),
    }
}

/// The overall status in a few words, and the CSS class of its colour.
fn verdict(state: &State, problems: &[Problem]) -> (String, &'static str) {
    let number = |severity| {
        let matching = problems.iter().filter(|problem| problem.severity == severity);
        u64::try_from(matching.count()).unwrap_or(u64::MAX)
    };
    let (bad, notices) = (number(Severity::Problem), number(Severity::Notice));
    let bad_text = counted(bad, "problem", "problems");
    let notices_text = counted(notices, "notice", "notices");
    match (bad, notices) {
        (0, 0) if !state.first_pass_done() => ("Waiting for the first samples".to_owned(), "idle"),
        (0, 0) => ("Nothing needs attention".to_owned(), "good"),
        (0, _) => (notices_text, "warn"),
        (_, 0) => (bad_text, "bad"),
        _ => (format!("{bad_text}, {notices_text}"), "bad"),
    }
}

/// The oldest point of all charts, by the monotonic clock.
fn oldest_point(state: &State) -> Option<Duration> {
    let targets = state.sources.iter().flat_map(|source| &source.targets);
    let queues = targets.filter_map(|target| match &target.data {
        TargetData::Queue(queue) => Some(queue),
        _ => None,
    });
    let trends = queues.flat_map(|queue| queue.trends.values());
    trends.filter_map(|trend| trend.points.front()).map(|point| point.from).min()
}

#[cfg(test)]
mod tests;
