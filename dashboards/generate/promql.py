"""Pieces of PromQL: selectors that carry a dashboard's variables, rates, quantiles."""

# Part of every selector of every panel, so that the choice of job and instance applies to all of them.
EXPORTER = ('job=~"$job"', 'instance=~"$instance"')


# Matchers that several dashboards need.
NOT_OK = 'outcome!="ok"'
OUR_ALERTS = 'alertname=~"SqlQueue.*"'


def select(metric: str, *matchers: str, **equal: str) -> str:
    """The series of a metric from the chosen exporters, with the given labels."""
    return _selector(metric, *EXPORTER, *matchers, **equal)


def alerts(*matchers: str) -> str:
    """The firing alerts of alerts/."""
    return _selector("ALERTS", OUR_ALERTS, *matchers, alertstate="firing")


def alerts_since(*matchers: str) -> str:
    """The time when the condition of each alert of alerts/ began to hold."""
    return _selector("ALERTS_FOR_STATE", OUR_ALERTS, *matchers)


def _selector(metric: str, *matchers: str, **equal: str) -> str:
    all_of_them = [*matchers, *(f'{label}="{value}"' for label, value in equal.items())]
    return f"{metric}{{{', '.join(all_of_them)}}}"


def rate(selector: str) -> str:
    """The growth of a counter per second."""
    return f"rate({selector}[$__rate_interval])"


def increase(selector: str) -> str:
    """The growth of a counter in each interval of the graph."""
    return f"increase({selector}[$__rate_interval])"


def per_minute(selector: str, by: str, each: str = "") -> str:
    """The growth of counters per minute, which suits queues and runs better than per second.

    `by` are the labels to sum by, `each` the labels that identify a single counter; what several exporters
    count is counted once.
    """
    once = f"max by ({each or by}) ({rate(selector)})"
    return f"sum by ({by}) ({once}) * 60" if each else f"{once} * 60"


def quantile(q: float, histogram: str, by: str = "") -> str:
    """A quantile of a classic histogram, given the selector of its buckets."""
    return f"histogram_quantile({q}, sum by ({by}le) ({rate(histogram)}))"


def heat(histogram: str) -> str:
    """The number of observations in each bucket of a classic histogram; cumulative, as Grafana expects them."""
    return f"sum by (le) ({increase(histogram)})"
