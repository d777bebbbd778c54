"""The dashboards keep the rules of dashboard-linter, and each rule is shown to find a breach."""

import copy
from collections.abc import Callable

import pytest

import lint
from model import Json, load, panels, targets

DASHBOARDS = load()


def test_nothing_breaches_a_rule_unless_excluded():
    exclusions = lint.exclusions()
    findings = [finding for dashboard in DASHBOARDS.values() for finding in lint.lint(dashboard)]
    assert [finding for finding in findings if not any(entry.covers(finding) for entry in exclusions)] == []


def test_every_exclusion_has_a_reason_and_is_needed():
    findings = [finding for dashboard in DASHBOARDS.values() for finding in lint.lint(dashboard)]
    for entry in lint.exclusions():
        assert entry.reason, entry
        assert any(entry.covers(finding) for finding in findings), entry


def _variable(dashboard: Json, name: str) -> Json:
    return next(found for found in dashboard["templating"]["list"] if found["name"] == name)


def _first_panel(dashboard: Json) -> Json:
    return next(panels(dashboard))


def _first_target(dashboard: Json) -> Json:
    return next(targets(dashboard))[2]


def _replace(text: str, by: str) -> Callable[[Json], None]:
    """Changes the first query that contains the text."""

    def change(dashboard: Json) -> None:
        target = next(target for _, _, target in targets(dashboard) if text in target["expr"])
        target["expr"] = target["expr"].replace(text, by)

    return change


# Breaches of each rule: changes to a good dashboard.
BREACHES: list[tuple[str, Callable[[Json], object]]] = [
    ("template-datasource-rule", lambda it: _variable(it, "datasource").update(name="prometheus")),
    ("template-datasource-rule", lambda it: _variable(it, "datasource").update(query="loki")),
    ("template-job-rule", lambda it: _variable(it, "job").update(name="jobs")),
    ("template-job-rule", lambda it: _variable(it, "job").update(label="job")),
    ("template-instance-rule", lambda it: _variable(it, "instance").update(multi=False)),
    ("template-instance-rule", lambda it: _variable(it, "instance").update(allValue=".*")),
    ("template-instance-rule", lambda it: _variable(it, "instance")["datasource"].update(uid="prometheus")),
    ("template-label-promql-rule", lambda it: _variable(it, "job")["query"].update(query="label_values(up{, job)")),
    ("template-label-promql-rule", lambda it: _variable(it, "job")["query"].update(query="values(up, job)")),
    ("template-on-time-change-reload-rule", lambda it: _variable(it, "instance").update(refresh=1)),
    ("panel-datasource-rule", lambda it: _first_panel(it)["datasource"].update(uid="prometheus")),
    ("panel-datasource-rule", lambda it: _first_target(it)["datasource"].update(uid="prometheus")),
    ("panel-datasource-rule", lambda it: it["annotations"]["list"][0]["datasource"].update(uid="prometheus")),
    ("panel-title-description-rule", lambda it: _first_panel(it).update(title="")),
    ("panel-title-description-rule", lambda it: _first_panel(it).pop("description")),
    ("panel-units-rule", lambda it: _first_panel(it)["fieldConfig"]["defaults"].pop("unit")),
    ("panel-units-rule", lambda it: _first_panel(it)["fieldConfig"]["defaults"].update(unit="seconds")),
    ("panel-no-targets-rule", lambda it: _first_panel(it).update(targets=[])),
    ("target-logql-rule", lambda it: _first_target(it)["datasource"].update(type="loki")),
    ("target-logql-auto-rule", lambda it: _first_target(it)["datasource"].update(type="loki")),
    ("target-promql-rule", lambda it: _first_target(it).update(expr="")),
    ("target-promql-rule", _replace("}", "")),
    ("target-promql-rule", _replace("[$__rate_interval]", "[$interval]")),
    ("target-rate-interval-rule", _replace("$__rate_interval", "5m")),
    ("target-job-rule", _replace('job=~"$job"', 'job=~".+"')),
    ("target-job-rule", _replace('job=~"$job"', 'job="$job"')),
    ("target-instance-rule", _replace(', instance=~"$instance"', "")),
    ("target-counter-agg-rule", _replace("rate(", "delta(")),
    ("target-counter-agg-rule", _replace("sqlqueue_retrying_jobs", "sqlqueue_retries_total")),
    ("uneditable-dashboard", lambda it: it.update(editable=True)),
]


@pytest.mark.parametrize(("rule", "breach"), BREACHES)
def test_a_rule_finds_what_breaches_it(rule: str, breach: Callable[[Json], object]):
    dashboard = copy.deepcopy(DASHBOARDS["sqlqueue-queue"])
    before = {finding for finding in lint.lint(dashboard) if finding.rule == rule}
    breach(dashboard)
    assert {finding for finding in lint.lint(dashboard) if finding.rule == rule} > before


def test_every_rule_was_seen_to_find_something():
    assert {rule for rule, _ in BREACHES} == set(lint.RULES)
