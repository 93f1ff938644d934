"""Dropping steps that hardly matter."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from solvers.gam.compression import compress
from solvers.gam.estimators import StumpForestClassifier, StumpForestRegressor
from solvers.gam.forest import ForestOptions
from solvers.gam.losses import LogisticLoss, Loss, PoissonLoss, QuantileLoss, SquaredLoss
from solvers.gam.refit import refit_leaves
from solvers.gam.training import Training, prepare, train
from solvers.operation import InvalidInput


def fitted(loss: Loss, *, n_classes: int = 2, n: int = 300) -> Training:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, n)).round(1)
    F = np.sin(2 * x[0]) + x[1] + 0.3 * rng.normal(size=n)
    y = {LogisticLoss: np.digitize(F, np.linspace(-0.5, 0.5, n_classes - 1)).astype(float), PoissonLoss: rng.poisson(np.exp(F))}
    sample = prepare(list(x), ["a", "b"], y.get(type(loss), F).astype(float))
    return train(sample, loss, ForestOptions(n_stumps=40, alpha=1.0), n_classes=n_classes)


CASES: dict[str, dict[str, Any]] = {
    "squared": {"loss": SquaredLoss()},
    "logistic": {"loss": LogisticLoss()},
    "multinomial": {"loss": LogisticLoss(), "n_classes": 3},
    "poisson": {"loss": PoissonLoss()},
    "quantile": {"loss": QuantileLoss(0.7)},
}


@pytest.mark.parametrize("name", CASES)
def test_no_step_that_goes_costs_more_than_the_tolerance_and_steps_fall_with_it(name: str) -> None:
    fit = fitted(**CASES[name])
    steps = sum(len(forest.columns) for forest in fit.forests)
    sizes = []
    for tol in (0.0, 0.1, 3.0, 1e12):
        smaller = compress(fit, tol)
        sizes.append(sum(len(forest.columns) for forest in smaller.forests))
        assert smaller.objective - fit.objective <= tol * (steps - sizes[-1])
    assert all(more >= fewer for more, fewer in pairwise(sizes))
    assert sizes[0] == steps
    assert sizes[2] < steps
    assert sizes[-1] == 0


def test_steps_go_one_by_one_while_the_cheapest_costs_less_than_the_tolerance() -> None:
    fit = fitted(SquaredLoss(), n=120)
    now, costs, left = fit, [], []
    while len(now.forests[0].columns):
        without = [_without(now, j) for j in range(len(now.forests[0].columns))]
        cheapest = min(without, key=lambda one: one.objective)
        costs.append(cheapest.objective - now.objective)
        left.append(now.forests[0].columns)
        now = cheapest
    for tol in (costs[2] * 0.999, costs[5] * 1.001, np.median(costs), max(costs) * 1.001):
        number = next((k for k, cost in enumerate(costs) if cost >= tol), len(costs))
        expected = [*left, np.empty(0)][number]
        np.testing.assert_array_equal(compress(fit, tol).forests[0].columns, expected)


def _without(fit: Training, j: int) -> Training:
    (forest,) = fit.forests
    stays = np.arange(len(forest.columns)) != j
    part = replace(forest, columns=forest.columns[stays], steps=forest.steps[stays], multiplicity=forest.multiplicity[stays])
    return refit_leaves(fit, [part])


def test_a_fit_whose_steps_all_cost_more_stays_itself() -> None:
    for name in CASES:
        fit = fitted(**CASES[name])
        assert compress(fit, 0.0) is fit
    assert compress(fit, 1e12, lambda: True) is fit


def test_what_is_left_is_the_best_fit_on_its_columns() -> None:
    fit = fitted(SquaredLoss())
    smaller = compress(fit, 1.0)
    gram, response = fit.sums
    (forest,) = smaller.forests
    A = gram.block(forest.columns) + np.diag(fit.options.alpha / forest.multiplicity)
    np.testing.assert_allclose(A @ forest.steps, response.correlations[forest.columns], rtol=1e-9)
    assert forest.multiplicity.sum() <= fit.options.n_stumps
    assert smaller.certify().lower_bound <= smaller.objective


def test_refitting_the_same_splits_changes_nothing() -> None:
    for name in ("squared", "logistic", "multinomial", "poisson"):
        fit = fitted(**CASES[name])
        again = refit_leaves(fit, fit.forests)
        assert again.objective <= fit.objective + 1e-9 * (fit.history[0] - fit.objective)
        assert again.objective == pytest.approx(fit.objective, rel=2e-3)


def test_an_estimator_compresses_reports_and_undoes() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 2))
    y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=400)
    model = StumpForestRegressor(alpha=1.0).fit(X, y)
    before = (model.n_steps_, model.objective_, model.lower_bound_)
    assert model.compress(0.0) is None
    entry = model.compress(0.5)
    assert entry.score_after == pytest.approx(np.mean((y - model.predict(X)) ** 2))
    assert entry.score_before <= entry.score_after
    assert model.objective_ - before[1] <= 0.5 * (before[0] - model.n_steps_)
    assert model.n_steps_ < before[0]
    assert model.objective_ >= before[1] >= before[2]
    assert model.gap_reason_ is None
    assert model.confidence_band(0).kind == "conditional"
    smaller = model.n_steps_
    model.compress(5.0)
    assert model.n_steps_ < smaller
    assert model.undo(entry.edit_id) == [entry.edit_id, "edit-2"]
    assert (model.n_steps_, model.objective_, model.lower_bound_) == before


def test_an_edited_or_averaged_or_smoothed_model_is_not_compressed() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(100, 2)), rng.normal(size=100)
    model = StumpForestRegressor(alpha=1.0).fit(X, y)
    model.edit([{"op": "rescale", "feature": "x0", "factor": 2}])
    with pytest.raises(InvalidInput, match="edited"):
        model.compress(0.1)
    with pytest.raises(InvalidInput, match="single fit"):
        StumpForestRegressor(bagging=2).fit(X, y).compress(0.1)
    with pytest.raises(InvalidInput, match="smoothed"):
        StumpForestRegressor(smoothing=0.1).fit(X, y).compress(0.1)
    for tol in (-0.1, np.inf, np.nan):
        with pytest.raises(InvalidInput, match="tol"):
            StumpForestRegressor().fit(X, y).compress(tol)


def test_sums_over_rows_are_let_go_and_come_back_the_same() -> None:
    fit = fitted(SquaredLoss())
    kept = fit.without_sums()
    assert kept.sums is None
    assert kept.with_sums().certify() == fit.certify()
    assert fitted(LogisticLoss()).with_sums().sums is None


def test_classes_are_compressed_too() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 2))
    label = np.digitize(X[:, 0], [-0.5, 0.5])
    model = StumpForestClassifier(alpha=1.0).fit(X, np.where(rng.random(400) < 0.1, 0, label))
    steps, accuracy = model.n_steps_, model.score(X, label)
    model.compress(2.0)
    assert model.n_steps_ < steps
    assert model.score(X, label) > accuracy - 0.05
