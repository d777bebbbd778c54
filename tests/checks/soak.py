"""Runs the demo under scrapers for a while: memory and descriptors must not grow.

usage: soak.py BINARY [SECONDS]. Four scrapers request the page, alternating between both formats, each up to
ten times a second. At the end, memory may be a tenth higher than after a fifth of the time. The lowest
count of open descriptors, taken every few seconds, may not be higher in the last fifth than in the second:
any variation above it comes from scrapes under way.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

SCRAPERS = 4
PAUSE_SECONDS = 0.1
MEMORY_TOLERANCE = 0.10


def resident_kib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"^VmRSS:\s+(\d+) kB$", status, re.M)[1])


def descriptors(pid):
    return len(list(pathlib.Path(f"/proc/{pid}/fd").iterdir()))


def scrape(url, stop, done, failures):
    accepts = ["text/plain", "application/openmetrics-text"]
    while not stop.wait(PAUSE_SECONDS):
        request = urllib.request.Request(url, headers={"Accept": accepts[done[0] % 2], "Accept-Encoding": "gzip"})
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                answer.read()
            done[0] += 1
        except OSError as error:
            failures.append(str(error))


def main():
    binary = sys.argv[1]
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 600.0
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log"
        with log.open("w") as written:
            demo = subprocess.Popen(
                [binary, "demo", "--web.listen-address=127.0.0.1:0"], stdout=subprocess.DEVNULL, stderr=written
            )
        try:
            sys.exit(watch(demo, log, seconds))
        finally:
            demo.terminate()
            demo.wait()


def watch(demo, log, seconds):
    while not (found := re.search(r"address=(\S+)", log.read_text())):
        if demo.poll() is not None:
            return f"the demo ended: {log.read_text()}"
        time.sleep(0.05)
    url = f"http://{found[1]}/metrics"
    stop, failures = threading.Event(), []
    counts = [[0] for _ in range(SCRAPERS)]
    threads = [threading.Thread(target=scrape, args=(url, stop, count, failures)) for count in counts]
    for thread in threads:
        thread.start()
    started = time.monotonic()
    warm = None
    counted = {fifth: [] for fifth in range(5)}
    while (elapsed := time.monotonic() - started) < seconds:
        if demo.poll() is not None:
            stop.set()
            return f"the demo ended: {log.read_text()}"
        fifth = int(5 * elapsed / seconds)
        if fifth > 0 and warm is None:
            warm = resident_kib(demo.pid)
        counted[fifth].append(descriptors(demo.pid))
        time.sleep(min(2.0, seconds / 20))
    end = resident_kib(demo.pid)
    stop.set()
    for thread in threads:
        thread.join()
    growth = end / warm - 1
    print(f"{sum(count[0] for count in counts)} scrapes in {seconds:.0f} s, {len(failures)} failed")
    print(f"resident memory: {warm} KiB after a fifth, {end} KiB at the end ({growth:+.1%})")
    before, after = min(counted[1]), min(counted[4])
    print(f"open descriptors: {before} in the second fifth, {after} in the last, {max(map(max, counted.values()))} at most")
    if failures:
        return f"scrapes failed: {failures[:3]}"
    if growth > MEMORY_TOLERANCE:
        return "memory grew"
    if after > before:
        return "descriptors leaked"
    return 0


if __name__ == "__main__":
    main()
