"""The dashboards as the tests see them: the parsed JSON, and ways to walk it."""

import json
import pathlib
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

ROOT = pathlib.Path(__file__).resolve().parents[3]
FOLDER = ROOT / "dashboards"


def load() -> dict[str, Json]:
    """Every dashboard that is checked in, by its uid."""
    found = [json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))]
    return {dashboard["uid"]: dashboard for dashboard in found}


def panels(dashboard: Json) -> Iterator[Json]:
    """Every panel that shows something, including those inside collapsed rows."""
    for panel in dashboard["panels"]:
        if panel["type"] == "row":
            yield from panel.get("panels", [])
        else:
            yield panel


def targets(dashboard: Json) -> Iterator[tuple[Json, int, Json]]:
    """Every query, with its panel and its index there."""
    for panel in panels(dashboard):
        for index, target in enumerate(panel.get("targets", [])):
            yield panel, index, target


def variables(dashboard: Json, kind: str) -> list[Json]:
    """The variables of a type."""
    return [variable for variable in dashboard["templating"]["list"] if variable["type"] == kind]


def expressions(dashboard: Json) -> Iterator[tuple[str, str]]:
    """All PromQL of a dashboard with its location: panels, annotations, and the selectors of variables."""
    for panel, index, target in targets(dashboard):
        yield f"panel {panel['title']!r}, query {index}", target["expr"]
    for annotation in dashboard["annotations"]["list"]:
        yield f"annotation {annotation['name']!r}", annotation["expr"]
    for variable in variables(dashboard, "query"):
        yield f"variable {variable['name']!r}", selector(variable["query"]["query"])


def selector(query: str) -> str:
    """The selector in `label_values(selector, label)`."""
    function, _, rest = query.partition("(")
    assert function == "label_values" and rest.endswith(")") and "," in rest, f"{query!r} is no label_values"
    return rest[:-1].rpartition(",")[0]
