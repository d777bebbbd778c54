"""The objectives of the configuration, and the value that each limits."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

# Returns the series of a metric, with the matchers of a dashboard.
Select = Callable[..., str]


@dataclass(frozen=True)
class Objective:
    """An objective, and the value that it limits."""

    # As in the configuration.
    name: str
    # Its gauge.
    metric: str
    # The labels that identify a target.
    target: str
    # PromQL of the value, with the labels of the target.
    value: Callable[[Select], str]

    def share(self, select: Select) -> str:
        """The value as a share of the objective: above 1, the objective is missed."""
        return f"{self.value(select)} / on (job, instance, {self.target}) {select(self.metric)}"


def _gauge(metric: str, **equal: str) -> Callable[[Select], str]:
    return lambda select: select(metric, **equal)


def _worst_step(expr: Callable[[Select], str]) -> Callable[[Select], str]:
    return lambda select: f"max by (job, instance, source, run_log) ({expr(select)})"


def _share_of_rows(outcome: str) -> Callable[[Select], str]:
    # Recorded by the rules in alerts/ and measured nowhere else, because they choose the span of a ratio.
    return _worst_step(_gauge("step:sqlqueue_run_steps:ratio_rate1h", outcome=outcome))


def slowdown(select: Select) -> str:
    """How many times as long as in its own past each step takes; recorded by the same rules."""
    now, past = "mean1h", "mean1d_offset1h"
    return " / ".join(select(f"step:sqlqueue_run_step_duration_seconds:{span}") for span in (now, past))


# The labels that identify a target, by its list in the configuration.
_TARGETS = {
    "queues": "source, queue",
    "attempt_logs": "source, queue",
    "run_logs": "source, run_log",
    "sources": "source",
}

# All objectives and their metrics, written by a test from the table in src/config/objectives.rs.
_TABLE = {entry["key"]: entry for entry in json.loads((Path(__file__).parent / "objectives.json").read_text())}


def _objective(key: str, value: Callable[[Select], str]) -> Objective:
    entry = _TABLE.pop(key)
    return Objective(key, entry["metric"], _TARGETS[entry["list"]], value)


MAX_READY_AGE = _objective("max_ready_age", _gauge("sqlqueue_oldest_ready_age_seconds"))
MAX_EXPIRED_AGE = _objective("max_expired_age", _gauge("sqlqueue_oldest_expired_lease_seconds"))
MAX_ATTEMPTS = _objective("max_attempts", _gauge("sqlqueue_max_attempts"))
MAX_FAILED_JOBS = _objective("max_failed_jobs", _gauge("sqlqueue_jobs", state="failed"))
MAX_LOST_RATIO = _objective("max_lost_ratio", _gauge("queue:sqlqueue_lost_attempts:ratio_rate30m"))
MAX_RUN_GAP = _objective(
    "max_run_gap",
    lambda select: (
        f"(time() - max by (job, instance, source, run_log) ({select('sqlqueue_run_last_start_timestamp_seconds')}))"
    ),
)
MAX_CONSECUTIVE_SKIPS = _objective("max_consecutive_skips", _gauge("sqlqueue_run_consecutive_skips"))
MAX_LOG_AGE = _objective(
    "max_log_age",
    lambda select: f"(time() - {select('sqlqueue_run_log_oldest_row_timestamp_seconds')})",
)
MAX_SKIP_RATIO = _objective("max_skip_ratio", _share_of_rows("skipped"))
MAX_ERROR_RATIO = _objective("max_error_ratio", _share_of_rows("error"))
MAX_WARNING_RATIO = _objective("max_warning_ratio", _share_of_rows("warning"))
MAX_SLOWDOWN = _objective("max_slowdown", _worst_step(slowdown))
MAX_CLOCK_SKEW = _objective("max_clock_skew", lambda select: f"abs({select('sqlqueue_clock_skew_seconds')})")

if _TABLE:
    raise SystemExit(f"no dashboard shows the objectives {', '.join(_TABLE)}: say here what each limits")

OF_QUEUES = [MAX_READY_AGE, MAX_EXPIRED_AGE, MAX_ATTEMPTS, MAX_FAILED_JOBS, MAX_LOST_RATIO]
OF_RUN_LOGS = [
    MAX_RUN_GAP,
    MAX_CONSECUTIVE_SKIPS,
    MAX_LOG_AGE,
    MAX_SKIP_RATIO,
    MAX_ERROR_RATIO,
    MAX_WARNING_RATIO,
    MAX_SLOWDOWN,
]
ALL = [*OF_QUEUES, *OF_RUN_LOGS, MAX_CLOCK_SKEW]


def shares(objectives: list[Objective], select: Select, condition: str = "") -> str:
    """The shares of several objectives, each with its name as a label, limited to those that meet the condition."""
    return " or ".join(
        f'label_replace({objective.share(select)}{condition}, "objective", "{objective.name}", "source", ".*")'
        for objective in objectives
    )


def missed(select: Select) -> str:
    """The objectives that are missed now, as shares above 1."""
    return shares(ALL, select, " > 1")
