//! What incidents lead to. That each one reaches the pager, and nothing else does, is tested with the real
//! rules in tests/checks/e2e; all but one, which takes too long there.

use std::collections::BTreeSet;
use std::time::Duration;

use super::simulation::{Page, Simulation};
use crate::demo::{Episode, Incident};

#[tokio::test(start_paused = true)]
async fn the_series_that_show_an_incident_exist() {
    let simulation = Simulation::start(7, None);
    let pages = simulation.pages(40).await;
    simulation.stop().await;
    let named = Incident::ALL.into_iter().flat_map(|incident| {
        let facts = incident.facts();
        std::iter::once(facts.series).chain(facts.against)
    });
    let missing: BTreeSet<&str> =
        named.filter(|series| !pages.iter().any(|page| page.selects(series))).collect();
    assert_eq!(missing, BTreeSet::new());
}

#[tokio::test(start_paused = true)]
async fn the_log_grows_older_than_its_objective_once_retention_has_stopped() {
    let incident = Incident::RetentionStopped;
    let (after, lasting) = (Duration::from_secs(15), incident.facts().within);
    let simulation = Simulation::start(7, Some(Episode { incident, after, lasting: Some(lasting) }));
    let is_too_old = |page: &Page| {
        let log = r#"{source="demo",run_log="notifications"}"#;
        let oldest = page.value(&format!("sqlqueue_run_log_oldest_row_timestamp_seconds{log}"));
        page.now - oldest > page.value(&format!("sqlqueue_objective_max_log_age_seconds{log}"))
    };
    // The page after so much time, whose last second ends with a sample.
    let page_after = async |time: Duration| {
        tokio::time::sleep(time - Duration::from_secs(1)).await;
        simulation.pages(1).await.remove(0)
    };
    assert!(!is_too_old(&page_after(after).await));
    assert!(is_too_old(&page_after(lasting).await), "not within {lasting:?}");
    assert!(!is_too_old(&page_after(Duration::from_secs(10)).await), "it does not end");
    simulation.stop().await;
}
