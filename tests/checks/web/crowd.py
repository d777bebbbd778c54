"""Ten thousand clients that connect and request nothing, or send garbage: the page is served all the same.

usage: crowd.py BINARY [CONNECTIONS]. Prints how long a scrape takes among them, and the descriptors and
memory that they cost.
"""

import contextlib
import re
import resource
import selectors
import socket
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "e2e"))
from programs import PATIENCE_SECONDS, Program, demo  # noqa: E402

# As in src/web/server.rs.
PLACES = 256
# Requests that begin and never end.
BEGINNINGS = [b"", b"GET /met", b"GET /metrics HTTP/1.1\r\nHost: x\r\nX: ", b"\x16\x03\x01", b"\0" * 64]


def descriptors(program: Program) -> int:
    return len(list(Path(f"/proc/{program.process.pid}/fd").iterdir()))


def resident_mib(program: Program) -> float:
    status = Path(f"/proc/{program.process.pid}/status").read_text()
    return int(re.search(r"^VmRSS:\s+(\d+) kB$", status, re.M)[1]) / 1024


def scrape(address: str) -> float:
    started = time.monotonic()
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=PATIENCE_SECONDS) as answer:
        assert answer.status == 200 and b"sqlqueue_up" in answer.read()
    return time.monotonic() - started


def await_first_sample(address: str) -> None:
    """Waits for the exporter to be ready: it serves before the first sample, without the values of one."""
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            urllib.request.urlopen(f"http://{address}/-/ready", timeout=PATIENCE_SECONDS).close()
            return
        except urllib.error.HTTPError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def crowd(address: str, connections: int) -> tuple[list[socket.socket], list[float]]:
    """Opens the connections as fast as possible, and scrapes now and then."""
    host, port = address.rsplit(":", 1)
    clients, took = [], []
    for number in range(connections):
        client = socket.create_connection((host, int(port)), timeout=PATIENCE_SECONDS)
        # The server may have closed it already, which is fine.
        with contextlib.suppress(OSError):
            client.sendall(BEGINNINGS[number % len(BEGINNINGS)])
        clients.append(client)
        if (number + 1) % (connections // 20) == 0:
            took.append(scrape(address))
    return clients, took


def still_open(clients: list[socket.socket]) -> int:
    """The number of connections that the server has not closed."""
    with selectors.DefaultSelector() as selector:
        for client in clients:
            selector.register(client, selectors.EVENT_READ)
        readable = [key.fileobj for key, _ in selector.select(timeout=0)]
    closed = 0
    for client in readable:
        client.setblocking(False)
        try:
            # An answer to garbage comes before the connection closes.
            while client.recv(4096):
                pass
            closed += 1
        except BlockingIOError:
            pass
        except OSError:
            closed += 1
    return len(clients) - closed


def main(binary: str, connections: str = "10000") -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    count = int(connections)
    assert most == resource.RLIM_INFINITY or most > count + 100, f"only {most} descriptors are allowed: ulimit -n"
    with tempfile.TemporaryDirectory(prefix="sqlqueue-crowd-") as folder:
        program = demo(binary, Path(folder), "demo", [])
        try:
            address = program.listens(r"address=(\S+) .*path=")
            await_first_sample(address)
            before = scrape(address), descriptors(program), resident_mib(program)
            clients, took = crowd(address, count)
            among = descriptors(program), resident_mib(program)
            took.append(scrape(address))
            left = still_open(clients)
            for client in clients:
                client.close()
        finally:
            program.stop()
    print(f"{count} connections, {left} of them open at the end")
    print(f"{len(took)} scrapes among them: {max(took):.2f} s at most, and {before[0]:.2f} s before")
    print(f"descriptors: {before[1]} before, {among[0]} among them; memory: {before[2]:.0f} and {among[1]:.0f} MiB")
    assert left <= PLACES, "more are open than there are places"
    assert among[0] <= before[1] + PLACES + 1, "descriptors are not bounded"


if __name__ == "__main__":
    main(*sys.argv[1:])
