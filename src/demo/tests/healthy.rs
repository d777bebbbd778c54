//! As long as nothing goes wrong on purpose, no alert fires.

use super::rules;
use super::simulation::{Page, Simulation};
use crate::demo::Incident;

/// The incidents whose alert would have fired, with the second from which its condition held.
fn fired(pages: &[Page]) -> Vec<(Incident, usize)> {
    let fires = |incident| {
        let holds: Vec<bool> = (1..=pages.len()).map(|n| rules::holds(incident, &pages[..n])).collect();
        rules::fires(&holds, rules::held(incident)).map(|second| (incident, second))
    };
    Incident::ALL.into_iter().filter_map(fires).collect()
}

#[tokio::test(start_paused = true)]
async fn a_healthy_demo_leads_to_no_alert() {
    let simulation = Simulation::start(1, None);
    let pages = simulation.pages(180).await;
    simulation.stop().await;
    assert_eq!(fired(&pages), []);
}

/// `cargo test --release --lib a_healthy_hour -- --ignored`
#[tokio::test(start_paused = true)]
#[ignore = "takes minutes"]
async fn a_healthy_hour_leads_to_no_alert_whatever_the_seed() {
    for seed in 1..=4 {
        let simulation = Simulation::start(seed, None);
        let pages = simulation.pages(3600).await;
        simulation.stop().await;
        assert_eq!(fired(&pages), [], "seed {seed}");
    }
}
