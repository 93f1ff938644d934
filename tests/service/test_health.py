"""Health and metrics: what a platform and Prometheus see."""

from __future__ import annotations

import re

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.service.live import LiveService, live_service

QUEUED = {"Prefer": "respond-async"}


def sample(text: str, name: str, **labels: str) -> float:
    found = [
        sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    ]
    return sum(found)


def test_a_service_with_workers_is_ready(client: httpx.Client) -> None:
    response = client.get("/health/ready")
    assert (response.status_code, response.json()) == (200, {"status": "ready", "checks": {"database": "ok", "workers": "ok"}})


def test_an_api_without_any_worker_is_not_ready(tmp_path) -> None:
    with live_service(tmp_path, worker=False) as live, live.client() as client:
        assert client.get("/health/live").status_code == 200
        response = client.get("/health/ready")
    assert (response.status_code, response.json()["checks"]["workers"]) == (503, "none is connected")


def test_a_service_without_its_database_lives_but_is_not_ready(
    client: httpx.Client, service: LiveService, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable() -> None:
        raise OSError("no route to db.internal")

    monkeypatch.setattr(service.service.store, "ping", unreachable)
    assert client.get("/health/live").status_code == 200
    response = client.get("/health/ready")
    assert (response.status_code, response.json()["checks"]) == (503, {"database": "does not answer"})


def test_the_metrics_count_requests_by_route_and_status(client: httpx.Client) -> None:
    labels = {"method": "GET", "route": "/v1/jobs/{job_id}", "status": "404"}
    before = sample(client.get("/metrics").text, "foresolve_http_requests_total", **labels)
    client.get("/v1/jobs/x")
    client.get("/v1/jobs/y")
    assert sample(client.get("/metrics").text, "foresolve_http_requests_total", **labels) == before + 2


def test_paths_that_are_not_there_make_no_labels_of_their_own(client: httpx.Client) -> None:
    client.get("/some/made/up/path")
    client.request("MADEUP", "/v1/jobs")
    text = client.get("/metrics").text
    assert "made" not in text.lower()


def test_the_metrics_have_the_queues_length(tmp_path) -> None:
    with live_service(tmp_path, worker=False) as live, live.client() as client:
        for _ in range(3):
            client.post("/v1/tests/echo", json={"text": "a"}, headers=QUEUED)
        assert sample(client.get("/metrics").text, "foresolve_jobs", status="queued") == 3


def test_the_metrics_time_jobs(client: httpx.Client) -> None:
    labels = {"operation": "echo", "status": "succeeded"}
    before = sample(client.get("/metrics").text, "foresolve_job_seconds_count", **labels)
    client.post("/v1/tests/echo", json={"text": "a"})
    assert sample(client.get("/metrics").text, "foresolve_job_seconds_count", **labels) == before + 1


def test_the_metrics_have_prometheus_content_type(client: httpx.Client) -> None:
    assert re.match("text/plain; version=", client.get("/metrics").headers["Content-Type"])
