"""The greedy cover takes the cheapest set per new element, exactly, and is never worse than its ratio promises."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs.greedy_cover_sets import FULL_WEIGHT, greedy_cover, harmonic_ratio, without_redundant
from solvers.graphs.incidence import build_incidence
from tests.solvers.graphs.set_systems import SMALL, drawn, incidence_of, least_cost, members_of, rows_of, set_systems, system_of


def plain_greedy(incidence, allowed, covered, weights):
    """Return the greedy order by comparing fractions over all sets at every step."""
    rows, costs = rows_of(incidence), incidence.costs.tolist()
    covered, order, free = set(covered), [], set(np.flatnonzero(allowed).tolist())
    while True:
        prices = [(Fraction(costs[j], len(rows[j] - covered) * weights[j]), j) for j in free if rows[j] - covered]
        if not prices:
            return order
        j = min(prices)[1]
        order.append(j)
        free.discard(j)
        covered |= rows[j]


@pytest.mark.parametrize("name", [name for name, case in SMALL.items() if case["greedy"] is not None])
def test_the_order_is_that_of_the_reference_program(name):
    case = SMALL[name]
    incidence = incidence_of(system_of(case))

    # The reference stops once all is covered; sets that are free and new never come after that.
    order = greedy_cover(incidence).tolist()

    assert order == case["greedy"]["selection_order"]
    assert int(incidence.costs[order].sum()) == case["greedy"]["cost"]


@given(set_systems(), st.data())
def test_every_step_takes_the_least_exact_price(system, data):
    incidence = incidence_of(system)
    n = incidence.num_sets
    allowed = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    weights = np.array(data.draw(st.lists(st.integers(1, FULL_WEIGHT), min_size=n, max_size=n)))

    order = greedy_cover(incidence, allowed=allowed, chosen=chosen, weights=weights)

    covered = set().union(*(row for row, taken in zip(rows_of(incidence), chosen, strict=True) if taken))
    assert order.tolist() == plain_greedy(incidence, allowed & ~chosen, covered, weights.tolist())


def test_costs_beyond_the_precision_of_floats_are_told_apart():
    # 3/2 of 2^52 + 1 per element against 2^52 + 1: as floats, cross products are equal.
    incidence = build_incidence(3, [0, 1, 3], [0, 1, 2], [2**51 + 1, 2**52 + 1])

    assert greedy_cover(incidence).tolist() == [1, 0]


@given(set_systems(least=1))
def test_the_greedy_cover_costs_at_most_its_ratio_times_the_optimum(system):
    incidence = incidence_of(system)

    cost = int(incidence.costs[greedy_cover(incidence)].sum())

    assert cost <= harmonic_ratio(incidence) * least_cost(incidence) + 1e-9


@given(set_systems())
def test_dropping_redundant_sets_leaves_a_cover_that_needs_every_member(system):
    incidence = incidence_of(system)

    kept = without_redundant(incidence, np.ones(incidence.num_sets, bool))

    assert incidence.is_covered_by(kept)
    for j in np.flatnonzero(kept):
        smaller = kept.copy()
        smaller[j] = False
        assert not incidence.is_covered_by(smaller)


def test_the_most_expensive_redundant_set_goes_first():
    incidence = build_incidence(1, [0, 1, 2, 3], [0, 0, 0], [1, 3, 3])

    assert without_redundant(incidence, np.ones(3, bool)).tolist() == [True, False, False]


def test_a_stopped_greedy_cover_returns_what_it_has():
    incidence = incidence_of(drawn(1))

    assert greedy_cover(incidence, stop=lambda: True).tolist() == []
    assert incidence.is_covered_by(members_of(incidence, greedy_cover(incidence)))
