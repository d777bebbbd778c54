"""Receives what Alertmanager sends, and remembers it."""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Told:
    """One alert of one notification."""

    at: float
    receiver: str
    status: str
    labels: dict
    annotations: dict

    @property
    def job(self) -> str:
        return self.labels.get("job", "")

    @property
    def name(self) -> str:
        return self.labels["alertname"]

    def __str__(self) -> str:
        what = self.labels.get("step") or self.labels.get("queue") or ""
        return f"{self.at:6.1f} s  {self.job:18} {self.receiver:8} {self.status:9} {self.name:32} {what}"


class Receiver:
    """A server for webhooks; the last part of the path is the name of Alertmanager's receiver."""

    def __init__(self):
        self.started = time.monotonic()
        self.told: list[Told] = []
        self.news = threading.Condition()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                receiver.take(self.path.rpartition("/")[2], body)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, receiver: str) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/{receiver}"

    def now(self) -> float:
        return time.monotonic() - self.started

    def take(self, receiver: str, body: dict) -> None:
        with self.news:
            self.told += [
                Told(self.now(), receiver, alert["status"], alert["labels"], alert["annotations"])
                for alert in body["alerts"]
            ]
            self.news.notify_all()

    def wait_until(self, holds: Callable[[list[Told]], bool], end: float) -> bool:
        """Waits until there are enough notifications; `end` is a reading of `now`."""
        with self.news:
            return self.news.wait_for(lambda: holds(self.told), timeout=max(0.0, end - self.now()))

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()
