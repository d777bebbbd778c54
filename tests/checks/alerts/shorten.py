"""Shortens every duration of the rules and of the Alertmanager example by one factor.

usage: shorten.py DIVISOR FOLDER. Writes alerts/*.rules.yml and alerts/alertmanager.yml into FOLDER with
each duration divided by DIVISOR: `for`, `keep_firing_for`, and every range, offset and resolution of an
expression or of a query in an annotation. What comes from the exporter, above all the objectives, has to
be shortened in its configuration.
"""

import re
import sys
from pathlib import Path

import yaml
from project import ALERTS, rule_files

_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_DURATION = re.compile(r"(\d+)(ms|[smhdw])")
# Where a duration can be in PromQL: in brackets, and after the word offset.
_IN_PROMQL = re.compile(r"(?<=\[)[\dsmhdw:]+(?=\])|(?<=offset )[\dsmhdw]+")


def duration(text: str, divisor: float) -> str:
    """One duration in whole milliseconds, the finest unit of Prometheus."""
    ms = sum(int(number) * _UNITS[unit] for number, unit in _DURATION.findall(text))
    return f"{max(1, round(ms / divisor))}ms"


def expression(text: str, divisor: float) -> str:
    """PromQL, or a template that contains PromQL."""
    return _IN_PROMQL.sub(
        lambda found: ":".join(part and duration(part, divisor) for part in found[0].split(":")), text
    )


def rules(document: dict, divisor: float) -> dict:
    for group in document["groups"]:
        for rule in group["rules"]:
            rule["expr"] = expression(rule["expr"], divisor)
            for key in ("for", "keep_firing_for"):
                if key in rule:
                    rule[key] = duration(rule[key], divisor)
            for key, text in rule.get("annotations", {}).items():
                rule["annotations"][key] = expression(text, divisor)
    return document


def alertmanager(document: dict, divisor: float) -> dict:
    routes = [document["route"]]
    while routes:
        route = routes.pop()
        for key in ("group_wait", "group_interval", "repeat_interval"):
            if key in route:
                route[key] = duration(route[key], divisor)
        routes += route.get("routes", [])
    return document


def write(divisor: float, folder: Path) -> None:
    for file in rule_files():
        shortened = rules(yaml.safe_load(file.read_text()), divisor)
        (folder / file.name).write_text(yaml.safe_dump(shortened, sort_keys=False))
    shortened = alertmanager(yaml.safe_load((ALERTS / "alertmanager.yml").read_text()), divisor)
    (folder / "alertmanager.yml").write_text(yaml.safe_dump(shortened, sort_keys=False))


if __name__ == "__main__":
    write(float(sys.argv[1]), Path(sys.argv[2]))
