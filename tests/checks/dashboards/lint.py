"""The rules of https://github.com/grafana/dashboard-linter, which is in no package registry.

Each rule has the linter's name for it, and a comment where it is stricter here. All of them apply to every kind of
panel, while the linter skips some, and a warning there is a finding here.
"""

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta

import yaml

import syntax
from model import FOLDER, Json, panels, selector, targets, variables
from variables import RATE_INTERVAL, parseable

_VARIABLE = {"${datasource}", "$datasource"}


@dataclass(frozen=True)
class Finding:
    """A breach of a rule, located as precisely as possible."""

    rule: str
    dashboard: str
    message: str
    panel: str = ""
    target: int | None = None


# What a rule yields: the panel's title and the query's index, if any, and what is wrong.
_Faults = Iterator[tuple[str, int | None, str]]
RULES: dict[str, Callable[[Json], _Faults]] = {}


def _rule(name: str):
    def register(check: Callable[[Json], _Faults]):
        RULES[name] = check
        return check

    return register


def lint(dashboard: Json) -> list[Finding]:
    """All breaches of a rule, excluded or not."""
    return [
        Finding(name, dashboard["title"], message, panel, target)
        for name, check in RULES.items()
        for panel, target, message in check(dashboard)
    ]


@dataclass(frozen=True)
class Exclusion:
    """An entry of the file `.lint`, in the linter's own format."""

    rule: str
    dashboard: str
    panel: str
    reason: str

    def covers(self, finding: Finding) -> bool:
        wanted = (self.rule, self.dashboard, self.panel)
        return wanted == (finding.rule, finding.dashboard, finding.panel)


def exclusions() -> list[Exclusion]:
    """The exclusions that are checked in."""
    rules = yaml.safe_load((FOLDER / ".lint").read_text())["exclusions"]
    return [
        Exclusion(rule, entry["dashboard"], entry["panel"], entry.get("reason") or of_rule.get("reason") or "")
        for rule, of_rule in rules.items()
        for entry in of_rule["entries"]
    ]


# --- Templates


@_rule("template-datasource-rule")
def _template_datasource(dashboard: Json) -> _Faults:
    found = [
        (variable["name"], variable.get("label"), variable["query"]) for variable in variables(dashboard, "datasource")
    ]
    if found != [("datasource", "Data source", "prometheus")]:
        yield "", None, f"data source variables: {found}"


def _template(dashboard: Json, name: str) -> _Faults:
    found = [variable for variable in variables(dashboard, "query") if variable["name"] == name]
    if len(found) != 1:
        yield "", None, f"{len(found)} query variables are called {name}"
        return
    variable = found[0]
    wanted = {"label": name.title(), "multi": True, "allValue": ".+"}
    present = {key: variable.get(key) for key in wanted}
    if present != wanted:
        yield "", None, f"variable {name}: {present}"
    if variable["datasource"]["uid"] not in _VARIABLE:
        yield "", None, f"variable {name}: data source {variable['datasource']}"


@_rule("template-job-rule")
def _template_job(dashboard: Json) -> _Faults:
    yield from _template(dashboard, "job")


@_rule("template-instance-rule")
def _template_instance(dashboard: Json) -> _Faults:
    yield from _template(dashboard, "instance")


@_rule("template-label-promql-rule")
def _template_label_promql(dashboard: Json) -> _Faults:
    for variable in variables(dashboard, "query"):
        query = variable["query"]["query"]
        try:
            syntax.parse(parseable(selector(query)))
        except (AssertionError, ValueError) as error:
            yield "", None, f"variable {variable['name']}: {query}: {error}"


@_rule("template-on-time-change-reload-rule")
def _template_on_time_change_reload(dashboard: Json) -> _Faults:
    for variable in variables(dashboard, "query"):
        if variable["refresh"] != 2:
            yield "", None, f"variable {variable['name']}: refresh is {variable['refresh']}"


# --- Panels


@_rule("panel-datasource-rule")
def _panel_datasource(dashboard: Json) -> _Faults:
    """Stricter: includes each query, annotations and variables."""
    for panel in panels(dashboard):
        if panel.get("datasource", {}).get("uid") not in _VARIABLE:
            yield panel["title"], None, f"data source {panel.get('datasource')}"
    for panel, index, target in targets(dashboard):
        if target.get("datasource", {}).get("uid") not in _VARIABLE:
            yield panel["title"], index, f"data source {target.get('datasource')}"
    for other in dashboard["annotations"]["list"] + variables(dashboard, "query"):
        if other["datasource"]["uid"] not in _VARIABLE:
            yield "", None, f"{other['name']}: data source {other['datasource']}"


@_rule("panel-title-description-rule")
def _panel_title_description(dashboard: Json) -> _Faults:
    for panel in panels(dashboard):
        if not panel.get("title") or not panel.get("description"):
            yield panel.get("title", ""), None, f"panel {panel['id']} has no title or no description"


def _known_units() -> set[str]:
    units = importlib.import_module("grafana_foundation_sdk.models.units")
    return {value for name, value in vars(units).items() if not name.startswith("_") and isinstance(value, str)}


@_rule("panel-units-rule")
def _panel_units(dashboard: Json) -> _Faults:
    """Stricter: includes panels with value mappings, and the unit must be one in Grafana's own types."""
    known = _known_units()
    for panel in panels(dashboard):
        config = panel["fieldConfig"]
        units = [config["defaults"].get("unit")]
        units += [
            setting["value"]
            for override in config.get("overrides", [])
            for setting in override["properties"]
            if setting["id"] == "unit"
        ]
        for unit in units:
            if unit not in known:
                yield panel["title"], None, f"unit {unit!r}"


@_rule("panel-no-targets-rule")
def _panel_no_targets(dashboard: Json) -> _Faults:
    for panel in panels(dashboard):
        if not panel.get("targets"):
            yield panel["title"], None, "has no query"


# --- Queries


def _parsed(dashboard: Json) -> Iterator[tuple[Json, int, syntax.Expr]]:
    """The queries that parse; another rule finds the others."""
    for panel, index, target in targets(dashboard):
        try:
            yield panel, index, syntax.parse(parseable(target["expr"]))
        except (KeyError, ValueError):
            continue


@_rule("target-logql-rule")
@_rule("target-logql-auto-rule")
def _target_logql(dashboard: Json) -> _Faults:
    """Both rules on LogQL hold when there is no LogQL."""
    for panel, index, target in targets(dashboard):
        if target.get("datasource", {}).get("type") != "prometheus":
            yield panel["title"], index, f"is no query to Prometheus but to {target.get('datasource')}"


@_rule("target-promql-rule")
def _target_promql(dashboard: Json) -> _Faults:
    for panel, index, target in targets(dashboard):
        try:
            syntax.parse(parseable(target["expr"]))
        except (KeyError, ValueError) as error:
            yield panel["title"], index, f"{target.get('expr')}: {error}"


@_rule("target-rate-interval-rule")
def _target_rate_interval(dashboard: Json) -> _Faults:
    """Stricter: every range is $__rate_interval, not only that of rate and irate."""
    wanted = timedelta(seconds=int(RATE_INTERVAL.rstrip("s")))
    for panel, index, expr in _parsed(dashboard):
        for node in syntax.nodes(expr):
            if isinstance(node, syntax.MatrixSelector) and node.range != wanted:
                yield panel["title"], index, f"range {node.range} and not $__rate_interval"


def _target_matcher(dashboard: Json, label: str) -> _Faults:
    wanted = f'{label}=~"${label}"'
    for panel, index, expr in _parsed(dashboard):
        for found in syntax.selectors(expr):
            if wanted not in syntax.matchers(found):
                yield panel["title"], index, f"{found.name or ''} has no {wanted}"


@_rule("target-job-rule")
def _target_job(dashboard: Json) -> _Faults:
    yield from _target_matcher(dashboard, "job")


@_rule("target-instance-rule")
def _target_instance(dashboard: Json) -> _Faults:
    yield from _target_matcher(dashboard, "instance")


@_rule("target-counter-agg-rule")
def _target_counter_agg(dashboard: Json) -> _Faults:
    for panel, index, expr in _parsed(dashboard):
        for node, path in syntax.parents(expr):
            if not isinstance(node, syntax.VectorSelector) or not (node.name or "").endswith("_total"):
                continue
            calls = [outer for outer in path if isinstance(outer, syntax.Call)]
            ranged = any(isinstance(outer, syntax.MatrixSelector) for outer in path)
            if not ranged or calls[-1].func.name not in {"rate", "irate", "increase"}:
                yield panel["title"], index, f"counter {node.name} without rate, irate or increase"


# --- Dashboards


@_rule("uneditable-dashboard")
def _uneditable(dashboard: Json) -> _Faults:
    if dashboard.get("editable") is not False:
        yield "", None, "can be edited"
