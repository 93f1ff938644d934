"""Certificates of efficiency, against vectors and against the optimum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from auctions.bundles import all_bundles, indices_of
from auctions.certificates import certified_efficiency, clearing_potential, efficiency_of_round, unsold_value
from auctions.winner_determination.choose import solve_wdp
from tests.auctions.networks_by_hand import random_network, values_of
from tests.auctions.vectors import cases


@pytest.mark.parametrize("case", cases("certificates.json"))
def test_published_certificates_are_found(case: dict[str, Any]) -> None:
    prices, demands, capacities = np.array(case["prices"]), np.array(case["demands"]), case["capacities"]
    told = [{tuple(row["bundle"]): row["value"] for row in table} for table in case["value_tables"]]
    utilities = [own[tuple(bundle)] - prices @ bundle for own, bundle in zip(told, demands.tolist(), strict=True)]
    assert clearing_potential(prices, utilities, capacities) == pytest.approx(case["W"], abs=1e-8)
    assert unsold_value(prices, demands, capacities) == pytest.approx(case["unsold_value"], abs=1e-8)
    assert efficiency_of_round(prices, demands, capacities) == pytest.approx(case["efficiency_lower_bound"], abs=1e-8)
    assert case["true_efficiency"] >= case["efficiency_lower_bound"] - 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_certified_bounds_hold_for_truthful_bidders(seed: int) -> None:
    rng = np.random.default_rng(seed)
    capacities = [1, 2, 1, 1]
    bundles = all_bundles(capacities)
    tables = [10 * values_of(random_network(rng, capacities)) for _ in range(3)]
    optimum = solve_wdp(tables, capacities).welfare
    rounds = []
    for prices in rng.uniform(0, 6, (8, 4)):
        rounds.append((prices, np.array([bundles[np.argmax(own - bundles @ prices)] for own in tables])))
        assert clearing_potential(prices, [(own - bundles @ prices).max() for own in tables], capacities) >= optimum - 1e-9
    demand = [[(prices, chosen[bidder]) for prices, chosen in rounds] for bidder in range(3)]
    asked = [[(bundles[k], own[k]) for k in rng.integers(0, len(bundles), 5)] for own in tables]
    allocation = np.array([[0, 1, 1, 0], [1, 0, 0, 0], [0, 1, 0, 1]])
    certified = certified_efficiency(demand, asked, rounds, allocation, capacities)
    welfare = sum(own[index] for own, index in zip(tables, indices_of(allocation, capacities), strict=True))
    assert certified is not None
    assert certified.optimum_bound >= optimum - 1e-8
    assert certified.welfare_bound <= welfare + 1e-8
    assert certified.efficiency is not None
    assert certified.efficiency <= welfare / optimum + 1e-9


def test_a_round_at_which_everything_is_free_is_efficient() -> None:
    assert efficiency_of_round([0.0, 0.0], [[1, 0]], [1, 1]) == 1.0


def test_contradictory_answers_certify_nothing() -> None:
    assert certified_efficiency([[([5.0], [1])]], [[([1], 4.0)]], [], [[1]], [1]) is None


def test_before_any_round_nothing_is_known_of_the_optimum() -> None:
    certified = certified_efficiency([[]], [[([1], 4.0)]], [], [[1]], [1])
    assert certified is not None
    assert (certified.optimum_bound, certified.welfare_bound, certified.efficiency) == (np.inf, 4.0, 0.0)


def test_where_nothing_is_worth_anything_there_is_no_efficiency() -> None:
    certified = certified_efficiency([[([0.0], [0])]], [[([1], 0.0)]], [([0.0], [[0]])], [[0]], [1])
    assert certified is not None
    assert certified.efficiency is None
