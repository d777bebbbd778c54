"""The dashboards are valid by Grafana's published types, from 10.1 to 12."""

import copy
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable

import pytest

import schema
from model import FOLDER, Json, load, panels

FILES = sorted(FOLDER.glob("*.json"))
DASHBOARDS = load()

# Settings newer than Grafana 10.1, which ignores what it does not know.
NEWER_THAN_10_1 = {
    "builtIn: AnnotationQuery does not have this",
    "showPercentChange: Options does not have this",
    "wideLayout: Options does not have this",
    "mode: HeatmapTooltip does not have this",
    # The types of 10.1 have it, but in a union other than that of the SDK's tables.
    "cellOptions: no setting of a table",
}


def test_every_key_and_value_is_one_of_grafana_10_4():
    for uid, dashboard in DASHBOARDS.items():
        assert schema.faults(dashboard) == [], uid


@pytest.mark.parametrize(("version", "passed_over"), [("10.1", NEWER_THAN_10_1), ("11.6", set()), ("12", set())])
def test_other_grafanas_know_every_key_and_value(version: str, passed_over: set[str]):
    types = pathlib.Path(os.environ["GRAFANA_TYPES"], version)
    assert (types / "grafana_foundation_sdk").is_dir(), types
    found = subprocess.run(
        [sys.executable, schema.__file__, *FILES],
        env=os.environ | {"PYTHONPATH": str(types)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout.splitlines()
    # Grafana itself fills in what a newer version requires and an older one does not know.
    unknown = {fault.rpartition(".")[2] for fault in found if not fault.endswith("demands this")}
    assert unknown == passed_over


def _panel(dashboard: Json, kind: str) -> Json:
    return next(panel for panel in panels(dashboard) if panel["type"] == kind)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda it: it.update(colour="dark"), "dashboard.colour: Dashboard does not have this"),
        (lambda it: it.pop("schemaVersion"), "dashboard.schemaVersion: Dashboard demands this"),
        (lambda it: it.update(graphTooltip=7), "dashboard.graphTooltip: 7 is none of (0, 1, 2)"),
        (lambda it: it.update(tags="sqlqueue"), "dashboard.tags: 'sqlqueue' is no list"),
        (lambda it: it["annotations"]["list"][0].update(enable="yes"), "enable: 'yes' is no bool"),
        (lambda it: it["templating"]["list"][1].update(refresh="always"), "refresh: 'always' is none of (0, 1, 2)"),
        (lambda it: _panel(it, "stat")["gridPos"].update(w="wide"), "gridPos.w: 'wide' is no int"),
        (lambda it: _panel(it, "stat")["options"].update(colorMode="red"), "options.colorMode: 'red' is none of"),
        (lambda it: _panel(it, "timeseries")["targets"][0].pop("expr"), "targets.0.expr: Dataquery demands this"),
        (lambda it: _panel(it, "timeseries")["options"]["legend"].update(on=True), "legend.on: VizLegendOptions"),
        (
            lambda it: _panel(it, "timeseries")["fieldConfig"]["defaults"]["custom"].update(lineWidth="1"),
            "custom.lineWidth: '1' is no float",
        ),
        (
            lambda it: _panel(it, "table")["fieldConfig"]["overrides"][0]["properties"].append({"id": "x", "value": 1}),
            "overrides.0.x: no setting of a table",
        ),
        (
            lambda it: _panel(it, "table")["fieldConfig"]["overrides"][-1]["properties"][2].update(value=1),
            "unit: 1 is no str",
        ),
    ],
)
def test_a_fault_is_found(change: Callable[[Json], object], fault: str):
    dashboard = copy.deepcopy(DASHBOARDS["sqlqueue-overview"])
    change(dashboard)
    found = schema.faults(dashboard)
    assert len(found) == 1 and fault in found[0], found
