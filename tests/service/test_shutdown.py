"""A served process: it stops in good order, gives back what it cannot finish, and logs what it did."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import orjson
import pytest

from app.jobs.store import JobStore
from tests.service.live import CATALOGUE, DEADLINE_SECONDS, until

SLEEP = "/v1/tests/sleep"
QUEUED = {"Prefer": "respond-async"}
SERVE = "from app.main import serve; from app.settings import Settings; serve(Settings())"


class ServedProcess:
    """A process that serves, its address and its log."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.log = folder / "log"
        self.database = f"sqlite:///{folder / 'foresolve.db'}"
        given = {"data_dir": str(folder), "catalogue": CATALOGUE, "port": "0", "workers": "1", "log_json": "true"} | settings
        environment = os.environ | {f"FORESOLVE_{name.upper()}": value for name, value in given.items()}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen([sys.executable, "-c", SERVE], env=environment, stderr=log)
        self.url = until(self._address)
        until(self._is_ready)

    def _address(self) -> str | None:
        assert self.process.poll() is None, self.log.read_text()
        found = re.search(r"http://[\d.]+:\d+", self.log.read_text())
        return found[0] if found else None

    def _is_ready(self) -> bool:
        return httpx.get(f"{self.url}/health/ready").status_code == 200

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=DEADLINE_SECONDS)

    def stop(self, *signals: signal.Signals) -> int:
        for number in signals:
            self.process.send_signal(number)
        return self.process.wait(DEADLINE_SECONDS)


@pytest.fixture
def serve(tmp_path: Path) -> Iterator:
    started: list[ServedProcess] = []

    def serve(**settings: str) -> ServedProcess:
        started.append(ServedProcess(tmp_path, **settings))
        return started[-1]

    yield serve
    for served in started:
        if served.process.poll() is None:
            served.process.kill()
            served.process.wait(DEADLINE_SECONDS)


def test_a_running_job_may_finish_within_the_grace(serve) -> None:
    served = serve(grace_seconds="30")
    with served.client() as client:
        job = client.post(SLEEP, json={"steps": 8, "pause": 0.1}, headers=QUEUED).json()
        until(lambda: client.get(job["links"]["self"]).json()["status"] == "running")
    served.stop(signal.SIGTERM)
    assert JobStore.open(served.database).get(job["id"]).status == "succeeded"


def test_a_job_that_outlasts_the_grace_goes_back_to_the_queue(serve) -> None:
    served = serve(grace_seconds="0.2")
    with served.client() as client:
        job = client.post(SLEEP, json={"steps": 1000, "pause": 0.1}, headers=QUEUED).json()
        until(lambda: client.get(job["links"]["self"]).json()["status"] == "running")
    served.stop(signal.SIGTERM)
    left = JobStore.open(served.database).get(job["id"])
    assert (left.status, left.attempt) == ("queued", 0)


def test_a_second_signal_does_not_wait_for_the_grace(serve) -> None:
    served = serve(grace_seconds="3000")
    with served.client() as client:
        job = client.post(SLEEP, json={"steps": 1000, "pause": 0.1}, headers=QUEUED).json()
        until(lambda: client.get(job["links"]["self"]).json()["status"] == "running")
    served.process.send_signal(signal.SIGINT)
    until(lambda: "stopping" in served.log.read_text())
    served.stop(signal.SIGINT)
    assert JobStore.open(served.database).get(job["id"]).status == "queued"


def test_a_waiting_request_is_answered_with_its_job(serve) -> None:
    served = serve(grace_seconds="0")
    with served.client() as client, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(client.post, SLEEP, json={"steps": 1000, "pause": 0.1})
        until(lambda: "running" in httpx.get(f"{served.url}/v1/jobs").text)
        served.stop(signal.SIGTERM)
        response = waiting.result()
    assert response.status_code == 202
    assert response.headers["Location"]


def test_every_request_is_logged_with_its_id(serve) -> None:
    served = serve()
    httpx.get(f"{served.url}/v1/jobs/x%0Aforged", headers={"X-Request-Id": "traced"})
    served.stop(signal.SIGTERM)
    entries = [orjson.loads(line) for line in served.log.read_bytes().splitlines()]
    (entry,) = [entry for entry in entries if entry.get("request_id") == "traced"]
    assert (entry["event"], entry["method"], entry["path"], entry["status"]) == ("request", "GET", "/v1/jobs/x%0Aforged", 404)
