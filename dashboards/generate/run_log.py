"""One run log: did the runs come, did they work, and how long did they take."""

from grafana_foundation_sdk.models import dashboard

from . import base, objectives, promql
from .panels import BLUE, GREEN, ORANGE, RED, SHARE, YELLOW, Query, heat_map, objective, stat, time_series, timeline
from .promql import NOT_OK, heat, per_minute, quantile

_LOG = ('source="$source"', 'run_log="$run_log"')

# The worst outcome of an interval wins. A skip is the least of them: beside a run that worked, it only means that two
# runs overlapped.
_OUTCOMES = [("skipped", 1, BLUE), ("ok", 2, GREEN), ("warning", 3, YELLOW), ("error", 4, RED)]


def _series(metric: str, *matchers: str, **equal: str) -> str:
    return promql.select(metric, *_LOG, *matchers, **equal)


def _gauge(metric: str, by: str = "run_log") -> str:
    """A gauge, counted once when several exporters watch the same run log."""
    return f"max by ({by}) ({_series(metric)})"


def _age(metric: str, by: str = "run_log") -> str:
    return f"time() - max by ({by}) ({_series(metric)})"


def _objective(of: objectives.Objective) -> Query:
    return objective(of.name, _gauge(of.metric))


def build() -> dashboard.Dashboard:
    logs = 'sqlqueue_samples_total{job=~"$job", instance=~"$instance", run_log!=""'
    return base.new(
        "sqlqueue-run-log",
        "SQL queues: run logs",
        "One run log in depth: did the runs come, did they work, how long did they take, and what did they send.",
        [
            base.one("source", "Source", f"label_values({logs}}}, source)"),
            base.one("run_log", "Run log", f'label_values({logs}, source="$source"}}, run_log)'),
        ],
        # Its own alerts, and those of its database.
        'job=~"$job|", instance=~"$instance|", source=~"$source|", run_log=~"$run_log|", queue=""',
        [
            base.Row(100, "Now", _now()),
            base.Row(200, "Runs", _runs()),
            base.Row(300, "Steps", _steps()),
            base.Row(400, "Notifications (needs a control table)", _notifications()),
            base.Row(500, "How it is watched", _watching()),
        ],
    )


def _now() -> list:
    return [
        stat(
            101,
            "Last start",
            "Time since the newest step began, skipped runs included: it tells that the scheduler lives.",
            "s",
            Query(_age("sqlqueue_run_last_start_timestamp_seconds")),
            alerts=("SqlQueueSchedulerStopped",),
        ),
        stat(
            102,
            "Of its objective",
            "The time since the last start as a share of `max_run_gap`; above 100 % it is missed.",
            "percentunit",
            Query(f"max({objectives.MAX_RUN_GAP.share(_series)})"),
            SHARE,
            alerts=("SqlQueueSchedulerStopped",),
        ),
        stat(
            103,
            "Longest without success",
            "Time since the last success of the step that has gone without one for longest.",
            "s",
            Query(f"max({_age('sqlqueue_run_last_success_timestamp_seconds', 'step')})"),
            alerts=("SqlQueueStepFailing",),
        ),
        stat(
            104,
            "Skipped in a row",
            "Runs skipped since the last run that was not. When it only grows, somebody holds the lock and never gives "
            "it back.",
            "short",
            Query(_gauge("sqlqueue_run_consecutive_skips")),
            alerts=("SqlQueueEveryRunSkipped",),
        ),
        stat(
            105,
            "Lock",
            "Whether somebody holds the application lock of the runs. No data when the configuration names no lock.",
            "short",
            Query(_gauge("sqlqueue_run_lock_held")),
            mappings={"0": ("free", GREEN), "1": ("held", ORANGE)},
            alerts=("SqlQueueEveryRunSkipped",),
        ),
        stat(
            106,
            "Oldest row",
            "Age of the oldest row in the log. It grows for ever when nobody removes old rows.",
            "s",
            Query(_age("sqlqueue_run_log_oldest_row_timestamp_seconds")),
            alerts=("SqlQueueRetentionStopped",),
        ),
    ]


def _outcome() -> str:
    happened = [
        f"({promql.increase(_series('sqlqueue_run_steps_total', outcome=outcome))} > 0) * 0 + {number}"
        for outcome, number, _ in _OUTCOMES
    ]
    return f"max by (step) ({' or '.join(happened)})"


def _runs() -> list:
    return [
        timeline(
            201,
            "Outcome of the steps",
            "The worst outcome of each step in each interval. `skipped` is shown where every run was skipped, and a "
            "gap where nothing ended.",
            Query(_outcome(), "{{step}}"),
            {str(number): (outcome, colour) for outcome, number, colour in _OUTCOMES},
        ),
        time_series(
            202,
            "Time since the last start",
            "Time since the newest step began; the dashed line is `max_run_gap`. The teeth of a healthy saw are as "
            "high as the time between two runs.",
            "s",
            Query(_age("sqlqueue_run_last_start_timestamp_seconds"), "since the last start"),
            _objective(objectives.MAX_RUN_GAP),
            alerts=("SqlQueueSchedulerStopped",),
        ),
        time_series(
            203,
            "Time since the last success",
            "For each step, the time since it last ended ok or with a warning.",
            "s",
            Query(_age("sqlqueue_run_last_success_timestamp_seconds", "step"), "{{step}}"),
            alerts=("SqlQueueStepFailing",),
        ),
        time_series(
            204,
            "Skipped runs in a row",
            "Runs skipped since the last run that was not; the dashed line is `max_consecutive_skips`.",
            "short",
            Query(_gauge("sqlqueue_run_consecutive_skips"), "skipped in a row"),
            _objective(objectives.MAX_CONSECUTIVE_SKIPS),
            alerts=("SqlQueueEveryRunSkipped", "SqlQueueRunsOverlap"),
        ),
        time_series(
            205,
            "Lock held for",
            "For how long every sample has found the lock of the runs held. Longer than the longest run is a lock that "
            "nobody gives back.",
            "s",
            Query(_gauge("sqlqueue_run_lock_held_seconds"), "held for"),
            alerts=("SqlQueueEveryRunSkipped",),
        ),
    ]


def _steps() -> list:
    rows = _series("sqlqueue_run_steps_total")
    return [
        time_series(
            301,
            "Steps per minute",
            "Rows of the log, by outcome.",
            "cpm",
            Query(per_minute(rows, "outcome", "step, outcome"), "{{outcome}}"),
            stacked=True,
            alerts=("SqlQueueStepErrors", "SqlQueueStepWarnings"),
        ),
        time_series(
            302,
            "Share that did not end ok",
            "Rows of each step that ended otherwise than ok, as a share of its rows; the dashed lines are "
            "the objectives.",
            "percentunit",
            Query(
                f"sum by (step, outcome) ({promql.rate(_series('sqlqueue_run_steps_total', NOT_OK))})"
                f" / ignoring (outcome) group_left () sum by (step) ({promql.rate(rows)})",
                "{{step}} {{outcome}}",
            ),
            _objective(objectives.MAX_SKIP_RATIO),
            _objective(objectives.MAX_ERROR_RATIO),
            _objective(objectives.MAX_WARNING_RATIO),
            alerts=("SqlQueueRunsOverlap", "SqlQueueStepErrors", "SqlQueueStepWarnings"),
        ),
        heat_map(
            303,
            "Step durations",
            "How many steps took how long. Skipped runs are not durations.",
            heat(_series("sqlqueue_run_step_duration_seconds_bucket")),
            "s",
        ),
        time_series(
            304,
            "Duration of the slowest tenth",
            "The 90 % quantile of each step's duration, interpolated within the buckets of the histogram.",
            "s",
            Query(quantile(0.9, _series("sqlqueue_run_step_duration_seconds_bucket"), "step, "), "{{step}}"),
            alerts=("SqlQueueStepSlow",),
        ),
        time_series(
            305,
            "Mean duration",
            "The mean duration of each step, exact.",
            "s",
            Query(
                f"sum by (step) ({promql.rate(_series('sqlqueue_run_step_duration_seconds_sum'))})"
                f" / sum by (step) ({promql.rate(_series('sqlqueue_run_step_duration_seconds_count'))})",
                "{{step}}",
            ),
            alerts=("SqlQueueStepSlow",),
        ),
        time_series(
            306,
            "Candidates per minute",
            "Candidates that each step found.",
            "cpm",
            Query(per_minute(_series("sqlqueue_run_step_candidates_total"), "step"), "{{step}}"),
        ),
        time_series(
            307,
            "Steps under way",
            "For logs that write a row when a step begins: for how long the longest running step has been running. "
            "Empty for the other logs.",
            "s",
            Query(_gauge("sqlqueue_run_in_progress_seconds", "step"), "{{step}}"),
        ),
        time_series(
            308,
            "Time since the last error",
            "For each step, the time since it last ended with an error. No data for a step that never did.",
            "s",
            Query(_age("sqlqueue_run_last_error_timestamp_seconds", "step"), "{{step}}"),
            alerts=("SqlQueueStepFailing", "SqlQueueStepErrors"),
        ),
        time_series(
            309,
            "Slowdown",
            "How many times as long as in its own past each step takes: the mean of an hour over that of the day "
            "before. The dashed line is `max_slowdown`. Recorded by the rules in alerts/.",
            "none",
            Query(f"max by (step) ({objectives.slowdown(_series)})", "{{step}}"),
            _objective(objectives.MAX_SLOWDOWN),
            width=24,
            alerts=("SqlQueueStepSlow",),
        ),
    ]


def _notifications() -> list:
    # A control table has its own name, and is in the same database.
    def series(metric: str) -> str:
        return promql.select(metric, 'source="$source"')

    return [
        time_series(
            401,
            "Notifications per minute",
            "Notifications that were written to the control tables of this database, by kind.",
            "cpm",
            Query(
                per_minute(series("sqlqueue_notifications_total"), "control_table, kind"),
                "{{control_table}} {{kind}}",
            ),
        ),
        time_series(
            402,
            "Time since the last notification",
            "For each kind, the time since the newest notification was written. How long is too long depends on the "
            "kind.",
            "s",
            Query(
                f"time() - max by (control_table, kind) ({series('sqlqueue_notification_last_timestamp_seconds')})",
                "{{control_table}} {{kind}}",
            ),
        ),
    ]


def _watching() -> list:
    return [
        time_series(
            501,
            "Age of the oldest row",
            "Age of the oldest row in the log; the dashed line is `max_log_age`. Where old rows are removed it stays "
            "level.",
            "s",
            Query(_age("sqlqueue_run_log_oldest_row_timestamp_seconds"), "oldest row"),
            _objective(objectives.MAX_LOG_AGE),
            alerts=("SqlQueueRetentionStopped",),
        ),
        time_series(
            502,
            "Failed samples per minute",
            "Samples of the run log that failed, by reason. No value is shown for what could not be looked at.",
            "cpm",
            Query(f"sum by (reason) ({promql.rate(_series('sqlqueue_sample_errors_total'))}) * 60", "{{reason}}"),
            alerts=("SqlQueueTargetNotSampled",),
        ),
    ]
