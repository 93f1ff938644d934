"""The command line and the client against a running service."""

import asyncio
import json
import os
import signal
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from app.cli import cli
from app.client import AsyncClient, Client, ProblemError
from tests.cli.operations import CountResult, EchoResult

CATALOGUE = "tests.cli.operations:CATALOGUE"


@pytest.fixture
def client(a_running_service):
    with Client(a_running_service, catalogue=CATALOGUE) as client:
        yield client


@pytest.fixture
def run(a_running_service, monkeypatch):
    monkeypatch.setenv("FORESOLVE_CATALOGUE", CATALOGUE)
    monkeypatch.setenv("FORESOLVE_URL", a_running_service)
    return lambda *arguments, **options: CliRunner().invoke(cli, [str(argument) for argument in arguments], **options)


def progressed(job) -> None:
    """Return once the job has reported something."""
    next(event for event in job.events() if event.kind == "progress")


def test_a_method_returns_the_result_model(client):
    assert client.echo("a", "b", seed=1) == client.run("echo", {"text": "a b", "options": {"seed": 1}})
    assert isinstance(client.echo("a"), EchoResult)


def test_every_example_gives_the_same_answer_by_client_command_line_and_library(client, run, tmp_path):
    body = client.operations["echo"].examples["a word"]
    request = tmp_path / "request.json"
    request.write_text(json.dumps(body))
    by_client = client.run("echo", body).model_dump()
    by_service = json.loads(run("solve", "echo", request, "--json").stdout)
    here = json.loads(run("solve", "echo", request, "--json", env={"FORESOLVE_URL": ""}).stdout)
    assert by_client == by_service == here


def test_events_run_from_queued_to_the_end(client):
    job = client.count_up.submit(time_limit=0.5)
    kinds = [event.kind for event in job.events()]
    assert (kinds[0], kinds[1], kinds[-1]) == ("queued", "started", "succeeded")
    assert "progress" in kinds


def test_events_after_the_last_are_none(client):
    job = client.echo.submit("a")
    last = list(job.events())[-1]
    assert list(job.events(after=last.seq)) == []


def test_a_cancelled_job_returns_the_best_so_far(client):
    job = client.count_up.submit(time_limit=60)
    progressed(job)
    job.cancel()
    assert job.result(timeout=30).cancelled
    assert job.status().status == "cancelled"


def test_an_uploaded_file_can_be_read_by_a_job_and_fetched_again(client, tmp_path):
    path = tmp_path / "lines.txt"
    path.write_bytes(b"1\n2\n")
    file_id = client.upload(path)
    assert client.digest({"document": {"file": file_id}}).lines == 2
    assert client.download(file_id) == b"1\n2\n"


def test_a_deleted_file_is_gone(client):
    file_id = client.upload(b"1\n", "one.txt")
    client.delete_file(file_id)
    with pytest.raises(ProblemError) as caught:
        client.download(file_id)
    assert caught.value.status == 404


def test_a_refused_request_names_the_field(client):
    with pytest.raises(ProblemError) as caught:
        client.run("echo", {"text": "a", "times": 0})
    assert (caught.value.status, caught.value.pointer) == (422, "/times")


def test_a_failed_job_says_why(client):
    file_id = client.upload(b"fine\nnot fine!\n", "bad.txt")
    with pytest.raises(ProblemError, match="exclamation") as caught:
        client.digest({"document": {"file": file_id}})
    assert caught.value.document["line"] == 2


def test_jobs_are_listed_newest_first(client):
    ids = [client.echo.submit(text).id for text in ("a", "b", "c")]
    assert [job.id for job in client.jobs(operation="echo", limit=3)] == ids[::-1]


def test_a_job_is_found_again_by_its_id(client):
    job = client.echo.submit("again")
    assert client.job(job.id).result(timeout=30).text == "again"


def test_a_deleted_job_is_gone(client):
    job = client.echo.submit("a")
    job.result(timeout=30)
    job.delete()
    with pytest.raises(ProblemError) as caught:
        job.status()
    assert caught.value.status == 404


def test_the_asynchronous_client_runs_jobs_at_once(a_running_service):
    async def scenario():
        async with AsyncClient(a_running_service, catalogue=CATALOGUE) as client:
            answers = await asyncio.gather(*(client.echo(word) for word in "abc"))
            job = await client.count_up.submit(time_limit=0.3)
            kinds = [event.kind async for event in job.events()]
            return [answer.text for answer in answers], kinds[-1], await job.result(timeout=30)

    texts, end, counted = asyncio.run(scenario())
    assert (texts, end) == (["a", "b", "c"], "succeeded")
    assert counted.value > 0


def test_the_command_line_uploads_the_file(run, tmp_path):
    path = tmp_path / "lines.txt"
    path.write_bytes(b"1\n2\n3\n")
    assert json.loads(run("solve", "digest", path, "--json").stdout)["lines"] == 3


def test_a_problem_of_the_service_ends_with_status_two_and_a_sentence(run, tmp_path):
    path = tmp_path / "bad.txt"
    path.write_bytes(b"!\n")
    ended = run("solve", "digest", path, "--json")
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "line 1: an exclamation mark" in ended.stderr


def test_a_service_that_is_not_there_ends_with_status_one(run):
    ended = run("health", "--url", "http://127.0.0.1:9")
    assert ended.exit_code == 1
    assert "cannot be reached" in ended.stderr


def test_health_is_status_zero_when_the_service_is_ready(run):
    assert run("health").exit_code == 0
    assert run("health", "--live").exit_code == 0


def test_interrupting_a_remote_solve_cancels_the_job_and_writes_the_best_so_far(client, tmp_path):
    request = tmp_path / "r.json"
    request.write_text('{"options": {"time_limit": 60}}')
    command = [sys.executable, "-m", "app.cli", "solve", "count-up", str(request), "--json", "--url", client.url]
    environment = os.environ | {"FORESOLVE_CATALOGUE": CATALOGUE}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        for line in process.stderr:
            if line.startswith(b"job "):
                job = client.job(line.split()[1].decode())
                break
        progressed(job)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    assert CountResult.model_validate_json(output).cancelled
    assert job.status().status == "cancelled"


def test_the_command_line_lists_shows_watches_and_cancels_jobs(client, run):
    job = client.count_up.submit(time_limit=60)
    progressed(job)
    assert job.id in run("jobs", "list", "--status", "running").stdout
    assert json.loads(run("jobs", "show", job.id).stdout)["status"] == "running"
    assert run("jobs", "cancel", job.id).exit_code == 0
    watched = run("jobs", "watch", job.id, "--json").stdout.splitlines()
    assert [json.loads(line)["kind"] for line in watched][-1] == "cancelled"
    assert json.loads(run("jobs", "show", job.id, "--result").stdout)["cancelled"]


def test_an_unknown_job_ends_with_status_two(run):
    ended = run("jobs", "show", "job_" + "0" * 32)
    assert ended.exit_code == 2
    assert "Traceback" not in ended.stderr
