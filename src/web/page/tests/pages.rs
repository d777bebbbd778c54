//! The pages as HTML: escaped, self-contained, and readable without eyes.

use aws_lc_rs::digest;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::html::{assert_well_formed, style, tags, text};
use super::world::{ATTEMPTS, ENQUEUED, EVENTS, JOBS, LABELLED, TARGETS, World, facts, run};
use crate::config::{AttemptOutcome, Outcome};
use crate::sample::{
    Attempt, Bounds, EnqueuedJob, JobState, LogSample, Notification, QueueFacts, Sample, StepEntry,
};
use crate::source::Reason;
use crate::state::State;
use crate::web::Page;
use crate::web::page::{CONFIG, content_security_policy, prepare};

/// What a table can hold to get out of its place in a page.
const HOSTILE: [&str; 8] = [
    "<script>alert(1)</script>",
    "\" onmouseover=\"alert(1)",
    "' onmouseover='alert(1)",
    "</style></title><script>",
    "&lt;b&gt; &amp; &#x3c;",
    "{{ verdict }}{% raw %}",
    "<!-- ",
    "]]> javascript:alert(1)",
];

/// A world whose every name from a table, and every name of the configuration, is this one.
fn named(name: &str) -> World {
    let quoted = serde_json::to_string(name).unwrap();
    let targets = TARGETS
        .replace("name: jobs", &format!("name: {quoted}"))
        .replace("name: runs", &format!("name: {quoted}"))
        .replace("name: events", &format!("name: {quoted}"))
        .replace("kinds: [comment]", &format!("kinds: [{quoted}]"));
    let mut world = World::of_source(name, &targets);
    let aged = QueueFacts { oldest_ready_age_ms: Some(1), ..facts(&[(JobState::Ready, 3)]) };
    world.queue(JOBS, name, aged);
    world.queue(LABELLED, name, facts(&[(JobState::Ready, 1)]));
    let entry = |id, outcome| StepEntry { step: name.to_owned(), ..run(id, outcome) };
    world.run_log(vec![entry(1, Outcome::Ok), run(2, Outcome::Ok), entry(3, Outcome::Error)]);
    let now_ms = world.now.unix_ms;
    let bounds =
        Bounds { oldest_id: Some(1), oldest_ms: Some(now_ms), newest_id: Some(1), ..Bounds::default() };
    let attempt = Attempt {
        id: 1,
        queue: name.to_owned(),
        outcome: AttemptOutcome::Ok,
        number: Some(1),
        duration_ms: Some(1),
        delay_ms: None,
    };
    world.apply(
        ATTEMPTS,
        Sample::AttemptLog(LogSample {
            now_ms,
            bounds,
            rows: vec![attempt],
            foreign: Vec::new(),
            lock_held: None,
        }),
    );
    let jobs = LogSample {
        now_ms,
        bounds,
        rows: vec![EnqueuedJob { id: 1, queue: name.to_owned() }],
        foreign: Vec::new(),
        lock_held: None,
    };
    world.apply(ENQUEUED, Sample::EnqueueLog(jobs));
    let notification = Notification { id: 1, kind: name.to_owned(), at_ms: Some(now_ms) };
    let sample = LogSample { now_ms, bounds, rows: vec![notification], foreign: Vec::new(), lock_held: None };
    world.apply(EVENTS, Sample::ControlTable(sample));
    world.fail(EVENTS, Reason::Permission, name);
    world
}

#[test]
fn hostile_values_are_text_and_change_nothing_else() {
    // Sorted, because the rows of a table come in the order of their names.
    let shape = |world: &World, page| {
        let mut shapes: Vec<String> = tags(&world.html(page)).iter().map(|tag| tag.shape()).collect();
        shapes.sort_unstable();
        shapes
    };
    for page in [Page::Overview, Page::Configuration] {
        let harmless = named("harmless");
        for name in HOSTILE {
            let world = named(name);
            assert_eq!(shape(&world, page), shape(&harmless, page), "{name}");
            assert_well_formed(&world.html(page));
        }
    }
    for name in HOSTILE {
        let page = text(&named(name).overview());
        let folded = name.split_whitespace().collect::<Vec<_>>().join(" ");
        let times = page.matches(&folded).count();
        let harmless = text(&named("harmless").overview()).matches("harmless").count();
        assert_eq!(times, harmless, "{name} is shown as it is, everywhere: {page}");
        assert!(times > 10, "{times}");
    }
}

#[test]
fn the_jobs_that_came_into_a_queue_are_counted_on_the_page() {
    let mut world = World::sampled();
    let now_ms = world.now.unix_ms;
    let count = |world: &World| {
        let page = text(&world.overview());
        let (_, row) = page.split_once("Jobs put into their queues").unwrap();
        row.split_whitespace().skip_while(|word| *word != "jobs").nth(1).unwrap().to_owned()
    };
    assert_eq!(count(&world), "0");
    // What was there before the first sample is not counted.
    for (ids, counted) in [(vec![1], "0"), (vec![2, 3], "2")] {
        let bounds = Bounds {
            oldest_id: Some(1),
            oldest_ms: Some(now_ms),
            newest_id: ids.last().copied(),
            ..Bounds::default()
        };
        let rows = ids.into_iter().map(|id| EnqueuedJob { id, queue: "jobs".to_owned() }).collect();
        let jobs = LogSample { now_ms, bounds, rows, foreign: Vec::new(), lock_held: None };
        world.apply(ENQUEUED, Sample::EnqueueLog(jobs));
        assert_eq!(count(&world), counted);
    }
}

#[test]
fn the_policy_admits_the_style_sheet_of_the_pages_and_nothing_else() {
    let policy = content_security_policy();
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    for page in [Page::Overview, Page::Configuration] {
        let html = World::sampled().html(page);
        let hash = STANDARD.encode(digest::digest(&digest::SHA256, style(&html).as_bytes()));
        assert!(policy.contains(&format!("style-src 'sha256-{hash}'")), "{policy}");
    }
}

#[test]
fn a_page_is_all_there_is() {
    for page in [Page::Overview, Page::Configuration] {
        let html = named("x").html(page);
        for tag in tags(&html) {
            assert!(!["script", "img", "iframe", "object", "form"].contains(&tag.name.as_str()), "{tag:?}");
            for (name, value) in &tag.attributes {
                assert!(!name.starts_with("on") && name != "style", "the policy would refuse {name}");
                assert!(name != "src", "{tag:?}");
                let is_link = name == "href" || name.ends_with(":href");
                assert!(
                    !is_link || value.starts_with("./") || value.starts_with("data:"),
                    "{value} is not relative"
                );
            }
        }
        for token in ["@import", "url(", "</style"] {
            assert!(!style(&html).contains(token), "{token}");
        }
    }
}

#[test]
fn links_lead_to_what_there_is() {
    let world = World::sampled();
    let html = prepare(Page::Overview, &world.state, world.now, "//odd/metrics").render().unwrap();
    let tags = tags(&html);
    let links: Vec<&str> =
        tags.iter().filter(|tag| tag.name == "a").filter_map(|tag| tag.attribute("href")).collect();
    // Without the dot the browser would take the first part of the path for a host.
    assert_eq!(links, ["./", "./config", ".//odd/metrics", "./-/healthy", "./-/ready", "./"]);
    assert_eq!(CONFIG, "/config");
}

#[test]
fn who_hears_the_page_is_told_what_there_is() {
    for page in [Page::Overview, Page::Configuration] {
        let html = named("x").html(page);
        assert_well_formed(&html);
        let tags = tags(&html);
        let starts =
            |name: &str| tags.iter().filter(|tag| tag.name == name && !tag.is_end).collect::<Vec<_>>();
        for (landmark, number) in [("main", 1), ("header", 1), ("nav", 1), ("footer", 1), ("h1", 1)] {
            assert_eq!(starts(landmark).len(), number, "{landmark}");
        }
        let mut level = 0;
        for heading in tags.iter().filter(|tag| !tag.is_end) {
            if let Some(found) = heading.name.strip_prefix('h').and_then(|level| level.parse::<u32>().ok()) {
                assert!(found <= level + 1, "h{found} after h{level}");
                level = found;
            }
        }
        for header in starts("th") {
            assert!(matches!(header.attribute("scope"), Some("col" | "row")), "{header:?}");
        }
        for svg in starts("svg") {
            let is_named = svg.attribute("role") == Some("img") && svg.attribute("aria-labelledby").is_some();
            assert!(is_named || svg.attribute("aria-hidden") == Some("true"), "{svg:?}");
        }
        let regions = starts("div").into_iter().chain(starts("pre"));
        for region in regions.filter(|one| one.attribute("role") == Some("region")) {
            assert!(region.attribute("aria-label").is_some() && region.attribute("tabindex") == Some("0"));
        }
    }
    let html = named("x").overview();
    assert_eq!(
        html.matches("<desc").count(),
        4,
        "two queues with a chart, one of them with an age, and the runs: {html}"
    );
}

#[test]
fn an_exporter_that_watches_nothing_has_a_page() {
    let html = prepare(Page::Overview, &State::default(), World::sampled().now, "/metrics").render().unwrap();
    assert_well_formed(&html);
    assert!(text(&html).contains("The configuration names no source."));
}

#[test]
fn before_the_first_sample_the_page_says_so_and_shows_no_number() {
    let world = World::new(TARGETS);
    let html = world.overview();
    assert_well_formed(&html);
    let page = text(&html);
    assert!(page.contains("Waiting for the first samples"), "{page}");
    assert!(page.contains("db not asked yet"), "{page}");
    assert!(page.contains("Last good sample none yet"), "{page}");
    assert_eq!(page.matches("No sample has been taken yet.").count(), 3, "{page}");
    assert!(page.contains("No runs were read since this exporter started."), "{page}");
    assert!(!html.contains("<dt>Ready</dt>"), "nobody has looked");
    assert!(!html.contains("<svg viewBox=\"0 0 600"), "there is nothing to draw");
}

#[test]
fn the_configuration_is_shown_as_it_would_be_read() {
    let world = named("<b>\"it\"</b>");
    let html = world.html(Page::Configuration);
    let page = text(&html);
    let yaml = world.config.to_yaml().unwrap();
    assert!(page.contains(&yaml.split_whitespace().collect::<Vec<_>>().join(" ")), "{page}");
}
