"""Winner determination over XOR bids, against vectors and against trying everything."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from auctions.outcome import SearchLimits
from auctions.winner_determination import assignment
from auctions.winner_determination.bids import Bid, XorBids
from auctions.winner_determination.xor import solve_xor_wdp
from solvers.operation import InvalidInput
from tests.auctions.vectors import cases
from tests.auctions.xor_instances import Bids, random_bids, welfare_by_trying_all

VECTORS = cases("xor_vcg.json")


def bids_of(case: dict) -> list[list[Bid]]:
    return [[Bid(bid["bundle"], bid["value"]) for bid in own] for own in case["bids"]]


@pytest.mark.parametrize("case", VECTORS)
def test_published_optima_are_found(case: dict) -> None:
    result = solve_xor_wdp(bids_of(case), case["capacities"])
    assert result.welfare == pytest.approx(case["welfare"], abs=1e-8)
    assert result.allocation.tolist() == case["allocation"]
    assert result.status == "optimal"


@pytest.mark.parametrize("case", VECTORS)
def test_published_optima_without_a_bidder_are_found(case: dict) -> None:
    without = [solve_xor_wdp(bids_of(case), case["capacities"], exclude=[i]).welfare for i in range(len(case["bids"]))]
    assert without == pytest.approx(case["welfare_without"], abs=1e-8)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize(("capacities", "n_bidders"), [([1] * 6, 4), ([2, 3, 1], 4), ([1], 3), ([5, 1], 1)])
def test_the_best_allocation_equals_trying_all(seed: int, capacities: list[int], n_bidders: int) -> None:
    bids = random_bids(seed, capacities, n_bidders, 6)
    result = solve_xor_wdp(bids, capacities)
    assert result.welfare == pytest.approx(welfare_by_trying_all(bids, capacities), abs=1e-9)
    assert (result.allocation.sum(axis=0) <= capacities).all()
    assert result.bound == pytest.approx(result.welfare, abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_the_integer_program_finds_the_same_as_the_search(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    bids = random_bids(seed, [1] * 12, 6, 25)
    searched = solve_xor_wdp(bids, [1] * 12)
    monkeypatch.setattr(assignment, "SEARCH_NODES", 0)
    programmed = solve_xor_wdp(bids, [1] * 12)
    assert programmed.welfare == pytest.approx(searched.welfare, rel=1e-9)
    assert programmed.status == "optimal"


@pytest.mark.parametrize("seed", range(20))
def test_a_stopped_search_brackets_the_optimum(seed: int) -> None:
    bids = random_bids(seed, [1] * 7, 4, 8)
    result = solve_xor_wdp(bids, [1] * 7, SearchLimits(node_limit=0))
    optimum = welfare_by_trying_all(bids, [1] * 7)
    assert result.welfare <= optimum + 1e-9
    assert result.bound >= optimum - 1e-9
    assert result.stopped_by in (None, "node_limit")
    assert result.deterministic


def test_a_search_without_time_says_so() -> None:
    result = solve_xor_wdp(random_bids(1, [1] * 30, 12, 60), [1] * 30, SearchLimits(time_limit=0.0))
    assert (result.status, result.stopped_by, result.deterministic) == ("feasible", "time_limit", False)
    assert result.bound > result.welfare > 0


def test_a_cancelled_search_returns_its_best() -> None:
    result = solve_xor_wdp(random_bids(1, [1] * 30, 12, 60), [1] * 30, SearchLimits(cancelled=lambda: True))
    assert result.stopped_by == "cancelled"
    assert result.welfare > 0


def test_the_same_bids_give_the_same_answer_to_the_last_bit() -> None:
    bids = random_bids(3, [1] * 14, 6, 40, cents=False)
    first, second = (solve_xor_wdp(bids, [1] * 14) for _ in range(2))
    assert first.welfare == second.welfare
    assert (first.allocation == second.allocation).all()


def test_a_warm_start_changes_no_optimum() -> None:
    bids = random_bids(5, [1] * 8, 5, 12)
    cold = solve_xor_wdp(bids, [1] * 8)
    for start in (cold.allocation, np.zeros_like(cold.allocation), np.ones_like(cold.allocation)):
        assert solve_xor_wdp(bids, [1] * 8, warm_start=start).welfare == cold.welfare


def first_of_the_best(bids: Bids, capacities: list[int]) -> list[list[int]]:
    """Among all best choices the first in the order of bids, none coming after all bids."""
    best = welfare_by_trying_all(bids, capacities)
    for choice in itertools.product(*([*own, ([0] * len(capacities), 0.0)] for own in bids)):
        fits = (np.sum([bundle for bundle, _ in choice], axis=0) <= capacities).all()
        if fits and sum(value for _, value in choice) >= best - 1e-9 * best:
            return [list(bundle) for bundle, _ in choice]
    raise AssertionError


@pytest.mark.parametrize("seed", range(40))
def test_ties_go_to_earlier_bidders_and_earlier_bids(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bids = [
        [(bundle, float(sum(bundle))) for bundle in np.unique(rng.integers(0, 2, (4, 4)), axis=0).tolist() if any(bundle)]
        for _ in range(4)
    ]
    result = solve_xor_wdp(bids, [1] * 4, tie_break="lexicographic")
    assert result.allocation.tolist() == first_of_the_best(bids, [1] * 4)


def test_values_above_a_trillion_are_solved_exactly() -> None:
    bids = [[(bundle, value * 1e13) for bundle, value in own] for own in random_bids(8, [1] * 6, 4, 8)]
    assert solve_xor_wdp(bids, [1] * 6).welfare == pytest.approx(welfare_by_trying_all(bids, [1] * 6), rel=1e-12)


def test_nobody_bidding_leaves_everything_unsold() -> None:
    result = solve_xor_wdp([[], []], [2, 1])
    assert (result.welfare, result.bound, result.status) == (0.0, 0.0, "optimal")
    assert not result.allocation.any()


def test_many_goods_of_many_units_are_packed_into_several_words() -> None:
    capacities = [1000] * 500
    bids = [[([1000] * 500, 5.0), ([500] * 500, 3.0)], [([500] * 500, 3.0)], [([501] + [0] * 499, 1.0)]]
    assert solve_xor_wdp(bids, capacities).welfare == 6.0


def test_of_two_bids_on_one_bundle_the_higher_counts() -> None:
    assert solve_xor_wdp([[([1], 2.0), ([1], 5.0), ([1], 3.0)]], [1]).welfare == 5.0


def test_a_bid_of_nothing_for_nothing_is_ignored() -> None:
    assert XorBids.of([[([0, 0], 0.0), ([1, 0], 1.0)]], [1, 1]).values[0].tolist() == [1.0]


@pytest.mark.parametrize(
    ("bids", "capacities", "pointer"),
    [
        ([], [1], "/bids"),
        ([[([1], 1.0)]], [], "/capacities"),
        ([[([1], 1.0)]], [0], "/capacities/0"),
        ([[([1], 1.0)]], [1.5], "/capacities/0"),
        ([[([1], 1.0)]], [1001], "/capacities/0"),
        ([[([1], 1.0)]], [float("nan")], "/capacities/0"),
        ([[([1], 1.0)]], [[1]], "/capacities"),
        ([[([1], 1.0)]], ["one"], "/capacities"),
        ([[]], [1] * 501, "/capacities"),
        ([[], [([1], 1.0), ([2], 1.0)]], [1], "/bids/1/1/bundle/0"),
        ([[([-1], 1.0)]], [1], "/bids/0/0/bundle/0"),
        ([[([0.5], 1.0)]], [1], "/bids/0/0/bundle/0"),
        ([[([float("inf")], 1.0)]], [1], "/bids/0/0/bundle/0"),
        ([[([1, 1], 1.0)]], [1], "/bids/0/0/bundle"),
        ([[([1], -1.0)]], [1], "/bids/0/0/value"),
        ([[([1], float("nan"))]], [1], "/bids/0/0/value"),
        ([[([1], float("inf"))]], [1], "/bids/0/0/value"),
        ([[([0], 1.0)]], [1], "/bids/0/0/value"),
        ([[([1], "much")]], [1], "/bids/0"),
        ([[([1],)]], [1], "/bids/0"),
    ],
)
def test_a_bad_bid_is_refused_with_its_place(bids: list, capacities: list, pointer: str) -> None:
    with pytest.raises(InvalidInput) as fault:
        solve_xor_wdp(bids, capacities)
    assert fault.value.pointer == pointer
