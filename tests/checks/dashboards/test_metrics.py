"""The dashboards name existing metrics, and show every metric."""

import re

import pytest

import project
import promql
from model import FOLDER, expressions, load
from variables import parseable

DASHBOARDS = load()

OF_PROMETHEUS = project.OWN_OF_PROMETHEUS | {"scrape_duration_seconds", "scrape_samples_scraped", "ALERTS_FOR_STATE"}

NOT_SHOWN = {
    "process_virtual_memory_bytes": "says nothing that the resident memory does not say better",
}


def named(expr: str) -> set[str]:
    """The metrics that an expression names, including those in `{__name__=~"a|b"}`."""
    found: set[str] = set()
    for selector in promql.selectors(promql.parse(parseable(expr))):
        by_label = [matcher.value for matcher in selector.matchers.matchers if matcher.name == "__name__"]
        for value in [selector.name] if selector.name else by_label:
            found |= set(value.split("|"))
    return found


def unknown(expr: str) -> set[str]:
    return named(expr) - set(project.exported()) - set(project.RECORDED) - OF_PROMETHEUS


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
    missing = {name for name in project.exported() if not family(name) & shown}
    assert missing == set(NOT_SHOWN)


def family(name: str) -> set[str]:
    """All series of this one's family: a histogram is shown when one of its three series is."""
    stem = re.sub(r"_(bucket|sum|count)$", "", name)
    return {name} | ({stem + end for end in ("_bucket", "_sum", "_count")} if stem != name else set())


def test_links_lead_to_the_runbook_of_every_alert():
    linked = {name for path in FOLDER.glob("*.json") for name in re.findall(r"\$\{runbooks\}#(\w+)", path.read_text())}
    assert linked == set(project.ALERT_RULES)
