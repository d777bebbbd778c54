//! HTML pages: an overview that needs no other tool to read, and the configuration.
//!
//! The HTML has inline SVG, no script, and loads nothing. The template engine escapes everything that
//! comes from a table or the configuration; should that ever fail, the `Content-Security-Policy` still
//! allows nothing but the one style sheet.

mod chart;
mod elements;
mod now;
mod objectives;
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
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Serialize;

use self::chart::Window;
use self::elements::Ids;
pub use self::now::Now;
use self::problems::{Problem, Severity};
use self::quantity::{Moment, counted};
use self::source::SourceView;
use super::Page;
use crate::state::{State, TargetData};

/// The address of the configuration's page.
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
    // Whatever a template is called.
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    for (name, text) in FILES {
        // A template that does not parse is missing from the environment; rendering it then names
        // it, and tests render them all.
        let _ = environment.add_template(name, text);
    }
    environment
});

/// A page could not be rendered. The templates ship with the program, so this is a defect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the page template {template} cannot be rendered: {message}")]
pub struct PageError {
    template: &'static str,
    message: String,
}

/// A page that only has to be rendered: nothing of the state is needed any more.
#[derive(Debug, Serialize)]
pub struct Prepared {
    style: &'static str,
    version: &'static str,
    /// Relative, as all addresses on a page are.
    metrics: String,
    now: Moment,
    #[serde(flatten)]
    content: Content,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Content {
    Overview(Box<Overview>),
    Configuration { yaml: String },
}

#[derive(Debug, PartialEq, Serialize)]
struct Overview {
    verdict: String,
    /// The class that colours it.
    verdict_class: &'static str,
    problems: Vec<Problem>,
    sources: Vec<SourceView>,
    config_read: Moment,
    /// When the state was last saved; `None` when it is not kept.
    saved: Option<Option<Moment>>,
}

/// Takes out of the state what a page shows. `telemetry_path` is where the metrics are.
#[must_use]
pub fn prepare(page: Page, state: &State, now: Now, telemetry_path: &str) -> Prepared {
    Prepared {
        style: STYLE,
        version: env!("CARGO_PKG_VERSION"),
        // With the dot it is a path whatever follows, and holds behind a proxy's prefix, too.
        metrics: format!(".{telemetry_path}"),
        now: Moment::new(now.unix_ms, now.unix_ms),
        content: match page {
            Page::Overview => Content::Overview(Box::new(overview(state, now))),
            Page::Configuration => Content::Configuration { yaml: state.config_yaml.clone() },
        },
    }
}

impl Prepared {
    /// The page as HTML.
    ///
    /// # Errors
    /// [`PageError`], when a shipped template is broken.
    pub fn render(&self) -> Result<String, PageError> {
        let template = match self.content {
            Content::Overview(_) => "overview.html",
            Content::Configuration { .. } => "config.html",
        };
        TEMPLATES
            .get_template(template)
            .and_then(|found| found.render(Serde(self)))
            .map_err(|error| PageError { template, message: format!("{error:#}") })
    }
}

/// What a browser may do with a page: show it in the one style that it comes with.
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

fn overview(state: &State, now: Now) -> Overview {
    let problems = problems::all(state, now);
    let window = Window::new(now.monotonic, oldest_point(state));
    let mut ids = Ids::default();
    let (verdict, verdict_class) = verdict(state, &problems);
    Overview {
        verdict,
        verdict_class,
        problems,
        sources: state
            .sources
            .iter()
            .map(|source| source::view(source, state, now, &window, &mut ids))
            .collect(),
        config_read: Moment::new(state.config.last_success_ms, now.unix_ms),
        saved: state.saving.map(|saving| saving.last_success_ms.map(|at_ms| Moment::new(at_ms, now.unix_ms))),
    }
}

/// All of it in a few words.
fn verdict(state: &State, problems: &[Problem]) -> (String, &'static str) {
    let number = |severity| {
        let of_it = problems.iter().filter(|problem| problem.severity == severity);
        u64::try_from(of_it.count()).unwrap_or(u64::MAX)
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

/// The time that the charts go back to.
fn oldest_point(state: &State) -> Option<Duration> {
    let targets = state.sources.iter().flat_map(|source| &source.targets);
    let queues = targets.filter_map(|target| match &target.data {
        TargetData::Queue(queue) => Some(queue),
        _ => None,
    });
    let trends = queues.flat_map(|queue| queue.trends.iter());
    trends.filter_map(|(_, trend)| trend.points().next()).map(|point| point.from).min()
}

#[cfg(test)]
mod tests;
