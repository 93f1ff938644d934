import json

import numpy as np
import pytest

from auctions.networks.architecture import Architecture
from auctions.networks.initialisation import Initialisation, initial_parameters, weight_mixture
from solvers.operation import InvalidInput
from tests.auctions.vectors import DATA

CONSTANTS = json.loads((DATA / "mlhca" / "init.json").read_text())["cases"]
SCHEME = ("init_E", "init_Var", "init_b", "init_bias", "init_little_const")


@pytest.mark.parametrize("case", CONSTANTS, ids=lambda case: case["fan_in"])
def test_constants_are_those_of_the_vectors(case):
    mixture = weight_mixture(case["fan_in"], Initialisation(**{name: case[name] for name in SCHEME}))
    assert mixture == pytest.approx((case["a"], case["b"], case["p"]), abs=1e-8)


@pytest.fixture(scope="module")
def a_wide_layer():
    architecture = Architecture((1,) * 18, (4000,), True)
    layers = []
    for seed in range(5):
        parameters = initial_parameters(architecture, np.random.default_rng(seed))
        layers.append(next(iter(architecture.layers(parameters))))
    return layers


def test_sums_over_a_units_inputs_have_the_wanted_mean_and_variance(a_wide_layer):
    sums = np.concatenate([layer.weight.sum(axis=0) for layer in a_wide_layer])
    assert len(sums) == 20_000
    assert abs(sums.mean() - 1.025) < 5 * 0.3 / np.sqrt(20_000)
    assert abs(sums.var() / 0.09 - 1) < 0.05


def test_weights_come_from_the_wider_interval_as_often_as_they_should(a_wide_layer):
    mixture = weight_mixture(18)
    weights = np.concatenate([layer.weight.ravel() for layer in a_wide_layer])
    expected = mixture.share_of_b * (1 - mixture.a / mixture.b)  # beyond a: only from Unif(0, b)
    share = (weights > mixture.a).mean()
    assert abs(share - expected) < 5 * np.sqrt(expected * (1 - expected) / weights.size)


def test_biases_and_cutoffs_keep_to_their_intervals(a_wide_layer):
    for layer in a_wide_layer:
        assert layer.bias.min() >= -0.05
        assert layer.bias.max() <= 0.0
        assert layer.cutoff.min() >= 0.0
        assert layer.cutoff.max() <= 1.0


@pytest.mark.parametrize("scheme", ["custom", "glorot", "zero"])
def test_every_start_is_monotone(scheme):
    architecture = Architecture((1, 2), (5, 4), True)
    parameters = initial_parameters(architecture, np.random.default_rng(0), Initialisation(scheme))
    projected = parameters.copy()
    architecture.project(projected)
    np.testing.assert_array_equal(projected, parameters)


@pytest.mark.parametrize("wrong", [{"scheme": "he"}, {"init_E": 0.0}, {"init_b": np.nan}, {"cutoff_range": (1.0, 0.5)}])
def test_a_bad_scheme_is_refused(wrong):
    with pytest.raises(InvalidInput):
        Initialisation(**wrong)
