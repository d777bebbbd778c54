"""Writes the rules and their unit tests into a folder, without annotations.

usage: without_annotations.py FOLDER. Since Prometheus 3, a range excludes its left end, so a mean may
differ in its last digit, and with it the text of an annotation. The minute in which an alert fires must
not differ.
"""

import sys
from pathlib import Path

import yaml
from project import ALERTS, rule_files


def main(folder: Path) -> None:
    for file in rule_files():
        document = yaml.safe_load(file.read_text())
        for group in document["groups"]:
            for rule in group["rules"]:
                rule.pop("annotations", None)
        (folder / file.name).write_text(yaml.safe_dump(document))
    (folder / "tests").mkdir()
    for file in (ALERTS / "tests").glob("*.test.yml"):
        document = yaml.safe_load(file.read_text())
        for group in document["tests"]:
            for test in group.get("alert_rule_test", []):
                for alert in test["exp_alerts"]:
                    del alert["exp_annotations"]
        (folder / "tests" / file.name).write_text(yaml.safe_dump(document))


main(Path(sys.argv[1]))
