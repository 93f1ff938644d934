"""Auctions over HTTP: instances that are stored and asked again, and faults that are told by their place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from auctions.operations.wdp import TWO_LOCAL_BIDDERS
from tests.service.live import LiveService, live_service, until, watch

# The first test may wait for kernels to be compiled.
pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def auction_service(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[LiveService]:
    folder = tmp_path_factory.mktemp("auction-service")
    kernels = Path(pytestconfig.cache.mkdir("kernels"))
    with live_service(folder, catalogue="tests.service.auction_catalogue:CATALOGUE", kernels_dir=kernels, max_bidders=20) as live:
        yield live


@pytest.fixture
def client(auction_service: LiveService) -> Iterator[httpx.Client]:
    with auction_service.client() as client:
        yield client


def post(client: httpx.Client, operation: str, body: dict[str, Any], status: int = 200) -> dict[str, Any]:
    answer = client.post(f"/v1/auctions/{operation}", json=body, headers={"Prefer": "wait=50"})
    assert answer.status_code == status, answer.text
    document: dict[str, Any] = answer.json()
    return document


def test_a_stored_instance_is_asked_by_its_file(client: httpx.Client) -> None:
    made = post(client, "instances", {"instance": {"domain": "srvm", "seed": 3}})
    ask = {"prices": [[100, 30, 9]]}
    assert post(client, "instances/demand", ask | {"instance": {"file": made["file"]}}) == post(
        client, "instances/demand", ask | {"instance": made["instance"]}
    )
    assert client.get(f"/v1/files/{made['file']}/content").json() == made["instance"]


def test_an_uploaded_table_of_bids_is_an_instance(client: httpx.Client) -> None:
    uploaded = client.post("/v1/files", content=b"bidder,value,A,B\nann,5,1,0\nbob,7,1,1\nbob,4,0,1\n").json()["id"]
    answer = post(client, "instances/efficient-allocation", {"instance": {"file": uploaded}, "vcg": True})
    assert (answer["welfare"], answer["vcg"]["payments"]) == (9, [3, 0])


def test_a_fault_is_told_by_its_place(client: httpx.Client) -> None:
    bids = [*TWO_LOCAL_BIDDERS["bids"][:2], [{"bundle": [1, 7], "value": 8}]]
    problem = post(client, "wdp", TWO_LOCAL_BIDDERS | {"bids": bids}, 422)
    assert problem["errors"][0]["pointer"] == "/bids/2/0/bundle/1"


def test_more_bidders_than_the_service_takes_are_too_many(client: httpx.Client) -> None:
    problem = post(client, "vcg", {"capacities": [1], "bids": [[]] * 21}, 413)
    assert "FORESOLVE_MAX_BIDDERS" in problem["detail"]


def test_a_number_that_json_does_not_have_is_refused_with_its_place(client: httpx.Client) -> None:
    content = b'{"capacities": [1], "bids": [[{"bundle": [1], "value": NaN}]]}'
    answer = client.post("/v1/auctions/wdp", content=content, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/bids/0/0/value")


def test_an_auction_is_followed_round_by_round(client: httpx.Client) -> None:
    body = {"domain": "srvm", "instance_seed": 1, "mechanism": "cca", "preset": "reference", "query_budget": 5}
    job = client.post("/v1/auctions/simulations", json=body, headers={"Prefer": "respond-async"}).headers["Location"]
    events = watch(client, job)
    rounds = [data for _, kind, data in events if kind == "progress" and "round" in data]
    assert rounds[-1]["round"] == 5
    result = client.get(f"{job}/result").json()
    assert rounds[-1]["efficiency"] == result["rounds"][-1]["efficiency"]
    assert client.get(f"/v1/files/{result['files']['log']}/content").status_code == 200


def test_a_cancelled_experiment_is_resumed_with_what_is_missing(client: httpx.Client) -> None:
    body = {
        "domains": ["srvm"],
        "instance_seeds": list(range(1, 13)),
        "mechanisms": [{"name": "cca", "preset": "reference"}],
        "query_budget": 10,
    }
    job = client.post("/v1/auctions/experiments", json=body, headers={"Prefer": "respond-async"}).headers["Location"]
    until(lambda: (client.get(job).json()["progress"] or {}).get("finished", 0) >= 1)
    client.post(f"{job}/cancel")
    assert until(lambda: client.get(job).json()["finished_at"] and client.get(job).json()["status"]) == "cancelled"
    stopped = client.get(f"{job}/result").json()
    assert 1 <= stopped["n_finished"] < 12
    assert client.post(f"{job}/resume").status_code == 202
    assert until(lambda: client.get(job).json()["finished_at"] and client.get(job).json()["status"]) == "succeeded"
    result = client.get(f"{job}/result").json()
    assert result["n_finished"] == 12
    before = {line["instance_seed"]: line["seconds"] for line in stopped["runs"]}
    after = {line["instance_seed"]: line["seconds"] for line in result["runs"]}
    assert before.items() <= after.items()
