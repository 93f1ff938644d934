"""Winner determination over value tables, by every method, against vectors and against each other."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from auctions.bundles import Limits, all_bundles, count_bundles
from auctions.outcome import SearchLimits
from auctions.winner_determination.choose import as_table, solve_wdp
from auctions.winner_determination.pair_splits import improved_by_pairs, marginal_prices
from auctions.winner_determination.table import FullTable, ListedTable
from solvers.operation import InvalidInput, TooLarge
from tests.auctions.networks_by_hand import random_network, values_of
from tests.auctions.vectors import cases

VECTORS = cases("wdp_mvnn.json")
METHODS = ("tables", "dynamic_program")


def tables_of(case: dict[str, Any]) -> list[np.ndarray]:
    return [scale * values_of(network) for network, scale in zip(case["nets"], case["scales"], strict=True)]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("case", VECTORS)
def test_published_optima_are_found(case: dict[str, Any], method: Any) -> None:
    result = solve_wdp(tables_of(case), case["capacities"], method=method)
    assert result.welfare == pytest.approx(case["welfare"], abs=1e-8)
    assert result.allocation.tolist() == case["allocation"]
    assert result.status == "optimal"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("case", VECTORS)
def test_published_optima_with_forbidden_bundles_are_found(case: dict[str, Any], method: Any) -> None:
    free = solve_wdp(tables_of(case), case["capacities"], method="tables")
    for restricted in case["restricted"]:
        result = solve_wdp(
            tables_of(case),
            case["capacities"],
            forbidden={restricted["bidder"]: restricted["forbidden"]},
            method=method,
            prices=free.prices,
            warm_start=free.allocation,
        )
        assert result.welfare == pytest.approx(restricted["welfare"], abs=1e-8)
        assert result.allocation[restricted["bidder"]].tolist() == restricted["bundle"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("case", VECTORS)
def test_published_optima_without_a_bidder_are_found(case: dict[str, Any], method: Any) -> None:
    for marginal in case["marginal"]:
        result = solve_wdp(tables_of(case), case["capacities"], exclude=[marginal["excluded_bidder"]], method=method)
        assert result.welfare == pytest.approx(marginal["welfare"], abs=1e-8)


def complements(seed: int, capacities: list[int], n_bidders: int) -> list[np.ndarray]:
    """Values with strong complements, for which no linear prices come close to the optimum."""
    rng = np.random.default_rng(seed)
    bundles = all_bundles(capacities)
    tables = []
    for _ in range(n_bidders):
        worth = bundles @ rng.uniform(1, 5, len(capacities))
        sizes = bundles @ rng.integers(0, 2, len(capacities))
        tables.append(worth * (1 + 2 / (1 + np.exp(3 - sizes))))
    return tables


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("capacities", "n_bidders"), [([1] * 9, 4), ([3, 2, 4], 3), ([2, 1, 1, 2, 1], 5), ([7], 3)])
def test_all_methods_agree_on_networks_and_on_complements(seed: int, capacities: list[int], n_bidders: int) -> None:
    rng = np.random.default_rng(seed)
    for tables in (
        [100 * values_of(random_network(rng, capacities, (8, 6)[: 1 + i % 2], skip=i % 3 == 0)) for i in range(n_bidders)],
        complements(seed, capacities, n_bidders),
    ):
        searched, programmed = (solve_wdp(tables, capacities, method=method) for method in METHODS)
        assert searched.welfare == pytest.approx(programmed.welfare, rel=1e-9)
        assert searched.status == programmed.status == "optimal"
        assert (searched.allocation.sum(axis=0) <= capacities).all()


@pytest.mark.parametrize("seed", range(8))
def test_lists_are_solved_like_the_same_values_in_full(seed: int) -> None:
    capacities, limits = [1] * 8, [Limits(max_items=3), Limits(max_items=2), Limits()]
    rng = np.random.default_rng(seed)
    bundles = all_bundles(capacities)
    lists, full = [], []
    for limit in limits:
        values = values_of(random_network(rng, capacities))
        kept = limit.admits(bundles)
        lists.append(ListedTable(bundles[kept], values[kept]))
        full.append(FullTable(np.where(kept, values, -np.inf), np.array(capacities)))
    listed, programmed = solve_wdp(lists, capacities, method="tables"), solve_wdp(full, capacities, method="dynamic_program")
    assert listed.welfare == pytest.approx(programmed.welfare, rel=1e-9)
    assert all(limit.admits(bundle[None])[0] for limit, bundle in zip(limits, listed.allocation, strict=True))


@pytest.mark.parametrize("seed", range(10))
def test_stopped_searches_bracket_the_optimum(seed: int) -> None:
    tables = complements(seed, [1] * 8, 4)
    optimum = solve_wdp(tables, [1] * 8, method="dynamic_program").welfare
    for limits in (
        SearchLimits(iteration_limit=0),
        SearchLimits(iteration_limit=seed),
        SearchLimits(node_limit=seed),
        SearchLimits(time_limit=0.0),
    ):
        result = solve_wdp(tables, [1] * 8, limits, method="tables")
        assert result.welfare <= optimum * (1 + 1e-9)
        assert result.bound >= optimum * (1 - 1e-9)


def test_the_same_problem_gives_the_same_answer_to_the_last_bit() -> None:
    tables = complements(5, [1] * 10, 5)
    first, second = (solve_wdp(tables, [1] * 10, method="tables") for _ in range(2))
    assert first.welfare == second.welfare
    assert (first.allocation == second.allocation).all()
    assert first.prices is not None
    assert second.prices is not None
    assert (first.prices == second.prices).all()


@pytest.mark.parametrize("seed", range(6))
def test_no_pair_can_improve_what_pairs_have_improved(seed: int) -> None:
    capacities = np.array([1, 2, 1, 1, 2])
    tables = complements(seed, capacities.tolist(), 4)
    everything = np.zeros((4, 5), dtype=np.int64)
    everything[0] = capacities
    allocation = improved_by_pairs(tables, everything, capacities)
    worth = [tables[i][bundle @ np.cumprod([1, 2, 3, 2, 2])] for i, bundle in enumerate(allocation)]
    assert (allocation.sum(axis=0) <= capacities).all()
    for first, second in itertools.combinations(range(4), 2):
        pool = allocation[first] + allocation[second]
        both = solve_wdp([tables[first], tables[second]], capacities, method="dynamic_program")
        shared = [
            tables[first][x @ np.cumprod([1, 2, 3, 2, 2])] + tables[second][(pool - x) @ np.cumprod([1, 2, 3, 2, 2])]
            for x in all_bundles(capacities)
            if (x <= pool).all()
        ]
        assert worth[first] + worth[second] >= max(shared) - 1e-9
        assert worth[first] + worth[second] <= both.welfare + 1e-9


def test_marginal_prices_of_additive_values_are_between_the_two_highest() -> None:
    worth = np.array([[5.0, 1.0], [2.0, 6.0], [3.0, 0.5]])
    tables = [all_bundles([1, 1]) @ own for own in worth]
    prices = marginal_prices(tables, np.array([[1, 0], [0, 1], [0, 0]]), np.array([1, 1]))
    assert prices.tolist() == [4.0, 3.5]


@pytest.mark.parametrize("seed", range(20))
def test_ties_go_to_earlier_bidders_and_earlier_bundles(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tables = [np.concatenate(([0.0], rng.integers(0, 3, 7))).astype(float) for _ in range(3)]
    result = solve_wdp(tables, [1, 1, 1], tie_break="lexicographic")
    bundles = all_bundles([1, 1, 1])
    order = [*range(1, 8), 0]
    best = solve_wdp(tables, [1, 1, 1], method="dynamic_program").welfare
    first = next(
        choice
        for choice in itertools.product(order, repeat=3)
        if (bundles[list(choice)].sum(axis=0) <= 1).all() and sum(t[k] for t, k in zip(tables, choice, strict=True)) == best
    )
    assert result.allocation.tolist() == bundles[list(first)].tolist()


def test_free_disposal_lets_a_bundle_be_worth_what_a_part_of_it_is() -> None:
    table = [([1, 0], 5.0), ([1, 1], 2.0)]
    kept = {0: [[1, 0]]}
    assert solve_wdp([table], [1, 1], forbidden=kept).welfare == 2.0
    assert solve_wdp([table], [1, 1], forbidden=kept, free_disposal=True).welfare == 5.0


def test_a_single_bidder_gets_everything() -> None:
    values = values_of(random_network(np.random.default_rng(1), [2, 2, 1], skip=True))
    assert solve_wdp([values], [2, 2, 1]).allocation.tolist() == [[2, 2, 1]]


def test_splitting_a_good_of_two_units_into_two_goods_changes_no_welfare() -> None:
    rng = np.random.default_rng(4)
    joint = [values_of(random_network(rng, [2, 1, 1])) for _ in range(3)]
    bundles = all_bundles([1, 1, 1, 1])
    merged = np.column_stack((bundles[:, 0] + bundles[:, 1], bundles[:, 2:]))
    split = [own[merged @ [1, 3, 6]] for own in joint]
    assert solve_wdp(split, [1, 1, 1, 1]).welfare == pytest.approx(solve_wdp(joint, [2, 1, 1]).welfare, rel=1e-12)


def test_forbidding_all_that_a_bidder_may_hold_is_infeasible() -> None:
    result = solve_wdp([[0.0, 1.0], [0.0, 1.0]], [1], forbidden={0: [[0], [1]]})
    assert (result.status, result.welfare) == ("infeasible", 0.0)


@pytest.mark.parametrize("method", METHODS)
def test_bidders_that_cannot_all_have_something_are_infeasible(method: Any) -> None:
    result = solve_wdp([[0.0, 1.0], [0.0, 2.0]], [1], forbidden=[[[0]], [[0]]], method=method)
    assert result.status == "infeasible"


@pytest.mark.parametrize("method", METHODS)
def test_a_bidder_that_must_not_go_empty_gets_something(method: Any) -> None:
    result = solve_wdp([[0.0, 1.0, 1.0, 1.0], [0.0, 9.0, 9.0, 20.0]], [1, 1], forbidden={0: [[0, 0]]}, method=method)
    assert result.allocation[0].any()
    assert result.welfare == 10.0


@pytest.mark.parametrize("method", METHODS)
def test_values_of_zero_leave_nothing_to_gain(method: Any) -> None:
    result = solve_wdp([np.zeros(8), np.zeros(8)], [1, 1, 1], method=method)
    assert (result.welfare, result.bound, result.status) == (0.0, 0.0, "optimal")


def test_lists_over_more_bundles_than_can_be_counted_are_solved() -> None:
    n_goods = 100
    rng = np.random.default_rng(2)
    lists = [[(rng.integers(0, 2, n_goods).tolist(), float(v)) for v in rng.uniform(1, 9, 20)] for _ in range(4)]
    result = solve_wdp(lists, [1] * n_goods)
    assert result.status == "optimal"
    assert result.welfare >= max(value for own in lists for _, value in own)


def test_free_disposal_over_too_many_bundles_is_refused() -> None:
    with pytest.raises(TooLarge):
        solve_wdp([[([1] * 30, 1.0)]], [1] * 30, free_disposal=True)


@pytest.mark.parametrize(
    ("values", "capacities", "forbidden", "pointer"),
    [
        ([], [1], None, "/values"),
        ([[0.0, 1.0, 2.0]], [1], None, "/values/0"),
        ([[0.0, -1.0]], [1], None, "/values/0/1"),
        ([[0.0, float("nan")]], [1], None, "/values/0/1"),
        ([[0.0, float("inf")]], [1], None, "/values/0/1"),
        ([[([2], 1.0)]], [1], None, "/values/0/0/bundle/0"),
        ([[([1], -1.0)]], [1], None, "/values/0/0"),
        ([[([1],)]], [1], None, "/values/0"),
        ([["a", "b"]], [1], None, "/values/0"),
        ([5], [1], None, "/values/0"),
        ([[0.0, 1.0]], [0], None, "/capacities/0"),
        ([[0.0, 1.0]], [1], [None, None], "/forbidden"),
        ([[0.0, 1.0]], [1], {0: [[2]]}, "/forbidden/0/0/0"),
    ],
)
def test_a_bad_table_is_refused_with_its_place(values: list, capacities: list, forbidden: Any, pointer: str) -> None:
    with pytest.raises(InvalidInput) as fault:
        solve_wdp(values, capacities, forbidden=forbidden)
    assert fault.value.pointer == pointer


def test_a_list_that_names_most_bundles_is_kept_in_full() -> None:
    listed = [(bundle.tolist(), 1.0) for bundle in all_bundles([1, 1, 1])]
    assert isinstance(as_table(listed, np.array([1, 1, 1])), FullTable)
    assert count_bundles([1, 1, 1]) == len(listed)
