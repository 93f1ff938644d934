"""What every request gets: an id, safe headers, a problem document for what is wrong, and never a stack trace."""

from __future__ import annotations

import re

import httpx
import pytest
from structlog.testing import capture_logs

from tests.service.live import LiveService


@pytest.mark.parametrize("sent", ["a", "trace-1.2_3", "A" * 64])
def test_a_sane_request_id_is_kept(client: httpx.Client, sent: str) -> None:
    assert client.get("/health/live", headers={"X-Request-Id": sent}).headers["X-Request-Id"] == sent


@pytest.mark.parametrize("sent", ["", "A" * 65, "a b", 'a"b', "a=b", "<script>"])
def test_any_other_request_id_is_replaced(client: httpx.Client, sent: str) -> None:
    assert re.fullmatch("[0-9a-f]{32}", client.get("/health/live", headers={"X-Request-Id": sent}).headers["X-Request-Id"])


@pytest.mark.parametrize("path", ["/", "/docs", "/v1/jobs", "/nowhere", "/static/page.css", "/v1/jobs/x"])
def test_every_response_has_safe_headers(client: httpx.Client, path: str) -> None:
    headers = client.get(path).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "server" not in headers


def test_answers_of_the_api_are_not_cached(client: httpx.Client) -> None:
    assert client.get("/v1/jobs").headers["Cache-Control"] == "no-store"


def test_a_path_that_is_not_there_is_a_problem(client: httpx.Client) -> None:
    response = client.get("/v1/nowhere?x=1")
    assert (response.status_code, response.headers["Content-Type"]) == (404, "application/problem+json")
    assert response.json() == {
        "type": "/problems/not-found",
        "title": "There is no such thing",
        "status": 404,
        "instance": "/v1/nowhere",
    }


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/v1/jobs", "GET"),
        ("PATCH", "/v1/files/x", "DELETE, GET"),
        ("GET", "/v1/tests/echo", "POST"),
        ("PUT", "/v1/files", "GET, POST"),
    ],
)
def test_a_method_that_is_not_allowed_is_told_which_are(client: httpx.Client, method: str, path: str, allowed: str) -> None:
    response = client.request(method, path)
    assert (response.status_code, response.headers["Allow"]) == (405, allowed)
    assert response.json()["type"] == "/problems/method-not-allowed"


def test_a_slash_too_many_is_not_redirected(client: httpx.Client) -> None:
    assert client.get("/v1/jobs/").status_code == 404


def test_a_bug_of_the_service_leaks_nothing_but_an_incidents_id(
    client: httpx.Client, service: LiveService, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret detail of the implementation")

    monkeypatch.setattr(service.service.store, "list", broken)
    with capture_logs() as logs:
        response = client.get("/v1/jobs")
    assert response.status_code == 500
    assert not any(word in response.text for word in ("secret", "Traceback", "RuntimeError", ".py"))
    assert [entry["incident"] for entry in logs if "incident" in entry] == [response.json()["incident"]]


def test_a_database_that_does_not_answer_is_a_503(
    client: httpx.Client, service: LiveService, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlalchemy.exc import OperationalError

    def unreachable(*_: object, **__: object) -> None:
        raise OperationalError("SELECT 1", {}, Exception("connection refused to db.internal"))

    monkeypatch.setattr(service.service.store, "list", unreachable)
    response = client.get("/v1/jobs")
    assert (response.status_code, response.json()["type"]) == (503, "/problems/not-ready")
    assert response.headers["Retry-After"]
    assert "internal" not in response.text


@pytest.mark.parametrize("path", ["/v1/jobs/%0d%0aX-Injected:%201", "/v1/operations/%0aX-Injected", "/problems/%0d%0aa"])
def test_a_path_cannot_inject_a_header(client: httpx.Client, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 404
    assert "X-Injected" not in response.headers


def test_a_header_of_the_caller_cannot_inject_one(client: httpx.Client) -> None:
    response = client.post(
        "/v1/tests/echo", json={"text": "a"}, headers={"Prefer": 'wait=1; x="\\r\\nX-Injected: 1"', "Idempotency-Key": "a%0d%0ab"}
    )
    assert response.headers["Preference-Applied"] == "wait=1"
    assert "X-Injected" not in response.headers
