import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auctions.admissible import admissible_bundles, count_admissible
from auctions.bundles import Limits, all_bundles
from auctions.networks.value_table import ValueTable, network_table
from solvers.operation import ForesolveError, TooLarge
from tests.auctions.networks.networks import SHAPES, random_network


@st.composite
def supplies_and_limits(draw):
    capacities = tuple(draw(st.lists(st.integers(1, 3), min_size=1, max_size=5)))
    m = len(capacities)
    return capacities, Limits(
        max_items=draw(st.none() | st.integers(0, 8)),
        goods=draw(st.none() | st.tuples(*[st.booleans()] * m)),
        caps=draw(st.none() | st.tuples(*[st.integers(0, 3)] * m)),
    )


@given(supplies_and_limits())
def test_admissible_bundles_are_those_that_the_limits_admit(case):
    capacities, limits = case
    bundles = all_bundles(capacities)
    expected = bundles[limits.admits(bundles)]
    np.testing.assert_array_equal(admissible_bundles(capacities, limits), expected)
    assert count_admissible(capacities, limits) == len(expected)


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("limits", [Limits(), Limits(max_items=3)])
@pytest.mark.parametrize("shape", SHAPES)
def test_demand_is_that_of_enumeration(shape, limits, precision):
    architecture, parameters = random_network(*shape, seed=3)
    exact = network_table(architecture, parameters, 5.0, limits)
    table = network_table(architecture, parameters, 5.0, limits, precision)
    greatest = exact.values.max()
    prices = np.random.default_rng(0).uniform(0, 2 * greatest / sum(architecture.capacities), (20, architecture.n_goods))
    bundles, utilities = table.demands(prices)
    every = exact.values - prices @ exact.bundles.T
    np.testing.assert_allclose(utilities, every.max(axis=1), atol=1e-12 * greatest)
    np.testing.assert_array_equal(bundles, exact.bundles[every.argmax(axis=1)])


def test_ties_go_to_the_first_bundle():
    table = ValueTable((1, 1), [0.0, 2.0, 2.0, 2.0])
    assert table.demand([0.5, 0.5]).bundle.tolist() == [1, 0]
    assert table.demand([2.0, 2.0]).bundle.tolist() == [0, 0]


@given(st.lists(st.integers(0, 3), min_size=16, max_size=16), st.lists(st.integers(0, 3), min_size=4, max_size=4))
@settings(deadline=None)
def test_ties_between_rounded_prices_are_still_ties(values, tenths):
    table = ValueTable((1,) * 4, np.array(values) / 10)
    utilities = np.array(values) - all_bundles((1,) * 4) @ tenths  # exact, in tenths
    assert table.demand(np.array(tenths) / 10).bundle.tolist() == all_bundles((1,) * 4)[utilities.argmax()].tolist()


@pytest.mark.parametrize("limits", [Limits(), Limits(max_items=3)])
def test_forbidden_bundles_are_passed_over_until_none_is_left(limits):
    table = network_table(*random_network((1,) * 4, (6,), True), limits=limits, precision=np.float32)
    prices, forbidden, last = [0.05] * 4, [], np.inf
    for _ in range(len(table)):
        answer = table.restrict(forbidden).demand(prices)
        assert answer.status == "optimal"
        assert answer.bundle.tolist() not in forbidden
        assert answer.utility <= last
        forbidden.append(answer.bundle.tolist())
        last = answer.utility
    assert table.restrict(forbidden).demand(prices).status == "infeasible"
    assert table.restrict(forbidden).demands(np.array([prices]))[0].tolist() == [[0] * 4]


def test_prices_above_all_value_buy_nothing_and_free_goods_bring_the_full_value():
    architecture, parameters = random_network((2, 3, 1), (7,), True)
    table = network_table(architecture, parameters)
    assert table.demand([table.values[-1] + 1e-6] * 3).bundle.tolist() == [0, 0, 0]
    assert table.demand([0.0] * 3).utility == pytest.approx(table.values[-1], abs=1e-12)


def test_a_table_of_too_many_bundles_is_refused():
    architecture, parameters = random_network((1,) * 21, (3,), True)
    with pytest.raises(TooLarge):
        network_table(architecture, parameters)
    assert len(network_table(architecture, parameters, limits=Limits(max_items=2))) == 1 + 21 + 210


@pytest.mark.parametrize("values", [[0.0], [0.0, np.nan], [0.0, np.inf], [[0.0, 1.0]]])
def test_bad_values_are_refused(values):
    with pytest.raises(ForesolveError):
        ValueTable((1,), values)


@pytest.mark.parametrize("prices", [[1.0], [1.0, -1.0], [1.0, np.nan], ["a", "b"], [[1.0, 2.0], [1.0]]])
def test_bad_prices_are_refused(prices):
    with pytest.raises(ForesolveError):
        ValueTable((1, 1), [0.0, 1.0, 2.0, 3.0]).demand(prices)
