"""Prometheus scrapes the demo over TLS, behind a login and in protobuf: what it stores is what was counted.

usage: scrape.py BINARY PROGRAMS. PROGRAMS is the folder of a Prometheus with native histograms.
"""

import json
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "e2e"))
from programs import Program, Prometheus, demo, prometheus  # noqa: E402

CERTIFICATES = Path(__file__).parents[2] / "fixtures" / "tls"
HISTOGRAMS = [
    "sqlqueue_attempt_duration_seconds",
    "sqlqueue_completion_delay_seconds",
    "sqlqueue_run_step_duration_seconds",
    "sqlqueue_sample_duration_seconds",
]

# The password is `secret`; the hash is a cheap one.
WEB_CONFIGURATION = """
tls_server_config:
  cert_file: server.crt
  key_file: server.key
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: ca.crt
  client_allowed_sans: [prometheus.test]
  min_version: TLS13
http_server_config:
  headers: { Strict-Transport-Security: max-age=60 }
basic_auth_users:
  prometheus: $2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW
rate_limit: { interval: 10ms, burst: 50 }
"""


def start_exporter(binary: str, folder: Path) -> Program:
    for file in ("ca.crt", "server.crt", "server.key", "client.crt", "client.key"):
        shutil.copy(CERTIFICATES / file, folder)
    web = folder / "web.yml"
    web.write_text(WEB_CONFIGURATION)
    arguments = ["--speed=20", f"--web.config.file={web}", "--log.level=debug"]
    program = demo(binary, folder, "demo", arguments)
    program.listens(r"address=(\S+) .*path=")
    return program


def start_prometheus(programs: Path, folder: Path, target: str) -> Prometheus:
    job = {
        "scheme": "https",
        "always_scrape_classic_histograms": True,
        "tls_config": {
            "ca_file": "ca.crt",
            "cert_file": "client.crt",
            "key_file": "client.key",
            "server_name": "localhost",
        },
        "static_configs": [{"targets": [target]}],
    }
    login = {"username": "prometheus", "password": "secret"}
    config = {
        "global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
        "scrape_configs": [
            job | {"job_name": "demo", "basic_auth": login},
            job | {"job_name": "wrong_password", "basic_auth": login | {"password": "guess"}},
            job | {"job_name": "no_certificate", "basic_auth": login, "tls_config": {"ca_file": "ca.crt"}},
        ],
    }
    file = folder / "prometheus.yml"
    file.write_text(json.dumps(config))  # which is YAML
    server = prometheus(programs, folder, file, "--enable-feature=native-histograms")
    server.listens(r'msg="?[Ll]istening(?: on)?"?.* address=(\S+)')
    server.wait_for("Server is ready")
    return server


def key(labels: dict) -> tuple:
    return tuple(sorted((name, value) for name, value in labels.items() if name not in ("__name__", "le")))


def bucket_of(quantile: float, buckets: list[tuple[float, float]]) -> tuple[float, float]:
    """The range in which a quantile must be, by cumulative classic buckets."""
    buckets = sorted(buckets)
    wanted, lower = quantile * buckets[-1][1], 0.0
    for bound, count in buckets:
        if count >= wanted:
            return lower, bound
        lower = bound
    raise AssertionError(buckets)


def compare(server: Prometheus, name: str, at: float) -> str:
    """Both kinds of buckets of a histogram, as Prometheus has them at one moment."""

    def series(expression: str) -> dict:
        return {key(labels): value for labels, value in server.query(expression, at)}

    native, classic = series(f"histogram_count({name})"), series(f"{name}_count")
    assert classic and native == classic, f"{name}: {native} native, {classic} classic"
    assert series(f"histogram_sum({name})") == series(f"{name}_sum"), name
    buckets: dict = {}
    for labels, count in server.query(f"{name}_bucket", at):
        buckets.setdefault(key(labels), []).append((float(labels["le"]), count))
    quantiles = series(f"histogram_quantile(0.5, {name})")
    observed = [labels for labels, count in classic.items() if count > 0]
    assert observed, f"{name}: nothing was observed"
    for labels in observed:
        lower, upper = bucket_of(0.5, buckets[labels])
        # A native bucket may begin below or end above the bound of a classic one, by its own width.
        assert lower / 1.1 <= quantiles[labels] <= upper * 1.1, f"{name} {labels}: {quantiles[labels]}, {lower}, {upper}"
    return f"{name}: {len(classic)} series, {sum(classic.values()):.0f} observations, medians {min(quantiles.values()):.4g} to {max(quantiles.values()):.4g} s"


def watch(server: Prometheus, exporter: Program) -> None:
    def counted(name: str, at: float) -> float:
        return sum(value for _, value in server.query(f"histogram_count({name})", at))

    def moment() -> float | None:
        """A moment with something to see, long enough ago that nothing will be added to it."""
        at = time.time() - 2
        return at if all(counted(name, at) >= 3 for name in HISTOGRAMS) else None

    at = server.wait_until(moment)
    for name in HISTOGRAMS:
        print(compare(server, name, at))
    # A rate needs two scrapes with an observation in between.
    rates = [f"histogram_quantile(0.9, sum(rate({name}[1m])))" for name in HISTOGRAMS]
    for rate in rates:
        above_zero = f"{rate} > 0"
        found = server.wait_until(lambda expression=above_zero: server.query(expression))
        print(f"{rate} = {found[0][1]:.4g} s")
    # On a busy machine a good scrape may come too late; a refused one never becomes good.
    server.wait_until(lambda: server.query('up{job="demo"} == 1'))
    refused = {labels["job"]: value for labels, value in server.query('max_over_time(up{job!="demo"}[1h])')}
    assert refused == {"wrong_password": 0, "no_certificate": 0}, refused
    assert re.search(r"status=200 version=HTTP/2.0", exporter.text()), "it was not HTTP/2"
    assert re.search(r"status=401", exporter.text()), "nobody was refused"
    for secret in ("secret", "guess"):
        assert not re.search(rf"\b{secret}\b", exporter.text()), "a password is in the log"


def main(binary: str, programs: str) -> None:
    running: list[Program] = []
    with tempfile.TemporaryDirectory(prefix="sqlqueue-web-") as name:
        folder = Path(name)
        try:
            running.append(start_exporter(binary, folder))
            running.append(start_prometheus(Path(programs), folder, running[0].address))
            watch(running[1], running[0])
        finally:
            for program in running:
                program.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
