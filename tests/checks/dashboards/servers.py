"""The demo and a Prometheus that scrapes it, for as long as a test needs them."""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import shorten

T = TypeVar("T")

# At this speed, the demo's tempo matches the rules' durations times this number.
SPEED = 1
TEMPO = 60 * SPEED

# Far longer than it takes, because a machine may be busy.
PATIENCE_SECONDS = 300


def wait_for(what: Callable[[], str], look: Callable[[], T | None]) -> T:
    """Polls until there is something."""
    end = time.monotonic() + PATIENCE_SECONDS
    while (found := look()) is None:
        assert time.monotonic() < end, f"not within {PATIENCE_SECONDS} s: {what()}"
        time.sleep(0.2)
    return found


def wait_until_equal(look: Callable[[], T], wanted: T) -> None:
    """Polls until the result is the wanted one, because a busy machine may delay a program."""
    seen = [look()]

    def again() -> bool | None:
        seen.append(look())
        return True if seen[-1] == wanted else None

    wait_for(lambda: f"{seen[-1]} and not {wanted}", again)


@contextlib.contextmanager
def _running(command: list[str], log: pathlib.Path, address: str) -> Iterator[str]:
    """The address that a running program logs."""
    with log.open("w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
    try:

        def look() -> str | None:
            assert process.poll() is None, log.read_text()
            found = re.search(address, log.read_text())
            return found[1] if found else None

        yield wait_for(log.read_text, look)
    finally:
        process.terminate()
        process.wait()


def demo(folder: pathlib.Path, *arguments: str) -> contextlib.AbstractContextManager[str]:
    """The address of a demo."""
    folder.mkdir()
    return _running(
        [
            os.environ["SQLQUEUE_EXPORTER"],
            *["demo", "--folder", str(folder), "--speed", str(SPEED), "--web.listen-address", "127.0.0.1:0"],
            *arguments,
        ],
        folder / "log",
        r"address=(\S+) .*path=",
    )


class Prometheus:
    """A Prometheus, through its HTTP API."""

    def __init__(self, address: str) -> None:
        self._url = f"http://{address}/api/v1/"
        self._ready = f"http://{address}/-/ready"

    def is_ready(self) -> bool:
        """It listens before it answers."""
        try:
            with urllib.request.urlopen(self._ready, timeout=30):
                return True
        except urllib.error.HTTPError:
            return False

    def _get(self, path: str, **parameters: object) -> Any:
        url = f"{self._url}{path}?{urllib.parse.urlencode(parameters, doseq=True)}"
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{parameters}: {error.read().decode()}") from error

    def query(self, expr: str) -> list[dict[str, Any]]:
        """The series of an instant query, each with one value."""
        return [
            {"labels": found["metric"], "values": [float(found["value"][1])]}
            for found in self._get("query", query=expr)["result"]
        ]

    def query_range(self, expr: str, seconds: int) -> list[dict[str, Any]]:
        """The series of the last seconds, each with its values."""
        now = time.time()
        answer = self._get("query_range", query=expr, start=now - seconds, end=now, step="1s")
        return [
            {"labels": found["metric"], "values": [float(value) for _, value in found["values"]]}
            for found in answer["result"]
        ]

    def label_values(self, selector: str, label: str) -> list[str]:
        """The same as Grafana's label_values()."""
        return self._get(f"label/{label}/values", **{"match[]": selector})


@contextlib.contextmanager
def prometheus(binary: str, folder: pathlib.Path, scraped: str) -> Iterator[Prometheus]:
    """A Prometheus that scrapes a demo every second, and as often evaluates the rules of alerts/ in the demo's
    tempo."""
    folder.mkdir()
    (folder / "rules").mkdir()
    shorten.write(TEMPO, folder / "rules")
    config = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(folder / "rules/*.rules.yml")],
        "scrape_configs": [{"job_name": "sqlqueue", "static_configs": [{"targets": [scraped]}]}],
    }
    # JSON is valid YAML.
    (folder / "prometheus.yml").write_text(json.dumps(config))
    command = [
        binary,
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        "--web.listen-address=127.0.0.1:0",
    ]
    with _running(command, folder / "log", r'msg="?Listening on"? .*address="?([\d.:]+)') as address:
        found = Prometheus(address)
        wait_until_equal(found.is_ready, True)
        yield found
