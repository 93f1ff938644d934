"""A job that misbehaves costs itself alone: over HTTP, from request to answer."""

from __future__ import annotations

import os
import signal

import pytest

from tests.faults.conftest import servers_in
from tests.waiting import eventually

CANCEL_SECONDS = 2.0
"""From the request to cancel to the best answer so far."""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with servers_in(tmp_path_factory.mktemp("servers")) as start:
        yield start({"FORESOLVE_JOB_MEMORY_MB": "400"})


def test_a_job_whose_worker_is_killed_each_time_fails_with_a_clear_problem(server):
    answer = server.solve("crash")

    assert answer.status_code == 500
    problem = answer.json()
    assert problem["type"] == "/problems/worker-lost"
    assert "killed by signal 9" in problem["detail"]
    assert problem["attempts"] == 3


def test_a_job_whose_worker_is_killed_once_is_tried_again(server, journal):
    job = server.submit("journal", value="x", seconds=1.0, journal=str(journal))
    eventually(journal.exists)
    os.kill(int(journal.read_text().split()[1]), signal.SIGKILL)

    eventually(lambda: server.status(job) == "succeeded")

    assert server.job(job)["attempt"] == 2


def test_a_job_whose_worker_leaves_each_time_fails_with_a_clear_problem(server):
    answer = server.solve("leave")

    assert answer.status_code == 500
    assert "exited with code 0" in answer.json()["detail"]


def test_a_job_that_allocates_without_bound_is_stopped_and_the_service_lives(server):
    answer = server.solve("allocate")

    assert answer.status_code == 413
    assert answer.json()["type"] == "/problems/memory-limit"
    assert server.solve("echo", value=1).json() == {"value": 1}


def test_idle_workers_that_are_killed_cost_nobody_anything(server):
    zygote = next(process for process in server.offspring() if "app.jobs.zygote" in process.cmdline())
    for worker in zygote.children():
        worker.kill()

    assert server.solve("echo", value=1).json() == {"value": 1}


@pytest.mark.parametrize("operation", ["wait", "hang"])
def test_a_cancelled_job_returns_its_best_so_far_in_time(server, operation):
    job = server.submit(operation, seconds=1000)
    eventually(lambda: server.job(job)["progress"])

    server.http.post(f"/v1/jobs/{job}/cancel").raise_for_status()

    eventually(lambda: server.status(job) == "cancelled", patience=CANCEL_SECONDS)
    assert server.result(job) in {"stopped", "incumbent"}


def test_a_job_that_is_being_cancelled_holds_up_no_other(server, journal):
    stuck = [server.submit("stall", seconds=1000, journal=str(journal)) for _ in range(2)]
    eventually(lambda: journal.exists() and journal.read_text().count("\n") == 2)
    for job in stuck:
        server.http.post(f"/v1/jobs/{job}/cancel").raise_for_status()

    assert server.solve("echo", value=1).json() == {"value": 1}
    eventually(lambda: [server.status(job) for job in stuck] == ["cancelled"] * 2, patience=CANCEL_SECONDS)


def test_nothing_hangs_past_its_time_limit(server):
    answer = server.solve("hang", seconds=1000, options={"time_limit": 0.3})

    assert answer.status_code == 504
    assert answer.json()["type"] == "/problems/timeout"
