"""Every panel's queries return data from a real Prometheus that scraped the demo."""

import contextlib
import math
import os
import pathlib
import re
from collections.abc import Iterator

import pytest
import yaml

import servers
from model import Json, load, panels, selector, variables
from servers import Prometheus
from variables import substitute

DASHBOARDS = load()
BINARIES = os.environ["PROMETHEUS"].split(":")
RANGE_SECONDS = 60
# As in alerts/links.rules.yml.
RUNBOOKS = "https://wiki.example.org/sqlqueue/runbooks"

# The choices in Grafana: everything that can be chosen together, and the demo's queue with an attempt log.
CHOSEN = {
    "__rate_interval": "30s",
    "job": ".+",
    "instance": ".+",
    "source": "demo",
    "queue": "jobs",
    "run_log": "notifications",
}

Panel = tuple[str, int]


def empty_when_well() -> dict[Panel, Json]:
    """The list of panels that are empty as long as all is well."""
    text = pathlib.Path(__file__).with_name("empty_when_well.yaml").read_text()
    return {(uid, panel): entry for uid, of in yaml.safe_load(text).items() for panel, entry in of.items()}


def every_panel() -> dict[Panel, Json]:
    return {(uid, panel["id"]): panel for uid, dashboard in DASHBOARDS.items() for panel in panels(dashboard)}


def with_data(prometheus: Prometheus, panel: Json) -> bool:
    """Whether every query of the panel shows something. NaN and the empty cells of a heatmap are not shown."""
    for target in panel["targets"]:
        expr = substitute(target["expr"], CHOSEN)
        series = prometheus.query(expr) if target.get("instant") else prometheus.query_range(expr, RANGE_SECONDS)
        shown = [found for found in series if not all(math.isnan(value) for value in found["values"])]
        if panel["type"] == "heatmap":
            shown = [found for found in shown if any(value > 0 for value in found["values"])]
        if not shown:
            return False
        # A legend or column with a label that the series do not have would be blank.
        for label in re.findall(r"{{(\w+)}}", target.get("legendFormat", "")):
            assert all(label in found["labels"] for found in shown), (panel["title"], label, shown[0]["labels"])
    return True


class Answers:
    """A Prometheus that gives the same answer to everything."""

    def __init__(self, *series: tuple[Json, list[float]]) -> None:
        self._series = [{"labels": labels, "values": values} for labels, values in series]

    def query_range(self, expr: str, seconds: int) -> list[Json]:
        return self._series


@pytest.mark.parametrize(
    ("kind", "legend", "answers", "shown"),
    [
        ("timeseries", "", Answers(), False),
        ("timeseries", "", Answers(({}, [math.nan, math.nan])), False),
        ("timeseries", "", Answers(({}, [math.nan, 0.0])), True),
        ("heatmap", "{{le}}", Answers(({"le": "1.0"}, [0.0, 0.0])), False),
        ("heatmap", "{{le}}", Answers(({"le": "1.0"}, [0.0, 2.0])), True),
        ("timeseries", "{{step}}", Answers(({"step": "run"}, [0.0])), True),
    ],
)
def test_what_counts_as_data(kind: str, legend: str, answers: Answers, shown: bool):
    panel = {"type": kind, "title": "a panel", "targets": [{"expr": "up", "legendFormat": legend}]}
    assert with_data(answers, panel) == shown


def test_a_legend_with_a_label_that_the_series_lack_is_found():
    panel = {"type": "timeseries", "title": "a panel", "targets": [{"expr": "up", "legendFormat": "{{step}}"}]}
    with pytest.raises(AssertionError):
        with_data(Answers(({"queue": "jobs"}, [0.0])), panel)


def wait_for_data(prometheus: Prometheus, waiting: dict[Panel, Json]) -> None:
    """Waits until each of the panels has had data."""

    def look() -> bool | None:
        for key in [key for key, panel in waiting.items() if with_data(prometheus, panel)]:
            del waiting[key]
        return True if not waiting else None

    servers.wait_for(lambda: f"no data in {[(uid, panel['title']) for (uid, _), panel in waiting.items()]}", look)


@pytest.fixture(scope="module")
def all_healthy(tmp_path_factory) -> Iterator[dict[str, Prometheus]]:
    """Each Prometheus. All of them scrape the same healthy demo."""
    folder = tmp_path_factory.mktemp("healthy")
    with contextlib.ExitStack() as running:
        address = running.enter_context(servers.demo(folder / "demo"))
        yield {
            binary: running.enter_context(servers.prometheus(binary, folder / str(number), address))
            for number, binary in enumerate(BINARIES)
        }


@pytest.fixture(params=BINARIES, ids=lambda path: pathlib.Path(path).parts[-4])
def healthy(request, all_healthy) -> Prometheus:
    """A Prometheus that has scraped until every panel that should have data has had some."""
    prometheus = all_healthy[request.param]
    wait_for_data(prometheus, {key: panel for key, panel in every_panel().items() if key not in empty_when_well()})
    return prometheus


def test_panels_have_data_when_all_is_well_and_those_that_are_listed_do_not(healthy):
    def empty() -> set[Panel]:
        return {key for key, panel in every_panel().items() if not with_data(healthy, panel)}

    servers.wait_until_equal(empty, set(empty_when_well()))


def test_the_list_names_panels_that_exist_by_their_titles():
    present = {key: panel["title"] for key, panel in every_panel().items()}
    for key, entry in empty_when_well().items():
        assert entry["title"] == present[key]
        assert bool(entry.get("incident")) != bool(entry.get("never")), key


@pytest.mark.parametrize("incident", sorted({of["incident"] for of in empty_when_well().values() if "incident" in of}))
def test_an_incident_fills_what_is_empty_when_all_is_well(incident: str, tmp_path):
    listed = {key for key, of in empty_when_well().items() if of.get("incident") == incident}
    with (
        servers.demo(tmp_path / "demo", "--incident", incident, "--incident-after", "1s") as address,
        servers.prometheus(BINARIES[-1], tmp_path / "prometheus", address) as prometheus,
    ):
        wait_for_data(prometheus, {key: panel for key, panel in every_panel().items() if key in listed})
        # An alert on a queue is annotated there and on the overview, and on no unrelated dashboard. But at first,
        # targets that have not been sampled yet may have an alert, too.
        servers.wait_until_equal(lambda: annotated(prometheus), {"sqlqueue-overview", "sqlqueue-queue"})


def annotated(prometheus: Prometheus) -> set[str]:
    """The dashboards that annotate an alert now."""
    return {
        uid
        for uid, dashboard in DASHBOARDS.items()
        for annotation in dashboard["annotations"]["list"]
        if prometheus.query(substitute(annotation["expr"], CHOSEN))
    }


def test_nothing_is_annotated_when_all_is_well(healthy):
    servers.wait_until_equal(lambda: annotated(healthy), set())


def test_variables_offer_what_the_demo_has(healthy):
    offered = {}
    for uid, dashboard in DASHBOARDS.items():
        for variable in variables(dashboard, "query"):
            query = variable["query"]["query"]
            label = query.rpartition(",")[2].strip(" )")
            offered[uid, variable["name"]] = healthy.label_values(substitute(selector(query), CHOSEN), label)
    instances = offered["sqlqueue-overview", "instance"]
    assert len(instances) == 1
    for (uid, name), values in offered.items():
        expected = {
            "job": ["sqlqueue"],
            "instance": instances,
            "source": ["demo"],
            "queue": ["jobs", "work"],
            "run_log": ["notifications"],
            "runbooks": [RUNBOOKS],
        }
        assert values == expected[name], (uid, name)
