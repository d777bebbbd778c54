"""One queue in depth."""

from grafana_foundation_sdk.models import dashboard

from . import base, objectives, promql
from .panels import FAULTS, SHARE, Query, heat_map, objective, stat, time_series
from .promql import NOT_OK, heat, per_minute, quantile

_QUEUE = ('source="$source"', 'queue="$queue"')


def _series(metric: str, *matchers: str, **equal: str) -> str:
    return promql.select(metric, *_QUEUE, *matchers, **equal)


def _gauge(metric: str, by: str = "queue", **equal: str) -> str:
    """A gauge, counted once when several exporters watch the same queue."""
    return f"max by ({by}) ({_series(metric, **equal)})"


def _objective(of: objectives.Objective) -> Query:
    return objective(of.name, _gauge(of.metric))


def build() -> dashboard.Dashboard:
    has_queue = '{__name__=~"sqlqueue_jobs|sqlqueue_attempts_total|sqlqueue_enqueued_total", job=~"$job", instance=~"$instance"'
    return base.new(
        "sqlqueue-queue",
        "SQL queues: one queue",
        "One queue in depth: what waits, what runs, what lapsed, what failed, and how the attempts at it ended.",
        [
            base.one("source", "Source", f"label_values({has_queue}}}, source)"),
            base.one("queue", "Queue", f'label_values({has_queue}, source="$source"}}, queue)'),
        ],
        # Its own alerts, and those of its database.
        'job=~"$job|", instance=~"$instance|", source=~"$source|", queue=~"$queue|", run_log=""',
        [
            base.Row(100, "Now", _now()),
            base.Row(200, "Jobs", _jobs()),
            base.Row(300, "Attempts (needs the queue's attempt log, and its enqueue log)", _attempts()),
            base.Row(400, "How it is watched", _watching()),
        ],
    )


def _now() -> list:
    return [
        stat(
            101,
            "Oldest ready job",
            "Age of the oldest job that a worker could take, since it was both enqueued and available. 0 when none is "
            "ready; no data when the table has no such time.",
            "s",
            Query(_gauge("sqlqueue_oldest_ready_age_seconds")),
            alerts=("SqlQueueNoWorker", "SqlQueueReadyJobTooOld"),
        ),
        stat(
            102,
            "Of its objective",
            "The age of the oldest ready job as a share of `max_ready_age`; above 100 % it is missed.",
            "percentunit",
            Query(f"max({objectives.MAX_READY_AGE.share(_series)})"),
            SHARE,
            alerts=("SqlQueueNoWorker", "SqlQueueReadyJobTooOld"),
        ),
        stat(
            103,
            "Ready",
            "Jobs that a worker could take now.",
            "short",
            Query(_gauge("sqlqueue_jobs", state="ready")),
        ),
        stat(
            104,
            "Running",
            "Jobs that a worker has taken and whose lease holds.",
            "short",
            Query(_gauge("sqlqueue_jobs", state="running")),
            alerts=("SqlQueueNoWorker",),
        ),
        stat(
            105,
            "Expired leases",
            "Unfinished jobs whose lease has lapsed. Some are normal for as long as the recovery takes to come by.",
            "short",
            Query(_gauge("sqlqueue_expired_leases")),
            alerts=("SqlQueueExpiredLeasesNotRecovered",),
        ),
        stat(
            106,
            "Failed",
            "Jobs that were given up. They stay until somebody requeues or removes them.",
            "short",
            Query(_gauge("sqlqueue_jobs", state="failed")),
            alerts=("SqlQueueFailedJobs",),
        ),
    ]


def _jobs() -> list:
    return [
        time_series(
            201,
            "Jobs by state",
            "Unfinished and failed jobs, each in one state. `retrying` is ready again after an attempt, `exhausted` "
            "has no attempt left, `unknown` has a stored state that the mapping does not know.",
            "short",
            Query(_gauge("sqlqueue_jobs", by="state"), "{{state}}"),
            stacked=True,
            alerts=("SqlQueueExhaustedJobs", "SqlQueueUnknownState"),
        ),
        time_series(
            202,
            "Age of the oldest ready job",
            "Age of the oldest ready job; the dashed line is `max_ready_age`. A straight rise is one job that starves "
            "or workers that are gone.",
            "s",
            Query(_gauge("sqlqueue_oldest_ready_age_seconds"), "oldest ready job"),
            _objective(objectives.MAX_READY_AGE),
            alerts=("SqlQueueNoWorker", "SqlQueueReadyJobTooOld", "SqlQueueBacklogGrowing"),
        ),
        time_series(
            203,
            "Oldest expired lease",
            "Time since the first of the lapsed leases lapsed; the dashed line is `max_expired_age`. It rises when "
            "nobody puts the jobs of dead workers back.",
            "s",
            Query(_gauge("sqlqueue_oldest_expired_lease_seconds"), "oldest expired lease"),
            _objective(objectives.MAX_EXPIRED_AGE),
            alerts=("SqlQueueExpiredLeasesNotRecovered",),
        ),
        time_series(
            204,
            "Longest running attempt",
            "Age of the longest running attempt. No data when the table does not say when attempts begin.",
            "s",
            Query(_gauge("sqlqueue_longest_running_seconds"), "longest running"),
        ),
        time_series(
            205,
            "Attempts of the unfinished jobs",
            "The highest attempt count of an unfinished job, with `max_attempts` as the dashed line, and how many "
            "unfinished jobs were tried before. A high count is a poison job.",
            "short",
            Query(_gauge("sqlqueue_max_attempts"), "most attempts"),
            Query(_gauge("sqlqueue_retrying_jobs"), "jobs tried before"),
            _objective(objectives.MAX_ATTEMPTS),
            alerts=("SqlQueuePoisonJob",),
        ),
        time_series(
            206,
            "Failed jobs",
            "Jobs that were given up; the dashed line is `max_failed_jobs`.",
            "short",
            Query(_gauge("sqlqueue_jobs", state="failed"), "failed"),
            _objective(objectives.MAX_FAILED_JOBS),
            alerts=("SqlQueueFailedJobs",),
        ),
    ]


def _attempts() -> list:
    attempts = _series("sqlqueue_attempts_total")
    return [
        time_series(
            308,
            "Jobs in and out per minute",
            "Jobs that were put in, where a table keeps a row of each (`enqueue_logs`), and attempts that did theirs. "
            "The backlog grows for as long as more comes in than goes out.",
            "cpm",
            Query(per_minute(_series("sqlqueue_enqueued_total"), "queue"), "enqueued"),
            Query(per_minute(_series("sqlqueue_attempts_total", outcome="ok"), "queue"), "done"),
            alerts=("SqlQueueBacklogGrowing",),
        ),
        time_series(
            301,
            "Attempts per minute",
            "Attempts that ended, by outcome. `lost` means that the lease lapsed: the worker died, or took longer.",
            "cpm",
            Query(per_minute(attempts, "outcome"), "{{outcome}}"),
            stacked=True,
            alerts=("SqlQueueLeasesLost",),
        ),
        time_series(
            302,
            "Share of attempts that came to nothing",
            "Attempts that ended with an error or were lost, as a share of all that ended; the dashed line is "
            "`max_lost_ratio`.",
            "percentunit",
            Query(
                f"sum by (outcome) ({promql.rate(_series('sqlqueue_attempts_total', NOT_OK))})"
                f" / ignoring (outcome) group_left () sum({promql.rate(attempts)})",
                "{{outcome}}",
            ),
            _objective(objectives.MAX_LOST_RATIO),
            alerts=("SqlQueueLeasesLost",),
        ),
        time_series(
            303,
            "Retries and reclaimed leases per minute",
            "Attempts that were not the first at their job, and attempts whose job was taken away when the lease "
            "lapsed.",
            "cpm",
            Query(per_minute(_series("sqlqueue_retries_total"), "queue"), "retries"),
            Query(per_minute(_series("sqlqueue_lease_reclaims_total"), "queue"), "reclaimed leases"),
        ),
        time_series(
            304,
            "Completion delay",
            "Time from the enqueuing of a job to the end of the attempt that did it: what whoever enqueued it waits "
            "for. Interpolated within the buckets of the histogram.",
            "s",
            *_quantiles("sqlqueue_completion_delay_seconds_bucket"),
        ),
        heat_map(
            305,
            "Completion delays",
            "How many jobs were done after which delay.",
            heat(_series("sqlqueue_completion_delay_seconds_bucket")),
            "s",
        ),
        heat_map(
            306,
            "Attempt durations",
            "How many attempts took how long; lost ones are not among them.",
            heat(_series("sqlqueue_attempt_duration_seconds_bucket")),
            "s",
        ),
        time_series(
            307,
            "Attempt duration",
            "Duration of attempts that ended ok or with an error. When it nears the length of the lease, attempts get "
            "lost.",
            "s",
            *_quantiles("sqlqueue_attempt_duration_seconds_bucket"),
        ),
    ]


def _quantiles(buckets: str) -> list[Query]:
    return [
        Query(quantile(q, _series(buckets)), legend) for q, legend in [(0.5, "median"), (0.9, "90 %"), (0.99, "99 %")]
    ]


def _watching() -> list:
    return [
        stat(
            401,
            "Enqueued in the future",
            "Unfinished jobs that claim to have been enqueued in the future: a wrong time zone or clock.",
            "short",
            Query(_gauge("sqlqueue_future_timestamp_rows")),
            FAULTS,
            width=6,
            alerts=("SqlQueueFutureTimestamps",),
        ),
        stat(
            402,
            "Last sample",
            "Time since the queue was last sampled well. Its gauges are withdrawn after `stale_after`.",
            "s",
            Query(f"min(time() - {_series('sqlqueue_last_sample_timestamp_seconds')})"),
            width=6,
            alerts=("SqlQueueTargetNotSampled",),
        ),
        time_series(
            403,
            "Failed samples per minute",
            "Samples of the queue that failed, by reason. No value is shown for what could not be looked at.",
            "cpm",
            Query(f"sum by (reason) ({promql.rate(_series('sqlqueue_sample_errors_total'))}) * 60", "{{reason}}"),
            alerts=("SqlQueueTargetNotSampled",),
        ),
    ]
