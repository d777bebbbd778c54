"""One factor shortens every duration, and nothing else."""

import re

import promql
import pytest
import shorten
import yaml
from project import ALERTS, RULES, rule_files

DIVISOR = 60


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_duration_of_an_expression_is_shortened(rule):
    shortened = promql.parse(shorten.expression(rule.expr, DIVISOR))
    assert promql.durations(shortened) == [whole / DIVISOR for whole in promql.durations(rule.tree)]
    assert promql.names(shortened) == promql.names(rule.tree)


def test_what_looks_like_a_duration_and_is_none_stays():
    text = 'queue:age:avg10m{le="5m"} offset 30m + 2 * x[1h:1m]'
    assert shorten.expression(text, 60) == 'queue:age:avg10m{le="5m"} offset 30000ms + 2 * x[60000ms:1000ms]'


def test_no_duration_of_the_files_is_left_out():
    for file in rule_files():
        shortened = yaml.safe_dump(shorten.rules(yaml.safe_load(file.read_text()), DIVISOR))
        assert re.findall(r"(?:for:|offset) \d+[smhd]\b|\[\d+[smhd]\b", shortened) == []
    shortened = shorten.alertmanager(yaml.safe_load((ALERTS / "alertmanager.yml").read_text()), DIVISOR)
    assert shortened["route"]["group_interval"] == "5000ms"
    assert shortened["route"]["routes"][0]["repeat_interval"] == "240000ms"
    assert re.findall(r": \d+[smhd]\b", yaml.safe_dump(shortened)) == []
