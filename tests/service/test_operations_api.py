"""Posting to an operation: the result, or the job that will have it, or the problem that says why not."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.service.live import LiveService, live_service, until
from tests.service.operations import CATALOGUE, EchoResult

ECHO = "/v1/tests/echo"
SLEEP = "/v1/tests/sleep"
LONG = {"steps": 10_000, "pause": 0.02}


@pytest.fixture
def long_job(client: httpx.Client):
    """A running job; it ends with the test."""
    job = client.post(SLEEP, json=LONG, headers={"Prefer": "respond-async"}).json()
    yield job
    client.post(f"/v1/jobs/{job['id']}/cancel")
    until(lambda: client.get(f"/v1/jobs/{job['id']}").json()["finished_at"])


def test_the_answer_is_the_result(client: httpx.Client) -> None:
    response = client.post(ECHO, json={"text": "hello", "times": 2})
    assert response.status_code == 200
    assert EchoResult.model_validate_json(response.content) == EchoResult(text="hellohello", length=5)


def test_the_answer_names_its_job(client: httpx.Client) -> None:
    response = client.post(ECHO, json={"text": "a"})
    job = client.get(response.headers["Location"]).json()
    assert job["id"] == response.headers["Foresolve-Job"]
    assert (job["status"], response.headers["Foresolve-Job-Status"]) == ("succeeded", "succeeded")


@pytest.mark.parametrize(
    ("name", "body"), [(operation.name, body) for operation in CATALOGUE for body in operation.examples.values()]
)
def test_every_example_runs_as_it_stands(client: httpx.Client, name: str, body: dict) -> None:
    document = client.get(f"/v1/operations/{name}").json()
    assert body in document["examples"].values()
    assert client.post(document["path"], json=body).status_code == 200


def test_respond_async_answers_at_once_with_the_job(client: httpx.Client, long_job: dict) -> None:
    response = client.post(ECHO, json={"text": "a"}, headers={"Prefer": "respond-async"})
    assert response.status_code == 202
    assert response.headers["Preference-Applied"] == "respond-async"
    assert int(response.headers["Retry-After"]) > 0
    assert response.headers["Location"] == f"/v1/jobs/{response.json()['id']}"


def test_wait_gives_up_after_the_seconds_that_were_preferred(client: httpx.Client) -> None:
    response = client.post(SLEEP, json=LONG, headers={"Prefer": "wait=0"})
    assert response.status_code == 202
    assert response.headers["Preference-Applied"] == "wait=0"
    client.post(f"{response.headers['Location']}/cancel")


def test_respond_async_with_wait_still_waits(client: httpx.Client) -> None:
    response = client.post(ECHO, json={"text": "a"}, headers={"Prefer": "respond-async, wait=20"})
    assert response.status_code == 200
    assert response.headers["Preference-Applied"] == "respond-async, wait=20"


def test_a_wait_above_the_longest_is_shortened_and_said_to_be(tmp_path) -> None:
    with live_service(tmp_path, worker=False, max_wait=0) as live, live.client() as client:
        response = client.post(ECHO, json={"text": "a"}, headers={"Prefer": "wait=100"})
    assert response.status_code == 202
    assert response.headers["Preference-Applied"] == "wait=0"


def test_a_preference_that_makes_no_sense_is_ignored(client: httpx.Client) -> None:
    response = client.post(ECHO, json={"text": "a"}, headers={"Prefer": "wait=soon, handling=strict;;="})
    assert response.status_code == 200
    assert "Preference-Applied" not in response.headers


def test_a_large_body_is_answered_as_a_small_one_is(client: httpx.Client) -> None:
    response = client.post(ECHO, json={"text": "a" * (2 * 2**20)})
    assert response.status_code == 200
    assert response.json()["length"] == 2 * 2**20


def test_a_large_body_that_the_model_refuses_is_a_422_with_pointers(client: httpx.Client) -> None:
    response = client.post(ECHO, json={"text": "a" * (2 * 2**20), "times": 11})
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == "/times"


def test_a_large_body_that_is_no_json_is_a_400_as_a_small_one_is(client: httpx.Client) -> None:
    content = b'{"text":\n"' + b"a" * (2 * 2**20) + b'" "times"'
    response = client.post(ECHO, content=content, headers={"Content-Type": "application/json"})
    assert response.status_code == 400
    assert (response.json()["type"], response.json()["line"]) == ("/problems/invalid-json", 2)


def test_a_fault_of_the_instance_is_told_where_it_is(client: httpx.Client) -> None:
    response = client.post("/v1/tests/fail", json={"kind": "input"})
    assert response.status_code == 422
    problem = response.json()
    assert problem["errors"] == [{"pointer": "/edges/17", "detail": "edge 17 joins vertex 5 to itself"}]
    assert problem["line"] == 3
    assert problem["type"] == "/problems/invalid-input"
    assert problem["job"] == response.headers["Location"]


def test_a_bug_leaks_nothing_but_an_incidents_id(client: httpx.Client) -> None:
    response = client.post("/v1/tests/fail", json={"kind": "bug"})
    assert response.status_code == 500
    assert response.json()["type"] == "/problems/internal-error"
    assert response.json()["incident"]
    assert not any(word in response.text for word in ("secret", "Traceback", "RuntimeError", ".py"))


def test_a_job_that_hangs_past_its_time_limit_is_a_504_that_keeps_the_incumbent(client: httpx.Client) -> None:
    response = client.post("/v1/tests/fail", json={"kind": "hang", "options": {"time_limit": 0.3}})
    assert response.status_code == 504
    assert response.json()["type"] == "/problems/timeout"
    assert client.get(response.json()["partial_result"]).json() == {"text": "so far", "length": 6}


def test_a_time_limit_above_the_services_own_is_a_422_that_names_the_setting(client: httpx.Client) -> None:
    response = client.post(ECHO, json={"text": "a", "options": {"time_limit": 31}})
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == "/options/time_limit"
    assert "FORESOLVE_MAX_TIME_LIMIT" in response.json()["detail"]


def test_a_time_limit_that_nobody_asked_for_is_capped(client: httpx.Client) -> None:
    response = client.post(ECHO, json={"text": "a"})
    assert client.get(response.headers["Location"]).json()["time_limit"] == 30


@pytest.mark.parametrize("seed", [2**63, -(2**63) - 1, 10**30])
def test_a_seed_that_no_database_can_hold_is_a_422(client: httpx.Client, seed: int) -> None:
    assert client.post(ECHO, json={"text": "a", "options": {"seed": seed}}).status_code == 422


def test_the_same_key_and_body_find_the_same_job(client: httpx.Client) -> None:
    headers = {"Idempotency-Key": "same"}
    first = client.post(ECHO, json={"text": "a"}, headers=headers)
    second = client.post(ECHO, json={"text": "a"}, headers=headers)
    assert second.status_code == 200
    assert second.headers["Foresolve-Job"] == first.headers["Foresolve-Job"]
    assert second.content == first.content


def test_the_same_key_at_the_same_time_makes_one_job(client: httpx.Client, service: LiveService) -> None:
    def post(_: int) -> str:
        with service.client() as other:
            return other.post(ECHO, json={"text": "a"}, headers={"Idempotency-Key": "racing"}).headers["Foresolve-Job"]

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(post, range(16)))) == 1


@pytest.mark.parametrize(("path", "body"), [(ECHO, {"text": "b"}), (SLEEP, {"steps": 1})])
def test_the_same_key_with_another_request_is_a_422(client: httpx.Client, path: str, body: dict) -> None:
    headers = {"Idempotency-Key": f"reused for {path}"}
    client.post(ECHO, json={"text": "a"}, headers=headers)
    response = client.post(path, json=body, headers=headers)
    assert response.status_code == 422
    assert response.json()["type"] == "/problems/idempotency-conflict"


@pytest.mark.parametrize("key", ["", "k" * 256, "tab\tbed"])
def test_an_idempotency_key_that_is_none_is_a_400(client: httpx.Client, key: str) -> None:
    response = client.post(ECHO, json={"text": "a"}, headers={"Idempotency-Key": key})
    assert response.status_code == 400
    assert response.json()["type"] == "/problems/invalid-header"


def test_an_idempotency_key_may_have_255_characters(client: httpx.Client) -> None:
    assert client.post(ECHO, json={"text": "a"}, headers={"Idempotency-Key": "k" * 255}).status_code == 200


def test_a_client_that_leaves_does_not_end_its_job(client: httpx.Client, service: LiveService) -> None:
    with service.client() as impatient, pytest.raises(httpx.ReadTimeout):
        impatient.post(SLEEP, json={"steps": 10, "pause": 0.1}, headers={"Idempotency-Key": "left"}, timeout=0.2)
    response = client.post(SLEEP, json={"steps": 10, "pause": 0.1}, headers={"Idempotency-Key": "left"})
    assert response.json() == {"steps": 10}


def test_a_file_of_the_caller_can_be_named_and_results_can_hold_files(client: httpx.Client) -> None:
    uploaded = client.post("/v1/files", content=b"3 2").json()["id"]
    result = client.post("/v1/tests/read", json={"file": uploaded}).json()
    assert result["size"] == 3
    assert client.get(f"/v1/files/{result['copy_id']}/content").content == b"3 2"


def test_a_file_that_is_not_there_is_a_422(client: httpx.Client) -> None:
    response = client.post("/v1/tests/read", json={"file": "../../etc/passwd"})
    assert response.status_code == 422
    assert response.json()["type"] == "/problems/unknown-file"


def test_the_catalogue_is_listed_in_its_order(client: httpx.Client) -> None:
    listed = client.get("/v1/operations").json()["operations"]
    assert [operation["name"] for operation in listed] == [operation.name for operation in CATALOGUE]


def test_an_operation_describes_its_request_and_result(client: httpx.Client) -> None:
    document = client.get("/v1/operations/echo").json()
    assert document["request_schema"]["required"] == ["text"]
    assert set(document["result_schema"]["properties"]) == {"text", "length"}


def test_an_operation_that_is_not_there_is_a_404(client: httpx.Client) -> None:
    assert client.get("/v1/operations/none").status_code == 404
    assert client.post("/v1/tests/none", content=json.dumps({})).status_code == 404


def test_without_workers_a_request_waits_for_a_job_that_ends_elsewhere(tmp_path) -> None:
    with live_service(tmp_path, worker=False) as live, live.client() as client, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(client.post, ECHO, json={"text": "a"})
        job = until(lambda: live.service.store.list(None).jobs)[0]
        live.service.store.cancel(job.id)
        response = waiting.result()
    assert response.status_code == 409
    assert response.json()["type"] == "/problems/cancelled"
