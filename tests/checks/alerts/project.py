"""The files of alerts/, parsed once, and the exporter's metrics."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import promql
import yaml

ROOT = Path(__file__).parents[3]
ALERTS = ROOT / "alerts"
RUNBOOKS = ALERTS / "runbooks.md"

# Metrics that Prometheus adds itself.
OWN_OF_PROMETHEUS = {"up", "ALERTS"}


@dataclass(frozen=True)
class Rule:
    """A rule that records or alerts."""

    file: Path
    name: str
    is_alert: bool
    expr: str
    raw: dict

    @property
    def tree(self):
        return promql.parse(self.expr)


def rule_files() -> list[Path]:
    return sorted(ALERTS.glob("*.rules.yml"))


def _rules() -> list[Rule]:
    found = []
    for file in rule_files():
        for group in yaml.safe_load(file.read_text())["groups"]:
            for raw in group["rules"]:
                name = raw.get("alert") or raw["record"]
                found.append(Rule(file, name, "alert" in raw, raw["expr"], raw))
    return found


RULES = _rules()
ALERT_RULES = {rule.name: rule for rule in RULES if rule.is_alert}
RECORDED = {rule.name: rule for rule in RULES if not rule.is_alert}


def exported() -> dict[str, str]:
    """The names and types of the exporter's samples, from the golden list of families."""
    found = {}
    for line in (ROOT / "tests/golden/families.txt").read_text().splitlines():
        name, kind = line.split()
        if kind == "histogram":
            # No rule may need the native histogram, which Prometheus 2 and 3 store differently.
            found |= {f"{name}_{suffix}": kind for suffix in ("bucket", "count", "sum")}
        else:
            found[name] = kind
    return found


def inputs(rule: Rule) -> set[str]:
    """The metrics that a rule is computed from, with recorded ones resolved."""
    found = set()
    for name in promql.names(rule.tree):
        found |= inputs(RECORDED[name]) if name in RECORDED else {name}
    return found


def unit_tests() -> list[dict]:
    """The groups of all promtool unit tests."""
    files = sorted((ALERTS / "tests").glob("*.test.yml"))
    return [group for file in files for group in yaml.safe_load(file.read_text())["tests"]]


def minutes(duration: str) -> int:
    """A time of a unit test, always in whole minutes."""
    return int(re.fullmatch(r"(\d+)m", duration)[1])


@dataclass(frozen=True)
class Dashboard:
    """The parts of a dashboard that an alert or a runbook can name."""

    panels: set[str]
    variables: set[str]


def dashboards() -> dict[str, Dashboard]:
    """The dashboards by uid."""
    found = {}
    for file in (ROOT / "dashboards").glob("*.json"):
        content = json.loads(file.read_text())
        left, titles = list(content["panels"]), set()
        while left:
            panel = left.pop()
            titles.add(panel.get("title"))
            left += panel.get("panels", [])
        variables = {variable["name"] for variable in content["templating"]["list"]}
        found[content["uid"]] = Dashboard(titles, variables)
    return found
