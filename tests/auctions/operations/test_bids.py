"""Winner determination and payments by bundle bids, asked as the service is asked."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from auctions.operations.payments import CORE_PAYMENTS, VCG
from auctions.operations.wdp import TWO_LOCAL_BIDDERS, WDP
from solvers.operation import TooLarge
from tests.auctions.operations.running import pointer_of_fault, run

OPERATIONS = pytest.mark.parametrize("operation", [WDP, VCG, CORE_PAYMENTS], ids=lambda operation: operation.name)


def random_bids(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    capacities = rng.integers(1, 3, size=4)
    bids = [
        [{"bundle": rng.integers(0, capacities + 1).tolist(), "value": 0.0} for _ in range(rng.integers(0, 5))] for _ in range(4)
    ]
    for bid in itertools.chain(*bids):
        bid["value"] = round(float(sum(bid["bundle"]) * rng.uniform(1, 2)), 3)
    return {"capacities": capacities.tolist(), "bids": bids}


def best_by_enumeration(body: dict[str, Any]) -> float:
    """The largest sum of at most one bid per bidder within the supply, by trying all of them."""
    nothing = {"bundle": [0] * len(body["capacities"]), "value": 0.0}
    best = 0.0
    for chosen in itertools.product(*([*own, nothing] for own in body["bids"])):
        if (np.sum([bid["bundle"] for bid in chosen], axis=0) <= body["capacities"]).all():
            best = max(best, sum(bid["value"] for bid in chosen))
    return best


@pytest.mark.parametrize("seed", range(6))
def test_the_winners_are_worth_what_the_best_of_all_choices_is(seed):
    body = random_bids(seed)
    outcome = run(WDP, body)
    assert outcome.status == "optimal"
    assert outcome.welfare == pytest.approx(best_by_enumeration(body), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_vcg_payments_are_differences_of_the_best_of_all_choices(seed):
    body = random_bids(seed)
    answer = run(VCG, body)
    for bidder, payment in enumerate(answer.payments):
        without = {**body, "bids": [[] if other == bidder else own for other, own in enumerate(body["bids"])]}
        others = answer.outcome.welfare - answer.outcome.values[bidder]
        assert payment == pytest.approx(best_by_enumeration(without) - others, rel=1e-9, abs=1e-9)
    assert answer.exact
    assert answer.revenue == pytest.approx(sum(answer.payments))


def test_two_local_bidders_share_the_core_payment_against_the_global_one():
    answer = run(CORE_PAYMENTS, TWO_LOCAL_BIDDERS)
    assert (answer.vcg_payments, answer.coalitions, answer.blocking_gap) == ([2, 2, 0], [[2]], 0)
    assert answer.payments == pytest.approx([4, 4, 0], abs=1e-9)


def test_a_bundle_means_the_same_in_every_form():
    forms: list[Any] = [[1, 0, 1], {"a": 1, "c": 1}, "101"]
    answers = [
        run(WDP, {"capacities": [1, 1, 1], "good_names": ["a", "b", "c"], "bids": [[{"bundle": form, "value": 3}]]})
        for form in forms
    ]
    assert all(answer.allocation == [[1, 0, 1]] for answer in answers)


def test_an_excluded_bidder_gets_nothing():
    assert run(WDP, TWO_LOCAL_BIDDERS | {"exclude": [0]}).allocation == [[0, 0], [0, 0], [1, 1]]


def test_ties_go_to_the_earlier_bidder_and_its_earlier_bid():
    bids = [[{"bundle": [0, 1], "value": 2}, {"bundle": [1, 0], "value": 2}], [{"bundle": [0, 1], "value": 2}]]
    one_good = {"capacities": [1, 1], "bids": [bids[0], []], "tie_break": "lexicographic"}
    assert run(WDP, one_good).allocation == [[0, 1], [0, 0]]


def test_of_several_bids_on_a_bundle_the_highest_counts():
    bids = [[{"bundle": [1], "value": 2}, {"bundle": [1], "value": 5}, {"bundle": [1], "value": 1}]]
    assert run(WDP, {"capacities": [1], "bids": bids}).welfare == 5


@OPERATIONS
def test_a_bidder_without_bids_pays_nothing(operation):
    document = run(operation, {"capacities": [1], "bids": [[], [{"bundle": [1], "value": 2}], []]}).model_dump()
    assert document.get("payments", [0, 0, 0]) == [0, 0, 0]
    assert document.get("outcome", document)["allocation"] == [[0], [1], [0]]


@OPERATIONS
def test_a_bid_of_nothing_on_nothing_is_ignored(operation):
    document = run(operation, {"capacities": [1], "bids": [[{"bundle": [0], "value": 0}]]}).model_dump()
    assert document.get("outcome", document)["welfare"] == 0


@OPERATIONS
def test_huge_values_are_taken_as_they_are(operation):
    body = {"capacities": [1], "bids": [[{"bundle": [1], "value": 1e15}], [{"bundle": [1], "value": 3e15}]]}
    document = run(operation, body).model_dump()
    assert document.get("outcome", document)["welfare"] == 3e15
    assert document.get("payments", [0, 1e15]) == pytest.approx([0, 1e15])


@OPERATIONS
@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"capacities": []}, "/capacities"),
        ({"capacities": [1, 0]}, "/capacities/1"),
        ({"capacities": [1, -1]}, "/capacities/1"),
        ({"capacities": [1, 1.5]}, "/capacities/1"),
        ({"capacities": [1, "two"]}, "/capacities/1"),
        ({"capacities": [1, True]}, "/capacities/1"),
        ({"capacities": [1, 1001]}, "/capacities/1"),
        ({"capacities": [1] * 501}, "/capacities"),
        ({"good_names": ["a"]}, "/good_names"),
        ({"good_names": ["a", "a"]}, "/good_names/1"),
        ({"bids": []}, "/bids"),
        ({"bids": [[], [{"bundle": [1], "value": 1}]]}, "/bids/1/0/bundle"),
        ({"bids": [[], [], [{"bundle": [1, 0.5], "value": 1}]]}, "/bids/2/0/bundle/1"),
        ({"bids": [[{"bundle": [0, -1], "value": 1}]]}, "/bids/0/0/bundle/1"),
        ({"bids": [[{"bundle": [2, 0], "value": 1}]]}, "/bids/0/0/bundle/0"),
        ({"bids": [[{"bundle": [True, 0], "value": 1}]]}, "/bids/0/0/bundle/0"),
        ({"bids": [[{"bundle": [math.nan, 0], "value": 1}]]}, "/bids/0/0/bundle/0"),
        ({"bids": [[{"bundle": "1x", "value": 1}]]}, "/bids/0/0/bundle"),
        ({"bids": [[{"bundle": {"c": 1}, "value": 1}]]}, "/bids/0/0/bundle/c"),
        ({"bids": [[{"bundle": 7, "value": 1}]]}, "/bids/0/0/bundle"),
        ({"bids": [[{"bundle": None, "value": 1}]]}, "/bids/0/0/bundle"),
        ({"bids": [[{"bundle": [1, 0], "value": -1}]]}, "/bids/0/0/value"),
        ({"bids": [[{"bundle": [1, 0], "value": math.nan}]]}, "/bids/0/0/value"),
        ({"bids": [[{"bundle": [1, 0], "value": math.inf}]]}, "/bids/0/0/value"),
        ({"bids": [[{"bundle": [1, 0], "value": "3"}]]}, "/bids/0/0/value"),
        ({"bids": [[{"bundle": [0, 0], "value": 1}]]}, "/bids/0/0/value"),
        ({"bids": [[{"bundle": [1, 0]}]]}, "/bids/0/0/value"),
        ({"bids": {"a": 1}}, "/bids"),
        ({"search": {"gap": -1}}, "/search/gap"),
        ({"search": {"node_limit": -1}}, "/search/node_limit"),
        ({"search": {"time_limit": 0}}, "/search/time_limit"),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(operation, change, pointer):
    assert pointer_of_fault(operation, TWO_LOCAL_BIDDERS | change) == pointer


def test_an_excluded_bidder_that_is_none_is_refused():
    assert pointer_of_fault(WDP, TWO_LOCAL_BIDDERS | {"exclude": [0, 3]}) == "/exclude/1"


@OPERATIONS
@pytest.mark.parametrize(("limit", "most"), [("max_bidders", 2), ("max_goods", 1), ("max_bids", 2)])
def test_more_than_the_service_takes_is_too_large(operation, limit, most):
    with pytest.raises(TooLarge, match=f"FORESOLVE_{limit.upper()}"):
        run(operation, TWO_LOCAL_BIDDERS, limits={limit: most})


def test_a_search_that_was_cancelled_answers_all_the_same():
    answer = run(VCG, random_bids(1), is_cancelled=lambda: True)
    assert all(0 <= pay <= won + 1e-9 for pay, won in zip(answer.payments, answer.outcome.values, strict=True))
