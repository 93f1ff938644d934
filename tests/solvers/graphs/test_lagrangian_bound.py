"""Prices prove lower bounds of every cover, whatever prices they are, and good ones reach the linear relaxation."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs.incidence import build_incidence
from solvers.graphs.lagrangian_bound import Subgradient, exact_prices, lp_prices
from tests.solvers.graphs.set_systems import SMALL, drawn, incidence_of, least_cost, rows_of, set_systems, shipped, system_of

LP_CEILING = {"scp41": 429, "scp51": 252, "scp61": 134, "scpa1": 247, "scpclr10": 21, "scpcyc06": 48, "scpe1": 4, "stn27": 9}


def value_of(incidence, prices, scale):
    """Evaluate the Lagrangian in fractions."""
    y = [Fraction(price, scale) for price in prices.tolist()]
    costs = incidence.costs.tolist()
    return sum(y) + sum(min(0, cost - sum(y[e] for e in row)) for cost, row in zip(costs, rows_of(incidence), strict=True))


@given(set_systems(), st.data())
def test_any_prices_prove_no_more_than_the_optimum(system, data):
    incidence = incidence_of(system)
    m = incidence.num_elements
    prices = np.array(data.draw(st.lists(st.floats(-1, 1e6), min_size=m, max_size=m)), dtype=np.float64)

    proven = exact_prices(incidence, prices)

    assert Fraction(proven.value, proven.scale) == value_of(incidence, proven.prices, proven.scale)
    assert proven.whole_bound <= least_cost(incidence)
    assert (proven.prices >= 0).all()


def test_prices_that_are_no_numbers_prove_nothing_wrong():
    incidence = incidence_of(drawn(0, num_sets=6, num_elements=6, size=3))

    assert 0 <= exact_prices(incidence, np.array([math.nan, math.inf, -math.inf, 0, 1, 2])).whole_bound <= least_cost(incidence)


@pytest.mark.parametrize("name", [name for name, case in SMALL.items() if case["lp"] is not None])
def test_duals_prove_the_value_of_the_linear_relaxation(name):
    case = SMALL[name]
    incidence = incidence_of(system_of(case))
    prices = lp_prices(incidence).prices if incidence.num_elements else np.zeros(0)

    proven = exact_prices(incidence, prices)

    assert proven.value / proven.scale == pytest.approx(case["lp"], abs=1e-4)


@pytest.mark.parametrize("name", LP_CEILING)
def test_duals_of_shipped_instances_prove_the_known_ceilings(name):
    incidence = incidence_of(shipped(name))

    assert exact_prices(incidence, lp_prices(incidence).prices).whole_bound == LP_CEILING[name]


@pytest.mark.parametrize(("name", "least"), [("scp41", 427), ("scp51", 248), ("stn27", 9), ("scpcyc06", 48)])
def test_the_subgradient_comes_close_to_the_relaxation(name, least):
    incidence = incidence_of(shipped(name))
    ascent = Subgradient(incidence, LP_CEILING[name] + 5)

    while ascent.iterations_done < 1000 and not ascent.converged:
        ascent.advance(50)

    assert least <= exact_prices(incidence, ascent.prices).whole_bound <= LP_CEILING[name]


@given(set_systems(least=1))
def test_the_first_prices_charge_no_set_more_than_its_cost(system):
    incidence = incidence_of(system)

    prices = Subgradient(incidence, incidence.costs.sum()).prices

    for cost, row in zip(incidence.costs.tolist(), rows_of(incidence), strict=True):
        assert sum(prices[e] for e in row) <= cost * (1 + 1e-12)


def test_a_simplex_method_cut_short_proves_no_more_than_the_optimum():
    incidence = incidence_of(shipped("scp61"))

    found = lp_prices(incidence, iteration_limit=20)

    assert not found.is_optimal
    assert exact_prices(incidence, found.prices).whole_bound <= 138


def test_large_costs_are_bounded_without_overflow():
    costs = np.array([2**52 - 1, 2**52 - 3, 2**10])
    incidence = build_incidence(3, [0, 2, 4, 6], [0, 1, 1, 2, 0, 2], costs)

    proven = exact_prices(incidence, lp_prices(incidence).prices)

    assert proven.scale >= 1
    assert 0.49 * costs.sum() < proven.value / proven.scale <= 2**52 - 3 + 2**10
