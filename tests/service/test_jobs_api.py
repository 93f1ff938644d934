"""Jobs over HTTP: list, show, result, cancel, resume, delete."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from tests.service.live import LiveService, live_service, until, watch

SLEEP = "/v1/tests/sleep"
QUEUED = {"Prefer": "respond-async"}
LONG = {"steps": 10_000, "pause": 0.02}


def running(client: httpx.Client, body: dict) -> str:
    """Start a job and return its path once it has reported something."""
    path = client.post(SLEEP, json=body, headers=QUEUED).headers["Location"]
    until(lambda: client.get(path).json()["progress"])
    return path


@pytest.fixture(scope="module")
def queue(tmp_path_factory: pytest.TempPathFactory):
    """A service without workers, with seven queued jobs and two cancelled ones."""
    with live_service(tmp_path_factory.mktemp("queue"), worker=False) as live, live.client() as client:
        for name in ("echo", "sleep", "echo", "sleep", "echo", "sleep", "echo"):
            client.post(f"/v1/tests/{name}", json={"text": "a"} if name == "echo" else {}, headers=QUEUED).raise_for_status()
        for _ in range(2):
            path = client.post(SLEEP, json={}, headers=QUEUED).headers["Location"]
            client.post(f"{path}/cancel")
        yield client


def listed(client: httpx.Client, **query: str | int) -> list[dict]:
    return client.get("/v1/jobs", params=query).raise_for_status().json()["jobs"]


def test_the_list_is_newest_first(queue: httpx.Client) -> None:
    moments = [job["created_at"] for job in listed(queue)]
    assert len(moments) == 9
    assert moments == sorted(moments, reverse=True)


def test_pages_of_the_list_hold_every_job_once(queue: httpx.Client) -> None:
    found, cursor = [], ""
    while cursor is not None:
        page = queue.get("/v1/jobs", params={"limit": 4} | ({"cursor": cursor} if cursor else {})).json()
        found += [job["id"] for job in page["jobs"]]
        cursor = page["next_cursor"]
    assert found == [job["id"] for job in listed(queue)]


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({"status": "queued"}, 7),
        ({"status": "cancelled"}, 2),
        ({"operation": "echo"}, 4),
        ({"operation": "sleep", "status": "queued"}, 3),
        ({"operation": "none"}, 0),
    ],
)
def test_filters_narrow_the_list(queue: httpx.Client, query: dict, count: int) -> None:
    assert len(listed(queue, **query)) == count


def test_the_list_can_be_cut_at_a_moment(queue: httpx.Client) -> None:
    earlier, later = (datetime.fromisoformat(listed(queue)[place]["created_at"]) for place in (4, 3))
    between = (earlier + (later - earlier) / 2).isoformat()
    after, before = listed(queue, created_after=between), listed(queue, created_before=between)
    assert (len(after), len(before)) == (4, 5)


def test_a_moment_may_be_told_in_any_zone(queue: httpx.Client) -> None:
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    assert listed(queue, created_after=tomorrow.isoformat()) == []


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=201",
        "limit=x",
        "status=done",
        "cursor=!",
        "cursor=AAAA",
        "created_after=soon",
        "created_after=0",
        "created_after=2026-01-01T00:00:00",
        "operation=%00",
    ],
)
def test_a_query_that_makes_no_sense_is_a_422_that_names_the_parameter(queue: httpx.Client, query: str) -> None:
    response = queue.get(f"/v1/jobs?{query}")
    assert response.status_code == 422
    assert query.partition("=")[0] in response.text


@pytest.mark.parametrize("job_id", ["job_" + "0" * 32, "x", "job_..%2f..", "%00", "job_" + "0" * 31 + "%0A"])
@pytest.mark.parametrize(
    ("method", "suffix"),
    [("GET", ""), ("GET", "/result"), ("GET", "/events"), ("POST", "/cancel"), ("POST", "/resume"), ("DELETE", "")],
)
def test_a_job_that_is_not_there_is_a_404(queue: httpx.Client, job_id: str, method: str, suffix: str) -> None:
    assert queue.request(method, f"/v1/jobs/{job_id}{suffix}").status_code == 404


def test_the_result_of_a_job_that_has_not_ended_is_a_202(queue: httpx.Client) -> None:
    job = listed(queue, status="queued")[0]
    response = queue.get(job["links"]["result"])
    assert response.status_code == 202
    assert response.headers["Retry-After"]
    assert response.json() == job


def test_a_queued_job_is_cancelled_at_once(queue: httpx.Client) -> None:
    path = queue.post(SLEEP, json={}, headers=QUEUED).headers["Location"]
    response = queue.post(f"{path}/cancel")
    assert (response.status_code, response.json()["status"]) == (200, "cancelled")
    assert queue.get(f"{path}/result").status_code == 409
    assert queue.delete(path).status_code == 204


def test_a_job_that_has_not_ended_cannot_be_deleted(queue: httpx.Client) -> None:
    job = listed(queue, status="queued")[0]
    response = queue.delete(job["links"]["self"])
    assert (response.status_code, response.json()["type"]) == (409, "/problems/job-not-ended")


def test_a_job_without_a_checkpoint_cannot_be_resumed(queue: httpx.Client) -> None:
    job = listed(queue, status="cancelled")[0]
    response = queue.post(f"{job['links']['self']}/resume")
    assert (response.status_code, response.json()["type"]) == (409, "/problems/not-resumable")


def test_the_result_of_a_job_is_what_its_request_was_answered(client: httpx.Client) -> None:
    answer = client.post("/v1/tests/echo", json={"text": "a"})
    result = client.get(f"{answer.headers['Location']}/result")
    assert (result.status_code, result.content) == (200, answer.content)


def test_the_result_can_be_waited_for(client: httpx.Client) -> None:
    path = client.post(SLEEP, json={"steps": 5, "pause": 0.05}, headers=QUEUED).headers["Location"]
    response = client.get(f"{path}/result", headers={"Prefer": "wait=20"})
    assert (response.status_code, response.json()) == (200, {"steps": 5})


def test_a_job_can_be_waited_for(client: httpx.Client) -> None:
    path = client.post(SLEEP, json={"steps": 5, "pause": 0.05}, headers=QUEUED).headers["Location"]
    assert client.get(path, headers={"Prefer": "wait=20"}).json()["status"] == "succeeded"


def test_a_cancelled_job_answers_with_its_best_so_far(client: httpx.Client) -> None:
    path = running(client, LONG)
    response = client.post(f"{path}/cancel")
    assert (response.status_code, response.json()["cancel_requested"]) == (202, True)
    result = client.get(f"{path}/result", headers={"Prefer": "wait=20"})
    assert result.status_code == 200
    assert result.headers["Foresolve-Job-Status"] == "cancelled"
    assert 0 < result.json()["steps"] < LONG["steps"]


def test_a_request_that_waits_is_answered_when_its_job_is_cancelled(client: httpx.Client, service: LiveService) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with service.client() as other, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(other.post, SLEEP, json=LONG, headers={"Idempotency-Key": "cancelled while waiting"})
        job = until(lambda: listed(client, status="running", operation="sleep"))[0]
        client.post(job["links"]["cancel"])
        response = waiting.result()
    assert (response.status_code, response.headers["Foresolve-Job-Status"]) == (200, "cancelled")


def test_cancelling_an_ended_job_changes_nothing(client: httpx.Client) -> None:
    path = client.post("/v1/tests/echo", json={"text": "a"}).headers["Location"]
    before = client.get(path).json()
    response = client.post(f"{path}/cancel")
    assert (response.status_code, response.json()) == (200, before)


def test_a_cancelled_job_with_a_checkpoint_goes_on_where_it_was(client: httpx.Client) -> None:
    path = running(client, {"steps": 60, "pause": 0.02, "with_checkpoint": True})
    client.post(f"{path}/cancel")
    until(lambda: client.get(path).json()["status"] == "cancelled")
    response = client.post(f"{path}/resume")
    assert (response.status_code, response.json()["status"]) == (202, "queued")
    assert client.get(f"{path}/result", headers={"Prefer": "wait=20"}).json() == {"steps": 60}
    values = [data["value"] for _, kind, data in watch(client, path) if kind == "progress"]
    assert values == sorted(set(values))


def test_a_deleted_job_is_gone(client: httpx.Client) -> None:
    path = client.post("/v1/tests/echo", json={"text": "a"}).headers["Location"]
    assert client.delete(path).status_code == 204
    assert [client.get(path + suffix).status_code for suffix in ("", "/result", "/events")] == [404, 404, 404]


def test_a_job_tells_when_what_happened(client: httpx.Client) -> None:
    before = time.time()
    job = client.get(client.post("/v1/tests/echo", json={"text": "a"}).headers["Location"]).json()
    moments = [datetime.fromisoformat(job[name]).timestamp() for name in ("created_at", "started_at", "finished_at")]
    assert before - 1 < moments[0] <= moments[1] <= moments[2] < time.time() + 1
