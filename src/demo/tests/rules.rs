//! The conditions of the alert rules, as far as incidents lead to them, on the pages of a simulation.
//!
//! The rules are written for real businesses. The demo is [`TEMPO`] times as fast, so a minute of a rule is
//! a second here. Left out is what keeps a rule from firing for a few long runs; the end-to-end test of the
//! alerts has the rules themselves.

use super::simulation::Page;
use crate::config::duration;
use crate::demo::{Incident, TEMPO};

const JOBS: &str = r#"source="demo",queue="jobs""#;
const LOG: &str = r#"source="demo",run_log="notifications""#;

const RULES: [&str; 3] = [
    include_str!("../../../alerts/exporter.rules.yml"),
    include_str!("../../../alerts/queues.rules.yml"),
    include_str!("../../../alerts/run_logs.rules.yml"),
];

/// For how many seconds the condition must hold until the alert fires.
pub(super) fn held(incident: Incident) -> usize {
    let alert = incident.facts().alert;
    let rule = RULES.iter().find_map(|rules| rules.split_once(&format!("- alert: {alert}\n")));
    let (_, rule) = rule.unwrap_or_else(|| panic!("there is no alert {alert}"));
    let rule = rule.split("- alert: ").next().unwrap();
    let waits = rule.lines().find_map(|line| line.trim().strip_prefix("for: ")).expect(alert);
    let waits = duration::parse(waits).unwrap().div_f64(TEMPO);
    usize::try_from(waits.as_secs()).unwrap()
}

/// The first of the seconds from which a condition holds for so long that the alert fires.
pub(super) fn fires(holds: &[bool], held: usize) -> Option<usize> {
    holds.windows(held + 1).position(|window| window.iter().all(|holds| *holds))
}

/// Whether the condition of the incident's alert holds on the last of these pages, one a second.
pub(super) fn holds(incident: Incident, pages: &[Page]) -> bool {
    let history = History(pages);
    let now = history.last();
    match incident {
        Incident::NoWorkers => {
            now.exceeds("oldest_ready_age_seconds", "max_ready_age_seconds", JOBS) && history.idle()
        }
        Incident::StarvingJob => {
            now.exceeds("oldest_ready_age_seconds", "max_ready_age_seconds", JOBS) && !history.idle()
        }
        Incident::GrowingBacklog => {
            let age = format!("sqlqueue_oldest_ready_age_seconds{{{JOBS}}}");
            let mean = |offset: usize| history.mean(&age, 10, offset);
            let in_an_hour = mean(0).zip(mean(30)).map(|(now, before)| now + 2.0 * (now - before));
            in_an_hour > now.objective("max_ready_age_seconds", JOBS)
                && mean(0) > mean(5)
                && !now.exceeds("oldest_ready_age_seconds", "max_ready_age_seconds", JOBS)
        }
        Incident::WorkerCrash => {
            let attempts =
                |outcome: &str| format!(r#"sqlqueue_attempts_total{{{JOBS},outcome="{outcome}"}}"#);
            history.share(["ok", "error", "lost"].map(attempts), 2, 30)
                > now.objective("max_lost_ratio", JOBS)
                && history.increase(&attempts("lost"), 15, 0) > 0.0
        }
        Incident::NoRecovery => now.exceeds("oldest_expired_lease_seconds", "max_expired_age_seconds", JOBS),
        Incident::PoisonJob => now.exceeds("max_attempts", "max_attempts", JOBS),
        Incident::FailedJobs => {
            now.get(&format!(r#"sqlqueue_jobs{{{JOBS},state="failed"}}"#))
                > now.objective("max_failed_jobs", JOBS)
        }
        // Not while every run is skipped: that is for another alert.
        Incident::OverlappingRuns => {
            history.rows("run", 3) > now.objective("max_skip_ratio", LOG)
                && ["skipped", "ok"]
                    .iter()
                    .all(|outcome| history.increase(&rows("run", outcome), 15, 0) > 0.0)
        }
        Incident::OrphanedLock => now.exceeds("run_consecutive_skips", "max_consecutive_skips", LOG),
        Incident::FailingStep => {
            let last = |outcome: &str| {
                now.get(&format!(r#"sqlqueue_run_last_{outcome}_timestamp_seconds{{{LOG},step="orders"}}"#))
            };
            last("error") > last("success")
        }
        Incident::SlowStep => {
            let (rows, mean) = history.durations("comments", 60, 0);
            let (past_rows, past_mean) = history.durations("comments", 1440, 60);
            past_rows >= rows && Some(mean / past_mean) > now.objective("max_slowdown_ratio", LOG)
        }
        Incident::SchedulerStopped => {
            let starts = ["comments", "orders", "reminders", "run"].map(|step| {
                now.get(&format!(r#"sqlqueue_run_last_start_timestamp_seconds{{{LOG},step="{step}"}}"#))
            });
            let last = starts.into_iter().flatten().fold(f64::MIN, f64::max);
            last > f64::MIN && Some(now.now - last) > now.objective("max_run_gap_seconds", LOG)
        }
        Incident::CapReached => history.rows("orders", 1) > now.objective("max_warning_ratio", LOG),
        Incident::RetentionStopped => {
            let oldest = now.get(&format!("sqlqueue_run_log_oldest_row_timestamp_seconds{{{LOG}}}"));
            oldest.map(|oldest| now.now - oldest) > now.objective("max_log_age_seconds", LOG)
        }
        Incident::ClockSkew => {
            let skew = now.get(r#"sqlqueue_clock_skew_seconds{source="demo"}"#).map(f64::abs);
            skew > now.objective("max_clock_skew_seconds", r#"source="demo""#)
        }
        Incident::BrokenTarget => {
            let of_work = |family: &str| now.get(&format!(r#"{family}{{source="demo",queue="work"}}"#));
            let last = of_work("sqlqueue_last_sample_timestamp_seconds");
            last.map(|last| now.now - last) > of_work("sqlqueue_stale_after_seconds")
        }
        Incident::DatabaseDown => now.get(r#"sqlqueue_up{source="demo"}"#) == Some(0.0),
        Incident::StateNotSaved => now.get("sqlqueue_exporter_state_last_save_successful") == Some(0.0),
    }
}

impl Page {
    fn objective(&self, objective: &str, labels: &str) -> Option<f64> {
        Some(self.value(&format!("sqlqueue_objective_{objective}{{{labels}}}")))
    }

    fn exceeds(&self, gauge: &str, objective: &str, labels: &str) -> bool {
        self.get(&format!("sqlqueue_{gauge}{{{labels}}}")) > self.objective(objective, labels)
    }
}

fn rows(step: &str, outcome: &str) -> String {
    format!(r#"sqlqueue_run_steps_total{{{LOG},step="{step}",outcome="{outcome}"}}"#)
}

/// Pages that follow each other by a second.
#[derive(Clone, Copy)]
struct History<'a>(&'a [Page]);

impl History<'_> {
    fn last(&self) -> &Page {
        self.0.last().unwrap()
    }

    /// Whether no job ran and no attempt ended for five seconds.
    fn idle(&self) -> bool {
        let running = format!(r#"sqlqueue_jobs{{{JOBS},state="running"}}"#);
        let recent = self.0.iter().rev().take(5);
        let ended = ["ok", "error", "lost"].map(|outcome| {
            self.increase(&format!(r#"sqlqueue_attempts_total{{{JOBS},outcome="{outcome}"}}"#), 5, 0)
        });
        recent.filter_map(|page| page.get(&running)).all(|jobs| jobs == 0.0)
            && ended.iter().sum::<f64>() == 0.0
    }

    /// How much a counter grew in so many seconds that ended so many ago.
    fn increase(&self, series: &str, seconds: usize, ago: usize) -> f64 {
        let end = self.0.len().saturating_sub(ago);
        let window = &self.0[end.saturating_sub(seconds + 1)..end];
        let (Some(first), Some(last)) = (window.first(), window.last()) else { return 0.0 };
        last.value(series) - first.value(series)
    }

    fn mean(&self, series: &str, seconds: usize, ago: usize) -> Option<f64> {
        let end = self.0.len().checked_sub(ago)?;
        let window = &self.0[end.saturating_sub(seconds)..end];
        let values: Vec<f64> = window.iter().filter_map(|page| page.get(series)).collect();
        #[allow(clippy::cast_precision_loss, reason = "few")]
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// What share of what these counters grew by is that of one of them.
    fn share<const N: usize>(&self, counters: [String; N], one: usize, seconds: usize) -> Option<f64> {
        let increases = counters.map(|counter| self.increase(&counter, seconds, 0));
        let all: f64 = increases.iter().sum();
        (all > 0.0).then(|| increases[one] / all)
    }

    /// What share of a step's rows of the last minute, which is an hour, has one of the outcomes.
    fn rows(&self, step: &str, one: usize) -> Option<f64> {
        let rows =
            |outcome: &str| format!(r#"sqlqueue_run_steps_total{{{LOG},step="{step}",outcome="{outcome}"}}"#);
        self.share(["ok", "warning", "error", "skipped"].map(rows), one, 60)
    }

    /// How often a step ran in so many seconds that ended so many ago, and how long it took on average.
    fn durations(&self, step: &str, seconds: usize, ago: usize) -> (f64, f64) {
        let grew = |part: &str| {
            self.increase(
                &format!(r#"sqlqueue_run_step_duration_seconds_{part}{{{LOG},step="{step}"}}"#),
                seconds,
                ago,
            )
        };
        let rows = grew("count");
        (rows, grew("sum") / rows)
    }
}
