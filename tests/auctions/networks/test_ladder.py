import numpy as np
import pytest

from auctions.bundles import all_bundles
from auctions.networks.architecture import Architecture
from auctions.networks.forward_pass import evaluate
from auctions.networks.initialisation import explaining_parameters
from auctions.networks.ladder import ladder, network_of_quantities
from auctions.networks.upper_bound_loss import highest_values
from tests.auctions.networks.networks import random_network


@pytest.mark.parametrize(("hidden", "skip"), [((), True), ((5,), True), ((5,), False), ((6, 4), False), ((3, 5, 4), True)])
def test_a_network_of_licences_has_a_network_of_quantities_with_the_same_values(hidden, skip):
    capacities = (2, 1, 4)
    licences, parameters = random_network((1,) * 7, hidden, skip, seed=9, zeros=0.1)
    bundles = all_bundles(capacities)
    shape, same = network_of_quantities(licences, parameters, capacities)
    projected = same.copy()
    shape.project(projected)
    np.testing.assert_array_equal(projected, same)
    expected = evaluate(licences, parameters, ladder(bundles, capacities).astype(np.int64))
    np.testing.assert_allclose(evaluate(shape, same, bundles), expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_on_the_ladder_the_highest_value_is_the_least_of_the_bundles_that_contain_one(seed):
    rng = np.random.default_rng(seed)
    capacities = tuple(rng.integers(1, 4, rng.integers(1, 5)).tolist())
    bundles = all_bundles(capacities)
    known = np.union1d(rng.choice(len(bundles), min(8, len(bundles)), replace=False), [0, len(bundles) - 1])
    values = np.cumsum(rng.random(len(bundles)))[known]
    values[0] = 0.0
    order = np.argsort(values)
    points = ladder(bundles, capacities)
    highest = highest_values(points, points[known][order], values[order])
    expected = [values[(bundle <= bundles[known]).all(axis=1)].min() for bundle in bundles]
    np.testing.assert_allclose(highest, expected, atol=1e-12)


def test_between_bundles_the_highest_value_is_that_of_the_explicit_network():
    rng = np.random.default_rng(3)
    bundles = np.array([[0, 0, 0, 0], [1, 0, 0, 1], [0, 1, 1, 0], [1, 1, 1, 0], [1, 1, 1, 1]])
    values = np.array([0.0, 1.0, 1.5, 2.0, 4.0])
    sizes, parameters = explaining_parameters(bundles, values)
    points = rng.random((50, 4))
    network = Architecture((1,) * 4, sizes, False)
    np.testing.assert_allclose(
        highest_values(points, bundles.astype(float), values), evaluate(network, parameters, points), atol=1e-12
    )
