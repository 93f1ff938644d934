"""Two servers on one PostgreSQL share the queue; when one dies, the other finishes its work."""

from __future__ import annotations

import pytest

from tests.faults.test_killed_server import overlapping, runs, statuses
from tests.waiting import eventually


@pytest.fixture
def servers(start, a_postgres_database):
    return [start({"FORESOLVE_DATABASE_URL": a_postgres_database}) for _ in range(2)]


def submit_to_both(servers, journal, count, seconds):
    return [servers[number % 2].submit("journal", value=number, seconds=seconds, journal=str(journal)) for number in range(count)]


def test_two_servers_share_the_queue_and_run_no_job_twice(servers, journal):
    jobs = submit_to_both(servers, journal, 24, 0.2)

    eventually(lambda: statuses(servers[0], jobs) == ["succeeded"] * 24)

    assert [servers[1].result(job) for job in jobs] == list(range(24))
    assert [len(spans) for spans in runs(journal).values()] == [1] * 24
    zygotes = {line.split()[2] for line in journal.read_text().splitlines()}
    assert len(zygotes) == 2


def test_a_server_finishes_the_work_of_one_that_was_killed(servers, journal):
    jobs = submit_to_both(servers, journal, 12, 0.5)
    eventually(lambda: statuses(servers[0], jobs).count("running") == 4)

    servers[0].kill()

    eventually(lambda: statuses(servers[1], jobs) == ["succeeded"] * 12)
    assert not any(map(overlapping, runs(journal).values()))


def test_a_job_is_cancelled_through_a_server_that_does_not_run_it(servers, journal):
    jobs = [servers[0].submit("wait", seconds=1000) for _ in range(4)]
    eventually(lambda: statuses(servers[1], jobs) == ["running"] * 4)

    for job in jobs:
        servers[1].http.post(f"/v1/jobs/{job}/cancel").raise_for_status()

    eventually(lambda: statuses(servers[0], jobs) == ["cancelled"] * 4, patience=2.0)


def test_a_request_waits_for_a_job_that_another_server_runs(start, a_postgres_database):
    worker_elsewhere = {"FORESOLVE_DATABASE_URL": a_postgres_database}
    start(worker_elsewhere)
    api = start(worker_elsewhere)
    busy = [api.submit("stall", seconds=1000) for _ in range(4)]
    eventually(lambda: statuses(api, busy) == ["running"] * 4)

    assert [api.solve("echo", value=number).json() for number in range(4)] == [{"value": number} for number in range(4)]
