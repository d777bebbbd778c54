"""The dashboards name metrics that exist, and show every one."""

import pytest

import syntax
from model import ROOT, expressions, load
from variables import parseable

DASHBOARDS = load()

# What Prometheus adds itself.
OF_PROMETHEUS = {"up", "scrape_duration_seconds", "scrape_samples_scraped", "ALERTS", "ALERTS_FOR_STATE"}

# Recorded by alerts/links.rules.yml.
RECORDED = {"sqlqueue:links:info"}

NOT_SHOWN = {
    "process_virtual_memory_bytes": "says nothing that the resident memory does not say better",
}

SUFFIXES = {"histogram": ("_bucket", "_sum", "_count"), "counter": ("",), "gauge": ("",)}


def exported() -> dict[str, set[str]]:
    """The names of the series of each family, from the list that a test of the exporter holds it to."""
    lines = (ROOT / "tests/golden/families.txt").read_text().splitlines()
    return {family: {family + end for end in SUFFIXES[kind]} for family, kind in (line.split() for line in lines)}


def named(expr: str) -> set[str]:
    """The metrics that an expression names, also those in `{__name__=~"a|b"}`."""
    found: set[str] = set()
    for selector in syntax.find(syntax.parse(parseable(expr)), syntax.VectorSelector):
        by_label = [matcher.value for matcher in selector.matchers.matchers if matcher.name == "__name__"]
        for value in [selector.name] if selector.name else by_label:
            found |= set(value.split("|"))
    return found


def unknown(expr: str) -> set[str]:
    known = set().union(*exported().values()) | OF_PROMETHEUS | RECORDED
    return named(expr) - known


@pytest.mark.parametrize("dashboard", DASHBOARDS.values(), ids=DASHBOARDS.keys())
def test_every_metric_exists(dashboard):
    found = {place: unknown(expr) for place, expr in expressions(dashboard)}
    assert {place: names for place, names in found.items() if names} == {}


@pytest.mark.parametrize(
    ("expr", "names"),
    [
        ("sqlqueue_job", {"sqlqueue_job"}),
        ("rate(sqlqueue_attempts[$__rate_interval])", {"sqlqueue_attempts"}),
        ("sqlqueue_completion_delay_seconds", {"sqlqueue_completion_delay_seconds"}),
        ("sqlqueue_up_bucket + sqlqueue_up", {"sqlqueue_up_bucket"}),
        ('{__name__=~"sqlqueue_jobs|sqlqueue_tasks"}', {"sqlqueue_tasks"}),
        ('max(sum by (le) (sqlqueue_sample_duration_seconds_bucket{job=~"$job"}))', set()),
    ],
)
def test_a_metric_that_does_not_exist_is_found(expr, names):
    assert unknown(expr) == names


def test_every_family_is_on_a_dashboard():
    shown = {name for dashboard in DASHBOARDS.values() for _, expr in expressions(dashboard) for name in named(expr)}
    missing = {family for family, names in exported().items() if not names & shown}
    assert missing == set(NOT_SHOWN)
