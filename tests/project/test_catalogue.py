"""Every operation and every example of the catalogue, by every way there is to run it."""

import json
import os
import subprocess
import sys

import httpx
import pytest
from typer.testing import CliRunner

from app.cli import cli
from app.client import Client
from app.operations import CATALOGUE
from solvers.operation import Context
from tests.project.documents import ROOT

EXAMPLES = [
    pytest.param(operation, body, id=f"{operation.name}: {title}")
    for operation in CATALOGUE
    for title, body in operation.examples.items()
]


@pytest.fixture(scope="session")
def answers(a_running_service):
    """What the service answers to an example over plain HTTP, posted once."""
    given: dict[str, dict] = {}

    def answer(operation, body) -> dict:
        asked = json.dumps([operation.name, body])
        if asked not in given:
            given[asked] = posted(a_running_service, operation, body)
        return given[asked]

    return answer


def posted(url, operation, body) -> dict:
    answer = httpx.post(f"{url}/v1/{operation.path}", json=body, headers={"Prefer": "wait=60"}, timeout=100)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_every_operation_has_an_example():
    assert all(operation.examples for operation in CATALOGUE)


@pytest.mark.parametrize(("operation", "body"), EXAMPLES)
def test_the_answer_over_http_is_the_result_model_as_it_is_written(answers, operation, body):
    document = answers(operation, body)
    assert json.loads(operation.result.model_validate(document).model_dump_json()) == document


@pytest.mark.parametrize(("operation", "body"), EXAMPLES)
def test_the_same_request_gets_the_same_answer_again(a_running_service, answers, operation, body):
    again = posted(a_running_service, operation, body)
    assert operation.comparable(again) == operation.comparable(answers(operation, body))


@pytest.mark.parametrize(("operation", "body"), EXAMPLES)
def test_the_library_gives_the_same_answer(answers, operation, body):
    request = operation.request.model_validate_json(json.dumps(body))
    context = Context(time_limit=operation.time_limit(request), seed=operation.seed(request))
    document = json.loads(operation.run(request, context).model_dump_json())
    assert operation.comparable(document) == operation.comparable(answers(operation, body))


@pytest.mark.parametrize(("operation", "body"), EXAMPLES)
def test_the_client_gives_the_same_answer(a_running_service, answers, operation, body):
    with Client(a_running_service) as client:
        document = json.loads(getattr(client, operation.name.replace("-", "_"))(body).model_dump_json())
    assert operation.comparable(document) == operation.comparable(answers(operation, body))


@pytest.mark.parametrize(("operation", "body"), EXAMPLES)
def test_the_command_line_gives_the_same_answer(answers, operation, body, tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith("FORESOLVE_")]:
        monkeypatch.delenv(name)
    # Files that an answer names are written where the command runs.
    monkeypatch.chdir(tmp_path)
    ended = CliRunner().invoke(cli, ["solve", operation.name, "-", "--json"], input=json.dumps(body))
    assert ended.exit_code == 0, ended.stderr
    assert operation.comparable(json.loads(ended.stdout)) == operation.comparable(answers(operation, body))


def test_the_command_line_runs_by_itself(answers, tmp_path):
    operation = CATALOGUE[0]
    body = next(iter(operation.examples.values()))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FORESOLVE_")}
    environment["PYTHONPATH"] = str(ROOT)
    ended = subprocess.run(
        [sys.executable, "-m", "app.cli", "solve", operation.name, "-", "--json"],
        input=json.dumps(body).encode(),
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        timeout=110,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr.decode()
    assert operation.comparable(json.loads(ended.stdout)) == operation.comparable(answers(operation, body))
