"""The JSON files are what the generator writes, and contain what every dashboard must have."""

import itertools
import shutil

import pytest

import generate.__main__ as generator
from model import FOLDER, Json, load, panels

DASHBOARDS = load()


def test_the_files_are_what_the_generator_writes():
    assert generator.differences() == []


@pytest.fixture
def copied(tmp_path, monkeypatch):
    for path in FOLDER.glob("*.json"):
        shutil.copy(path, tmp_path)
    monkeypatch.setattr(generator, "FOLDER", tmp_path)
    assert generator.differences() == []
    return tmp_path


def test_a_file_changed_by_hand_is_noticed(copied):
    path = copied / "sqlqueue-queue.json"
    path.write_text(path.read_text().replace('"refresh": "30s"', '"refresh": "5s"'))
    assert '-  "refresh": "5s",' in generator.differences()


def test_a_file_that_is_missing_or_that_nothing_writes_is_noticed(copied):
    (copied / "sqlqueue-queue.json").rename(copied / "other.json")
    found = generator.differences()
    assert "--- other.json, checked in" in found
    assert "+++ sqlqueue-queue.json, generated" in found


def test_the_uids_are_those_that_links_and_alerts_name():
    assert set(DASHBOARDS) == {"sqlqueue-overview", "sqlqueue-queue", "sqlqueue-run-log", "sqlqueue-exporter"}


@pytest.mark.parametrize("dashboard", DASHBOARDS.values(), ids=DASHBOARDS.keys())
def test_every_panel_has_an_id_and_a_title_of_its_own(dashboard: Json):
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(set(ids)) == len(ids)
    titles = [panel["title"] for panel in panels(dashboard)]
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("dashboard", DASHBOARDS.values(), ids=DASHBOARDS.keys())
def test_panels_fill_the_width_and_do_not_overlap(dashboard: Json):
    places = [panel["gridPos"] for panel in dashboard["panels"]]
    for one, other in itertools.combinations(places, 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        above = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
        assert beside or above, (one, other)
    for y in {place["y"] for place in places}:
        assert sum(place["w"] for place in places if place["y"] <= y < place["y"] + place["h"]) == 24, y
