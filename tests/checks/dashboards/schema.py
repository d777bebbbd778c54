"""Checks dashboards against the types that Grafana publishes, as in one version of the foundation SDK.

usage: schema.py FILE... prints every fault on a line. The version is the one on PYTHONPATH.

The SDK's own `from_json` accepts anything. Here an unknown key, a missing key, a value of the wrong type and
a value outside an enumeration are all faults.
"""

import enum
import functools
import importlib
import json
import sys
import types
import typing
from collections.abc import Iterator
from typing import Any

from grafana_foundation_sdk.cog import variants
from grafana_foundation_sdk.models import dashboard as model

# The types leave these open: an annotation may also have settings of its data source's plugin.
_OPEN = {model.AnnotationQuery: {"titleFormat", "textFormat", "tagKeys", "step", "useValueForTime"}}


def faults(dashboard: dict[str, Any]) -> list[str]:
    """Everything wrong, each with its path."""
    return list(_check(dashboard, model.Dashboard, "dashboard"))


@functools.cache
def _fields(of: type) -> dict[str, tuple[Any, bool]]:
    """The keys in JSON, each with its type and whether it is required. `to_json` maps attributes to keys."""
    hints = typing.get_type_hints(of)
    bare = of.__new__(of)
    markers = {name: object() for name in hints}
    for name, marker in markers.items():
        setattr(bare, name, marker)
    names = {id(marker): name for name, marker in markers.items()}
    return {
        key: (hints[name], type(None) not in typing.get_args(hints[name]))
        for key, value in bare.to_json().items()
        if (name := names.get(id(value)))
    }


def _check(value: Any, hint: Any, path: str) -> Iterator[str]:
    if hint in (object, Any):
        return
    if typing.get_origin(hint) in _GENERIC:
        yield from _GENERIC[typing.get_origin(hint)](value, typing.get_args(hint), path)
    elif hint is variants.Dataquery:
        query = importlib.import_module("grafana_foundation_sdk.models.prometheus").Dataquery
        yield from _check(value, query, path)
    elif issubclass(hint, enum.Enum):
        yield from _check_literal(value, tuple(member.value for member in hint), path)
    elif hasattr(hint, "to_json"):
        yield from _check_object(value, hint, path)
    elif not isinstance(value, (int, float) if hint is float else hint) or (
        isinstance(value, bool) and hint is not bool
    ):
        yield f"{path}: {value!r} is no {hint.__name__}"


def _check_union(value: Any, options: tuple, path: str) -> Iterator[str]:
    answers = [list(_check(value, option, path)) for option in options]
    if all(answers):
        # The faults of the option that came closest, by how deep it got.
        yield from max(answers, key=lambda found: max(fault.partition(":")[0].count(".") for fault in found))


def _check_literal(value: Any, options: tuple, path: str) -> Iterator[str]:
    if value not in options:
        yield f"{path}: {value!r} is none of {options}"


def _check_list(value: Any, arguments: tuple, path: str) -> Iterator[str]:
    if not isinstance(value, list):
        yield f"{path}: {value!r} is no list"
        return
    for index, item in enumerate(value):
        yield from _check(item, arguments[0], f"{path}.{index}")


def _check_dict(value: Any, arguments: tuple, path: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{path}: {value!r} is no object"
        return
    for key, item in value.items():
        yield from _check(item, arguments[1], f"{path}.{key}")


_GENERIC = {
    typing.Union: _check_union,
    types.UnionType: _check_union,
    typing.Literal: _check_literal,
    list: _check_list,
    dict: _check_dict,
}


def _check_object(value: Any, hint: type, path: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{path}: {value!r} is no object"
        return
    if hint is model.Panel and value.get("type") == "row":
        yield f"{path}: a row is no panel"
        return
    fields = _fields(hint)
    for key, item in value.items():
        if key in fields:
            yield from _check(item, fields[key][0], f"{path}.{key}")
        elif key not in _OPEN.get(hint, ()):
            yield f"{path}.{key}: {hint.__name__} does not have this"
    for key, (_, demanded) in fields.items():
        if demanded and key not in value:
            yield f"{path}.{key}: {hint.__name__} demands this"
    if hint is model.Panel:
        yield from _check_plugin(value, path)


def _check_plugin(panel: dict[str, Any], path: str) -> Iterator[str]:
    """What the panel's plugin defines: its options, and the settings of its fields."""
    plugin = importlib.import_module(f"grafana_foundation_sdk.models.{panel['type'].replace('-', '')}")
    yield from _check(panel["options"], plugin.Options, f"{path}.options")
    own = getattr(plugin, "FieldConfig", None)
    config = panel["fieldConfig"]
    if own and "custom" in config["defaults"]:
        yield from _check(config["defaults"]["custom"], own, f"{path}.fieldConfig.defaults.custom")
    settings = {key: hint for key, (hint, _) in _fields(model.FieldConfig).items()}
    settings |= {f"custom.{key}": hint for key, (hint, _) in (_fields(own).items() if own else ())}
    for number, override in enumerate(config.get("overrides", [])):
        for setting in override["properties"]:
            place = f"{path}.fieldConfig.overrides.{number}.{setting['id']}"
            if setting["id"] not in settings:
                yield f"{place}: no setting of a {panel['type']}"
            elif setting["id"] != "links":
                yield from _check(setting["value"], settings[setting["id"]], place)


def main(files: list[str]) -> None:
    for file in files:
        with open(file, encoding="utf-8") as text:
            for fault in faults(json.load(text)):
                print(f"{file}: {fault}")


if __name__ == "__main__":
    main(sys.argv[1:])
