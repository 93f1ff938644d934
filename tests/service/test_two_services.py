"""Two processes on one database are one service: what one knows, the other does."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest

from tests.service.conftest import BOOTSTRAP_KEY
from tests.service.live import LiveService, live_service, until, watch

ECHO = "/v1/tests/echo"
SLEEP = "/v1/tests/sleep"
QUEUED = {"Prefer": "respond-async"}


@pytest.fixture
def pair(tmp_path: Path, database_url: str) -> Iterator[tuple[LiveService, LiveService]]:
    """One service that answers and one that works too, on one database."""
    key_file = tmp_path / "key"
    key_file.write_text(BOOTSTRAP_KEY)
    shared = {"database_url": database_url, "bootstrap_key_file": key_file, "requests_per_minute": 100_000}
    with live_service(tmp_path, worker=False, **shared) as api, live_service(tmp_path, **shared) as worker:
        yield api, worker


def test_a_request_to_one_is_answered_with_what_the_other_found(pair: tuple[LiveService, LiveService]) -> None:
    with pair[0].client(BOOTSTRAP_KEY) as client:
        response = client.post(ECHO, json={"text": "hello"})
    assert (response.status_code, response.json()["length"]) == (200, 5)


def test_an_api_without_workers_is_ready_when_another_process_has_some(pair: tuple[LiveService, LiveService]) -> None:
    with pair[0].client() as client:
        assert until(lambda: client.get("/health/ready").status_code == 200)


def test_a_job_that_one_runs_is_watched_and_cancelled_through_the_other(pair: tuple[LiveService, LiveService]) -> None:
    with pair[0].client(BOOTSTRAP_KEY) as api, pair[1].client(BOOTSTRAP_KEY) as worker:
        job = worker.post(SLEEP, json={"steps": 10_000, "pause": 0.02}, headers=QUEUED).json()
        until(lambda: api.get(job["links"]["self"]).json()["progress"])
        api.post(job["links"]["cancel"])
        events = watch(api, job["links"]["self"])
    assert events[-1][1] == "cancelled"


def test_the_same_idempotency_key_at_both_makes_one_job(pair: tuple[LiveService, LiveService]) -> None:
    def post(number: int) -> str:
        with pair[number % 2].client(BOOTSTRAP_KEY) as client:
            headers = QUEUED | {"Idempotency-Key": "racing"}
            return client.post(ECHO, json={"text": "a"}, headers=headers).json().get("id", "")

    with ThreadPoolExecutor(8) as pool:
        jobs = {job for job in pool.map(post, range(16)) if job}
    assert len(jobs) == 1


def test_requests_to_both_are_counted_together(pair: tuple[LiveService, LiveService]) -> None:
    with pair[0].client(BOOTSTRAP_KEY) as first, pair[1].client(BOOTSTRAP_KEY) as second:
        left = [int(client.get("/v1/jobs").headers["RateLimit-Remaining"]) for client in (first, second, first, second)]
    # A minute may end in between, and then the count begins anew, once.
    assert sum(later == earlier - 1 for earlier, later in pairwise(left)) >= 2


def test_a_key_revoked_at_one_is_refused_by_the_other(pair: tuple[LiveService, LiveService]) -> None:
    (key,) = pair[0].service.store.list_keys()
    with pair[1].client(BOOTSTRAP_KEY) as client:
        assert client.get("/v1/jobs").status_code == 200
        pair[0].service.store.revoke_key(key.id)
        assert client.get("/v1/jobs").status_code == 401


@pytest.mark.parametrize("path", ["/v1/jobs/job_%00", "/v1/files/file_%00", "/v1/operations/%00"])
def test_a_null_byte_reaches_no_database(pair: tuple[LiveService, LiveService], path: str) -> None:
    with pair[0].client(BOOTSTRAP_KEY) as client:
        assert client.get(path).status_code == 404


@pytest.fixture
def patient_pair(
    tmp_path: Path, a_postgres_database: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[LiveService, LiveService]]:
    """A pair that hears of everything or waits for ever."""
    monkeypatch.setattr("app.api.waiting._SLOWEST_POLL", 1000.0)
    shared = {"database_url": a_postgres_database, "poll_seconds": 1000}
    with live_service(tmp_path, worker=False, **shared) as api, live_service(tmp_path, **shared) as worker:
        yield api, worker


def test_a_request_to_one_learns_without_a_poll_that_the_other_has_the_answer(
    patient_pair: tuple[LiveService, LiveService],
) -> None:
    with patient_pair[0].client() as client:
        response = client.post(ECHO, json={"text": "hello"}, headers={"Prefer": "wait=50"})
    assert response.status_code == 200


def test_events_that_one_writes_reach_the_streams_of_the_other_without_a_poll(
    patient_pair: tuple[LiveService, LiveService],
) -> None:
    with patient_pair[0].client() as client:
        job = client.post(SLEEP, json={"steps": 4, "pause": 0.3}, headers=QUEUED).json()
        kinds = [kind for _, kind, _ in watch(client, job["links"]["self"])]
    assert kinds == ["queued", "started", *["progress"] * kinds.count("progress"), "succeeded"]


def test_a_cancel_asked_of_one_reaches_the_job_that_the_other_runs_without_a_poll(
    patient_pair: tuple[LiveService, LiveService],
) -> None:
    with patient_pair[0].client() as client:
        job = client.post(SLEEP, json={"steps": 100_000, "pause": 0.02}, headers=QUEUED).json()
        watch(client, job["links"]["self"], count=3)
        client.post(job["links"]["cancel"])
        assert client.get(job["links"]["self"], headers={"Prefer": "wait=50"}).json()["status"] == "cancelled"
