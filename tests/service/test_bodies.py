"""Request bodies: compressed, broken, too large, too deep, too slow."""

from __future__ import annotations

import gzip
import json
import socket
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest
import zstandard

from app.api import body as reading
from tests.service.live import LiveService, live_service, until

LIMIT = 2**20
QUEUED = {"Prefer": "respond-async"}


@pytest.fixture(scope="module")
def small_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    """Takes bodies of at most a mebibyte, and keeps those above 64 KiB as files."""
    with live_service(
        tmp_path_factory.mktemp("bodies"), worker=False, max_body_bytes=LIMIT, inline_body_bytes=2**16, max_file_bytes=LIMIT
    ) as live:
        yield live


@pytest.fixture
def post(small_service: LiveService):
    with small_service.client() as client:

        def post(content, path: str = "/v1/tests/echo", **headers: str) -> httpx.Response:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            return client.post(path, content=content, headers={"Content-Type": "application/json"} | QUEUED | named)

        yield post


def text_of(length: int) -> bytes:
    return json.dumps({"text": "a" * length}).encode()


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_a_compressed_body_is_read(small_service: LiveService, post, compress) -> None:
    encoding = {gzip.compress: "gzip", zstandard.compress: "zstd"}[compress]
    response = post(compress(text_of(100)), Content_Encoding=encoding)
    assert response.status_code == 202


def test_members_of_a_gzip_body_follow_one_another(post) -> None:
    content = text_of(100)
    assert post(gzip.compress(content[:50]) + gzip.compress(content[50:]), Content_Encoding="gzip").status_code == 202


@pytest.mark.parametrize("encoding", ["br", "deflate", "gzip, zstd", "unknown"])
def test_an_encoding_it_does_not_know_is_refused_with_those_it_does(post, encoding: str) -> None:
    response = post(text_of(1), Content_Encoding=encoding)
    assert response.status_code == 415
    assert response.headers["Accept-Encoding"] == "gzip, zstd"


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
@pytest.mark.parametrize("damage", ["cut", "other"])
def test_a_broken_compressed_body_is_a_400(post, encoding: str, damage: str) -> None:
    whole = gzip.compress(text_of(5000)) if encoding == "gzip" else zstandard.compress(text_of(5000))
    response = post(whole[:-3] if damage == "cut" else b"no compression at all", Content_Encoding=encoding)
    assert response.status_code == 400
    assert response.json()["type"] == "/problems/malformed-body"


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
@pytest.mark.parametrize("path", ["/v1/tests/echo", "/v1/files"])
def test_a_bomb_stops_at_the_limit(post, monkeypatch: pytest.MonkeyPatch, encoding: str, path: str) -> None:
    largest = 0
    for decoder in (reading.Gzip, reading.Zstd):
        original = decoder.decode

        def measured(self, piece, room, original=original):
            nonlocal largest
            output = original(self, piece, room)
            largest = max(largest, len(output))
            return output

        monkeypatch.setattr(decoder, "decode", measured)
    zeros = bytes(200 * LIMIT)
    bomb = gzip.compress(zeros) if encoding == "gzip" else zstandard.compress(zeros)
    response = post(bomb, path, Content_Encoding=encoding)
    assert response.status_code == 413
    # A step of zstd may yield 128 blocks of 128 KiB beyond the limit.
    assert LIMIT < largest <= LIMIT + 128 * 2**17


def test_a_body_of_100_megabytes_is_refused_by_its_length(post) -> None:
    response = post(bytes(100_000_000))
    assert response.status_code == 413
    assert "FORESOLVE_MAX_BODY_BYTES" in response.json()["detail"]


def test_a_long_body_of_undeclared_length_is_refused(post) -> None:
    response = post(iter([b"[" + b"1," * 2**16] * 100))
    assert response.status_code == 413


def test_a_refused_body_leaves_no_file(small_service: LiveService, post) -> None:
    before = list(small_service.service.files.walk())
    assert post(iter([b"[" + b"1," * 2**16] * 100)).status_code == 413
    assert list(small_service.service.files.walk()) == before


def test_a_body_that_waits_for_leave_is_refused_unsent(small_service: LiveService) -> None:
    address = urlsplit(small_service.url)
    with socket.create_connection((address.hostname, address.port)) as connection:
        head = "POST /v1/tests/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Content-Length: {10 * LIMIT}\r\nExpect: 100-continue\r\n\r\n".encode())
        assert b" 413 " in connection.makefile("rb").readline()


def test_a_large_body_is_kept_as_a_file_for_the_worker(small_service: LiveService, post) -> None:
    job = small_service.service.store.get(post(text_of(2**17)).json()["id"])
    assert job.request_file is not None
    assert small_service.service.files.open(job.owner, job.request_file).read() == text_of(2**17)


def test_a_repeated_large_body_is_kept_once(small_service: LiveService, post) -> None:
    first = post(text_of(2**17), Idempotency_Key="large").json()
    before = list(small_service.service.files.walk())
    second = post(text_of(2**17), Idempotency_Key="large").json()
    assert second["id"] == first["id"]
    assert list(small_service.service.files.walk()) == before


@pytest.mark.parametrize(
    ("content", "column"),
    [(b"", 1), (b"{,", 2), (b'{"text": nan}', 10), (b'{"text": "\xff"}', None), (b'{"text": "\\ud800"}', None), (b"{} {}", 4)],
)
def test_invalid_json_is_a_400_that_says_where(post, content: bytes, column: int | None) -> None:
    response = post(content)
    assert response.status_code == 400
    assert response.json()["type"] == "/problems/invalid-json"
    assert column in (None, response.json()["column"])


@pytest.mark.parametrize(
    ("content", "pointer"),
    [
        (b'{"text": NaN}', "/text"),
        (b'{"a": [0, {"b/c": -Infinity}], "d": NaN}', "/a/1/b~1c"),
        (b'{"text": 1e999}', "/text"),
    ],
)
def test_a_number_that_is_not_finite_is_a_422_that_names_its_field(post, content: bytes, pointer: str) -> None:
    response = post(content)
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == pointer


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_deeply_nested_json_is_a_400(post, opening: bytes) -> None:
    assert post(opening * 10_000).status_code == 400


@pytest.mark.parametrize("opening", [b"[", b'{"text":'])
def test_json_nested_as_deeply_as_can_be_parsed_is_a_422(post, opening: bytes) -> None:
    depth = 1000
    closing = {b"[": b"]", b'{"text":': b"}"}[opening]
    assert post(opening * depth + b"1" + closing * depth).status_code == 422


@pytest.mark.parametrize(
    "content", [b"[]", b"1", b'"a"', b"null", b'{"text": 1}', b'{"text": "a", "times": 11}', b'{"txt": "a"}']
)
def test_json_that_the_model_refuses_is_a_422_with_pointers(post, content: bytes) -> None:
    response = post(content)
    assert response.status_code == 422
    assert all(set(error) == {"pointer", "detail"} for error in response.json()["errors"])


@pytest.mark.parametrize("content", [b'{"text": 1, "text": "a"}', b'{"text": "a",\n"options": {"seed": 1, "s\\u0065ed": 2}}'])
def test_a_member_that_occurs_twice_is_a_422_that_says_where(post, content: bytes) -> None:
    response = post(content)
    assert response.status_code == 422
    assert response.json()["line"] == 1 + content.count(b"\n")


def test_equal_names_in_different_objects_are_no_repetition(post) -> None:
    assert post(b'{"text": "{\\"text\\": 1", "options": {"seed": 1}, "times": 2}').status_code == 202


@pytest.mark.parametrize(
    "content_type", ["application/json; charset=utf-8", "Application/JSON", 'application/json;charset="UTF-8"']
)
def test_json_may_name_its_charset(post, content_type: str) -> None:
    assert post(text_of(1), Content_Type=content_type).status_code == 202


@pytest.mark.parametrize(
    "content_type", ["application/json; charset=utf-16", "application/jsonp", "application/problem+json", "text/json"]
)
def test_other_media_types_are_a_415(post, content_type: str) -> None:
    assert post(text_of(1), Content_Type=content_type).status_code == 415


def test_a_body_that_does_not_come_is_a_408(small_service: LiveService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "GRACE_SECONDS", 0.05)
    address = urlsplit(small_service.url)
    with socket.create_connection((address.hostname, address.port)) as connection:
        connection.sendall(
            b"POST /v1/tests/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{"
        )
        assert b" 408 " in connection.makefile("rb").readline()


def test_a_body_that_trickles_is_a_408(small_service: LiveService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "GRACE_SECONDS", 0.3)
    address = urlsplit(small_service.url)
    with socket.create_connection((address.hostname, address.port)) as connection:
        connection.sendall(
            b"POST /v1/tests/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
        )
        answered = threading.Event()

        def trickle() -> None:
            while not answered.wait(0.02):
                try:
                    connection.sendall(b"1")
                except OSError:
                    return

        sender = threading.Thread(target=trickle)
        sender.start()
        status = connection.makefile("rb").readline()
        answered.set()
        sender.join()
    assert b" 408 " in status


def test_a_client_that_leaves_in_mid_body_makes_no_job(small_service: LiveService) -> None:
    address = urlsplit(small_service.url)
    with small_service.client() as client:
        before = client.get("/v1/jobs").json()
        with socket.create_connection((address.hostname, address.port)) as connection:
            connection.sendall(
                b"POST /v1/tests/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{"
            )
        until(lambda: 'status="499"' in client.get("/metrics").text)
        assert client.get("/v1/jobs").json() == before
