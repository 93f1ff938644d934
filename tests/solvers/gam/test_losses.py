from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from solvers.gam.losses import (
    GammaLoss,
    HuberLoss,
    LogisticLoss,
    PoissonLoss,
    QuantileLoss,
    SquaredLoss,
    weighted_quantile,
)
from tests.solvers.gam.problems import vectors

LOSSES = {
    "squared": SquaredLoss(),
    "logistic": LogisticLoss(),
    "poisson": PoissonLoss(),
    "gamma": GammaLoss(),
    "huber": HuberLoss(1.0),
    "pinball": QuantileLoss(0.9),
}
ROWS = vectors("losses")["rows"]


@pytest.mark.parametrize("name", LOSSES)
def test_value_gradient_and_hessian_are_those_of_the_reference(name):
    rows = np.array([row[1:] for row in ROWS if row[0] == name], dtype=float)
    y, F, value, gradient, hessian = rows.T
    loss = LOSSES[name]
    # The reference computes log(1 + e^F) - y F and p - y as they stand, which at F = 30 leaves errors of the last bit of 30 and 1.
    np.testing.assert_allclose(loss.value(y, F), value, rtol=1e-12, atol=4e-15)
    np.testing.assert_allclose(loss.gradient(y, F), gradient, rtol=1e-12, atol=4e-16)
    np.testing.assert_allclose(loss.hessian(y, F), hessian, rtol=1e-12)


def targets(name: str, rng: np.random.Generator, n: int) -> np.ndarray:
    return {
        "logistic": lambda: rng.integers(0, 2, n).astype(float),
        "poisson": lambda: rng.poisson(2, n).astype(float),
        "gamma": lambda: rng.gamma(2, 1, n) + 1e-3,
    }.get(name, lambda: rng.normal(0, 2, n))()


@pytest.mark.parametrize("name", LOSSES)
def test_derivatives_are_those_of_the_value(name):
    rng = np.random.default_rng(0)
    loss, y, F, d = LOSSES[name], targets(name, rng, 200), rng.normal(0, 1.5, 200), 1e-5
    slope = (loss.value(y, F + d) - loss.value(y, F - d)) / (2 * d)
    np.testing.assert_allclose(loss.gradient(y, F), slope, atol=1e-5)
    smooth = np.abs(np.abs(y - F) - 1) > 1e-3 if name == "huber" else np.ones(200, bool)
    if name != "pinball":
        bend = (loss.gradient(y, F + d) - loss.gradient(y, F - d)) / (2 * d)
        np.testing.assert_allclose(loss.hessian(y, F)[smooth], bend[smooth], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", LOSSES)
def test_the_best_constant_minimises_the_sum(name):
    rng = np.random.default_rng(1)
    loss, y, w, o = LOSSES[name], targets(name, rng, 101), rng.uniform(0.5, 2, 101), rng.normal(0, 0.5, 101)
    b = loss.best_constant(y, w, o)
    reference = minimize_scalar(lambda b: w @ loss.value(y, o + b), bounds=(-20, 20), method="bounded", options={"xatol": 1e-10})
    assert w @ loss.value(y, o + b) <= reference.fun + 1e-10 * abs(reference.fun)


@pytest.mark.parametrize("name", ["huber", "pinball"])
def test_the_majorant_lies_above_the_loss_and_touches_it(name):
    rng = np.random.default_rng(2)
    y, F = rng.normal(0, 2, 300), rng.normal(0, 2, 300)
    loss = LOSSES[name].scaled_to(y, np.ones(300))
    gradient, curvature = loss.majorant(y, F, 0)
    for step in rng.normal(0, 2, 50):
        above = loss.value(y, F) + gradient * step + curvature * step**2 / 2
        near = np.abs(y - F) > 1e-2  # below that, the majorant of a quantile loss is that of a smoothed one
        assert np.all(above[near] >= loss.value(y, F + step)[near] - 1e-12)


def test_targets_that_are_all_one_have_a_finite_constant():
    assert LogisticLoss().best_constant(np.ones(3), np.ones(3), np.zeros(3)) == 30
    assert LogisticLoss().best_constant(np.zeros(3), np.ones(3), np.zeros(3)) == -30
    assert PoissonLoss().best_constant(np.zeros(3), np.ones(3), np.zeros(3)) == np.log(1e-10)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_the_best_huber_constant_scales_with_the_targets(scale):
    y = np.random.default_rng(3).standard_cauchy(99)
    one = HuberLoss(0.5).best_constant(y, np.ones(99), np.zeros(99))
    scaled = HuberLoss(0.5 * scale).best_constant(scale * y, np.ones(99), np.zeros(99))
    assert scaled == pytest.approx(scale * one, rel=1e-9)


def test_a_weighted_quantile_is_that_of_repeated_values():
    rng = np.random.default_rng(4)
    for _ in range(200):
        values, weights = rng.integers(0, 9, 12).astype(float), rng.integers(0, 4, 12).astype(float)
        weights[0] = 1
        q = rng.choice([0.1, 0.25, 0.5, 0.9])
        repeated = np.repeat(values, weights.astype(int))
        assert weighted_quantile(values, weights, q) == weighted_quantile(repeated, np.ones(len(repeated)), q)
        assert np.mean(repeated <= weighted_quantile(values, weights, q)) >= q - 1e-12
