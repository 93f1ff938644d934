"""API keys on the command line, against the job database."""

import pytest
from typer.testing import CliRunner

from app.cli import cli
from app.jobs.store import JobStore
from app.security import hash_key
from app.settings import Settings


@pytest.fixture
def run(monkeypatch, tmp_path):
    monkeypatch.setenv("FORESOLVE_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("FORESOLVE_DATABASE_URL", raising=False)
    return lambda *arguments: CliRunner().invoke(cli, ["keys", *arguments])


def test_a_created_key_opens_what_its_scopes_say(run):
    text = run("create", "robot", "--scope", "solve", "--owner", "alice").stdout.strip()
    key = JobStore.open(Settings().database).find_key(hash_key(text))
    assert (key.name, key.owner, tuple(key.scopes)) == ("robot", "alice", ("solve",))


def test_a_key_is_listed_without_its_secret(run):
    text = run("create", "robot").stdout.strip()
    listed = run("list").stdout
    assert "robot" in listed
    assert text.split("_", 2)[2] not in listed


def test_a_revoked_key_opens_nothing(run):
    text = run("create", "robot").stdout.strip()
    assert run("revoke", text.split("_")[1]).exit_code == 0
    assert JobStore.open(Settings().database).find_key(hash_key(text)) is None


def test_an_unknown_scope_is_refused_with_the_known_ones(run):
    ended = run("create", "robot", "--scope", "everything")
    assert ended.exit_code == 2
    assert "solve" in ended.stderr


def test_revoking_an_unknown_key_is_an_error(run):
    assert run("revoke", "nobody").exit_code == 2


@pytest.mark.parametrize("arguments", [[""], ["two\nlines"], ["robot", "--owner", ""], ["robot", "--owner", " "]])
def test_a_name_or_owner_that_is_no_line_is_refused(run, arguments):
    assert run("create", *arguments).exit_code == 2
