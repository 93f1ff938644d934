"""Keys: who gets in, what each may do, and that owners do not see each other."""

from __future__ import annotations

import re

import httpx
import pytest

from app.security import SCOPES, UnsafeConfiguration, new_key, require_safe_binding, stream_token
from app.settings import Settings
from tests.service.conftest import BOOTSTRAP_KEY, Keys
from tests.service.live import LiveService, live_service

QUEUED = {"Prefer": "respond-async"}


@pytest.fixture
def alices_job(keyed_service: LiveService, keys: Keys) -> str:
    with keyed_service.client(keys.alice) as client:
        return client.post("/v1/tests/echo", json={"text": "a"}, headers=QUEUED).raise_for_status().json()["id"]


@pytest.fixture
def alices_file(keyed_service: LiveService, keys: Keys) -> str:
    with keyed_service.client(keys.alice) as client:
        return client.post("/v1/files", content=b"3 2").raise_for_status().json()["id"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/tests/echo"),
        ("GET", "/v1/operations"),
        ("GET", "/v1/jobs"),
        ("GET", "/v1/jobs/job_00000000000000000000000000000000/events"),
        ("POST", "/v1/files"),
        ("GET", "/metrics"),
    ],
)
def test_without_a_key_nothing_is_answered(keyed_service: LiveService, method: str, path: str) -> None:
    response = httpx.request(method, keyed_service.url + path)
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"].startswith("Bearer ")
    assert response.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize(
    "authorization", ["Bearer fsk_00000000_wrong", "Bearer", "Bearer x y", "Basic dTpw", f"Token {BOOTSTRAP_KEY}"]
)
def test_a_wrong_key_is_refused(keyed_service: LiveService, authorization: str) -> None:
    response = httpx.get(f"{keyed_service.url}/v1/jobs", headers={"Authorization": authorization})
    assert response.status_code == 401


def test_a_revoked_key_is_refused_at_once(keyed_service: LiveService) -> None:
    key = new_key()
    store = keyed_service.service.store
    store.add_key(key_id=key.id, owner="carol", name="carol", hash=key.hash, scopes=["read"])
    with keyed_service.client(key.text) as client:
        assert client.get("/v1/jobs").status_code == 200
        store.revoke_key(key.id)
        assert client.get("/v1/jobs").status_code == 401


def test_the_bootstrap_key_has_all_scopes(keyed_service: LiveService) -> None:
    with keyed_service.client(BOOTSTRAP_KEY) as client:
        assert client.get("/metrics").status_code == 200


def test_the_database_keeps_no_key_in_clear(keyed_service: LiveService, keys: Keys) -> None:
    stored = repr(keyed_service.service.store.list_keys())
    assert not any(key.rpartition("_")[2] in stored for key in (*keys, BOOTSTRAP_KEY))


def test_pages_and_health_are_open_without_a_key(keyed_service: LiveService) -> None:
    paths = ["/", "/docs", "/redoc", "/openapi.json", "/health/live", "/problems/unauthorized", "/static/page.css"]
    assert [httpx.get(keyed_service.url + path).status_code for path in paths] == [200] * len(paths)


def test_a_key_without_the_scope_is_told_which_one_is_missing(keyed_service: LiveService, keys: Keys) -> None:
    with keyed_service.client(keys.reader) as client:
        response = client.post("/v1/tests/echo", json={"text": "a"})
    assert response.status_code == 403
    assert "solve" in response.json()["detail"]


@pytest.mark.parametrize(
    ("key", "allowed"),
    [
        ("reader", {"GET /v1/jobs", "GET /v1/files", "GET /v1/operations"}),
        ("watcher", {"GET /metrics", "GET /v1/operations"}),
        ("alice", {"GET /v1/jobs", "GET /v1/files", "POST /v1/files", "GET /v1/operations"}),
        ("admin", {"GET /v1/jobs", "GET /v1/files", "POST /v1/files", "GET /v1/operations", "GET /metrics"}),
    ],
)
def test_a_scope_opens_its_paths_and_no_others(keyed_service: LiveService, keys: Keys, key: str, allowed: set[str]) -> None:
    calls = ["GET /v1/jobs", "GET /v1/files", "POST /v1/files", "GET /v1/operations", "GET /metrics"]
    with keyed_service.client(getattr(keys, key)) as client:
        answers = {call: client.request(*call.split(" ")).status_code for call in calls}
    assert {call for call, status in answers.items() if status < 300} == allowed
    assert {status for status in answers.values() if status >= 300} <= {403}


@pytest.mark.parametrize(
    ("method", "suffix"),
    [
        ("GET", ""),
        ("GET", "/result"),
        ("GET", "/events"),
        ("POST", "/cancel"),
        ("POST", "/resume"),
        ("POST", "/stream-token"),
        ("DELETE", ""),
    ],
)
def test_another_owners_job_does_not_exist(
    keyed_service: LiveService, keys: Keys, alices_job: str, method: str, suffix: str
) -> None:
    with keyed_service.client(keys.bob) as client:
        response = client.request(method, f"/v1/jobs/{alices_job}{suffix}")
    assert response.status_code == 404
    with keyed_service.client(keys.alice) as client:
        assert client.get(f"/v1/jobs/{alices_job}").json()["status"] == "queued"


@pytest.mark.parametrize(("method", "suffix"), [("GET", ""), ("GET", "/content"), ("DELETE", "")])
def test_another_owners_file_does_not_exist(
    keyed_service: LiveService, keys: Keys, alices_file: str, method: str, suffix: str
) -> None:
    with keyed_service.client(keys.bob) as client:
        assert client.request(method, f"/v1/files/{alices_file}{suffix}").status_code == 404
    with keyed_service.client(keys.alice) as client:
        assert client.get(f"/v1/files/{alices_file}/content").content == b"3 2"


def test_listings_show_only_what_is_ones_own(keyed_service: LiveService, keys: Keys, alices_job: str, alices_file: str) -> None:
    with keyed_service.client(keys.bob) as client:
        jobs = [job["id"] for job in client.get("/v1/jobs?limit=200").json()["jobs"]]
        files = [file["id"] for file in client.get("/v1/files?limit=200").json()["files"]]
    assert alices_job not in jobs
    assert alices_file not in files


def test_an_admin_sees_everybodys_jobs(keyed_service: LiveService, keys: Keys, alices_job: str) -> None:
    with keyed_service.client(keys.admin) as client:
        assert client.get(f"/v1/jobs/{alices_job}").status_code == 200


def test_the_same_idempotency_key_of_another_owner_is_another_job(keyed_service: LiveService, keys: Keys) -> None:
    jobs = set()
    for key in (keys.alice, keys.bob):
        with keyed_service.client(key) as client:
            headers = QUEUED | {"Idempotency-Key": "shared"}
            jobs.add(client.post("/v1/tests/echo", json={"text": "a"}, headers=headers).json()["id"])
    assert len(jobs) == 2


def test_a_stream_token_opens_the_events_of_its_job_alone(keyed_service: LiveService, keys: Keys, alices_job: str) -> None:
    with keyed_service.client(keys.alice) as client:
        other = client.post("/v1/tests/echo", json={"text": "b"}, headers=QUEUED).json()["id"]
        url = client.post(f"/v1/jobs/{alices_job}/stream-token").json()["url"]
        client.post(f"/v1/jobs/{alices_job}/cancel")
    assert "event: cancelled" in httpx.get(keyed_service.url + url).text
    assert httpx.get(keyed_service.url + url.replace(alices_job, other)).status_code == 401


def test_an_expired_stream_token_is_refused(keyed_service: LiveService, keys: Keys, alices_job: str) -> None:
    key = keyed_service.service.store.get_key(keys.alice.split("_")[1])
    token = stream_token(alices_job, key.id, key.hash, expires=1)
    assert httpx.get(f"{keyed_service.url}/v1/jobs/{alices_job}/events", params={"token": token}).status_code == 401


@pytest.mark.parametrize("token", ["", "x", "a.b.c", "a.1.b", "a.99999999999.b", "..", "é.1.2"])
def test_a_forged_stream_token_is_refused(keyed_service: LiveService, alices_job: str, token: str) -> None:
    assert httpx.get(f"{keyed_service.url}/v1/jobs/{alices_job}/events", params={"token": token}).status_code == 401


def test_a_key_made_later_closes_a_service_that_had_none(tmp_path) -> None:
    with live_service(tmp_path, worker=False) as live, live.client() as client:
        assert client.get("/v1/jobs").status_code == 200
        live.service.store.add_key(key_id="k", owner="o", name="n", hash="h", scopes=SCOPES)
        live.service.gate.look()
        assert client.get("/v1/jobs").status_code == 401


def test_revoking_the_last_key_opens_nothing(tmp_path) -> None:
    with live_service(tmp_path, worker=False) as live, live.client() as client:
        live.service.store.add_key(key_id="k", owner="o", name="n", hash="h", scopes=SCOPES)
        live.service.store.revoke_key("k")
        live.service.gate.look()
        assert client.get("/v1/jobs").status_code == 401


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "example.org", "localhost.example.org", ""])
def test_without_keys_it_refuses_to_listen_for_others(host: str) -> None:
    with pytest.raises(UnsafeConfiguration, match="keys create"):
        require_safe_binding(host, keyed=False)


def test_serving_without_keys_on_another_address_does_not_start(tmp_path) -> None:
    from app.main import serve

    with pytest.raises(UnsafeConfiguration):
        serve(Settings(data_dir=tmp_path, host="0.0.0.0", port=0, catalogue="tests.service.operations:CATALOGUE"))


@pytest.mark.parametrize("text", ["", "short", "has a space in it but is long enough", "naïve-key-that-is-long-enough-to-be-one"])
def test_a_weak_bootstrap_key_is_refused(tmp_path, text: str) -> None:
    from app.main import serve

    key_file = tmp_path / "key"
    key_file.write_text(text)
    with pytest.raises(UnsafeConfiguration, match=re.escape(str(key_file))):
        serve(Settings(data_dir=tmp_path, port=0, bootstrap_key_file=key_file, catalogue="tests.service.operations:CATALOGUE"))


def test_requests_beyond_the_minutes_limit_are_told_when_to_come_back(tmp_path) -> None:
    key_file = tmp_path / "key"
    key_file.write_text(BOOTSTRAP_KEY)
    settings = {"worker": False, "bootstrap_key_file": key_file, "requests_per_minute": 3}
    with live_service(tmp_path, **settings) as live, live.client(BOOTSTRAP_KEY) as client:
        # A minute may end in between; of eight requests four lie in one minute.
        responses = [client.get("/v1/jobs") for _ in range(8)]
    refused = [response for response in responses if response.status_code == 429]
    assert refused
    assert 0 < int(refused[0].headers["Retry-After"]) <= 60
    assert responses[0].headers["RateLimit-Limit"] == "3"
    assert {response.headers["RateLimit-Remaining"] for response in responses} == {"2", "1", "0"}


def test_jobs_beyond_the_queues_limit_are_refused(tmp_path) -> None:
    with live_service(tmp_path, worker=False, max_queued_jobs=2) as live, live.client() as client:
        statuses = [client.post("/v1/tests/echo", json={"text": "a"}, headers=QUEUED).status_code for _ in range(3)]
    assert statuses == [202, 202, 429]
