//! Each incident leads to what its alert looks at, and to nothing before and after.

use std::time::Duration;

use super::rules;
use super::simulation::Simulation;
use crate::demo::{Episode, Incident};

/// One test for each incident, in simulated seconds: how long all goes well, how long the incident
/// lasts, and how long it then takes until nothing is left of it.
macro_rules! leads_to_its_alert {
    ($($test:ident: $incident:ident, $after:literal, $lasting:literal, $recovery:literal;)+) => {
        mod leads_to_its_alert {
            $(#[tokio::test(start_paused = true)]
            async fn $test() {
                super::simulate(crate::demo::Incident::$incident, $after, $lasting, $recovery).await;
            })+
        }

        #[test]
        fn each_incident_is_simulated() {
            assert_eq!([$(Incident::$incident),+], Incident::ALL);
        }
    };
}

leads_to_its_alert! {
    no_workers: NoWorkers, 15, 30, 5;
    starving_job: StarvingJob, 15, 25, 5;
    growing_backlog: GrowingBacklog, 15, 60, 20;
    worker_crash: WorkerCrash, 15, 40, 30;
    no_recovery: NoRecovery, 15, 65, 10;
    poison_job: PoisonJob, 15, 30, 15;
    failed_jobs: FailedJobs, 15, 35, 45;
    overlapping_runs: OverlappingRuns, 15, 65, 60;
    orphaned_lock: OrphanedLock, 15, 25, 10;
    failing_step: FailingStep, 15, 20, 5;
    slow_step: SlowStep, 100, 55, 45;
    scheduler_stopped: SchedulerStopped, 15, 40, 5;
    cap_reached: CapReached, 15, 60, 90;
    retention_stopped: RetentionStopped, 15, 230, 5;
    clock_skew: ClockSkew, 15, 12, 5;
    broken_target: BrokenTarget, 15, 20, 5;
    database_down: DatabaseDown, 15, 10, 5;
    state_not_saved: StateNotSaved, 15, 20, 5;
}

async fn simulate(incident: Incident, after: usize, lasting: usize, recovery: usize) {
    let seconds = |seconds: usize| Duration::from_secs(u64::try_from(seconds).unwrap());
    // Between two pages: whether the one at the very moment shows it is not the question.
    let begins = seconds(after) + Duration::from_millis(500);
    let episode = Episode { incident, after: begins, lasting: Some(seconds(lasting)) };
    let simulation = Simulation::start(7, Some(episode));
    let pages = simulation.pages(after + lasting + recovery).await;
    simulation.stop().await;

    let facts = incident.facts();
    for series in std::iter::once(facts.series).chain(facts.against) {
        let shown = pages.iter().any(|page| page.selects(series));
        assert!(shown, "{series} selects nothing");
    }

    let holds: Vec<bool> = (1..=pages.len()).map(|n| rules::holds(incident, &pages[..n])).collect();
    let (before, rest) = holds.split_at(after);
    let (during, recovered) = rest.split_at(lasting);
    let held = rules::held(incident);
    assert_eq!(rules::fires(before, held), None, "before the incident: {holds:?}");
    let begins_to_hold = rules::fires(during, held).unwrap_or_else(|| panic!("it never fires: {holds:?}"));
    assert!(seconds(begins_to_hold) <= facts.within, "after {begins_to_hold} s: {holds:?}");
    assert_eq!(recovered.last(), Some(&false), "it does not end: {holds:?}");
}
