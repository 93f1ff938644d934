"""Auctions over HTTP: instances that are stored and asked again, and faults that are told by their place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from auctions.operations.wdp import TWO_LOCAL_BIDDERS
from tests.service.live import LiveService, live_service

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
