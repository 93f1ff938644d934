"""What operations make, by client and command line: listed, shown and deleted as the catalogue names it."""

import asyncio
import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from app.catalogue import resource_kinds
from app.cli import cli
from app.client import AsyncClient, Client, ProblemError
from tests.cli import operations
from tests.cli.operations import WordView

CATALOGUE = "tests.cli.operations:CATALOGUE"


@pytest.fixture
def client(a_running_service):
    with Client(a_running_service, catalogue=CATALOGUE) as client:
        yield client


@pytest.fixture
def run(a_running_service, monkeypatch):
    monkeypatch.setenv("FORESOLVE_CATALOGUE", CATALOGUE)
    monkeypatch.setenv("FORESOLVE_URL", a_running_service)
    return lambda *arguments: CliRunner().invoke(cli, [str(argument) for argument in arguments])


def test_what_was_made_is_listed_newest_first_and_got_with_its_details(client):
    kept = [client.keep(word=word).kept for word in ("one", "seven")]
    assert [one.id for one in client.kept_words.list(limit=2)] == kept[::-1]
    got = client.kept_words.get(kept[1])
    assert (got.id, got.details) == (kept[1], WordView(length=5))


def test_what_is_deleted_is_gone(client):
    kept = client.keep(word="gone").kept
    client.kept_words.delete(kept)
    for call in (client.kept_words.get, client.kept_words.delete):
        with pytest.raises(ProblemError) as caught:
            call(kept)
        assert caught.value.status == 404


def test_a_built_in_one_is_got_and_stays(client):
    with pytest.raises(ProblemError):
        client.kept_words.delete("demo-word")
    assert client.kept_words.get("demo-word").details.length == 4


def test_the_asynchronous_client_does_the_same(a_running_service):
    async def scenario():
        async with AsyncClient(a_running_service, catalogue=CATALOGUE) as client:
            kept = (await client.keep(word="three")).kept
            listed = [one.id async for one in client.kept_words.list(limit=1)]
            details = (await client.kept_words.get(kept)).details
            await client.kept_words.delete(kept)
            return kept, listed, details, [one.id async for one in client.kept_words.list(limit=1)]

    kept, listed, details, left = asyncio.run(scenario())
    assert (listed, details) == ([kept], WordView(length=5))
    assert kept not in left


def test_the_command_line_lists_shows_and_deletes(client, run):
    kept = client.keep(word="four").kept
    assert kept in run("resources", "list", "kept-words", "--limit", "1").stdout
    (row,) = json.loads(run("resources", "list", "kept-words", "--limit", "1", "--json").stdout)
    assert row["id"] == kept
    assert json.loads(run("resources", "show", "kept-words", kept).stdout)["details"] == {"length": 4}
    assert run("resources", "delete", "kept-words", kept).exit_code == 0
    gone = run("resources", "show", "kept-words", kept)
    assert (gone.exit_code, kept in gone.stderr) == (2, True)


def test_a_kind_that_nothing_makes_is_named_with_those_that_there_are(run):
    answer = run("resources", "list", "models")
    assert answer.exit_code == 2
    assert "kept-words" in answer.stderr


def test_two_kinds_of_one_name_are_refused():
    other = replace(operations.WORDS, path="elsewhere/kept-words", media_type="application/vnd.foresolve.other+json")
    (keep,) = (operation for operation in operations.CATALOGUE if operation.name == "keep")
    with pytest.raises(ValueError, match="same plural"):
        resource_kinds({"keep": keep, "other": replace(keep, name="other", makes=other)})
