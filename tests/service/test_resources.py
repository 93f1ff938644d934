"""Resources: what an operation makes is listed, shown and deleted by its owner, and by nobody else."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from app.api.resources import resources_router
from app.catalogue import load_catalogue
from app.jobs.sweep import sweep
from tests.service.conftest import Keys
from tests.service.live import LiveService, live_service
from tests.service.operations import NOTES


def make(client: httpx.Client, text: str = "hello") -> str:
    answer = client.post("/v1/tests/write-note", json={"text": text})
    assert answer.status_code == 200, answer.text
    note: str = answer.json()["note"]
    return note


def test_what_an_operation_made_is_shown_by_its_id(client: httpx.Client) -> None:
    note = make(client, "seven")
    shown = client.get(f"/v1/tests/notes/{note}").json()
    assert (shown["id"], shown["length"]) == (note, 5)
    assert shown["job"].startswith("job_")


def test_its_id_is_that_of_its_file(client: httpx.Client) -> None:
    note = make(client)
    assert client.get(f"/v1/files/{note}").json()["media_type"] == NOTES.media_type
    assert client.get(f"/v1/files/{note}/content").json() == {"text": "hello"}


def test_the_list_is_newest_first_page_by_page_and_of_its_kind_only(client: httpx.Client) -> None:
    made = [make(client) for _ in range(3)]
    other = client.post("/v1/files", content=b"no note").json()["id"]
    first = client.get("/v1/tests/notes?limit=2").json()
    second = client.get(f"/v1/tests/notes?limit=2&cursor={first['next_cursor']}").json()
    listed = [note["id"] for note in first["notes"] + second["notes"]]
    assert listed[:3] == made[::-1]
    assert other not in listed


def test_what_is_deleted_is_gone_with_its_file(client: httpx.Client) -> None:
    note = make(client)
    assert client.delete(f"/v1/tests/notes/{note}").status_code == 204
    for path in (f"/v1/tests/notes/{note}", f"/v1/files/{note}", f"/v1/files/{note}/content"):
        assert client.get(path).status_code == 404
    assert client.delete(f"/v1/tests/notes/{note}").status_code == 404


def test_a_built_in_one_is_the_same_for_everyone(client: httpx.Client) -> None:
    shown = client.get("/v1/tests/notes/demo-note").json()
    assert shown == {"id": "demo-note", "size": 16, "job": None, "created_at": None, "length": 4}


def test_a_built_in_one_stays(client: httpx.Client) -> None:
    assert client.delete("/v1/tests/notes/demo-note").status_code == 404
    assert client.get("/v1/tests/notes/demo-note").status_code == 200


def test_a_request_names_it_by_its_id(client: httpx.Client) -> None:
    for note, text in ((make(client, "again"), "again"), ("demo-note", "demo")):
        assert client.post("/v1/tests/read-note", json={"note": note}).json()["text"] == text


def test_a_file_of_another_kind_is_no_resource(client: httpx.Client) -> None:
    other = client.post("/v1/files", content=b'{"text": "x"}').json()["id"]
    assert client.get(f"/v1/tests/notes/{other}").status_code == 404
    assert client.delete(f"/v1/tests/notes/{other}").status_code == 404
    assert client.get(f"/v1/files/{other}").status_code == 200


def test_an_upload_of_its_media_type_that_is_none_is_a_422(client: httpx.Client) -> None:
    forged = client.post("/v1/files", content=b"{", headers={"Content-Type": NOTES.media_type}).json()["id"]
    assert client.get(f"/v1/tests/notes/{forged}").status_code == 422
    assert client.delete(f"/v1/tests/notes/{forged}").status_code == 204


@pytest.mark.parametrize("note", ["file_" + "0" * 32, "file_x", "demo-none", "..", "x" * 300])
def test_an_id_of_nothing_is_a_404(client: httpx.Client, note: str) -> None:
    assert client.get(f"/v1/tests/notes/{note}").status_code == 404


def test_nobody_sees_or_deletes_another_owner_s(keyed_service: LiveService, keys: Keys) -> None:
    files = {"Content-Type": NOTES.media_type}
    with keyed_service.client(keys.alice) as alice, keyed_service.client(keys.bob) as bob:
        note = alice.post("/v1/files", content=b'{"text": "mine"}', headers=files).json()["id"]
        assert bob.get(f"/v1/tests/notes/{note}").status_code == 404
        assert bob.delete(f"/v1/tests/notes/{note}").status_code == 404
        assert note not in bob.get("/v1/tests/notes").text
        assert alice.get(f"/v1/tests/notes/{note}").status_code == 200
        assert note in alice.get("/v1/tests/notes").text


def test_an_admin_sees_everybody_s(keyed_service: LiveService, keys: Keys) -> None:
    files = {"Content-Type": NOTES.media_type}
    with keyed_service.client(keys.alice) as alice, keyed_service.client(keys.admin) as admin:
        note = alice.post("/v1/files", content=b'{"text": "mine"}', headers=files).json()["id"]
        assert admin.get(f"/v1/tests/notes/{note}").status_code == 200
        assert note in admin.get("/v1/tests/notes").text


def test_a_reader_s_key_shows_but_does_not_delete(keyed_service: LiveService, keys: Keys) -> None:
    files = {"Content-Type": NOTES.media_type}
    with keyed_service.client(keys.alice) as alice, keyed_service.client(keys.reader) as reader:
        note = alice.post("/v1/files", content=b'{"text": "mine"}', headers=files).json()["id"]
        assert reader.get(f"/v1/tests/notes/{note}").status_code == 200
        assert reader.delete(f"/v1/tests/notes/{note}").status_code == 403


def test_without_a_key_there_is_no_list(keyed_service: LiveService) -> None:
    with keyed_service.client() as nobody:
        assert nobody.get("/v1/tests/notes").status_code == 401


def test_it_outlives_the_job_that_made_it(tmp_path: Path) -> None:
    with live_service(tmp_path) as live, live.client() as client:
        note = make(client, "kept")
        job = client.get(f"/v1/tests/notes/{note}").json()["job"]
        assert client.delete(f"/v1/jobs/{job}").status_code == 204
        sweep(live.service.store, live.service.files, 0)
        assert client.post("/v1/tests/read-note", json={"note": note}).json()["text"] == "kept"


def test_it_outlives_a_sweep_of_the_job_that_made_it(tmp_path: Path) -> None:
    with live_service(tmp_path) as live, live.client() as client:
        note = make(client, "kept")
        job = client.get(f"/v1/tests/notes/{note}").json()["job"]
        sweep(live.service.store, live.service.files, 0)
        assert client.get(f"/v1/jobs/{job}").status_code == 404
        assert client.get(f"/v1/tests/notes/{note}").json()["length"] == 4


def test_the_paths_are_documented_with_the_kind_s_own_view(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    assert set(document["paths"]["/v1/tests/notes/{resource_id}"]) == {"get", "delete"}
    assert {"id", "length"} <= set(document["components"]["schemas"]["NoteDocument"]["properties"])


def test_a_catalogue_that_makes_nothing_has_no_resources() -> None:
    operations = load_catalogue("tests.service.operations:CATALOGUE")
    assert resources_router({name: op for name, op in operations.items() if op.makes is None}).routes == []
