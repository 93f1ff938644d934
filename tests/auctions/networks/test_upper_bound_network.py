import dataclasses

import numpy as np
import pytest
import torch

from auctions.bundles import all_bundles
from auctions.networks.batch_pass import gradient_of, pass_forward
from auctions.networks.forward_pass import evaluate
from auctions.networks.hyperparameters import upper_bound_options
from auctions.networks.upper_bound_loss import Weights, mean_fit, upper_fit, upper_spread
from auctions.networks.upper_bound_network import UpperBoundNetwork
from solvers.operation import ForesolveError
from tests.auctions.networks.networks import random_network

WEIGHTS = Weights(mean_beta=1 / 64, pi_sqr=1.0, pi_exp=0.07, pi_above_mean=90.0, c_exp=74.0)
QUICK = dataclasses.replace(
    upper_bound_options("lsvm", "national"), hidden_layer_sizes=(16,), epochs=400, batch_size=16, n_aug=32
)
SHAPES = [((1,) * 5, (6,), True), ((1,) * 5, (6, 4), False), ((1,) * 4, (3, 5, 4), True)]


def torch_values(architecture, parameters, points):
    """The network of a flat vector, by torch's own operations."""
    units, place = points, 0
    for fan_in, size in zip(architecture.sizes.tolist(), architecture.hidden_layer_sizes, strict=False):
        weight = parameters[place : place + fan_in * size].reshape(fan_in, size)
        bias, cutoff = parameters[place + fan_in * size :][:size], parameters[place + (fan_in + 1) * size :][:size]
        rectified = torch.relu(units @ weight + bias)
        units = torch.where(rectified >= cutoff, cutoff.expand_as(rectified), rectified)
        place += (fan_in + 2) * size
    values = units @ parameters[place : place + architecture.hidden_layer_sizes[-1]]
    return values + points @ parameters[place + architecture.hidden_layer_sizes[-1] :] if architecture.skip_connection else values


def torch_parts(mean, upper, targets, highest, n_batch, n_answers):
    """A, B and C as the spec states them."""
    smooth = torch.nn.functional.smooth_l1_loss
    low, high = mean[:n_batch], upper[:n_batch]
    zero = torch.zeros_like(targets)
    a = smooth(low, targets, beta=WEIGHTS.mean_beta)
    above = torch.relu(high - targets)
    b = smooth(high, targets, beta=1 / 8) + 0.001 * above.mean() + 0.5 * smooth(above, zero, beta=1 / 128)
    mean, upper = mean[n_batch:].detach(), upper[n_batch:]
    outside = 0.25 * torch.relu(upper - highest) + WEIGHTS.pi_above_mean * torch.relu(mean - upper)
    c3 = WEIGHTS.c_exp * smooth(outside, torch.zeros_like(outside), beta=1 / 64)
    c4 = (1 + torch.nn.functional.elu(-WEIGHTS.c_exp * (0.01 + torch.minimum(upper, highest) - mean))).mean()
    return a, WEIGHTS.pi_sqr * b, WEIGHTS.pi_exp * (c3 + c4) / n_answers


@pytest.mark.parametrize("shape", SHAPES)
def test_losses_and_gradients_equal_automatic_differentiation(shape):
    architecture, mean = random_network(*shape, seed=1, zeros=0.0)
    _, upper = random_network(*shape, seed=2, zeros=0.0)
    rng = np.random.default_rng(0)
    points, targets, highest = rng.random((30, architecture.n_goods)), rng.random(10), rng.random(20)
    low, high = (pass_forward(architecture, parameters, points, 0.0, None) for parameters in (mean, upper))
    a = mean_fit(low.values[:10], targets, WEIGHTS)
    b = upper_fit(high.values[:10], targets, WEIGHTS)
    c = upper_spread(high.values[10:], low.values[10:], highest, WEIGHTS, 45)

    leaves = [torch.tensor(parameters, requires_grad=True) for parameters in (mean, upper)]
    values = [torch_values(architecture, leaf, torch.tensor(points)) for leaf in leaves]
    expected = torch_parts(*values, torch.tensor(targets), torch.tensor(highest), 10, 45)
    assert (a.loss, b.loss, c.loss) == pytest.approx([part.item() for part in expected], abs=1e-12)
    sum(expected).backward()
    np.testing.assert_allclose(gradient_of(architecture, mean, low.first(10), a.slopes), leaves[0].grad, atol=1e-11)
    slopes = gradient_of(architecture, upper, high, np.concatenate((b.slopes, c.slopes)))
    np.testing.assert_allclose(slopes, leaves[1].grad, rtol=1e-10, atol=1e-11)


def test_dropout_keeps_the_mean_of_a_layer_and_is_in_the_gradient():
    architecture, parameters = random_network((1,) * 4, (6,), False, seed=4, zeros=0.0)
    rng = np.random.default_rng(1)
    points = np.ones((20_000, 4))
    dropped = pass_forward(architecture, parameters, points, 0.3, rng)
    spread = dropped.values.std() / np.sqrt(len(points))
    assert abs(dropped.values.mean() - evaluate(architecture, parameters, points[:1])[0]) < 6 * spread
    # A unit that is left out moves neither its weights nor its cut-off.
    left_out = np.flatnonzero(dropped.units[1][0] == 0)
    gradient = gradient_of(architecture, parameters, dropped.first(1), np.ones(1))
    layer = next(iter(architecture.layers(gradient)))
    assert not layer.weight[:, left_out].any()
    assert not layer.cutoff[left_out].any()


@pytest.fixture(scope="module")
def a_bidder():
    rng = np.random.default_rng(5)
    bundles = all_bundles((1,) * 6)
    asked = bundles[np.union1d(rng.choice(64, 20, replace=False), [63])]
    worth = np.array([3.0, 1.0, 2.0, 4.0, 2.0, 1.0])
    return asked, (asked @ worth) ** 1.2


@pytest.fixture(scope="module")
def a_fitted_pair(a_bidder):
    return UpperBoundNetwork((1,) * 6, QUICK, random_state=0).fit(*a_bidder)


def test_both_networks_fit_the_answers(a_bidder, a_fitted_pair):
    asked, values = a_bidder
    assert a_fitted_pair.fit_ > 0.95
    for network in (a_fitted_pair.mean_, a_fitted_pair.upper_):
        assert np.abs(network.predict(asked) - values).mean() < 0.03 * values.max()


def test_the_upper_network_is_higher_where_nothing_was_asked(a_bidder, a_fitted_pair):
    asked, _ = a_bidder
    bundles = all_bundles((1,) * 6)
    unknown = ~(bundles[:, None, :] == asked[None, :, :]).all(axis=2).any(axis=1)
    widths = a_fitted_pair.upper_.predict(bundles) - a_fitted_pair.mean_.predict(bundles)
    assert widths[unknown].mean() > 0
    assert widths[unknown].mean() > widths[~unknown].mean()


def test_the_same_seed_gives_the_same_pair(a_bidder, a_fitted_pair):
    again = UpperBoundNetwork((1,) * 6, QUICK, random_state=0).fit(*a_bidder)
    np.testing.assert_array_equal(again.upper_.parameters_, a_fitted_pair.upper_.parameters_)


def test_fixed_cutoffs_stay_where_they_were_drawn(a_fitted_pair):
    assert not QUICK.trainable_cutoffs
    layer = next(iter(a_fitted_pair.mean_.architecture.layers(a_fitted_pair.mean_.parameters_)))
    assert len(np.unique(layer.cutoff)) == 16
    assert layer.cutoff.max() <= 1.0


def test_generic_goods_are_valued_by_quantity():
    capacities = (2, 3)
    bundles = all_bundles(capacities)
    values = np.sqrt(bundles @ [1.0, 2.0])
    pair = UpperBoundNetwork(capacities, QUICK, random_state=1).fit(bundles[1:], values[1:])
    table = pair.upper_.value_table()
    assert table.capacities == capacities
    assert np.abs(table.values - values).max() < 0.15 * values.max()
    assert pair.upper_.demand([10.0, 10.0]).bundle.tolist() == [0, 0]


@pytest.mark.parametrize("domain", ["gsvm", "lsvm", "srvm", "mrvm", "cats"])
def test_every_domain_has_settings(domain):
    for kind in {"srvm": ["Local", "High Frequency"], "mrvm": ["Local"]}.get(domain, ["Regional", "National"]):
        assert upper_bound_options(domain, kind).n_epochs >= 1750
    assert upper_bound_options("lsvm", "national", 0.1).n_epochs == 800


@pytest.mark.parametrize("wrong", [{"epochs": 0}, {"epoch_factor": 0.0}, {"dropout": 1.0}])
def test_bad_options_are_refused(wrong):
    with pytest.raises(ForesolveError):
        dataclasses.replace(QUICK, **wrong)


@pytest.mark.parametrize(("bundles", "values"), [([], []), ([[2, 0]], [1.0]), ([[1, 0]], [-1.0]), ([[1, 0]], [np.nan])])
def test_bad_answers_are_refused(bundles, values):
    with pytest.raises(ForesolveError):
        UpperBoundNetwork((1, 1), QUICK).fit(bundles, values)
