"""usage: python -m generate [--check]

Writes the dashboards' JSON files. With --check, writes nothing, prints the differences, and exits with 1 if
there are any.
"""

import difflib
import json
import pathlib
import sys

from grafana_foundation_sdk.cog.encoder import JSONEncoder

from . import exporter, overview, queue, run_log

FOLDER = pathlib.Path(__file__).resolve().parent.parent


def generated() -> dict[str, str]:
    """The text of each file, by name."""
    dashboards = [module.build() for module in (overview, queue, run_log, exporter)]
    return {
        f"{dashboard.uid}.json": json.dumps(dashboard, cls=JSONEncoder, indent=2, sort_keys=True, ensure_ascii=False)
        + "\n"
        for dashboard in dashboards
    }


def differences() -> list[str]:
    """The difference between the files and the generated ones, as a diff; includes files that nothing generates."""
    wanted = generated()
    present = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.json")}
    lines: list[str] = []
    for name in sorted(wanted.keys() | present.keys()):
        old, new = present.get(name, ""), wanted.get(name, "")
        lines += difflib.unified_diff(
            old.splitlines(), new.splitlines(), f"{name}, checked in", f"{name}, generated", lineterm="", n=2
        )
    return lines


def main(arguments: list[str]) -> int:
    if arguments == ["--check"]:
        found = differences()
        print("\n".join(found))
        return 1 if found else 0
    if arguments:
        print(__doc__, file=sys.stderr)
        return 2
    for name, text in generated().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
