"""The pages work without any other host, and say what the catalogue and the faults say."""

from __future__ import annotations

import re

import httpx
import pytest

from app.api.refusals import known_problems
from tests.service.live import LiveService


@pytest.fixture
def pages(keyed_service: LiveService):
    with keyed_service.client() as client:
        yield client


@pytest.mark.parametrize("path", ["/", "/docs", "/redoc", "/problems/timeout"])
def test_a_page_loads_nothing_from_elsewhere(pages: httpx.Client, path: str) -> None:
    page = pages.get(path).text
    assert not re.findall(r'(?:src|href|url)\s*=\s*"(?:https?:)?//[^"]*"', page)


@pytest.mark.parametrize("path", ["/", "/docs", "/redoc", "/problems/timeout"])
def test_everything_a_page_loads_is_there(pages: httpx.Client, path: str) -> None:
    loaded = re.findall(r'(?:src|href|spec-url|data-document)="([^"]+)"', pages.get(path).text)
    assert loaded
    assert {link: pages.get(link).status_code for link in loaded} == dict.fromkeys(loaded, 200)


@pytest.mark.parametrize("path", ["/", "/docs", "/redoc", "/problems/timeout"])
def test_a_page_lets_no_inline_script_and_no_other_host_in(pages: httpx.Client, path: str) -> None:
    policy = pages.get(path).headers["Content-Security-Policy"]
    scripts = re.findall(r"script-src ([^;]*)", policy)
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert set(scripts) <= {"'self'"}
    assert "<script>" not in pages.get(path).text


def test_the_start_page_lists_the_operations(pages: httpx.Client) -> None:
    assert "POST /v1/tests/echo" in pages.get("/").text


@pytest.mark.parametrize("slug", sorted(known_problems()))
def test_every_type_of_problem_has_a_page(pages: httpx.Client, slug: str) -> None:
    response = pages.get(f"/problems/{slug}")
    assert response.status_code == 200
    assert str(known_problems()[slug].status) in response.text


def test_a_page_quotes_no_caller(pages: httpx.Client) -> None:
    response = pages.get("/problems/%3Cscript%3Ealert(1)%3C%2Fscript%3E")
    assert response.status_code == 404
    assert response.headers["Content-Type"] == "application/problem+json"
