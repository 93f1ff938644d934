"""README.md, CONTRIBUTING.md and the Makefile say what is so."""

import json
import re
import shlex

import pytest
from typer.testing import CliRunner

from app.cli import cli
from app.client import Client
from app.operations import CATALOGUE
from app.settings import Settings
from tests.project.documents import ROOT, code_blocks


def shell_lines() -> list[str]:
    blocks = "\n".join(code_blocks("README.md", "sh"))
    return [line.split("  #")[0].strip() for line in blocks.splitlines() if line.strip()]


# What a request of the README is posted for, where it is not a solution's value.
ANSWERED = {
    "graphs-predictions-fit": "predictor",
    "graphs-predictions-predict": "predictions",
    "graphs-predictions-estimate-epsilon": "epsilon",
    "gam-fit": "n_steps",
    "gam-export": "text",
    "auctions-simulations": "efficiency",
    "auctions-instances-demand": "results",
    "auctions-core-payments": "payments",
    "auctions-mvnn-fit": "networks",
}


def posted_by_curl() -> list[tuple[str, dict]]:
    blocks = [block for text in code_blocks("README.md", "sh") for block in re.split(r"^(?=curl )", text, flags=re.MULTILINE)]
    commands = [shlex.split(block) for block in blocks if block.startswith("curl ")]
    return [
        (next(part for part in command if part.startswith("http")), json.loads(command[command.index("-d") + 1]))
        for command in commands
        if "-d" in command
    ]


@pytest.mark.parametrize(("url", "body"), posted_by_curl())
def test_a_request_of_the_readme_is_answered(a_running_service, url, body):
    path = url.removeprefix("http://127.0.0.1:8000/v1/")
    operation = next(operation for operation in CATALOGUE if operation.path == path)
    with Client(a_running_service) as client:
        result = client.run(operation, body)
    answers = [one.result for one in result.results] if operation.name == "graphs-batch" else [result]
    what = ANSWERED.get(operation.name, "value")
    assert all(getattr(answer, what) for answer in answers)


def test_the_python_of_the_readme_runs(a_running_service, capsys):
    namespace: dict[str, object] = {}
    for block in code_blocks("README.md", "python"):
        exec(block.replace("http://127.0.0.1:8000", a_running_service), namespace)
    assert float(capsys.readouterr().out.splitlines()[-1]) == 12


def test_every_make_target_that_is_named_exists():
    makefile = (ROOT / "Makefile").read_text()
    documents = [(ROOT / name).read_text() for name in ("README.md", "CONTRIBUTING.md", ".ci/run")]
    named = {target for text in documents for target in re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE)}
    assert {"demo", "serve", "setup", "test", "lint"} <= named
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in named)


def test_every_command_of_the_readme_exists():
    lines = [shlex.split(line)[1:] for line in shell_lines() if line.startswith("foresolve ")]
    assert len(lines) >= 5
    for line in lines:
        command = line[:2] if line[0] in {"auction", "gam", "jobs", "keys", "resources"} else line[:1]
        shown = CliRunner().invoke(cli, [*command, "--help"]).output
        assert all(option in shown for option in line if option.startswith("--")), line


def test_every_setting_of_the_readme_exists():
    named = set(re.findall(r"FORESOLVE_[A-Z_]+", (ROOT / "README.md").read_text()))
    assert named <= {f"FORESOLVE_{field.upper()}" for field in Settings.model_fields}


def test_every_file_of_the_readme_exists():
    links = re.findall(r"\]\((?!http)([^)]+)\)|`((?:tests|app|benchmarks)/[^` ]+)`", (ROOT / "README.md").read_text())
    assert all((ROOT / (link or path)).exists() for link, path in links)
