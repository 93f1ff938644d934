from __future__ import annotations

import contextlib
import itertools
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import httpx
import psutil
import pytest

from app.own_service import Process, free_port, running
from tests.waiting import PATIENCE, eventually


class Server:
    """A ``foresolve serve`` and a client of it."""

    def __init__(self, process: Process, port: int) -> None:
        self.process = process
        self.pid = process.popen.pid
        self.http = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE)
        eventually(self._is_ready)

    def _is_ready(self) -> bool:
        assert self.process.popen.poll() is None, self.process.log.read_text()
        with contextlib.suppress(httpx.TransportError):
            return self.http.get("/health/ready").is_success
        return False

    def submit(self, operation: str, **body: object) -> str:
        answer = self.http.post(f"/v1/tests/{operation}", json=body, headers={"Prefer": "respond-async"})
        assert answer.status_code == 202, answer.text
        return str(answer.json()["id"])

    def solve(self, operation: str, **body: object) -> httpx.Response:
        return self.http.post(f"/v1/tests/{operation}", json=body)

    def job(self, job_id: str) -> dict:
        return self.http.get(f"/v1/jobs/{job_id}").raise_for_status().json()

    def status(self, job_id: str) -> str:
        return self.job(job_id)["status"]

    def result(self, job_id: str) -> object:
        return self.http.get(f"/v1/jobs/{job_id}/result").raise_for_status().json()["value"]

    def offspring(self) -> list[psutil.Process]:
        return psutil.Process(self.pid).children(recursive=True)

    def kill(self) -> list[psutil.Process]:
        """End the server as a crash would; return the processes it leaves."""
        left = self.offspring()
        os.kill(self.pid, signal.SIGKILL)
        self.process.popen.wait()
        return left


@contextlib.contextmanager
def servers_in(folder: Path) -> Iterator[Callable[..., Server]]:
    """Start servers that share one data folder; they stop with the block."""
    with contextlib.ExitStack() as stack:
        count = itertools.count()

        def start(settings: Mapping[str, str] | None = None) -> Server:
            port = free_port()
            environment = {
                "FORESOLVE_DATA_DIR": str(folder / "data"),
                "FORESOLVE_CATALOGUE": "tests.jobs.operations:CATALOGUE",
                "FORESOLVE_WORKERS": "2",
                "FORESOLVE_GRACE_SECONDS": "3",
                **(settings or {}),
            }
            log = folder / f"server-{next(count)}.log"
            process = stack.enter_context(running(["serve", "--port", str(port)], environment, log=log))
            return Server(process, port)

        yield start


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    with servers_in(tmp_path) as start:
        yield start


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "journal"


def all_gone(processes: list[psutil.Process]) -> bool:
    return not any(process.is_running() and process.status() != psutil.STATUS_ZOMBIE for process in processes)
