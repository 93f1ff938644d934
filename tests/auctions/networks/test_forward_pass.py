"""Three ways to the same values: bundle by bundle, block by block, and the formula in NumPy."""

import numpy as np
import pytest

from auctions.bundles import Limits, all_bundles
from auctions.networks.architecture import Architecture
from auctions.networks.forward_pass import evaluate
from auctions.networks.initialisation import explaining_parameters
from auctions.networks.value_table import network_table
from tests.auctions.networks.networks import SHAPES, random_network


def formula(architecture, parameters, bundles):
    units = bundles / np.array(architecture.capacities)
    for layer in architecture.layers(parameters):
        units = np.minimum(layer.cutoff, np.maximum(0.0, units @ layer.weight + layer.bias))
    values = units @ architecture.output_weight(parameters) if architecture.hidden_layer_sizes else np.zeros(len(bundles))
    skip = architecture.skip_weight(parameters)
    return values if skip is None else values + bundles @ skip


@pytest.mark.parametrize("shape", SHAPES)
def test_values_follow_the_formula(shape):
    architecture, parameters = random_network(*shape)
    bundles = all_bundles(architecture.capacities)
    np.testing.assert_allclose(
        evaluate(architecture, parameters, bundles), formula(architecture, parameters, bundles), atol=1e-13
    )


@pytest.mark.parametrize(("precision", "error"), [(np.float32, 1e-5), (np.float64, 1e-13)])
@pytest.mark.parametrize("limits", [Limits(), Limits(max_items=3), Limits(max_items=300)])
@pytest.mark.parametrize("shape", SHAPES)
def test_tables_have_the_same_values(shape, limits, precision, error):
    architecture, parameters = random_network(*shape)
    table = network_table(architecture, parameters, 2.0, limits, precision)
    assert limits.admits(table.bundles).all()
    expected = 2.0 * evaluate(architecture, parameters, table.bundles)
    np.testing.assert_allclose(table.values, expected, atol=error * expected.max())


@pytest.mark.parametrize("shape", SHAPES)
def test_values_grow_with_the_bundle_from_zero(shape):
    architecture, parameters = random_network(*shape)
    table = network_table(architecture, parameters)
    bundles = table.bundles
    assert table.values[0] == 0.0
    for good, capacity in enumerate(architecture.capacities):
        room = np.flatnonzero(bundles[:, good] < capacity)
        more = bundles[room]
        more[:, good] += 1
        assert (table.values[table.rows_of(more)] >= table.values[room] - 1e-12).all()


def test_a_network_exists_for_any_monotone_value_of_single_goods():
    rng = np.random.default_rng(5)
    bundles = all_bundles([1] * 4)
    raw = rng.random(16)
    value = np.array([raw[(bundles <= bundle).all(axis=1)].max() for bundle in bundles])
    value[0] = 0.0
    sizes, parameters = explaining_parameters(bundles, value)
    np.testing.assert_allclose(evaluate(Architecture((1,) * 4, sizes, False), parameters, bundles), value, atol=1e-12)


def test_a_network_of_some_points_says_the_least_value_of_those_that_contain_a_bundle():
    rng = np.random.default_rng(6)
    bundles = all_bundles([1] * 5)
    value = bundles.sum(axis=1) ** 1.5 + bundles @ [0.1, 0.2, 0.3, 0.4, 0.5]
    known = np.union1d(rng.choice(32, 10, replace=False), [0, 31])
    sizes, parameters = explaining_parameters(bundles[known], value[known])
    expected = [value[known][(bundle <= bundles[known]).all(axis=1)].min() for bundle in bundles]
    np.testing.assert_allclose(evaluate(Architecture((1,) * 5, sizes, False), parameters, bundles), expected, atol=1e-12)
