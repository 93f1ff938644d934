"""No web page can drive a service that has no keys: Host, Origin and content types are checked."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

import httpx
import pytest

from tests.service.conftest import BOOTSTRAP_KEY
from tests.service.live import LiveService, live_service


@pytest.fixture(scope="module")
def open_service(tmp_path_factory: pytest.TempPathFactory):
    with live_service(
        tmp_path_factory.mktemp("origin"), worker=False, allowed_hosts="solve.example", cors_origins="https://board.example"
    ) as live:
        yield live


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example:8000", "0.0.0.0", "[::2]:8000", ""]
)
def test_a_foreign_host_is_refused(open_service: LiveService, host: str) -> None:
    response = httpx.get(f"{open_service.url}/v1/jobs", headers={"Host": host})
    assert response.status_code == 421
    assert response.json()["type"] == "/problems/foreign-host"


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:1", "127.0.0.1:8000", "127.8.8.8", "[::1]:8000", "solve.example", "solve.example:443"]
)
def test_the_services_own_hosts_are_answered(open_service: LiveService, host: str) -> None:
    assert httpx.get(f"{open_service.url}/v1/jobs", headers={"Host": host}).status_code == 200


def test_two_hosts_are_refused(open_service: LiveService) -> None:
    with socket.create_connection((urlsplit(open_service.url).hostname, urlsplit(open_service.url).port)) as connection:
        connection.sendall(b"GET /v1/jobs HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
        assert b" 200 " not in connection.makefile("rb").readline()


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:3000", "http://127.0.0.1:1", "file://"])
def test_a_foreign_origin_is_refused(open_service: LiveService, origin: str) -> None:
    response = httpx.post(f"{open_service.url}/v1/tests/echo", json={"text": "a"}, headers={"Origin": origin})
    assert response.status_code == 403
    assert response.json()["type"] == "/problems/foreign-origin"


def test_a_refused_request_makes_no_job(open_service: LiveService) -> None:
    with open_service.client() as client:
        before = client.get("/v1/jobs").json()
        client.post("/v1/tests/echo", json={"text": "a"}, headers={"Origin": "https://evil.example"})
        assert client.get("/v1/jobs").json() == before


def test_a_page_of_the_service_itself_may_post(open_service: LiveService) -> None:
    headers = {"Origin": open_service.url, "Prefer": "respond-async", "Sec-Fetch-Site": "same-origin"}
    assert httpx.post(f"{open_service.url}/v1/tests/echo", json={"text": "a"}, headers=headers).status_code == 202


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_browsers_word_that_a_post_crosses_sites_is_taken(open_service: LiveService, site: str) -> None:
    response = httpx.post(f"{open_service.url}/v1/tests/echo", json={"text": "a"}, headers={"Sec-Fetch-Site": site})
    assert response.status_code == 403


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]
)
def test_what_a_form_can_send_is_not_taken_as_json(open_service: LiveService, content_type: str) -> None:
    headers = {"Content-Type": content_type} if content_type else {}
    response = httpx.post(f"{open_service.url}/v1/tests/echo", content=b'{"text": "a"}', headers=headers)
    assert response.status_code == 415


def test_an_allowed_origin_is_answered_with_cors_headers(open_service: LiveService) -> None:
    response = httpx.get(f"{open_service.url}/v1/jobs", headers={"Origin": "https://board.example"})
    assert response.status_code == 200
    assert response.headers["Access-Control-Allow-Origin"] == "https://board.example"


def test_an_allowed_origins_preflight_names_the_headers_of_the_protocol(open_service: LiveService) -> None:
    headers = {
        "Origin": "https://board.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type, idempotency-key, prefer",
    }
    response = httpx.options(f"{open_service.url}/v1/tests/echo", headers=headers)
    assert response.status_code == 200
    assert "Idempotency-Key" in response.headers["Access-Control-Allow-Headers"]


def test_cors_is_off_by_default(keyed_service: LiveService) -> None:
    response = httpx.get(f"{keyed_service.url}/health/live", headers={"Origin": "https://board.example"})
    assert not [name for name in response.headers if name.startswith("access-control-")]


def test_with_keys_the_listed_hosts_alone_are_answered(tmp_path) -> None:
    key_file = tmp_path / "key"
    key_file.write_text(BOOTSTRAP_KEY)
    settings = {"worker": False, "bootstrap_key_file": key_file, "allowed_hosts": "solve.example"}
    with live_service(tmp_path, **settings) as live, live.client(BOOTSTRAP_KEY) as client:
        statuses = [client.get("/v1/jobs", headers={"Host": host}).status_code for host in ("solve.example", "evil.example")]
        probe = client.get("/health/live", headers={"Host": "10.0.0.7:8000"}).status_code
    assert statuses == [200, 421]
    assert probe == 200
