"""Server-sent events: complete, in order, resumable, and over when the job is."""

from __future__ import annotations

import httpx
import pytest

from app.api import events as api
from app.jobs.store import delete_jobs
from tests.service.live import live_service, read, watch

SLEEP = "/v1/tests/sleep"
QUEUED = {"Prefer": "respond-async"}


@pytest.fixture
def job(client: httpx.Client) -> str:
    return client.post(SLEEP, json={"steps": 8, "pause": 0.1}, headers=QUEUED).headers["Location"]


def test_a_stream_tells_everything_from_queued_to_the_end(client: httpx.Client, job: str) -> None:
    events = watch(client, job)
    assert [number for number, _, _ in events] == list(range(1, len(events) + 1))
    kinds = [kind for _, kind, _ in events]
    assert kinds[:2] == ["queued", "started"]
    assert kinds[-1] == "succeeded"
    assert set(kinds[2:-1]) == {"progress"}


def test_progress_carries_what_was_reported(client: httpx.Client, job: str) -> None:
    values = [data["value"] for _, kind, data in watch(client, job) if kind == "progress"]
    assert values == sorted(values)
    assert values[-1] == 8


def test_a_stream_resumed_in_the_middle_loses_nothing(client: httpx.Client, job: str) -> None:
    first = watch(client, job, count=3)
    rest = watch(client, job, Last_Event_ID=str(first[-1][0]))
    assert first + rest == watch(client, job)


def test_a_stream_can_be_resumed_by_its_address(client: httpx.Client, job: str) -> None:
    whole = watch(client, job)
    with client.stream("GET", f"{job}/events", params={"after": 2}) as stream:
        assert list(read(stream.iter_lines())) == whole[2:]


def test_after_the_end_there_is_nothing_more(client: httpx.Client, job: str) -> None:
    last = watch(client, job)[-1][0]
    assert client.get(f"{job}/events", headers={"Last-Event-ID": str(last)}).status_code == 204
    assert client.get(f"{job}/events", headers={"Last-Event-ID": str(last + 7)}).status_code == 204


def test_a_reader_ahead_of_a_running_job_is_let_go_at_its_end(client: httpx.Client, job: str) -> None:
    assert watch(client, job, Last_Event_ID="1000") == []
    assert client.get(job).json()["status"] == "succeeded"


@pytest.mark.parametrize("number", ["-1", "x", "1e3", "99999999999999999999"])
def test_a_number_that_no_event_has_is_a_422(client: httpx.Client, job: str, number: str) -> None:
    assert client.get(f"{job}/events", headers={"Last-Event-ID": number}).status_code == 422


def test_a_silent_stream_shows_that_it_lives(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "HEARTBEAT_SECONDS", 0.05)
    with live_service(tmp_path, worker=False, poll_seconds=0.02) as live, live.client() as client:
        job = client.post(SLEEP, json={}, headers=QUEUED).headers["Location"]
        with client.stream("GET", f"{job}/events") as stream:
            assert ": ping" in stream.iter_lines()


def test_a_stream_ends_when_the_service_stops(tmp_path) -> None:
    with live_service(tmp_path, worker=False) as live, live.client() as client:
        job = client.post(SLEEP, json={}, headers=QUEUED).headers["Location"]
        with client.stream("GET", f"{job}/events") as stream:
            lines = stream.iter_lines()
            assert any("queued" in line for line in lines)
            live.server.should_exit = True
            assert [line for line in lines if line.startswith("event")] == []


def test_a_stream_of_a_job_that_is_swept_away_ends(tmp_path) -> None:
    with live_service(tmp_path, worker=False, poll_seconds=0.02) as live, live.client() as client:
        job = client.post(SLEEP, json={}, headers=QUEUED).json()
        with client.stream("GET", job["links"]["events"]) as stream:
            lines = stream.iter_lines()
            assert any("queued" in line for line in lines)
            with live.service.store.writing() as connection:
                delete_jobs(connection, [job["id"]])
            assert [line for line in lines if line.startswith("event")] == []
