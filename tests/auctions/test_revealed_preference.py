"""Bounds by revealed preference, against vectors and against a linear program over the values of all bundles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from auctions.bundles import all_bundles, count_bundles, indices_of, strides
from auctions.revealed_preference import revealed_preference_bounds
from solvers.operation import InvalidInput
from tests.auctions.vectors import cases

Answers = tuple[list[tuple[Any, Any]], list[tuple[Any, Any]]]


def answers_of(case: dict[str, Any]) -> Answers:
    demand = [(answer["prices"], answer["bundle"]) for answer in case["demand_answers"]]
    return demand, [(answer["bundle"], answer["value"]) for answer in case["value_answers"]]


@pytest.mark.parametrize("case", cases("rp_bounds.json"))
def test_published_bounds_are_found(case: dict[str, Any]) -> None:
    asked = case["bounds"] or []
    report = revealed_preference_bounds(*answers_of(case), case["capacities"], [bound["bundle"] for bound in asked])
    assert report.consistent is case["consistent"]
    if case["consistent"]:
        assert report.lower == pytest.approx([bound["lower"] for bound in asked], abs=1e-8)
        assert report.upper == pytest.approx([bound["upper"] for bound in asked], abs=1e-8)


@pytest.mark.parametrize("case", [case for case in cases("rp_bounds.json") if not case.values[0]["consistent"]])
def test_a_contradiction_is_a_negative_cycle_of_true_edges(case: dict[str, Any]) -> None:
    demand, value = answers_of(case)
    cycle = revealed_preference_bounds(demand, value, case["capacities"]).cycle
    assert cycle is not None
    assert sum(edge.length for edge in cycle) < 0
    for edge, following in zip(cycle, (*cycle[1:], cycle[0]), strict=True):
        assert edge.target == following.source
        source, target = np.array(edge.source), np.array(edge.target)
        if edge.answer.kind == "demand":
            prices, bundle = demand[edge.answer.number or 0]
            assert tuple(bundle) == edge.source
            assert edge.length == pytest.approx(np.array(prices) @ (target - source), abs=1e-9)
        elif edge.answer.kind == "value":
            bundle, worth = value[edge.answer.number or 0]
            assert (edge.length, tuple(bundle)) in ((worth, edge.target), (-worth, edge.source))
        else:
            assert edge.length == 0
            assert (target <= source).all()


def truthful(seed: int, capacities: list[int], n_demand: int, n_value: int) -> tuple[np.ndarray, Answers]:
    """A monotone value and answers that it gives."""
    rng = np.random.default_rng(seed)
    bundles = all_bundles(capacities)
    values = bundles @ rng.uniform(1, 10, len(capacities)) * (1 + 0.1 * rng.random(len(bundles)))
    values[0] = 0.0
    for step, radix in zip(strides(capacities), np.array(capacities) + 1, strict=True):
        along = values.reshape(-1, radix, step)
        np.maximum.accumulate(along, axis=1, out=along)
    prices = rng.uniform(0, 12, (n_demand, len(capacities)))
    demand = [(p, bundles[np.argmax(values - bundles @ p)]) for p in prices]
    return values, (demand, [(bundles[k], values[k]) for k in rng.integers(0, len(bundles), n_value)])


def by_linear_program(answers: Answers, capacities: list[int], bundle: np.ndarray, sign: int) -> float | None:
    """The least (sign 1) or largest (sign -1) value of a bundle that is consistent with the answers; None if there is none."""
    bundles, n_bundles = all_bundles(capacities), count_bundles(capacities)
    rows, limits = [], []
    for prices, chosen in answers[0]:
        origin = int(indices_of(chosen, capacities))
        for other in range(n_bundles):
            row = np.zeros(n_bundles)
            row[other] += 1
            row[origin] -= 1
            rows.append(row)
            limits.append(np.asarray(prices) @ (bundles[other] - bundles[origin]))
    for smaller in range(n_bundles):
        for step, held, most in zip(strides(capacities), bundles[smaller], capacities, strict=True):
            if held < most:
                row = np.zeros(n_bundles)
                row[smaller], row[smaller + step] = 1, -1
                rows.append(row)
                limits.append(0.0)
    bounds: list[tuple[float, float | None]] = [(0.0, None)] * n_bundles
    bounds[0] = (0.0, 0.0)
    for known, value in answers[1]:
        if np.any(known):
            bounds[int(indices_of(known, capacities))] = (value, value)
    cost = np.zeros(n_bundles)
    cost[int(indices_of(bundle, capacities))] = sign
    solved = linprog(cost, A_ub=np.array(rows), b_ub=np.array(limits), bounds=bounds)
    if solved.status == 3:
        return -sign * np.inf
    return None if solved.status == 2 else solved.fun * sign


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    ("capacities", "n_demand", "n_value"), [([1, 1, 1, 1], 3, 2), ([2, 3], 2, 1), ([2, 1, 1], 0, 2), ([1, 2], 1, 0)]
)
def test_bounds_equal_those_over_the_values_of_all_bundles(seed: int, capacities: list[int], n_demand: int, n_value: int) -> None:
    _, answers = truthful(seed, capacities, n_demand, n_value)
    asked = all_bundles(capacities)[1::3]
    report = revealed_preference_bounds(*answers, capacities, asked)
    assert report.lower == pytest.approx([by_linear_program(answers, capacities, bundle, 1) for bundle in asked], abs=1e-6)
    assert report.upper == pytest.approx([by_linear_program(answers, capacities, bundle, -1) for bundle in asked], abs=1e-6)


@pytest.mark.parametrize("seed", range(60))
def test_random_answers_are_consistent_exactly_when_a_value_explains_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    capacities = [1, 1, 1]
    demand = [(rng.uniform(0, 10, 3), rng.integers(0, 2, 3)) for _ in range(2)]
    value = [(np.array([0, 1, 1]), float(rng.uniform(0, 15)))]
    report = revealed_preference_bounds(demand, value, capacities)
    assert report.consistent is (by_linear_program((demand, value), capacities, np.array([1, 1, 1]), 1) is not None)


@pytest.mark.parametrize("seed", range(30))
def test_truthful_answers_are_never_flagged_and_their_bounds_hold(seed: int) -> None:
    capacities = [1, 2, 1, 1, 2]
    values, answers = truthful(seed, capacities, 20, 20)
    report = revealed_preference_bounds(*answers, capacities, all_bundles(capacities))
    assert report.consistent
    assert report.lower is not None
    assert report.upper is not None
    assert (report.lower <= values + 1e-8).all()
    assert (report.upper >= values - 1e-8).all()


def test_many_truthful_answers_full_of_ties_are_not_flagged() -> None:
    rng = np.random.default_rng(0)
    worth = rng.uniform(1, 5, 18)
    demand = [(prices, (worth > prices).astype(int)) for prices in rng.uniform(0, 6, (125, 18))]
    value = [(bundle, float(bundle @ worth)) for bundle in rng.integers(0, 2, (125, 18))]
    asked = rng.integers(0, 2, (50, 18))
    report = revealed_preference_bounds(demand, value, [1] * 18, asked)
    assert report.consistent
    assert report.lower is not None
    assert report.upper is not None
    assert (report.lower <= asked @ worth + 1e-8).all()
    assert (report.upper >= asked @ worth - 1e-8).all()


def test_a_value_that_was_told_is_its_own_bound() -> None:
    report = revealed_preference_bounds([], [([1, 1], 7.0)], [1, 1], [[1, 1], [1, 0]])
    assert report.lower is not None
    assert report.upper is not None
    assert (report.lower.tolist(), report.upper.tolist()) == ([7.0, 0.0], [7.0, 7.0])


def test_nothing_limits_a_value_before_anything_was_answered() -> None:
    report = revealed_preference_bounds([], [], [1], [[0], [1]])
    assert report.upper is not None
    assert report.upper.tolist() == [0.0, np.inf]


@pytest.mark.parametrize(
    ("demand", "value"),
    [
        ([([1.0], [1]), ([2.0], [1]), ([0.5], [0])], []),
        ([], [([1], 3.0), ([1], 4.0)]),
        ([], [([0], 1.0)]),
        ([([5.0], [1])], [([1], 4.0)]),
    ],
)
def test_answers_that_no_value_explains_are_flagged(demand: list, value: list) -> None:
    report = revealed_preference_bounds(demand, value, [1])
    assert not report.consistent
    assert report.cycle


@pytest.mark.parametrize(
    ("demand", "value", "bundles", "pointer"),
    [
        ([([1.0, 1.0], [1])], [], [], "/demand/0/prices"),
        ([([-1.0], [1])], [], [], "/demand/0/prices/0"),
        ([([float("nan")], [1])], [], [], "/demand/0/prices/0"),
        ([(["x"], [1])], [], [], "/demand/0/prices"),
        ([([1.0], [2])], [], [], "/demand/0/bundle/0"),
        ([], [([1], -1.0)], [], "/value/0/value"),
        ([], [([1], float("inf"))], [], "/value/0/value"),
        ([], [([1], "3")], [], "/value/0/value"),
        ([], [([1, 0], 1.0)], [], "/value/0/bundle"),
        ([], [], [[3]], "/bundles/0/0"),
    ],
)
def test_a_bad_answer_is_refused_with_its_place(demand: list, value: list, bundles: list, pointer: str) -> None:
    with pytest.raises(InvalidInput) as fault:
        revealed_preference_bounds(demand, value, [1], bundles)
    assert fault.value.pointer == pointer
