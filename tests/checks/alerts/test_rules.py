"""What every rule must have, and what it may consist of."""

import re

import promql
import pytest
from project import ALERT_RULES, OWN_OF_PROMETHEUS, RECORDED, ROOT, RULES, dashboards, exported, inputs

# Thresholds that are not an objective of a queue or a run log, and why.
OWN_THRESHOLDS = {
    "SqlQueueExporterRestarting": [2],  # of the exporter itself: a deployment restarts it, twice at most
}

# Gauges that stay while a target cannot be sampled; all others are withdrawn.
STAYING = re.compile(r"sqlqueue_(up|last_sample_.*|stale_after_.*|objective_.*|exporter_.*)")

alerts = pytest.mark.parametrize("rule", ALERT_RULES.values(), ids=ALERT_RULES)


@alerts
def test_an_alert_has_what_a_person_needs(rule):
    assert re.fullmatch(r"SqlQueue([A-Z][a-z]+)+", rule.name)
    assert rule.raw["labels"].keys() == {"severity"}
    assert rule.raw["labels"]["severity"] in ("page", "ticket")
    annotations = rule.raw["annotations"]
    assert annotations.keys() - {"jobs"} == {"summary", "description", "runbook_url", "dashboard_url"}
    assert all(text.strip() for text in annotations.values())
    # A page without a number is a riddle; an absent target has no number.
    if rule.name != "SqlQueueExporterAbsent":
        assert ".Value" in annotations["description"] or "$value" in annotations["description"]


def test_the_names_of_alerts_and_records_are_used_once():
    names = [rule.name for rule in RULES]
    assert len(names) == len(set(names))


@alerts
def test_the_addresses_come_from_one_place(rule):
    base = '{{{{ range query "sqlqueue:links:info" }}}}{{{{ .Labels.{} }}}}{{{{ end }}}}'.format
    assert rule.raw["annotations"]["runbook_url"] == f"{base('runbooks_url')}#{rule.name}"
    address, _, parameters = rule.raw["annotations"]["dashboard_url"].partition("?")
    dashboard = dashboards()[address.removeprefix(f"{base('dashboards_url')}/d/")]
    assert set(re.findall(r"\bvar-(\w+)=", parameters)) <= dashboard.variables
    assert set(RECORDED["sqlqueue:links:info"].raw["labels"]) == {"runbooks_url", "dashboards_url"}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_names_what_the_exporter_exports(rule):
    known = exported().keys() | RECORDED.keys() | OWN_OF_PROMETHEUS
    assert promql.names(rule.tree) <= known


@alerts
def test_the_queries_in_annotations_name_what_the_exporter_exports(rule):
    text = "\n".join(rule.raw["annotations"].values())
    known = exported().keys() | RECORDED.keys()
    named = re.findall(r"\b(?:[a-z_]+:)?(?:sqlqueue|process)_\w+(?::\w+)?|sqlqueue:links:info", text)
    assert "sqlqueue:links:info" in named
    assert set(named) <= known


@alerts
def test_thresholds_are_objectives_of_the_exporter(rule):
    assert [number for number in promql.thresholds(rule.tree) if number != 0] == OWN_THRESHOLDS.get(rule.name, [])


def test_every_objective_of_the_exporter_is_watched():
    objectives = {name for name in exported() if name.startswith("sqlqueue_objective_")}
    assert objectives == {name for rule in ALERT_RULES.values() for name in inputs(rule) if name in objectives}


@alerts
def test_an_alert_on_a_gauge_outlives_its_withdrawal(rule):
    kinds = exported()
    withdrawn = {
        name
        for name in inputs(rule)
        if kinds.get(name) == "gauge" and name.startswith("sqlqueue_") and not STAYING.fullmatch(name)
    }
    if withdrawn:
        assert rule.raw.get("keep_firing_for") == "5m", withdrawn


@pytest.mark.parametrize("name", ["SqlQueueDatabaseDown", "SqlQueueTargetNotSampled"])
def test_what_takes_over_then_stays_until_it_can_fire_again(name):
    taking_over = ALERT_RULES[name].raw
    assert taking_over["for"] == "2m" and taking_over["keep_firing_for"] == "5m"
    pages = [rule for rule in ALERT_RULES.values() if rule.raw["labels"]["severity"] == "page"]
    late = [rule.name for rule in pages if rule.raw["for"] not in ("2m", "5m")]
    assert late == ["SqlQueueStepFailing"], "alerts/README.md says so of no other page"


def test_the_parser_finds_what_it_is_asked_for():
    tree = promql.parse('rate(a_total{x="y"}[5m] offset 1h) > 3 unless max_over_time(b[1d:5m]) and c offset 2m == 0')
    assert promql.names(tree) == {"a_total", "b", "c"}
    assert [str(duration) for duration in promql.durations(tree)] == [
        "0:05:00", "1:00:00", "1 day, 0:00:00", "0:05:00", "0:02:00"
    ]  # fmt: skip
    assert list(promql.thresholds(tree)) == [3, 0]
    with pytest.raises(ValueError):
        promql.parse("rate(a[5m]")


def test_the_golden_list_is_there():
    assert (ROOT / "tests/golden/families.txt").exists() and len(exported()) > 40
