"""The programs of the test, each in its own process that logs where it listens."""

import contextlib
import json
import os
import re
import signal
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path

# Far longer than anything takes, because a machine may be busy.
PATIENCE_SECONDS = 300


def prefer(pid: int) -> None:
    """Gives a process priority over other work of the machine, where allowed: a second without a processor
    is a minute to the shortened rules. If the kernel groups sessions, it weighs them first, then processes."""
    for take in (
        lambda: Path(f"/proc/{pid}/autogroup").write_text("-15"),
        lambda: os.setpriority(os.PRIO_PROCESS, pid, -15),
    ):
        with contextlib.suppress(OSError):
            take()


class Program:
    """A process with a log, in which it writes its address once it listens."""

    def __init__(self, name: str, command: list[str], log: Path):
        self.name = name
        self.log = log
        self.address = ""
        with log.open("ab") as written:
            self.process = subprocess.Popen(
                command, stdout=written, stderr=written, stdin=subprocess.DEVNULL, start_new_session=True
            )
        prefer(self.process.pid)

    def text(self) -> str:
        return self.log.read_text(errors="replace")

    def wait_until(self, look: Callable[[], object]):
        """What `look` finds, once it finds something; an error when the program ends first."""
        end = time.monotonic() + PATIENCE_SECONDS
        while not (found := look()):
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"{self.name} did not come so far:\n{self.text()[-2000:]}")
            time.sleep(0.05)
        return found

    def wait_for(self, pattern: str) -> re.Match:
        """The first part of the log that matches."""
        return self.wait_until(lambda: re.search(pattern, self.text()))

    def listens(self, pattern: str) -> str:
        self.address = self.wait_for(pattern)[1]
        return self.address

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def demo(binary: str, folder: Path, name: str, arguments: list[str], address: str = "127.0.0.1:0") -> Program:
    """A demo with its exporter, in a folder of its own."""
    own = folder / name
    own.mkdir(exist_ok=True)
    command = [binary, "demo", f"--folder={own}", f"--web.listen-address={address}", *arguments]
    return Program(name, command, folder / f"{name}.log")


def alertmanager(programs: Path, folder: Path, config: Path) -> Program:
    command = [
        str(programs / "prometheus-alertmanager"),
        f"--config.file={config}",
        f"--storage.path={folder / 'alertmanager'}",
        "--web.listen-address=127.0.0.1:0",
        # On its own: there are no peers.
        "--cluster.listen-address=",
    ]
    return Program("alertmanager", command, folder / "alertmanager.log")


def prometheus(programs: Path, folder: Path, config: Path, *arguments: str) -> "Prometheus":
    command = [
        str(programs / "prometheus"),
        f"--config.file={config}",
        f"--storage.tsdb.path={folder / 'prometheus'}",
        "--web.listen-address=127.0.0.1:0",
        # In proportion to the shortened rules; a minute by default.
        "--rules.alert.resend-delay=1s",
        *arguments,
    ]
    return Prometheus("prometheus", command, folder / "prometheus.log")


class Prometheus(Program):
    """A Prometheus that can be queried."""

    def reload(self) -> None:
        """Makes it reload its configuration."""
        self.process.send_signal(signal.SIGHUP)

    def query(self, expression: str, at: float | None = None) -> list[tuple[dict, float]]:
        """An instant query: labels and value of each series, now or at a time in seconds."""
        parameters = {"query": expression} | ({} if at is None else {"time": at})
        address = f"http://{self.address}/api/v1/query?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(address, timeout=PATIENCE_SECONDS) as answer:
            result = json.load(answer)["data"]["result"]
        return [(series["metric"], float(series["value"][1])) for series in result]
