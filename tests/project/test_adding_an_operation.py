"""What CONTRIBUTING.md says about adding an operation, followed to the letter."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from app.own_service import own_service
from tests.project.documents import ROOT, code_blocks

BODY = {"edges": [[0, 1], [1, 2], [2, 0], [2, 3]]}


@pytest.fixture(scope="module")
def a_folder_with_the_new_operation(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("new_operation")
    module, catalogue = code_blocks("CONTRIBUTING.md", "python")
    (folder / "triangles.py").write_text(module)
    (folder / "my_operations.py").write_text(catalogue)
    (folder / "request.json").write_text(json.dumps(BODY))
    return folder


@pytest.fixture(scope="module")
def environment(a_folder_with_the_new_operation) -> dict[str, str]:
    return {
        "FORESOLVE_CATALOGUE": "my_operations:CATALOGUE",
        "PYTHONPATH": os.pathsep.join([str(a_folder_with_the_new_operation), str(ROOT)]),
    }


@pytest.fixture(scope="module")
def a_service_with_the_new_operation(environment):
    with own_service(environment) as url:
        yield url


def run(command: list[str], environment: dict[str, str], folder: Path) -> bytes:
    ended = subprocess.run(command, env=os.environ | environment, cwd=folder, capture_output=True, timeout=100, check=False)
    assert ended.returncode == 0, ended.stderr.decode()
    return ended.stdout


def the_commands() -> list[list[str]]:
    return [shlex.split(line) for line in code_blocks("CONTRIBUTING.md", "sh")[0].splitlines()]


def test_the_new_operation_answers_over_http(a_service_with_the_new_operation, environment, a_folder_with_the_new_operation):
    command = [part.replace("http://127.0.0.1:8000", a_service_with_the_new_operation) for part in the_commands()[0]]
    assert json.loads(run(command, environment, a_folder_with_the_new_operation)) == {"triangles": 1}


def test_the_new_operation_is_a_command(environment, a_folder_with_the_new_operation):
    foresolve, *arguments = the_commands()[1]
    assert foresolve == "foresolve"
    command = [sys.executable, "-m", "app.cli", *arguments]
    assert json.loads(run(command, environment, a_folder_with_the_new_operation)) == {"triangles": 1}


def test_the_new_operation_is_a_method_of_the_client(
    a_service_with_the_new_operation, environment, a_folder_with_the_new_operation
):
    python, flag, program = the_commands()[2]
    assert (python, flag) == ("python", "-c")
    command = [sys.executable, flag, program.replace("Client()", f"Client({a_service_with_the_new_operation!r})")]
    assert json.loads(run(command, environment, a_folder_with_the_new_operation)) == {"triangles": 1}


def test_the_new_operation_says_what_is_wrong(environment, a_folder_with_the_new_operation):
    (a_folder_with_the_new_operation / "loop.json").write_text('{"edges": [[1, 1]]}')
    command = [sys.executable, "-m", "app.cli", "solve", "triangles", "loop.json"]
    ended = subprocess.run(
        command, env=os.environ | environment, cwd=a_folder_with_the_new_operation, capture_output=True, timeout=100, check=False
    )
    assert ended.returncode == 2
    assert b"edge 0 joins vertex 1 to itself" in ended.stderr
