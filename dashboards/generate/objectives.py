"""The objectives of the configuration, and what is held against each."""

from collections.abc import Callable
from dataclasses import dataclass

# Gives the series of a metric, with the matchers of a dashboard.
Select = Callable[..., str]


@dataclass(frozen=True)
class Objective:
    """An objective, and what is held against it."""

    # As in the configuration.
    name: str
    # Its gauge.
    metric: str
    # The labels that tell one target from another.
    target: str
    # PromQL of the value, with the labels of the target.
    value: Callable[[Select], str]

    def share(self, select: Select) -> str:
        """The value as a share of the objective: above 1 it is missed."""
        return f"{self.value(select)} / on (job, instance, {self.target}) {select(self.metric)}"


def _gauge(metric: str, **equal: str) -> Callable[[Select], str]:
    return lambda select: select(metric, **equal)


def _worst_step(expr: Callable[[Select], str]) -> Callable[[Select], str]:
    return lambda select: f"max by (job, instance, source, run_log) ({expr(select)})"


def _share_of_rows(outcome: str) -> Callable[[Select], str]:
    # Recorded by the rules in alerts/, and measured nowhere else: which span a ratio is taken over is theirs to say.
    return _worst_step(_gauge("step:sqlqueue_run_steps:ratio_rate1h", outcome=outcome))


def slowdown(select: Select) -> str:
    """How many times as long as in its own past each step takes; recorded by the same rules."""
    now, past = "mean1h", "mean1d_offset1h"
    return " / ".join(select(f"step:sqlqueue_run_step_duration_seconds:{span}") for span in (now, past))


_QUEUE = "source, queue"
_RUN_LOG = "source, run_log"

MAX_READY_AGE = Objective(
    "max_ready_age",
    "sqlqueue_objective_max_ready_age_seconds",
    _QUEUE,
    _gauge("sqlqueue_oldest_ready_age_seconds"),
)
MAX_EXPIRED_AGE = Objective(
    "max_expired_age",
    "sqlqueue_objective_max_expired_age_seconds",
    _QUEUE,
    _gauge("sqlqueue_oldest_expired_lease_seconds"),
)
MAX_ATTEMPTS = Objective(
    "max_attempts",
    "sqlqueue_objective_max_attempts",
    _QUEUE,
    _gauge("sqlqueue_max_attempts"),
)
MAX_FAILED_JOBS = Objective(
    "max_failed_jobs",
    "sqlqueue_objective_max_failed_jobs",
    _QUEUE,
    _gauge("sqlqueue_jobs", state="failed"),
)
MAX_LOST_RATIO = Objective(
    "max_lost_ratio",
    "sqlqueue_objective_max_lost_ratio",
    _QUEUE,
    _gauge("queue:sqlqueue_lost_attempts:ratio_rate30m"),
)
MAX_RUN_GAP = Objective(
    "max_run_gap",
    "sqlqueue_objective_max_run_gap_seconds",
    _RUN_LOG,
    lambda select: (
        f"(time() - max by (job, instance, source, run_log) ({select('sqlqueue_run_last_start_timestamp_seconds')}))"
    ),
)
MAX_CONSECUTIVE_SKIPS = Objective(
    "max_consecutive_skips",
    "sqlqueue_objective_max_consecutive_skips",
    _RUN_LOG,
    _gauge("sqlqueue_run_consecutive_skips"),
)
MAX_LOG_AGE = Objective(
    "max_log_age",
    "sqlqueue_objective_max_log_age_seconds",
    _RUN_LOG,
    lambda select: f"(time() - {select('sqlqueue_run_log_oldest_row_timestamp_seconds')})",
)
MAX_SKIP_RATIO = Objective("max_skip_ratio", "sqlqueue_objective_max_skip_ratio", _RUN_LOG, _share_of_rows("skipped"))
MAX_ERROR_RATIO = Objective("max_error_ratio", "sqlqueue_objective_max_error_ratio", _RUN_LOG, _share_of_rows("error"))
MAX_WARNING_RATIO = Objective(
    "max_warning_ratio", "sqlqueue_objective_max_warning_ratio", _RUN_LOG, _share_of_rows("warning")
)
MAX_SLOWDOWN = Objective(
    "max_slowdown",
    "sqlqueue_objective_max_slowdown_ratio",
    _RUN_LOG,
    _worst_step(slowdown),
)
MAX_CLOCK_SKEW = Objective(
    "max_clock_skew",
    "sqlqueue_objective_max_clock_skew_seconds",
    "source",
    lambda select: f"abs({select('sqlqueue_clock_skew_seconds')})",
)

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
    """The shares of several objectives, each with its name as a label; those only for which the condition holds."""
    return " or ".join(
        f'label_replace({objective.share(select)}{condition}, "objective", "{objective.name}", "source", ".*")'
        for objective in objectives
    )


def missed(select: Select) -> str:
    """The objectives that are missed now, as shares above 1."""
    return shares(ALL, select, " > 1")
