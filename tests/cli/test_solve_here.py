"""The command line without a server: `foresolve solve` in its own process."""

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import cli
from tests.cli.operations import CountResult, DigestResult, EchoResult
from tests.waiting import eventually

CATALOGUE = "tests.cli.operations:CATALOGUE"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FORESOLVE_CATALOGUE", CATALOGUE)
    monkeypatch.delenv("FORESOLVE_URL", raising=False)
    return lambda *arguments, **options: CliRunner().invoke(cli, [str(argument) for argument in arguments], **options)


@pytest.fixture
def start():
    """Start the command line as a process of its own; it is gone when the test is."""
    processes = []

    def _start(*arguments, settings=None, **options):
        command = [sys.executable, "-m", "app.cli", *map(str, arguments)]
        environment = {**os.environ, "FORESOLVE_CATALOGUE": CATALOGUE, **(settings or {})}
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, **{"stderr": subprocess.PIPE, **options})
        processes.append(process)
        return process

    yield _start
    for process in processes:
        process.kill()
        process.communicate()


def written(path: Path, content: object) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_json_output_is_exactly_the_result_document(run, tmp_path):
    ended = run("solve", "echo", written(tmp_path / "request.json", {"text": "a", "times": 3}), "--json")
    assert ended.exit_code == 0
    assert ended.stdout == EchoResult(text="aaa", draw=0).model_dump_json() + "\n"


def test_an_instance_file_goes_through_the_adapter(run, tmp_path):
    ended = run("solve", "digest", written(tmp_path / "a.txt", "1\n2\n"), "--json")
    assert DigestResult.model_validate_json(ended.stdout).lines == 2


def test_the_format_is_named_beside_the_file(run, tmp_path):
    ended = run("solve", "digest", written(tmp_path / "a.txt", "1\n"), "--format", "rudy", "--json")
    assert json.loads(ended.stdout)["format"] == "rudy"


def test_a_dash_reads_standard_input(run):
    ended = run("solve", "digest", "-", "--json", input="1\n2\n3\n")
    assert json.loads(ended.stdout)["lines"] == 3


def test_output_writes_the_document_to_a_file_and_the_table_to_the_terminal(run, tmp_path):
    ended = run("solve", "echo", written(tmp_path / "r.json", {"text": "a"}), "--output", tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_bytes()) == {"text": "a", "draw": 0}
    assert "text  a" in ended.stdout


def test_the_seed_option_is_an_option_of_the_request(run, tmp_path):
    request = written(tmp_path / "r.json", {"text": "a"})
    draws = {json.loads(run("solve", "echo", request, "--seed", 7, "--json").stdout)["draw"] for _ in range(2)}
    assert len(draws) == 1
    assert draws != {0}


def test_an_option_of_a_fields_name_is_that_field(run, tmp_path):
    ended = run("solve", "echo", written(tmp_path / "r.json", {"text": "a"}), "--option", "times=2", "--json")
    assert json.loads(ended.stdout)["text"] == "aa"


def test_an_option_after_an_at_sign_is_read_from_a_file(run, tmp_path):
    text = written(tmp_path / "text.json", '"from a file"')
    ended = run("solve", "echo", written(tmp_path / "r.json", {"text": "a"}), "--option", f"text=@{text}", "--json")
    assert json.loads(ended.stdout)["text"] == "from a file"


def test_an_option_from_a_file_that_is_no_text_ends_with_status_two(run, tmp_path):
    (tmp_path / "noise").write_bytes(b"\xff\xfe\x00")
    ended = run("solve", "echo", written(tmp_path / "r.json", {"text": "a"}), "--option", f"text=@{tmp_path / 'noise'}")
    assert ended.exit_code == 2
    assert "is not a text" in ended.stderr


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "soon"])
def test_a_time_limit_that_is_none_is_refused(run, tmp_path, seconds):
    ended = run("solve", "count-up", written(tmp_path / "r.json", {"options": {}}), "--time-limit", seconds)
    assert ended.exit_code == 2
    assert "--time-limit" in ended.stderr


def test_the_time_limit_option_ends_the_search(run, tmp_path):
    ended = run("solve", "count-up", written(tmp_path / "r.json", {"options": {}}), "--time-limit", 0.1, "--json")
    assert not CountResult.model_validate_json(ended.stdout).cancelled


@pytest.mark.parametrize(
    ("arguments", "content", "says"),
    [
        (["digest"], "fine\nnot fine!\n", "line 2: an exclamation mark"),
        (["echo"], {"text": "a", "times": 0}, "/times"),
        (["echo"], {"text": "a", "options": {"seed": "x"}}, "/options/seed"),
        (["echo"], "not json", "takes a JSON file"),
        (["echo", "--option", "colour"], {"text": "a"}, "name=value"),
        (["digest", "--seed", "1"], "1\n", "takes no 'seed'"),
        (["shout"], {"text": "a"}, "there is no operation 'shout'"),
    ],
)
def test_bad_input_ends_with_status_two_and_a_sentence(run, tmp_path, arguments, content, says):
    operation, *options = arguments
    ended = run("solve", operation, written(tmp_path / "input", content), *options, "--json")
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert says in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_missing_file_ends_with_status_two(run, tmp_path):
    ended = run("solve", "echo", tmp_path / "absent.json")
    assert ended.exit_code == 2
    assert "absent.json" in ended.stderr


def test_a_wrong_setting_is_named(run, monkeypatch, tmp_path):
    monkeypatch.setenv("FORESOLVE_WORKERS", "many")
    ended = run("operations")
    assert ended.exit_code == 2
    assert "workers" in ended.stderr


def test_progress_goes_to_standard_error_without_a_terminal(run, tmp_path):
    ended = run("solve", "count-up", written(tmp_path / "r.json", {"options": {"time_limit": 0.5}}), "--json")
    assert "bound 1000  gap" in ended.stderr
    assert json.loads(ended.stdout)["value"] > 0


def test_the_operations_are_listed_in_catalogue_order(run):
    ended = run("operations")
    assert [line.split()[0] for line in ended.stdout.splitlines()[1:]] == ["echo", "count-up", "digest", "keep", "never-end"]


def test_an_operation_shows_its_schemas(run):
    assert json.loads(run("operations", "echo").stdout)["request"]["required"] == ["text"]


def wait_for_line(stream, part: bytes) -> None:
    for line in stream:
        if part in line:
            return
    raise AssertionError(f"the process ended without saying {part!r}")


def test_the_first_interrupt_returns_the_best_so_far(start, tmp_path):
    process = start("solve", "count-up", written(tmp_path / "r.json", {"options": {"time_limit": 60}}), "--json")
    wait_for_line(process.stderr, b"value")
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    assert CountResult.model_validate_json(output).cancelled


def test_the_second_interrupt_abandons_a_solver_in_native_code(start, tmp_path):
    process = start("solve", "never-end", written(tmp_path / "r.json", "{}"), "--json")
    wait_for_line(process.stderr, b"value")
    process.send_signal(signal.SIGINT)
    wait_for_line(process.stderr, b"press Ctrl-C again")
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=30)
    assert (process.returncode, output) == (130, b"")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_before_the_run_has_begun_ends_the_process_at_once(start, tmp_path, number):
    settings = {"FORESOLVE_CATALOGUE": "tests.faults.endless_preload:CATALOGUE", "NUMBA_CACHE_DIR": str(tmp_path)}
    process = start("solve", "x", written(tmp_path / "r.json", "{}"), "--json", settings=settings)
    eventually((tmp_path / "loading").exists)
    process.send_signal(number)
    output, _ = process.communicate(timeout=30)
    assert (process.returncode, output) == (130, b"")


def test_the_bar_is_drawn_on_a_terminal_and_the_document_is_not(start, tmp_path):
    leader, follower = pty.openpty()
    request = written(tmp_path / "r.json", {"options": {"time_limit": 0.6}})
    process = start("solve", "count-up", request, "--json", stderr=follower)
    os.close(follower)
    output, _ = process.communicate(timeout=30)
    shown = os.read(leader, 1 << 16).decode()
    os.close(leader)
    assert "value" in shown
    assert "\x1b[" in shown
    assert b"\x1b" not in output
