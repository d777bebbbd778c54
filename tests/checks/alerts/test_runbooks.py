"""Each alert has a complete runbook, and its queries name existing metrics."""

import re

import promql
import pytest
from project import ALERT_RULES, ALERTS, OWN_OF_PROMETHEUS, RECORDED, RUNBOOKS, dashboards, exported

PARTS = ["Meaning", "Impact", "First look", "Rows", "Remedy", "Over"]


def sections() -> dict[str, str]:
    """The text below each anchor, which has the name of an alert and comes before its heading."""
    parts = re.split(r'^<a id="(\w+)"></a>\n\n## (\w+)\n', RUNBOOKS.read_text(), flags=re.MULTILINE)
    anchors, headings, texts = parts[1::3], parts[2::3], parts[3::3]
    assert anchors == headings
    assert len(anchors) == len(set(anchors))
    return dict(zip(anchors, texts, strict=True))


def queries(text: str) -> list[str]:
    return re.findall(r"```promql\n(.*?)```", text, re.DOTALL)


def test_there_is_a_runbook_for_each_alert_and_none_else():
    assert sections().keys() == ALERT_RULES.keys()


@pytest.mark.parametrize("alert", ALERT_RULES)
def test_a_runbook_is_complete(alert):
    text = sections()[alert]
    assert re.findall(r"^\*\*([\w ]+)\.\*\*", text, re.MULTILINE) == PARTS
    for part in re.split(r"^\*\*[\w ]+\.\*\*", text, flags=re.MULTILINE)[1:]:
        assert len(part.strip()) > 10
    first_look = text.partition("**First look.**")[2].partition("**Rows.**")[0]
    assert len(queries(first_look)) == 1
    assert re.search(r"[Pp]anel \*\*[^*]+\*\*\s+\(sqlqueue-[a-z-]+\)", first_look)
    rows = text.partition("**Rows.**")[2].partition("**Remedy.**")[0]
    assert "```sql\n" in rows or "None" in rows


@pytest.mark.parametrize("alert", ALERT_RULES)
def test_the_queries_of_a_runbook_name_what_the_exporter_exports(alert):
    known = exported().keys() | RECORDED.keys() | OWN_OF_PROMETHEUS
    for query in queries(sections()[alert]):
        assert promql.names(promql.parse(query)) <= known


def test_the_panels_that_the_runbooks_name_exist():
    known = dashboards()
    named = re.findall(r"[Pp]anel \*\*([^*]+)\*\*\s+\(([a-z-]+)\)", RUNBOOKS.read_text())
    assert len(named) >= len(ALERT_RULES)
    assert [(title, uid) for title, uid in named if title not in known[uid].panels] == []


def test_the_links_within_the_runbooks_lead_somewhere():
    links = re.findall(r"\]\(#(\w+)\)", RUNBOOKS.read_text())
    assert links and set(links) <= ALERT_RULES.keys()


def test_the_readme_lists_every_alert_with_its_severity():
    rows = re.findall(r"^\| [^|]+ \| (SqlQueue\w+) \| (\w+) \|$", (ALERTS / "README.md").read_text(), re.MULTILINE)
    assert sorted(rows) == sorted((name, rule.raw["labels"]["severity"]) for name, rule in ALERT_RULES.items())
