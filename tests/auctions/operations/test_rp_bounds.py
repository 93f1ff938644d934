"""Bounds that answers imply, asked as the service is asked."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from auctions.domains import gsvm
from auctions.operations.rp_bounds import EXAMPLES, RP_BOUNDS
from tests.auctions.operations.running import pointer_of_fault, run

GOOD, CONTRADICTION = EXAMPLES.values()


def test_bounds_of_truthful_answers_hold_the_true_values():
    instance, rng = gsvm(3), np.random.default_rng(0)
    prices = [rng.uniform(0, 25, 18).tolist() for _ in range(12)]
    demand = [{"prices": p, "bundle": instance.demand(2, p)[0].bundle.tolist()} for p in prices]
    bundles = rng.integers(0, 2, (30, 18)).tolist()
    value = [{"bundle": bundle, "value": instance.value(2, bundle)} for bundle in bundles[:5]]
    # The bidder may hold four licences at most, so that only smaller bundles compare with what it chose.
    small = [bundle for bundle in bundles if sum(bundle) <= 4] + [answer["bundle"] for answer in demand]
    answer = run(RP_BOUNDS, {"capacities": [1] * 18, "value": value, "bundles": bundles[:5] + small})
    for lower, upper, bundle in zip(answer.lower, answer.upper, bundles[:5] + small, strict=True):
        assert lower - 1e-9 <= instance.value(2, bundle) <= (math.inf if upper is None else upper + 1e-9)
    assert run(RP_BOUNDS, {"capacities": [1] * 18, "demand": demand}).consistent


def test_two_choices_and_a_value_give_the_bounds_worked_out_by_hand():
    answer = run(RP_BOUNDS, GOOD)
    assert (answer.consistent, answer.lower, answer.upper) == (True, [3, 2], [6, 6])


def test_without_answers_nothing_bounds_a_value_from_above():
    answer = run(RP_BOUNDS, {"capacities": [1], "bundles": ["1", "0"]})
    assert (answer.lower, answer.upper) == ([0, 0], [None, 0])


def test_a_contradiction_is_shown_with_lengths_that_add_up_to_less_than_nothing():
    document = json.loads(run(RP_BOUNDS, CONTRADICTION).model_dump_json())
    assert (document["consistent"], document["lower"], document["upper"]) == (False, None, None)
    assert sum(step["length"] for step in document["cycle"]) < 0
    assert [step["to"] for step in document["cycle"]] == [step["from"] for step in document["cycle"][1:] + document["cycle"][:1]]
    assert {step["answer"]["kind"] for step in document["cycle"]} == {"demand"}


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"demand": [{"prices": [1], "bundle": [0, 1]}]}, "/demand/0/prices"),
        ({"demand": [{"prices": [1, -1], "bundle": [0, 1]}]}, "/demand/0/prices/1"),
        ({"demand": [{"prices": [1, math.nan], "bundle": [0, 1]}]}, "/demand/0/prices/1"),
        ({"demand": [{"prices": [1, 1], "bundle": [0, 2]}]}, "/demand/0/bundle/1"),
        ({"demand": [{"prices": [1, 1]}]}, "/demand/0/bundle"),
        ({"value": [{"bundle": [0, 1], "value": -1}]}, "/value/0/value"),
        ({"value": [{"bundle": [0, 1], "value": math.inf}]}, "/value/0/value"),
        ({"bundles": [[0, 1], [0, 1.5]]}, "/bundles/1/1"),
        ({"tolerance": -1}, "/tolerance"),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(change: dict[str, Any], pointer: str):
    assert pointer_of_fault(RP_BOUNDS, GOOD | change) == pointer
