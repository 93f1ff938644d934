"""Files: what goes in comes out, under a name that harms nobody."""

from __future__ import annotations

import gzip
from collections.abc import Iterator

import httpx
import pytest

from app.api.file_names import attachment, safe_name
from tests.service.live import LiveService, live_service


@pytest.fixture(scope="module")
def keeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    with live_service(tmp_path_factory.mktemp("files"), worker=False, max_file_bytes=2**20) as live:
        yield live


@pytest.fixture
def files(keeper: LiveService) -> Iterator[httpx.Client]:
    with keeper.client() as client:
        yield client


def test_an_upload_comes_back_byte_for_byte(files: httpx.Client) -> None:
    content = bytes(range(256)) * 1000
    kept = files.post("/v1/files?name=G1.txt", content=content)
    assert kept.status_code == 201
    assert kept.json() | {"id": 0, "created_at": 0} == {
        "id": 0,
        "name": "G1.txt",
        "media_type": "application/octet-stream",
        "size": len(content),
        "job": None,
        "created_at": 0,
    }
    response = files.get(f"/v1/files/{kept.json()['id']}/content")
    assert response.content == content
    assert response.headers["Content-Length"] == str(len(content))


def test_an_upload_in_chunks_is_kept(files: httpx.Client) -> None:
    kept = files.post("/v1/files", content=iter([b"3 ", b"2\n"])).json()
    assert files.get(f"/v1/files/{kept['id']}/content").content == b"3 2\n"


def test_a_compressed_upload_is_kept_decompressed(files: httpx.Client) -> None:
    kept = files.post("/v1/files", content=gzip.compress(b"3 2"), headers={"Content-Encoding": "gzip"}).json()
    assert kept["size"] == 3


def test_an_empty_file_can_be_kept(files: httpx.Client) -> None:
    kept = files.post("/v1/files?name=empty").json()
    assert files.get(f"/v1/files/{kept['id']}/content").content == b""


def test_the_first_file_of_a_form_is_kept(files: httpx.Client) -> None:
    content = b"\r\n--" + bytes(range(256)) * 500
    kept = files.post(
        "/v1/files", data={"note": "x"}, files=[("file", ("na\u00efve.txt", content, "text/plain")), ("file", ("second", b"2"))]
    ).json()
    assert (kept["name"], kept["media_type"], kept["size"]) == ("na\u00efve.txt", "text/plain", len(content))
    assert files.get(f"/v1/files/{kept['id']}/content").content == content


@pytest.mark.parametrize(
    ("content_type", "content"),
    [
        ("multipart/form-data", b""),
        ("multipart/form-data; boundary=x", b"no form"),
        ("multipart/form-data; boundary=x", b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\ncut short'),
        ("multipart/form-data; boundary=x", b'--x\r\nContent-Disposition: form-data; name="field"\r\n\r\n1\r\n--x--\r\n'),
        ("multipart/form-data; boundary=" + "x" * 300, b""),
    ],
)
def test_a_broken_form_is_a_400_and_leaves_nothing(
    keeper: LiveService, files: httpx.Client, content_type: str, content: bytes
) -> None:
    before = list(keeper.service.files.walk())
    response = files.post("/v1/files", content=content, headers={"Content-Type": content_type})
    assert response.status_code == 400
    assert list(keeper.service.files.walk()) == before


@pytest.mark.parametrize("declared", [True, False])
def test_an_upload_above_the_limit_is_refused_and_leaves_nothing(
    keeper: LiveService, files: httpx.Client, declared: bool
) -> None:
    before = list(keeper.service.files.walk())
    content = bytes(2**21)
    response = files.post("/v1/files", content=content if declared else iter([content[: 2**16]] * 32))
    assert response.status_code == 413
    assert "FORESOLVE_MAX_FILE_BYTES" in response.json()["detail"]
    assert list(keeper.service.files.walk()) == before


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("/etc/passwd", "passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("..", "upload"),
        ("a\r\nSet-Cookie: x=1", "aSet-Cookie: x=1"),
        ("a\x00b", "ab"),
        ("\u202egnp.exe", "gnp.exe"),
        ("", "upload"),
        ("n" * 500, "n" * 200),
    ],
)
def test_a_name_is_a_label_and_never_a_path(files: httpx.Client, sent: str, kept: str) -> None:
    assert files.post("/v1/files", params={"name": sent}, content=b"1").json()["name"] == kept


@pytest.mark.parametrize(
    "path",
    [
        "..%2f..%2fetc%2fpasswd",
        "%2e%2e",
        "file_..%2f..",
        "file_" + "0" * 32,
        "file_" + "0" * 31 + "%00",
        "FILE_" + "0" * 32,
        "%00",
    ],
)
@pytest.mark.parametrize("suffix", ["", "/content"])
def test_no_path_reaches_outside_the_store(files: httpx.Client, path: str, suffix: str) -> None:
    assert files.get(f"/v1/files/{path}{suffix}").status_code == 404


@pytest.mark.parametrize("name", ['a"; x="b', "a\\b", "naïve.txt", "日本.txt", "a%0d%0ab", "x;y", "'"])
def test_a_name_cannot_break_out_of_its_header(files: httpx.Client, name: str) -> None:
    kept = files.post("/v1/files", params={"name": name}, content=b"1").json()
    response = files.get(f"/v1/files/{kept['id']}/content")
    assert response.headers["Content-Disposition"] == attachment(safe_name(name))
    assert response.headers["Content-Disposition"].isascii()
    assert response.headers["Content-Disposition"].count('"') == 2
    assert "x" not in response.headers.get("Set-Cookie", "")


def test_a_name_may_come_in_content_disposition(files: httpx.Client) -> None:
    headers = {"Content-Disposition": "attachment; filename*=UTF-8''G%201.txt"}
    assert files.post("/v1/files", content=b"1", headers=headers).json()["name"] == "G 1.txt"


def test_a_page_that_was_uploaded_is_never_shown_as_one(files: httpx.Client) -> None:
    kept = files.post("/v1/files", content=b"<script>alert(1)</script>", headers={"Content-Type": "text/html"}).json()
    response = files.get(f"/v1/files/{kept['id']}/content")
    assert response.headers["Content-Disposition"].startswith("attachment")
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in response.headers["Content-Security-Policy"]


def test_a_deleted_file_is_gone(files: httpx.Client, keeper: LiveService) -> None:
    kept = files.post("/v1/files", content=b"1").json()
    assert files.delete(f"/v1/files/{kept['id']}").status_code == 204
    assert files.get(f"/v1/files/{kept['id']}").status_code == 404
    assert kept["id"] not in {stored.name for stored in keeper.service.files.walk()}


def test_pages_of_the_list_hold_every_file_once(files: httpx.Client) -> None:
    ids = {files.post("/v1/files", content=b"1").json()["id"] for _ in range(5)}
    found, cursor = [], None
    while True:
        page = files.get("/v1/files", params={"limit": 2} | ({"cursor": cursor} if cursor else {})).json()
        found += [file["id"] for file in page["files"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert len(found) == len(set(found))
    assert ids <= set(found)
    assert found == sorted(found, reverse=True)


def test_a_record_without_bytes_is_a_404(files: httpx.Client, keeper: LiveService) -> None:
    kept = files.post("/v1/files", content=b"1").json()
    keeper.service.files.delete("local", kept["id"])
    assert files.get(f"/v1/files/{kept['id']}/content").status_code == 404
