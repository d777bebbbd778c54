"""Selectors that carry a dashboard's variables, and the objectives."""

from dataclasses import dataclass

# In every selector of every panel, so that the choice of job and instance holds for all of them.
EXPORTER = ('job=~"$job"', 'instance=~"$instance"')


# Matchers that more than one dashboard needs.
NOT_OK = 'outcome!="ok"'
OUR_ALERTS = 'alertname=~"SqlQueue.*"'


def select(metric: str, *matchers: str, **equal: str) -> str:
    """The series of a metric that the chosen exporters export, and whose labels are as given."""
    return _selector(metric, *EXPORTER, *matchers, **equal)


def alerts(*matchers: str) -> str:
    """The alerts of alerts/ that fire."""
    return _selector("ALERTS", OUR_ALERTS, *matchers, alertstate="firing")


def alerts_since(*matchers: str) -> str:
    """When the condition of each alert of alerts/ began to hold."""
    return _selector("ALERTS_FOR_STATE", OUR_ALERTS, *matchers)


def _selector(metric: str, *matchers: str, **equal: str) -> str:
    all_of_them = [*matchers, *(f'{label}="{value}"' for label, value in equal.items())]
    return f"{metric}{{{', '.join(all_of_them)}}}"


def rate(selector: str) -> str:
    """By how much a counter grows per second."""
    return f"rate({selector}[$__rate_interval])"


def increase(selector: str) -> str:
    """By how much a counter grew in each interval of the graph."""
    return f"increase({selector}[$__rate_interval])"


def per_minute(selector: str, by: str, each: str = "") -> str:
    """By how much counters grow per minute, which suits queues and runs better than per second.

    `each` are the labels that tell the counters apart that are summed by `by`; what several exporters count is
    counted once.
    """
    once = f"max by ({each or by}) ({rate(selector)})"
    return f"sum by ({by}) ({once}) * 60" if each else f"{once} * 60"


@dataclass(frozen=True)
class Objective:
    """An objective and what is compared with it."""

    # As in the configuration.
    name: str
    # Its gauge.
    metric: str
    # PromQL of the value, a format with the place {matchers} in each of its selectors.
    value: str
    # The label, beside `source`, that tells one target from another.
    target: str

    def value_of(self, *matchers: str) -> str:
        """The value, with the labels of the objective."""
        return self.value.format(matchers=", ".join(EXPORTER + matchers))

    def share(self, *matchers: str) -> str:
        """The value as a share of the objective: above 1 is a miss."""
        on = f"on (job, instance, source, {self.target})"
        return f"{self.value_of(*matchers)} / {on} {select(self.metric, *matchers)}"


QUEUE_OBJECTIVES = [
    Objective(
        "max_ready_age",
        "sqlqueue_objective_max_ready_age_seconds",
        "sqlqueue_oldest_ready_age_seconds{{{matchers}}}",
        "queue",
    ),
    Objective(
        "max_expired_age",
        "sqlqueue_objective_max_expired_age_seconds",
        "sqlqueue_oldest_expired_lease_seconds{{{matchers}}}",
        "queue",
    ),
    Objective(
        "max_attempts",
        "sqlqueue_objective_max_attempts",
        "sqlqueue_max_attempts{{{matchers}}}",
        "queue",
    ),
    Objective(
        "max_failed_jobs",
        "sqlqueue_objective_max_failed_jobs",
        'sqlqueue_jobs{{{matchers}, state="failed"}}',
        "queue",
    ),
]

RUN_LOG_OBJECTIVES = [
    Objective(
        "max_run_gap",
        "sqlqueue_objective_max_run_gap_seconds",
        "(time() - max by (job, instance, source, run_log) (sqlqueue_run_last_start_timestamp_seconds{{{matchers}}}))",
        "run_log",
    ),
    Objective(
        "max_consecutive_skips",
        "sqlqueue_objective_max_consecutive_skips",
        "sqlqueue_run_consecutive_skips{{{matchers}}}",
        "run_log",
    ),
    Objective(
        "max_log_age",
        "sqlqueue_objective_max_log_age_seconds",
        "(time() - sqlqueue_run_log_oldest_row_timestamp_seconds{{{matchers}}})",
        "run_log",
    ),
]


def missed(objectives: list[Objective], *matchers: str) -> str:
    """The objectives that are missed now, each with its name, as shares above 1."""
    return " or ".join(
        f'label_replace({objective.share(*matchers)} > 1, "objective", "{objective.name}", "source", ".*")'
        for objective in objectives
    )


def quantile(q: float, histogram: str, by: str = "") -> str:
    """A quantile of a classic histogram, given as the selector of its buckets."""
    return f"histogram_quantile({q}, sum by ({by}le) ({rate(histogram)}))"


def heat(histogram: str) -> str:
    """How many observations each bucket of a classic histogram got; cumulative, as Grafana expects them."""
    return f"sum by (le) ({increase(histogram)})"
