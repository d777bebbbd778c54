"""Pieces of PromQL: selectors that carry a dashboard's variables, rates, quantiles."""

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


def quantile(q: float, histogram: str, by: str = "") -> str:
    """A quantile of a classic histogram, given as the selector of its buckets."""
    return f"histogram_quantile({q}, sum by ({by}le) ({rate(histogram)}))"


def heat(histogram: str) -> str:
    """How many observations each bucket of a classic histogram got; cumulative, as Grafana expects them."""
    return f"sum by (le) ({increase(histogram)})"
