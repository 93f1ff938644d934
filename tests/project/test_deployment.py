"""What docker-compose.yml starts, as plain processes: the same commands on a real PostgreSQL and a shared folder of files."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from app.client import Client, ProblemError
from app.own_service import Process, free_port, is_healthy, running, wait_for
from tests.project.documents import ROOT

SERVICES = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
KEY = "a-bootstrap-key-for-the-tests-0123456789"
CATALOGUE = "tests.cli.operations:CATALOGUE"


def health(name: str, environment: dict[str, str], *more: str) -> int:
    """Return the exit status of a container's health check."""
    kind, foresolve, *arguments = SERVICES[name]["healthcheck"]["test"]
    assert (kind, foresolve) == ("CMD", "foresolve")
    command = [sys.executable, "-m", "app.cli", *arguments, *more]
    ended = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(ROOT)} | environment, timeout=60, check=False)
    return ended.returncode


class Deployment:
    """The processes of the containers, and what is set for them."""

    def __init__(self, folder: Path, database: str) -> None:
        (folder / "bootstrap_key").write_text(KEY)
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.settings = {
            "FORESOLVE_DATABASE_URL": database,
            "FORESOLVE_FILES_URL": f"file://{folder / 'files'}",
            "FORESOLVE_BOOTSTRAP_KEY_FILE": str(folder / "bootstrap_key"),
            "FORESOLVE_DATA_DIR": str(folder / "data"),
            "FORESOLVE_CATALOGUE": CATALOGUE,
            "FORESOLVE_WORKERS": "1",
        }

    def api(self) -> contextlib.AbstractContextManager[Process]:
        command = [part.replace("0.0.0.0", "127.0.0.1") for part in SERVICES["api"]["command"]]
        return running([*command, "--port", str(self.port)], self.settings, log=self.folder / "api.log")

    def worker(self) -> contextlib.AbstractContextManager[Process]:
        return running(SERVICES["worker"]["command"], self.settings, log=self.folder / "worker.log")

    def client(self, key: str | None = KEY) -> Client:
        return Client(self.url, key=key, catalogue=CATALOGUE)


@pytest.fixture(scope="module")
def a_deployment(postgres, tmp_path_factory):
    deployment = Deployment(tmp_path_factory.mktemp("deployment"), postgres)
    with deployment.api() as api, deployment.worker() as worker, deployment.client() as client:
        wait_for(lambda: is_healthy(client), api)
        wait_for(lambda: health("worker", deployment.settings) == 0, worker)
        yield deployment


def test_the_worker_solves_what_the_api_is_asked(a_deployment):
    with a_deployment.client() as client:
        assert client.echo("a", "b").text == "a b"


def test_the_worker_reads_the_files_that_the_api_took(a_deployment):
    with a_deployment.client() as client:
        assert client.digest({"document": {"file": client.upload(b"1\n2\n", "lines.txt")}}).lines == 2


def test_a_job_is_cancelled_through_the_api(a_deployment):
    with a_deployment.client() as client:
        job = client.count_up.submit(time_limit=60)
        next(event for event in job.events() if event.kind == "progress")
        job.cancel()
        assert job.result(timeout=30).cancelled


def test_without_the_bootstrap_key_nothing_is_solved(a_deployment):
    with a_deployment.client(key=None) as client, pytest.raises(ProblemError) as caught:
        client.echo("a")
    assert caught.value.status == 401


def test_the_health_checks_pass_while_the_processes_run(a_deployment):
    assert health("api", a_deployment.settings, "--url", a_deployment.url) == 0
    assert health("worker", a_deployment.settings) == 0


def test_the_health_checks_fail_when_the_processes_do_not_run(a_postgres_database, tmp_path):
    idle = Deployment(tmp_path, a_postgres_database)
    assert health("api", idle.settings, "--url", idle.url) == 1
    assert health("worker", idle.settings) == 1


def test_a_stopped_worker_returns_its_job_to_the_queue(a_postgres_database, tmp_path):
    deployment = Deployment(tmp_path, a_postgres_database)
    deployment.settings["FORESOLVE_GRACE_SECONDS"] = "0"
    with deployment.api() as api, deployment.client() as client:
        wait_for(lambda: is_healthy(client, live=True), api)
        with deployment.worker():
            job = client.count_up.submit(time_limit=60)
            next(event for event in job.events() if event.kind == "progress")
        assert job.status().status == "queued"
        with deployment.worker():
            next(event for event in job.events(after=number_of_the_return(job)) if event.kind == "progress")
            job.cancel()
            assert job.result(timeout=30).cancelled


def number_of_the_return(job) -> int:
    """Return the number of the event that says the job went back to the queue."""
    return next(event.seq for event in job.events() if event.kind == "retry")
