"""A server that is killed in the middle of its work loses none of it, and runs none of it twice at a time."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import psutil

from tests.faults.conftest import Server, all_gone
from tests.waiting import eventually

ORPHAN_SECONDS = 2.0
"""From the death of a server to that of the last of its processes."""


def runs(journal: Path) -> dict[str, list[tuple[float, float]]]:
    """When each run of each job was seen alive first and last."""
    times: dict[tuple[str, str], list[float]] = defaultdict(list)
    for line in journal.read_text().splitlines():
        name, pid, _, moment = line.split()
        times[name, pid].append(float(moment))
    spans: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for (name, _), moments in times.items():
        spans[name].append((min(moments), max(moments)))
    return spans


def overlapping(spans: list[tuple[float, float]]) -> bool:
    ordered = sorted(spans)
    return any(later[0] <= earlier[1] for earlier, later in itertools.pairwise(ordered))


def submit_all(server: Server, journal: Path, count: int, seconds: float) -> list[str]:
    return [server.submit("journal", value=number, seconds=seconds, journal=str(journal)) for number in range(count)]


def statuses(server: Server, jobs: list[str]) -> list[str]:
    return [server.status(job) for job in jobs]


def test_all_jobs_of_a_killed_server_end_once_and_none_runs_twice_at_a_time(start, journal):
    server = start()
    jobs = submit_all(server, journal, 22, 0.5)
    eventually(lambda: statuses(server, jobs).count("running") == 2)
    server.kill()

    server = start()
    eventually(lambda: statuses(server, jobs) == ["succeeded"] * 22)

    assert [server.result(job) for job in jobs] == list(range(22))
    spans = runs(journal)
    assert len(spans) == 22
    assert 22 < sum(map(len, spans.values())) <= 24
    assert not any(map(overlapping, spans.values()))


def test_every_job_of_a_killed_server_has_one_terminal_event_and_it_is_the_last(start, journal):
    server = start()
    jobs = submit_all(server, journal, 6, 0.2)
    eventually(lambda: "running" in statuses(server, jobs))
    server.kill()

    server = start()
    eventually(lambda: statuses(server, jobs) == ["succeeded"] * 6)

    for job in jobs:
        stream = server.http.get(f"/v1/jobs/{job}/events").text
        kinds = [line.removeprefix("event: ") for line in stream.splitlines() if line.startswith("event: ")]
        assert kinds.count("succeeded") == 1
        assert kinds[-1] == "succeeded"


def test_the_workers_of_a_killed_server_end_themselves(start, journal):
    server = start()
    server.submit("hang", seconds=1000, journal=str(journal))
    server.submit("breed", seconds=1000, journal=str(journal))
    eventually(lambda: journal.exists() and journal.read_text().count("\n") == 4)

    left = server.kill()

    assert len(left) >= 6
    eventually(lambda: all_gone(left), patience=ORPHAN_SECONDS)


def test_a_server_that_is_killed_together_with_its_zygote_leaves_no_worker(start, journal):
    server = start()
    server.submit("hang", seconds=1000, journal=str(journal))
    eventually(journal.exists)
    zygote = next(process for process in server.offspring() if "app.jobs.zygote" in process.cmdline())
    os.kill(zygote.pid, signal.SIGSTOP)

    left = server.kill()
    zygote.kill()

    eventually(lambda: all_gone(left), patience=ORPHAN_SECONDS)


def test_a_server_that_is_told_to_stop_gives_back_what_does_not_end_in_time(start, journal):
    server = start({"FORESOLVE_GRACE_SECONDS": "0.2"})
    job = server.submit("stall", seconds=1000, journal=str(journal))
    eventually(journal.exists)
    left = server.offspring()

    server.process.popen.terminate()
    server.process.popen.wait()

    assert all_gone(left)
    server = start()
    eventually(lambda: server.status(job) == "running")
    assert server.job(job)["attempt"] == 1


def test_a_server_that_is_told_to_stop_lets_running_jobs_end(start, journal):
    server = start()
    jobs = submit_all(server, journal, 3, 1.0)
    eventually(lambda: statuses(server, jobs).count("running") == 2)

    server.process.popen.terminate()
    server.process.popen.wait()

    server = start()
    eventually(lambda: statuses(server, jobs) == ["succeeded"] * 3)
    assert [len(spans) for spans in runs(journal).values()] == [1, 1, 1]


def test_a_zygote_that_still_loads_ends_with_its_server(tmp_path):
    code = (
        "import sys, threading\n"
        "from pathlib import Path\n"
        "from app.jobs.local import LocalExecutor\n"
        "executor = LocalExecutor('tests.faults.endless_preload:CATALOGUE', 'memory://', Path(sys.argv[1]))\n"
        "executor.start(lambda: None)\n"
        "threading.Event().wait()\n"
    )
    server = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)])
    parent = psutil.Process(server.pid)
    eventually((tmp_path / "loading").exists)
    left = parent.children(recursive=True)

    server.kill()
    server.wait()

    eventually(lambda: all_gone(left), patience=ORPHAN_SECONDS)


def test_a_stopped_server_leaves_no_process(start):
    server = start()
    left = [psutil.Process(server.pid), *server.offspring()]

    server.process.popen.terminate()
    server.process.popen.wait()

    assert all_gone(left)
