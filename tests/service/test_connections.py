"""Connections that send no whole request cost little, and not for long."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

import orjson
import pytest

from app import connection as connections
from tests.service.live import DEADLINE_SECONDS, LiveService

HEAD = b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n"


@contextlib.contextmanager
def connected(service: LiveService) -> Iterator[socket.socket]:
    address = urlsplit(service.url)
    with socket.create_connection((address.hostname, address.port), timeout=DEADLINE_SECONDS) as connection:
        yield connection


def rest_of(connection: socket.socket) -> bytes:
    """What arrives until the service closes the connection; a timeout fails the test."""
    received = b""
    with contextlib.suppress(ConnectionError):
        while piece := connection.recv(65536):
            received += piece
    return received


@pytest.mark.parametrize("beginning", [b"", b"GET", HEAD, HEAD + b"X-Long: "])
def test_a_connection_that_sends_no_whole_head_is_closed(
    service: LiveService, monkeypatch: pytest.MonkeyPatch, beginning: bytes
) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.1)
    with connected(service) as connection:
        connection.sendall(beginning)
        assert rest_of(connection) == b""


def test_a_head_that_trickles_is_not_waited_for(service: LiveService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 1.0)
    with connected(service) as connection:
        connection.sendall(HEAD)
        assert _ends_though_it_is_sent(connection, b"X: y\r\n") == b""


def test_a_body_that_was_answered_already_is_not_waited_for(service: LiveService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 1.0)
    with connected(service) as connection:
        connection.sendall(HEAD + b"Content-Length: 1000000\r\n\r\n")
        assert _ends_though_it_is_sent(connection, b"x").startswith(b"HTTP/1.1 200 ")


def test_a_wait_for_an_answer_is_no_wait_for_a_head(service: LiveService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 1.0)
    with service.client() as client:
        job = client.post("/v1/tests/sleep", json={"steps": 15, "pause": 0.1})
    assert job.status_code == 200


@pytest.mark.parametrize(
    "head",
    [
        HEAD + b"X-Long: " + b"a" * connections.LARGEST_HEAD,
        HEAD + b"X: y\r\n" * connections.LARGEST_HEAD,
        b"GET /" + b"a" * connections.LARGEST_HEAD,
    ],
    ids=["one header", "many headers", "path"],
)
def test_a_head_without_end_is_refused(service: LiveService, head: bytes) -> None:
    with connected(service) as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(head)
        received = rest_of(connection)
    # Where the service closes before it has read all, the network may take the answer back.
    assert not received or received.startswith(b"HTTP/1.1 431 ")


def test_trailers_without_end_are_refused(service: LiveService) -> None:
    chunked = HEAD.replace(b"GET", b"POST").replace(b"/health/live", b"/v1/files") + b"Transfer-Encoding: chunked\r\n\r\n"
    with connected(service) as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(chunked + b"1\r\nx\r\n0\r\n")
            for _ in range(64):
                connection.sendall(b"X: " + b"y" * 16384)
        assert not rest_of(connection).startswith(b"HTTP/1.1 2")


def test_what_is_no_http_is_a_problem(service: LiveService) -> None:
    with connected(service) as connection:
        connection.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        head, _, body = rest_of(connection).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"application/problem+json" in head
    assert orjson.loads(body)["type"] == "/problems/malformed-request"


def _ends_though_it_is_sent(connection: socket.socket, piece: bytes) -> bytes:
    """Return what arrives until the service closes the connection, while `piece` is sent again and again."""
    ended = threading.Event()

    def trickle() -> None:
        while not ended.wait(0.02):
            try:
                connection.sendall(piece)
            except OSError:
                return

    sender = threading.Thread(target=trickle)
    sender.start()
    try:
        return rest_of(connection)
    finally:
        ended.set()
        sender.join()
