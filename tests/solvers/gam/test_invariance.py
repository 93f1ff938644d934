"""What must not change a fit: scales, order, repetition, columns that say nothing new."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.gam.forest import ForestOptions
from solvers.gam.losses import GammaLoss, HuberLoss, LogisticLoss, Loss, PoissonLoss, QuantileLoss, SquaredLoss
from solvers.gam.shape_functions import CodedColumn
from solvers.gam.training import Training, prepare, train

LOSSES: dict[str, Loss] = {
    "squared": SquaredLoss(),
    "logistic": LogisticLoss(),
    "poisson": PoissonLoss(),
    "gamma": GammaLoss(),
    "huber": HuberLoss(1.0),
    "quantile": QuantileLoss(0.7),
}
OPTIONS = ForestOptions(n_stumps=25, alpha=3.0)


class Rows:
    def __init__(self, seed: int, name: str = "squared", n: int = 300) -> None:
        rng = np.random.default_rng(seed)
        self.X = np.round(rng.normal(size=(3, n)), 1)
        self.X[1, rng.random(n) < 0.1] = np.nan
        self.levels = rng.integers(0, 3, n)
        F = np.sin(2 * self.X[0]) + (self.X[2] > 0) - 0.5 * (self.levels == 1)
        self.y = {
            "logistic": lambda: (rng.random(n) < 1 / (1 + np.exp(-F))).astype(float),
            "poisson": lambda: rng.poisson(np.exp(F)).astype(float),
            "gamma": lambda: rng.gamma(2, np.exp(F) / 2) + 1e-3,
        }.get(name, lambda: np.round(F + rng.normal(0, 0.5, n), 2))()
        self.counts = rng.integers(0, 4, n)

    def values(self, rows=slice(None)):
        return [*self.X[:, rows], CodedColumn(self.levels[rows], ("a", "b", "c"))]


def fit(values, y, loss: Loss = LOSSES["squared"], weights=None, options=OPTIONS) -> Training:
    names = [f"x{d}" for d in range(len(values))]
    return train(prepare(values, names, y, weights=weights, min_samples_leaf=3), loss, options)


def decision(training: Training) -> np.ndarray:
    (forest,) = training.forests
    return forest.intercept + training.sample.decision(forest)


def same_model(one: Training, other: Training, *, scale: float = 1.0, shift: float = 0.0) -> None:
    (a,), (b,) = one.forests, other.forests
    np.testing.assert_array_equal(a.columns, b.columns)
    np.testing.assert_array_equal(a.multiplicity, b.multiplicity)
    np.testing.assert_allclose(scale * a.steps, b.steps, rtol=1e-9, atol=1e-9 * scale)
    assert b.intercept == pytest.approx(scale * a.intercept + shift, rel=1e-9, abs=1e-9 * scale)
    assert other.objective == pytest.approx(scale**2 * one.objective, rel=1e-9)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_rows_does_not_matter(name, seed):
    rows = Rows(seed, name)
    order = np.random.default_rng(seed + 99).permutation(len(rows.y))
    same_model(fit(rows.values(), rows.y, LOSSES[name]), fit(rows.values(order), rows.y[order], LOSSES[name]))


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("seed", range(3))
def test_a_weight_counts_as_that_many_rows(name, seed):
    rows = Rows(seed, name)
    index = np.repeat(np.arange(len(rows.y)), rows.counts)
    weighted = fit(rows.values(), rows.y, LOSSES[name], weights=rows.counts.astype(float))
    same_model(weighted, fit(rows.values(index), rows.y[index], LOSSES[name]))


@pytest.mark.parametrize("scale", [1e-8, 1e-3, 7.0, 1e8])
@pytest.mark.parametrize("shift", [0.0, 5.0])
def test_a_scaled_and_shifted_target_scales_and_shifts_the_model(scale, shift):
    rows = Rows(0)
    one = fit(rows.values(), rows.y)
    same_model(one, fit(rows.values(), scale * rows.y + scale * shift), scale=scale, shift=scale * shift)


@pytest.mark.parametrize("change", [lambda x: 1000 * x, lambda x: x - 7, np.exp, np.cbrt, lambda x: 1e-9 * x])
@pytest.mark.parametrize("name", ["squared", "logistic"])
def test_an_increasing_map_of_a_feature_changes_no_training_prediction(change, name):
    rows = Rows(1, name)
    one = fit(rows.values(), rows.y, LOSSES[name])
    rows.X[0], rows.X[1] = change(rows.X[0]), change(rows.X[1])
    other = fit(rows.values(), rows.y, LOSSES[name])
    np.testing.assert_array_equal(one.sample.table.codes, other.sample.table.codes)
    np.testing.assert_allclose(decision(one), decision(other), rtol=1e-9)
    assert one.objective == other.objective


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_the_features_does_not_matter(seed):
    rows = Rows(seed)
    one = fit(rows.values(), rows.y)
    other = fit(rows.values()[::-1], rows.y)
    np.testing.assert_allclose(decision(one), decision(other), atol=1e-9)
    assert other.objective == pytest.approx(one.objective, rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_a_constant_or_repeated_feature_adds_nothing(seed):
    rows = Rows(seed)
    one = fit(rows.values(), rows.y)
    constant = fit([*rows.values(), np.full(len(rows.y), 3.0)], rows.y)
    same_model(one, constant)
    same_model(one, fit([*rows.values(), rows.X[0]], rows.y))


def test_a_row_of_no_weight_is_absent():
    rows = Rows(2)
    weights = np.where(np.arange(len(rows.y)) % 5 == 0, 0.0, 1.0)
    kept = np.flatnonzero(weights)
    rows.X[0, ::5], rows.y[::5] = 1e6, -1e9
    same_model(fit(rows.values(), rows.y, weights=weights), fit(rows.values(kept), rows.y[kept]))


def test_the_same_rows_give_the_same_model_bit_by_bit():
    rows = Rows(3, "logistic")
    one, other = (fit(rows.values(), rows.y, LogisticLoss()) for _ in range(2))
    np.testing.assert_array_equal(one.forests[0].steps, other.forests[0].steps)
    assert one.certify() == other.certify()
