"""Winner determination and demand by tables and value networks, asked as the service is asked."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest

from auctions.bundles import all_bundles
from auctions.networks.mvnn import MVNN
from auctions.operations.mvnn_demand import MVNN_DEMAND, SMALL_NETWORKS
from auctions.operations.wdp import WDP
from solvers.operation import MemoryFiles, TooLarge
from tests.auctions.operations.running import pointer_of_fault, run

CAPACITIES = [2, 1]
BUNDLES = all_bundles(CAPACITIES)
MODELS = [MVNN.from_dict(one["network"], one["scale"]) for one in SMALL_NETWORKS]
TABLES = [model.predict(BUNDLES).tolist() for model in MODELS]


def best_pair(tables: list[list[float]]) -> float:
    """The best sum of two bundles' values within the supply, by trying all."""
    return max(
        tables[0][a] + tables[1][b]
        for a, b in itertools.product(range(6), repeat=2)
        if (BUNDLES[a] + BUNDLES[b] <= CAPACITIES).all()
    )


def by_names(table: list[float]) -> list[dict[str, Any]]:
    return [{"bundle": bundle.tolist(), "value": value} for bundle, value in zip(BUNDLES, table, strict=True)]


@pytest.mark.parametrize("method", ["auto", "tables", "dynamic_program"])
@pytest.mark.parametrize(
    "values", [{"tables": TABLES}, {"tables": [by_names(TABLES[0]), TABLES[1]]}, {"networks": SMALL_NETWORKS}]
)
def test_the_winners_are_worth_what_the_best_of_all_pairs_is(values, method):
    outcome = run(WDP, {"capacities": CAPACITIES, "search": {"method": method}} | values)
    assert outcome.welfare == pytest.approx(best_pair(TABLES), rel=1e-6)
    assert outcome.status == "optimal"


def test_a_branch_and_bound_over_the_networks_proves_the_same_and_moves_alone_find_no_more():
    proved, found = (
        run(WDP, {"capacities": CAPACITIES, "networks": SMALL_NETWORKS, "search": {"method": method}})
        for method in ("milp", "exchange")
    )
    assert proved.welfare == pytest.approx(best_pair(TABLES), rel=1e-6)
    assert proved.status == "optimal"
    assert found.welfare <= proved.welfare * (1 + 1e-6) <= found.bound * (1 + 1e-6)


def test_a_forbidden_bundle_is_not_given():
    best = run(WDP, {"capacities": CAPACITIES, "tables": TABLES})
    without = run(WDP, {"capacities": CAPACITIES, "tables": TABLES, "forbidden": [[best.allocation[0]], []]})
    assert without.allocation[0] != best.allocation[0]
    assert without.welfare <= best.welfare


def test_a_bid_on_a_forbidden_bundle_does_not_win():
    bids = [[{"bundle": [1, 1], "value": 9}, {"bundle": [1, 0], "value": 4}], [{"bundle": [0, 1], "value": 3}]]
    outcome = run(WDP, {"capacities": CAPACITIES, "bids": bids, "forbidden": [["11"], []]})
    assert (outcome.allocation, outcome.welfare) == ([[1, 0], [0, 1]], 7)


def test_where_not_even_nothing_is_left_it_is_infeasible():
    body = {"capacities": [1], "tables": [[{"bundle": [1], "value": 2}], [0, 1]], "forbidden": [[[0], [1]], []]}
    assert run(WDP, body).status == "infeasible"


def test_free_disposal_makes_a_larger_bundle_worth_at_least_what_it_holds():
    tables = [[0, 5, 1, 1, 1, 1]]
    assert run(WDP, {"capacities": CAPACITIES, "tables": tables, "free_disposal": True}).welfare == 5
    assert run(WDP, {"capacities": CAPACITIES, "tables": tables}).welfare == 5


def test_networks_come_from_a_file_too():
    files = MemoryFiles()
    file_id = files.save(json.dumps({"networks": SMALL_NETWORKS}).encode(), name="n.json", media_type="application/json")
    body = {"prices": [[10, 15]]}
    asked = [run(MVNN_DEMAND, body | {"networks": given}, files=files) for given in (SMALL_NETWORKS, {"file": file_id})]
    assert asked[0] == asked[1]


def test_demand_is_the_best_of_all_bundles_and_its_potential_bounds_welfare():
    prices = np.array([10.0, 15.0])
    answer = run(MVNN_DEMAND, {"networks": SMALL_NETWORKS, "prices": [prices.tolist()]})
    utilities = [max(np.array(table) - BUNDLES @ prices) for table in TABLES]
    assert [demand.utility for demand in answer.results[0]] == pytest.approx(utilities)
    assert answer.clearing_potential[0] == pytest.approx(prices @ CAPACITIES + sum(utilities))
    assert answer.clearing_potential[0] >= best_pair(TABLES)
    wanted = np.sum([demand.bundle for demand in answer.results[0]], axis=0)
    assert answer.over_demand[0] == (wanted - CAPACITIES).tolist()


def test_limits_and_forbidden_bundles_are_kept_to():
    body = {"networks": SMALL_NETWORKS, "prices": [[0, 0]], "limits": [{"max_items": 1}, {"caps": [0, 1]}]}
    assert [demand.bundle for demand in run(MVNN_DEMAND, body).results[0]] == [[0, 1], [0, 1]]
    assert run(MVNN_DEMAND, body | {"forbidden": [[], ["01"]]}).results[0][1].bundle == [0, 0]


def test_a_bidder_whose_every_bundle_is_forbidden_wants_nothing_and_there_is_no_potential():
    body = {"networks": SMALL_NETWORKS[:1], "prices": [[1, 1]], "forbidden": [[bundle.tolist() for bundle in BUNDLES]]}
    answer = run(MVNN_DEMAND, body)
    assert (answer.results[0][0].status, answer.results[0][0].value, answer.clearing_potential) == ("infeasible", None, [None])


def spoilt(**members: Any) -> dict[str, Any]:
    return {"networks": [SMALL_NETWORKS[0], {"network": SMALL_NETWORKS[1]["network"] | members, "scale": 80}]}


@pytest.mark.parametrize("operation", [WDP, MVNN_DEMAND], ids=lambda operation: operation.name)
@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"networks": []}, "/networks"),
        (spoilt(capacities=[2]), "/networks/1/network/m"),
        (spoilt(skip_weight=[0.1, -0.2]), "/networks/1/network/skip_weight/1"),
        (spoilt(skip_weight=[0.1, math.nan]), "/networks/1/network/skip_weight/1"),
        (spoilt(skip_weight=None), "/networks/1/network/hidden_layer_sizes"),
        (spoilt(capacities=[2, 2]), "/networks/1/network/capacities"),
        (spoilt(capacities=[2, 0]), "/networks/1/network/capacities/1"),
        ({"networks": [SMALL_NETWORKS[0] | {"scale": 0}]}, "/networks/0/scale"),
        ({"limits": [None]}, "/limits"),
        ({"limits": [None, {"goods": [True]}]}, "/limits/1/goods"),
        ({"limits": [None, {"max_items": -1}]}, "/limits/1/max_items"),
        ({"forbidden": [[]]}, "/forbidden"),
        ({"forbidden": [[], [[3, 0]]]}, "/forbidden/1/0/0"),
    ],
)
def test_what_is_no_network_is_refused_with_its_place(operation, change, pointer):
    body: dict[str, Any] = {"networks": SMALL_NETWORKS, "prices": [[1, 1]], "capacities": CAPACITIES} | change
    del body["prices" if operation is WDP else "capacities"]
    assert pointer_of_fault(operation, body) == pointer


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({}, ""),
        ({"tables": TABLES, "bids": []}, ""),
        ({"tables": []}, "/tables"),
        ({"tables": [TABLES[0][:5], TABLES[1]]}, "/tables/0"),
        ({"tables": [TABLES[0], [0, 1, 2, -3, 4, 5]]}, "/tables/1/3"),
        ({"tables": [TABLES[0], [0, 1, 2, math.nan, 4, 5]]}, "/tables/1/3"),
        ({"tables": [[{"bundle": [3, 0], "value": 1}]]}, "/tables/0/0/bundle/0"),
        ({"tables": [[{"bundle": [1, 0], "value": -1}]]}, "/tables/0/0/value"),
        ({"tables": [[{"bundle": [1, 0], "value": True}]]}, "/tables/0/0/value"),
        ({"tables": [[0, {"bundle": [1, 0], "value": 1}]]}, "/tables/0/0"),
        ({"tables": TABLES, "exclude": [2]}, "/exclude/0"),
        ({"tables": TABLES, "search": {"method": "luck"}}, "/search/method"),
        ({"tables": TABLES, "search": {"method": "milp"}}, "/search/method"),
        ({"bids": [], "search": {"method": "exchange"}}, "/search/method"),
        ({"networks": SMALL_NETWORKS, "capacities": [2, 2]}, "/capacities"),
    ],
)
def test_what_is_no_table_is_refused_with_its_place(change, pointer):
    assert pointer_of_fault(WDP, {"capacities": CAPACITIES} | change) == pointer


def test_a_table_of_too_many_bundles_is_too_large():
    with pytest.raises(TooLarge):
        run(WDP, {"capacities": [1] * 21, "tables": [[0.0]]})


@pytest.mark.parametrize(("operation", "status"), [(WDP, "optimal"), (MVNN_DEMAND, "optimal")])
def test_values_of_a_trillion_are_taken_as_they_are(operation, status):
    networks = [one | {"scale": 1e13} for one in SMALL_NETWORKS]
    if operation is WDP:
        assert run(WDP, {"capacities": CAPACITIES, "networks": networks}).status == status
    else:
        assert run(MVNN_DEMAND, {"networks": networks, "prices": [[1e12, 1e12]]}).results[0][0].status == status
