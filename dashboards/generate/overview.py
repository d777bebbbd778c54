"""All queues and run logs of all databases: what is wrong now."""

from grafana_foundation_sdk.models import dashboard

from . import base, links, objectives, promql
from .panels import FAULTS, SHARE, Column, Query, stat, table, time_series
from .promql import per_minute

_SOURCE = 'source=~"$source"'

# An alert on a missing exporter has no instance, one on a database has no queue, and so on. Such an alert is shown
# too while all of them are chosen.
_ALERTS = ('job=~"$job|"', 'instance=~"$instance|"', 'source=~"$source|"')

_TO_QUEUE = [("Queue ${__value.text}", links.to_queue(links.field("source"), links.field("queue")))]
_TO_RUN_LOG = [("Run log ${__value.text}", links.to_run_log(links.field("source"), links.field("run_log")))]
_TO_EXPORTER = [("Exporter health", links.to_exporter(links.field("source")))]


def _series(metric: str, *matchers: str, **equal: str) -> str:
    return promql.select(metric, _SOURCE, *matchers, **equal)


def build() -> dashboard.Dashboard:
    return base.new(
        "sqlqueue-overview",
        "SQL queues: overview",
        "All queues and run logs of all databases: what is wrong now, and where to look.",
        [base.every("source", "Source", f"label_values({promql.select('sqlqueue_up')}, source)")],
        ", ".join(_ALERTS),
        [
            base.Row(100, "Wrong now", _wrong_now()),
            base.Row(200, "Queues and run logs", [_queues(), _run_logs()]),
            base.Row(300, "Over time", _over_time()),
        ],
    )


def _wrong_now() -> list:
    return [
        stat(
            101,
            "Firing alerts",
            "Alerts of sqlqueue-exporter that fire now. 0 when Prometheus does not load the rules of alerts/.",
            "none",
            Query(f"count({promql.alerts(*_ALERTS)}) or vector(0)"),
            FAULTS,
        ),
        stat(
            102,
            "Missed objectives",
            "Objectives of the configuration that are missed now: each counts once for each queue or run log.",
            "none",
            Query(f"count({objectives.missed(_series)}) or vector(0)"),
            FAULTS,
        ),
        stat(
            103,
            "Databases without an answer",
            "Databases that did not answer when they were last asked (`sqlqueue_up` is 0). What is in them is unknown "
            "until they do.",
            "none",
            Query(f"count({_series('sqlqueue_up')} == 0) or vector(0)"),
            FAULTS,
            alerts=("SqlQueueDatabaseDown",),
        ),
        stat(
            104,
            "Targets not sampled",
            "Queues and logs whose last good sample is older than `stale_after`, or that were never sampled: their "
            "gauges are withdrawn, and nothing is known of them.",
            "none",
            Query(f"count({_not_sampled()}) or vector(0)"),
            FAULTS,
            alerts=("SqlQueueTargetNotSampled",),
        ),
        stat(
            105,
            "Exporters down",
            "Exporters that Prometheus could not scrape the last time.",
            "none",
            Query(f"count({promql.select('up')} == 0) or vector(0)"),
            FAULTS,
            alerts=("SqlQueueExporterDown",),
        ),
        stat(
            106,
            "Queues and run logs",
            "How many of them are watched, in all databases that are chosen.",
            "none",
            Query(
                f"count(count by (source, queue, run_log) ({_series('sqlqueue_oldest_ready_age_seconds')} or "
                f"{_series('sqlqueue_jobs')} or {_series('sqlqueue_run_consecutive_skips')}))"
            ),
        ),
        table(
            107,
            "Alerts that fire",
            "What fires, each with links to its runbook and to the dashboard that shows more. Empty when nothing "
            "fires, or when Prometheus does not load the rules of alerts/.",
            {
                "alertname": "Alert",
                "severity": "Severity",
                "source": "Source",
                "queue": "Queue",
                "run_log": "Run log",
                "step": "Step",
                "instance": "Instance",
            },
            [
                Column(
                    "Active for",
                    "max by (alertname, severity, source, queue, run_log, step, instance)"
                    f" (time() - {promql.alerts_since(*_ALERTS)} and ignoring (alertstate) {promql.alerts(*_ALERTS)})",
                    "s",
                )
            ],
            {
                "alertname": [("Runbook of ${__value.text}", links.to_runbook("${__value.text}"))],
                "source": _TO_EXPORTER,
                "queue": _TO_QUEUE,
                "run_log": _TO_RUN_LOG,
            },
            "Nothing fires",
            height=6,
        ),
        table(
            108,
            "Objectives that are missed",
            "The objectives of the configuration that are missed now, and by how much: 200 % is twice what is allowed. "
            "An alert waits for a while before it fires; this table does not. Ratios are measured by the rules in "
            "alerts/.",
            {"objective": "Objective", "source": "Source", "queue": "Queue", "run_log": "Run log"},
            [
                Column(
                    "Of the objective",
                    f"max by (objective, source, queue, run_log) ({objectives.missed(_series)})",
                    "percentunit",
                    SHARE,
                )
            ],
            {"source": _TO_EXPORTER, "queue": _TO_QUEUE, "run_log": _TO_RUN_LOG},
            "Every objective is met",
            height=6,
        ),
    ]


def _not_sampled() -> str:
    last, stale_after = _series("sqlqueue_last_sample_timestamp_seconds"), _series("sqlqueue_stale_after_seconds")
    return f"time() - {last} > {stale_after} or {stale_after} unless {last}"


def _queues() -> object:
    def of_queue(expr: str) -> str:
        return f"max by (source, queue) ({expr})"

    return table(
        201,
        "Queues",
        "A line for each queue, as of its last sample. The last column is the worst share that a queue uses of one of "
        "its objectives; above 100 % one is missed.",
        {"source": "Source", "queue": "Queue"},
        [
            Column("Ready", of_queue(_series("sqlqueue_jobs", state="ready"))),
            Column("Running", of_queue(_series("sqlqueue_jobs", state="running"))),
            Column("Oldest ready", of_queue(_series("sqlqueue_oldest_ready_age_seconds")), "s"),
            Column("Expired leases", of_queue(_series("sqlqueue_expired_leases"))),
            Column("Expired for", of_queue(_series("sqlqueue_oldest_expired_lease_seconds")), "s"),
            Column("Most attempts", of_queue(_series("sqlqueue_max_attempts"))),
            Column("Failed", of_queue(_series("sqlqueue_jobs", state="failed"))),
            Column("Of an objective", of_queue(objectives.shares(objectives.OF_QUEUES, _series)), "percentunit", SHARE),
        ],
        {"source": _TO_EXPORTER, "queue": _TO_QUEUE},
        "No queue is watched",
    )


def _run_logs() -> object:
    def of_log(expr: str, aggregate: str = "max") -> str:
        return f"{aggregate} by (source, run_log) ({expr})"

    return table(
        202,
        "Run logs",
        "A line for each run log, as of its last sample. The last column is the worst share that a run log uses of one "
        "of its objectives; above 100 % one is missed.",
        {"source": "Source", "run_log": "Run log"},
        [
            Column(
                "Last start",
                of_log(f"time() - {_series('sqlqueue_run_last_start_timestamp_seconds')}", "min"),
                "s",
            ),
            Column(
                "Longest without success",
                of_log(f"time() - {_series('sqlqueue_run_last_success_timestamp_seconds')}"),
                "s",
            ),
            Column("Skipped in a row", of_log(_series("sqlqueue_run_consecutive_skips"))),
            Column("Lock held for", of_log(_series("sqlqueue_run_lock_held_seconds")), "s"),
            Column("Of an objective", of_log(objectives.shares(objectives.OF_RUN_LOGS, _series)), "percentunit", SHARE),
        ],
        {"source": _TO_EXPORTER, "run_log": _TO_RUN_LOG},
        "No run log is watched",
        height=6,
    )


def _over_time() -> list:
    return [
        time_series(
            301,
            "Oldest ready job, of the objective",
            "Age of the oldest ready job of each queue as a share of `max_ready_age`: 100 % is as old as it may "
            "become.",
            "percentunit",
            Query(f"max by (source, queue) ({objectives.MAX_READY_AGE.share(_series)})", "{{source}} {{queue}}"),
            alerts=("SqlQueueNoWorker", "SqlQueueReadyJobTooOld"),
        ),
        time_series(
            302,
            "Ready jobs",
            "Jobs that a worker could take now. Many are no fault as long as the oldest is young.",
            "short",
            Query(f"max by (source, queue) ({_series('sqlqueue_jobs', state='ready')})", "{{source}} {{queue}}"),
            alerts=("SqlQueueBacklogGrowing",),
        ),
        time_series(
            303,
            "Attempts per minute",
            "Attempts at jobs that ended, by outcome, in all queues that have an attempt log. `lost` means that the "
            "lease lapsed: the worker died, or took longer than its lease.",
            "cpm",
            Query(per_minute(_series("sqlqueue_attempts_total"), "outcome", "source, queue, outcome"), "{{outcome}}"),
            alerts=("SqlQueueLeasesLost",),
        ),
        time_series(
            304,
            "Steps of runs per minute",
            "Rows of the run logs, by outcome, in all run logs.",
            "cpm",
            Query(
                per_minute(_series("sqlqueue_run_steps_total"), "outcome", "source, run_log, step, outcome"),
                "{{outcome}}",
            ),
            alerts=("SqlQueueEveryRunSkipped", "SqlQueueStepFailing"),
        ),
    ]
