"""Views of a resource and its versions: what is below its path, and what becomes of changes at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.service.conftest import Keys
from tests.service.live import LiveService, live_service
from tests.service.operations import NOTES


def make(client: httpx.Client, text: str = "hello") -> str:
    note: str = client.post("/v1/tests/write-note", json={"text": text}).json()["note"]
    return note


def extend(client: httpx.Client, note: str, text: str) -> int:
    answer = client.post("/v1/tests/extend-note", json={"note": note, "text": text})
    assert answer.status_code == 200, answer.text
    version: int = answer.json()["version"]
    return version


def test_a_view_shows_json_by_its_query(client: httpx.Client) -> None:
    note = make(client)
    assert client.get(f"/v1/tests/notes/{note}/end").json() == {"text": "hello"}
    assert client.get(f"/v1/tests/notes/{note}/end", params={"start": 3}).json() == {"text": "lo"}


def test_a_view_may_be_a_download(client: httpx.Client) -> None:
    answer = client.get(f"/v1/tests/notes/{make(client)}/download", params={"word": "ll"})
    assert (answer.content, answer.headers["Content-Type"]) == (b"llo", "text/plain; charset=utf-8")
    assert answer.headers["Content-Disposition"].startswith('attachment; filename="note.txt"')


def test_a_built_in_one_has_its_views(client: httpx.Client) -> None:
    assert client.get("/v1/tests/notes/demo-note/end", params={"start": 2}).json() == {"text": "mo"}


def test_a_part_that_is_not_there_is_a_404(client: httpx.Client) -> None:
    answer = client.get("/v1/tests/notes/demo-note/end", params={"word": "other"})
    assert (answer.status_code, answer.json()["detail"]) == (404, "the note has no 'other'")


@pytest.mark.parametrize("query", [{"start": -1}, {"start": "x"}])
def test_a_query_that_is_wrong_is_a_422_that_names_the_parameter(client: httpx.Client, query: dict) -> None:
    answer = client.get("/v1/tests/notes/demo-note/end", params=query)
    assert (answer.status_code, answer.json()["errors"][0]["parameter"]) == (422, "start")


def test_views_are_documented(client: httpx.Client) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    shown = paths["/v1/tests/notes/{resource_id}/end"]["get"]
    assert {parameter["name"] for parameter in shown["parameters"]} == {"resource_id", "start", "word"}
    assert shown["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].endswith("/Note")
    assert list(paths["/v1/tests/notes/{resource_id}/download"]["get"]["responses"]["200"]["content"]) == ["text/plain"]


def test_views_are_for_those_who_see_the_resource(keyed_service: LiveService, keys: Keys) -> None:
    files = {"Content-Type": NOTES.media_type}
    with keyed_service.client(keys.alice) as alice, keyed_service.client(keys.bob) as bob, keyed_service.client() as nobody:
        note = alice.post("/v1/files", content=b'{"text": "mine"}', headers=files).json()["id"]
        assert alice.get(f"/v1/tests/notes/{note}/end").status_code == 200
        assert bob.get(f"/v1/tests/notes/{note}/end").status_code == 404
        assert nobody.get(f"/v1/tests/notes/{note}/end").status_code == 401


def test_the_list_has_what_is_told_in_brief_and_is_searched_by_name(client: httpx.Client) -> None:
    note = make(client, "a rare name")
    (entry,) = client.get("/v1/tests/notes", params={"name": "a rare name"}).json()["notes"]
    assert (entry["id"], entry["length"]) == (note, 11)
    assert client.get("/v1/tests/notes", params={"name": "rare"}).json()["notes"] == []


def test_the_newest_version_counts(client: httpx.Client) -> None:
    note = make(client, "one")
    assert [extend(client, note, text) for text in (" two", " three")] == [2, 3]
    assert client.get(f"/v1/tests/notes/{note}/end").json() == {"text": "one two three"}
    assert client.get(f"/v1/tests/notes/{note}").json()["length"] == 13
    assert client.post("/v1/tests/read-note", json={"note": note}).json() == {"text": "one two three"}


def test_of_changes_at_the_same_time_none_is_lost(client: httpx.Client, service: LiveService) -> None:
    note = make(client, "")

    def add(letter: str) -> int:
        with service.client() as other:
            return extend(other, note, letter)

    with ThreadPoolExecutor(8) as pool:
        versions = list(pool.map(add, "abcdefgh"))
    assert sorted(versions) == list(range(2, 10))
    assert sorted(client.get(f"/v1/tests/notes/{note}/end").json()["text"]) == list("abcdefgh")


def test_versions_go_with_the_resource(tmp_path: Path) -> None:
    with live_service(tmp_path) as live, live.client() as client:
        note = make(client)
        extend(client, note, "!")
        assert client.delete(f"/v1/tests/notes/{note}").status_code == 204
        assert note not in {file.name for file in live.service.files.walk()}
