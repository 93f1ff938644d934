"""Three ways to the same values: bundle by bundle, block by block, and the formula in NumPy."""

import numpy as np
import pytest

from auctions.bundles import Limits, all_bundles
from auctions.networks.architecture import Architecture
from auctions.networks.forward_pass import evaluate
from auctions.networks.initialisation import explaining_parameters
from auctions.networks.mvnn import MVNN
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


def test_one_unit_that_never_saturates_is_an_additive_value():
    worth = np.array([0.5, 0.2, 0.3])
    unit = MVNN.from_dict(
        {
            "capacities": [1, 1, 1],
            "layers": [{"weight": [worth.tolist()], "bias": [0.0], "cutoff": [2.0]}],
            "output_weight": [1.0],
            "skip_weight": None,
        }
    )
    linear = MVNN.from_dict({"capacities": [1, 1, 1], "skip_weight": worth.tolist()})
    for network in (unit, linear):
        np.testing.assert_allclose(network.predict(all_bundles([1, 1, 1])), all_bundles([1, 1, 1]) @ worth, atol=1e-15)
        for prices in ([0.4, 0.3, 0.1], [0.6, 0.1, 0.4]):
            assert network.demand(prices).bundle.tolist() == (worth > prices).astype(int).tolist()


def test_a_good_of_two_units_is_two_goods_with_tied_weights():
    architecture, parameters = random_network((2, 1), (5, 3), True, seed=7, zeros=0.0)
    split = Architecture((1, 1, 1), (5, 3), True)
    tied = np.zeros(split.n_parameters)
    for part, whole in zip(split.layers(tied), architecture.layers(parameters), strict=True):
        part.bias[:], part.cutoff[:] = whole.bias, whole.cutoff
        part.weight[:] = whole.weight if len(part.weight) == 5 else whole.weight[[0, 0, 1]] * np.array([[0.5], [0.5], [1.0]])
    split.output_weight(tied)[:] = architecture.output_weight(parameters)
    skip, whole_skip = split.skip_weight(tied), architecture.skip_weight(parameters)
    assert skip is not None
    assert whole_skip is not None
    skip[:] = whole_skip[[0, 0, 1]]
    bundles = all_bundles([1, 1, 1])
    together = np.stack([bundles[:, 0] + bundles[:, 1], bundles[:, 2]], axis=1)
    np.testing.assert_allclose(evaluate(split, tied, bundles), evaluate(architecture, parameters, together), atol=1e-14)
