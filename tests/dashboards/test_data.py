"""Every panel's queries return data from a real Prometheus that scraped the demo."""

import math
import os
import pathlib
import re
from collections.abc import Iterator

import pytest
import yaml

import project
import servers
from model import Json, load, panels, selector, variables
from servers import Prometheus
from variables import substitute

DASHBOARDS = load()
BINARIES = os.environ["PROMETHEUS"].split(":")
RANGE_SECONDS = 60
# As alerts/links.rules.yml has it.
RUNBOOKS = "https://wiki.example.org/sqlqueue/runbooks"

# As chosen in Grafana: all of what can be chosen together, and the demo's queue with an attempt log.
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
    """The list of panels that show nothing as long as all is well."""
    text = pathlib.Path(__file__).with_name("empty_when_well.yaml").read_text()
    return {(uid, panel): entry for uid, of in yaml.safe_load(text).items() for panel, entry in of.items()}


def every_panel() -> dict[Panel, Json]:
    return {(uid, panel["id"]): panel for uid, dashboard in DASHBOARDS.items() for panel in panels(dashboard)}


def with_data(prometheus: Prometheus, panel: Json) -> bool:
    """Whether every query of the panel shows something. NaN is not shown, nor an empty cell of a heatmap."""
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


@pytest.fixture(scope="module", params=BINARIES, ids=lambda path: pathlib.Path(path).parts[-4])
def healthy(request, tmp_path_factory) -> Iterator[Prometheus]:
    """A Prometheus that has scraped the healthy demo until every panel that should have data has some."""
    folder = tmp_path_factory.mktemp("healthy")
    with (
        servers.demo(folder / "demo") as address,
        servers.prometheus(request.param, folder / "prometheus", address, project.rule_files()) as prometheus,
    ):
        waiting = {key: panel for key, panel in every_panel().items() if key not in empty_when_well()}

        def look() -> bool | None:
            for key in [key for key, panel in waiting.items() if with_data(prometheus, panel)]:
                del waiting[key]
            return True if not waiting else None

        servers.wait_for(lambda: f"no data in {[(uid, panel['title']) for (uid, _), panel in waiting.items()]}", look)
        yield prometheus


def test_panels_have_data_when_all_is_well_and_those_that_are_listed_do_not(healthy):
    filled = {key for key, panel in every_panel().items() if with_data(healthy, panel)}
    assert filled == set(every_panel()) - set(empty_when_well())


def test_the_list_names_panels_that_exist_by_their_titles():
    present = {key: panel["title"] for key, panel in every_panel().items()}
    for key, entry in empty_when_well().items():
        assert entry["title"] == present[key]
        assert bool(entry.get("incident")) != bool(entry.get("never")), key


def test_annotations_can_be_asked_for(healthy):
    for dashboard in DASHBOARDS.values():
        for annotation in dashboard["annotations"]["list"]:
            assert healthy.query_range(substitute(annotation["expr"], CHOSEN), RANGE_SECONDS) == []


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
