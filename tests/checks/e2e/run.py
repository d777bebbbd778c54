"""From an incident to the pager: demo, Prometheus, Alertmanager, and a receiver of webhooks.

usage: run.py BINARY PROGRAMS [INCIDENT...]. PROGRAMS is the folder of prometheus and
prometheus-alertmanager. Runs all incidents, or those named.

There is one demo for each incident, and one that stays healthy, all at the same time. One Prometheus scrapes
them with the rules of alerts/, their durations divided by 60: a second of the demo stands for a minute. Each
incident begins and ends. The alert that it must cause reaches its receiver, and nothing else does; it is
resolved after the end of the incident. For the healthy demo, nothing fires and no notification is sent.
"""

import signal
import sys
import tempfile
import threading
from pathlib import Path

import yaml
from incidents import INCIDENTS, Incident
from programs import Program, Prometheus, alertmanager, demo, prometheus
from receiver import Receiver, Told

sys.path.insert(0, str(Path(__file__).parents[1] / "alerts"))
import promql  # noqa: E402
import shorten  # noqa: E402
from project import RULES  # noqa: E402

# The demo's tempo at speed 1.
DIVISOR = 60
HEALTHY = "healthy"
# Limits the whole test, from the start of the demos. What has not come by then is missing.
LIMIT_SECONDS = 285

LISTENS = r'msg="?[Ll]istening(?: on)?"?.* address=(\S+)'
DEMO_LISTENS = r"address=(\S+) .*path="


def start_demos(binary: str, folder: Path, running: list[Program]) -> dict[str, Program]:
    """The healthy demo, and one for each incident."""
    demos = {HEALTHY: demo(binary, folder, HEALTHY, ["--seed=1"])}
    running.append(demos[HEALTHY])
    for number, incident in enumerate(INCIDENTS):
        arguments = [f"--seed={number + 2}"]
        if not incident.outside:
            arguments += [
                f"--incident={incident.name}",
                f"--incident-after={incident.after}s",
                f"--incident-for={incident.lasts}s",
            ]
        demos[incident.name] = demo(binary, folder, incident.name, arguments)
        running.append(demos[incident.name])
    for program in demos.values():
        program.listens(DEMO_LISTENS)
    return demos


def start_alertmanager(programs: Path, folder: Path, receiver: Receiver) -> Program:
    """An Alertmanager with the example of alerts/, except that all receivers are the test's."""
    file = folder / "alertmanager.yml"
    config = yaml.safe_load(file.read_text())
    for known in config["receivers"]:
        for webhook in known["webhook_configs"]:
            webhook["url"] = receiver.url(known["name"])
    file.write_text(yaml.safe_dump(config))
    return alertmanager(programs, folder, file)


def start_prometheus(
    programs: Path, folder: Path, demos: dict[str, Program], alerts_to: str, running: list[Program]
) -> Prometheus:
    config = {
        "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
        "alerting": {"alertmanagers": [{"static_configs": [{"targets": [alerts_to]}]}]},
        "scrape_configs": [
            {"job_name": name, "static_configs": [{"targets": [program.address]}]} for name, program in demos.items()
        ],
    }
    file = folder / "prometheus.yml"
    file.write_text(yaml.safe_dump(config))
    server = prometheus(programs, folder, file)
    running.append(server)
    server.listens(LISTENS)
    server.wait_for("Server is ready")
    # It waits 5 seconds before it scrapes, which the shortened rules would take for 5 minutes.
    server.wait_until(lambda: len(server.query("up == 1")) == len(demos))
    file.write_text(yaml.safe_dump(config | {"rule_files": [str(folder / "*.rules.yml")]}))
    server.reload()
    return server


def stop_and_start(binary: str, folder: Path, incident: Incident, program: Program, receiver: Receiver) -> Program:
    """Stops the exporter until a notification has come, and starts it again."""
    threading.Event().wait(max(0.0, incident.after - receiver.now()))
    program.stop()
    receiver.wait_until(lambda told: any(is_firing(one, incident) for one in told), LIMIT_SECONDS)
    return demo(binary, folder, incident.name, ["--seed=99"], program.address)


def is_firing(one: Told, incident: Incident) -> bool:
    return (one.job, one.receiver, one.name, one.status) == (incident.name, *incident.main, "firing")


def is_resolved(one: Told, incident: Incident) -> bool:
    return (
        one.job == incident.name
        and one.status == "resolved"
        and (one.receiver, one.name) in incident.ends_with
    )


def all_over(told: list[Told]) -> bool:
    return all(any(is_resolved(one, incident) for one in told) for incident in INCIDENTS)


def problems(told: list[Told], ends: dict[str, float], prometheus: Prometheus):
    """What went wrong, in words."""
    for incident in INCIDENTS:
        own = [one for one in told if one.job == incident.name]
        if not any(is_firing(one, incident) for one in own):
            yield f"{incident.name}: {incident.receiver} was not told of {incident.alert}"
        elif not any(is_resolved(one, incident) for one in own):
            yield f"{incident.name}: {incident.alert} was not resolved"
        # An alert that began and ended while it was silenced is only sent as resolved, together with another.
        named = {(one.receiver, one.name) for one in own if one.status == "firing"}
        for receiver, name in named - {incident.main, incident.besides}:
            yield f"{incident.name}: {receiver} was told of {name}, too"
        early = [one for one in own if is_resolved(one, incident) and one.at < ends[incident.name]]
        if early:
            yield f"{incident.name}: {incident.alert} was resolved before the end of the incident"
        for one in own:
            for key, text in one.annotations.items():
                if "<error" in text or "<no value>" in text or not text:
                    yield f"{incident.name}: {one.name} has an annotation {key} that says {text!r}"
    for one in told:
        if one.job not in {incident.name for incident in INCIDENTS}:
            yield f"{one.job or 'no job'}: {one.receiver} was told of {one.name}"
    for labels, _ in prometheus.query(f'last_over_time(ALERTS{{alertstate="firing",job="{HEALTHY}"}}[10m])'):
        yield f"{HEALTHY}: {labels['alertname']} fired"


def unseen_selectors(prometheus: Prometheus):
    """Selectors of rules that select nothing in any demo: a label or a value in them is wrong."""
    selectors = {str(selector) for rule in RULES for selector in promql.selectors(rule.tree)}
    for text in sorted(selectors):
        selector = promql.parse(text)
        bare = text.partition(" offset ")[0] if selector.offset else text
        if not prometheus.query(f"count(last_over_time({bare}[10m]))"):
            yield f"{text} selects nothing"


def watch(binary: str, programs: Path, folder: Path, running: list[Program], receiver: Receiver) -> list[str]:
    shorten.write(DIVISOR, folder)
    manager = start_alertmanager(programs, folder, receiver)
    running.append(manager)
    demos = start_demos(binary, folder, running)
    server = start_prometheus(programs, folder, demos, manager.listens(LISTENS), running)

    ends: dict[str, float] = {}

    def see_it_through(incident: Incident):
        if incident.outside:
            again = stop_and_start(binary, folder, incident, demos[incident.name], receiver)
            ends[incident.name] = receiver.now()
            running.append(again)
        else:
            ends[incident.name] = float("inf")
            # A log is written before a notification can be sent.
            while receiver.now() < LIMIT_SECONDS and "the incident ends" not in demos[incident.name].text():
                threading.Event().wait(0.25)
            ends[incident.name] = receiver.now() - 0.5

    threads = [threading.Thread(target=see_it_through, args=(incident,)) for incident in INCIDENTS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    receiver.wait_until(all_over, LIMIT_SECONDS)
    found = list(problems(receiver.told, ends, server)) + list(unseen_selectors(server))

    for program in running:
        if program.process.poll() not in (None, 0):
            found.append(f"{program.name} ended with {program.process.returncode}")
    return found


def main(binary: str, programs: str, *names: str) -> int:
    if names:
        INCIDENTS[:] = [incident for incident in INCIDENTS if incident.name in names]
    receiver = Receiver()
    running: list[Program] = []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    # In memory, if there is such a folder: twenty databases that wait for one disk would be late.
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="sqlqueue-e2e-", dir=memory if memory.is_dir() else None) as folder:
        try:
            found = watch(binary, Path(programs), Path(folder), running, receiver)
        finally:
            for program in running:
                program.process.terminate()
            for program in running:
                program.stop()
            receiver.stop()
    for one in receiver.told:
        print(one)
    for problem in found:
        print(f"PROBLEM {problem}")
    print(f"{len(INCIDENTS)} incidents, {len(receiver.told)} alerts told, {receiver.now():.0f} s, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
