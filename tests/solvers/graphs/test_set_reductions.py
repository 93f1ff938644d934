"""Reductions keep the optimum, and what is proven of the kernel is proven of the whole."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.graphs.incidence import build_incidence
from solvers.graphs.lagrangian_bound import exact_prices, lp_prices
from solvers.graphs.set_reductions import reduce_sets
from tests.solvers.graphs.set_systems import incidence_of, least_cost, rows_of, set_systems


@settings(max_examples=300)
@given(set_systems())
def test_kernel_and_constant_are_worth_the_optimum(system):
    incidence = incidence_of(system)

    reduction = reduce_sets(incidence)

    assert least_cost(reduction.kernel) + reduction.constant == least_cost(incidence)


@given(set_systems(), st.data())
def test_a_cover_of_the_kernel_is_lifted_to_a_cover_that_costs_the_constant_more(system, data):
    incidence = incidence_of(system)
    reduction = reduce_sets(incidence)
    count = reduction.kernel.num_sets
    members = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)), dtype=bool)
    members |= not reduction.kernel.is_covered_by(members)

    lifted = reduction.lift(members)

    assert incidence.is_covered_by(lifted)
    assert incidence.cost_of(lifted) == reduction.kernel.cost_of(members) + reduction.constant


@given(set_systems())
def test_nothing_more_applies_to_a_kernel(system):
    kernel = reduce_sets(incidence_of(system)).kernel
    rows, costs = rows_of(kernel), kernel.costs.tolist()

    assert (kernel.frequencies > 1).all()
    assert (kernel.costs > 0).all()
    dominated = [
        (j, k) for j in range(len(rows)) for k in range(len(rows)) if j != k and rows[j] <= rows[k] and costs[k] <= costs[j]
    ]
    assert dominated == []
    columns = [set(column.tolist()) for column in np.split(kernel.sets, kernel.element_ptr[1:-1])] if kernel.num_elements else []
    assert [1 for e, one in enumerate(columns) for f, other in enumerate(columns) if e != f and one <= other] == []


@settings(max_examples=200)
@given(set_systems())
def test_prices_of_the_kernel_prove_the_constant_as_well(system):
    incidence = incidence_of(system)
    reduction = reduce_sets(incidence)
    prices = lp_prices(reduction.kernel).prices if reduction.kernel.num_elements else np.zeros(0)
    kernel_bound = exact_prices(reduction.kernel, prices)

    lifted = reduction.lift_multipliers(kernel_bound.prices / kernel_bound.scale)

    whole = exact_prices(incidence, lifted)
    assert whole.value / whole.scale >= kernel_bound.value / kernel_bound.scale + reduction.constant - 1e-4


def test_every_free_set_is_chosen_and_no_empty_one():
    reduction = reduce_sets(build_incidence(2, [0, 1, 1, 2, 4, 5], [0, 0, 0, 1, 1], [0, 0, 0, 3, 1]))

    assert reduction.lift(np.zeros(reduction.kernel.num_sets, bool)).tolist() == [True, False, True, False, True]


def test_of_two_equal_sets_the_first_is_kept():
    reduction = reduce_sets(build_incidence(3, [0, 2, 4, 6, 8], [0, 1, 0, 1, 1, 2, 0, 2], [1, 1, 1, 1]))

    assert reduction.sets.tolist() == [0, 2, 3]


@pytest.mark.parametrize("rounds", [0, 1, 2])
def test_a_reduction_cut_short_is_still_exact(rounds):
    incidence = build_incidence(4, [0, 1, 3, 5, 8], [0, 0, 1, 1, 2, 1, 2, 3], [1, 2, 2, 4])
    asked = iter(range(100))

    reduction = reduce_sets(incidence, stop=lambda: next(asked) >= rounds)

    assert least_cost(reduction.kernel) + reduction.constant == least_cost(incidence)
