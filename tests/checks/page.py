"""Reads the demo's page with the parsers of Python's prometheus_client, in both formats.

usage: page.py LOG FOLDER. Finds the address in the demo's log, waits until the page has the families
of the golden list, and leaves the Prometheus format in FOLDER/page.txt.
"""

import gzip
import pathlib
import re
import sys
import time
import urllib.request

from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families as read_prometheus

# Far longer than it takes, because a machine may be busy.
PATIENCE_SECONDS = 300


def wait_for(what, look):
    end = time.monotonic() + PATIENCE_SECONDS
    while not (found := look()):
        if time.monotonic() > end:
            sys.exit(f"{what}: not within {PATIENCE_SECONDS} s")
        time.sleep(0.05)
    return found


def get(url, accept):
    """The page as Prometheus requests it: in a named format, compressed."""
    headers = {"Accept": accept, "Accept-Encoding": "gzip"}
    request = urllib.request.Request(url, headers=headers)
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
        assert answer.headers["Content-Encoding"] == "gzip", answer.headers
        return answer.headers["Content-Type"], gzip.decompress(answer.read()).decode()


def series(families):
    """The name and labels of every sample; a duplicate series is a fault."""
    found = set()
    for family in families:
        for sample in family.samples:
            labels = dict(sample.labels)
            if "le" in labels:
                labels["le"] = float(labels["le"])
            key = (sample.name, tuple(sorted(labels.items())))
            assert key not in found, f"{key} is there twice"
            found.add(key)
    return found


def main(log, folder):
    pattern = re.compile(r"address=(\S+) .*path=(\S+)")
    found = wait_for("an address in the log", lambda: pattern.search(pathlib.Path(log).read_text()))
    url = f"http://{found[1]}{found[2]}"
    golden = pathlib.Path(__file__).parents[1] / "golden"
    expected = {line.split()[0] for line in (golden / "families.txt").read_text().splitlines()}
    expected -= {line.split(": ")[0] for line in (golden / "not_in_the_demo.txt").read_text().splitlines()}

    def full_page():
        content_type, text = get(url, "text/plain;version=0.0.4")
        assert content_type.startswith("text/plain; version=0.0.4"), content_type
        shown = set(re.findall(r"^# TYPE (\S+) ", text, re.MULTILINE))
        return text if shown >= expected else None

    def both_formats():
        text = wait_for("a page with every family", full_page)
        pathlib.Path(folder, "page.txt").write_text(text)
        prometheus = series(read_prometheus(text))
        content_type, text = get(url, "application/openmetrics-text;version=1.0.0")
        assert content_type.startswith("application/openmetrics-text; version=1.0.0"), content_type
        openmetrics = series(read_openmetrics(text))
        differs = {name for name, _ in prometheus} ^ {name for name, _ in openmetrics}
        if differs:
            print(f"only in one format: {differs}")
        return None if differs else (len(prometheus), len(openmetrics))

    # Queues and steps may come or go between two pages, but nothing stays in one format only.
    counts = wait_for("the same families in both formats", both_formats)
    print(f"{len(expected)} families; {counts[0]} series in one format, {counts[1]} in the other")


main(*sys.argv[1:])
