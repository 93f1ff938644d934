"""What must not change a fit with given stumps and ridge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from solvers.gam.estimators import StumpForestClassifier, StumpForestRegressor
from solvers.gam.losses import SquaredLoss


def rows(n: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.gamma(2.0, size=(n, 3))
    X[:, 2] = rng.integers(0, 6, n)
    X[::13, 1] = np.nan
    return X, np.log(X[:, 0]) + (X[:, 2] == 3) + 0.2 * rng.normal(size=n)


def regressor(**changes: Any) -> StumpForestRegressor:
    return StumpForestRegressor(**({"n_stumps": 60, "alpha": 3.0} | changes))


LOSSES = ["squared_error", "poisson", "gamma", "huber", "quantile"]


@pytest.mark.parametrize("loss", LOSSES)
def test_the_order_of_rows_does_not_matter(loss: str) -> None:
    X, y = rows()
    y = np.exp(y)
    order = np.random.default_rng(1).permutation(len(y))
    model, shuffled = regressor(loss=loss).fit(X, y), regressor(loss=loss).fit(X[order], y[order])
    assert shuffled.objective_ == pytest.approx(model.objective_, rel=1e-9)
    np.testing.assert_array_equal(shuffled.stumps_["threshold"], model.stumps_["threshold"])
    np.testing.assert_allclose(shuffled.predict(X), model.predict(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("max_bins", ["auto", 20])
def test_weight_two_is_the_row_twice_and_weight_zero_none(loss: str, max_bins: Any) -> None:
    X, y = rows()
    y = np.exp(y)
    weights = np.random.default_rng(1).integers(0, 3, len(y))
    repeated = np.repeat(np.arange(len(y)), weights)
    weighted = regressor(loss=loss, max_bins=max_bins).fit(X, y, weights)
    plain = regressor(loss=loss, max_bins=max_bins).fit(X[repeated], y[repeated])
    assert weighted.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    np.testing.assert_array_equal(weighted.stumps_["threshold"], plain.stumps_["threshold"])
    np.testing.assert_allclose(weighted.predict(X), plain.predict(X), rtol=1e-9, atol=1e-9)
    assert weighted.lower_bound_ == (None if plain.lower_bound_ is None else pytest.approx(plain.lower_bound_, rel=1e-9))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_of_classified_rows_are_repetitions(n_classes: int) -> None:
    X, y = rows()
    label = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    weights = np.random.default_rng(1).integers(0, 3, len(y))
    repeated = np.repeat(np.arange(len(y)), weights)
    model = StumpForestClassifier(n_stumps=60, alpha=3.0)
    p = model.fit(X, label, weights).predict_proba(X)
    np.testing.assert_allclose(model.fit(X[repeated], label[repeated]).predict_proba(X), p, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_a_scaled_and_shifted_target_has_the_same_splits(scale: float) -> None:
    X, y = rows()
    model, scaled = regressor().fit(X, y), regressor().fit(X, scale * y + 5 * scale)
    np.testing.assert_array_equal(
        scaled.stumps_[["feature", "threshold", "multiplicity"]], model.stumps_[["feature", "threshold", "multiplicity"]]
    )
    np.testing.assert_allclose(scaled.stumps_["step"], scale * model.stumps_["step"], rtol=1e-9)
    np.testing.assert_allclose(scaled.predict(X), scale * model.predict(X) + 5 * scale, rtol=1e-9)


@pytest.mark.parametrize(
    "change", [lambda x: 1000 * x, lambda x: x / 1024 - 7, np.log, lambda x: x**3], ids=["times 1000", "affine", "log", "cube"]
)
def test_an_increasing_map_of_a_feature_changes_no_prediction_of_a_training_row(change: Any) -> None:
    X, y = rows()
    mapped = X.copy()
    mapped[:, 0] = change(X[:, 0])
    model, other = regressor(max_bins=None).fit(X, y), regressor(max_bins=None).fit(mapped, y)
    assert other.objective_ == pytest.approx(model.objective_, rel=1e-9)
    np.testing.assert_allclose(other.predict(mapped), model.predict(X), rtol=1e-9, atol=1e-9)


def test_the_order_of_columns_does_not_matter() -> None:
    X, y = rows()
    order = [2, 0, 1]
    assert regressor().fit(X[:, order], y).objective_ == pytest.approx(regressor().fit(X, y).objective_, rel=1e-9)


def test_a_constant_or_a_second_copy_of_a_column_does_not_matter() -> None:
    X, y = rows()
    model = regressor().fit(X, y)
    with pytest.warns(UserWarning, match="column 'x3' has no effect"):
        with_constant = regressor().fit(np.column_stack([X, np.ones(len(y))]), y)
    with_copy = regressor().fit(np.column_stack([X, X[:, 0]]), y)
    assert with_constant.objective_ == pytest.approx(model.objective_, rel=1e-9)
    assert with_copy.objective_ == pytest.approx(model.objective_, rel=1e-9)
    assert 3 not in with_copy.stumps_["feature"]


@pytest.mark.parametrize("engine", ["gram", "rows"])
def test_engines_and_threads_give_the_same_model(engine: Any) -> None:
    X, y = rows()
    model, other = regressor().fit(X, y), regressor(engine=engine, n_jobs=2).fit(X, y)
    np.testing.assert_allclose(other.predict(X), model.predict(X), rtol=1e-9, atol=1e-9)


def test_with_enough_stumps_and_no_ridge_the_objective_is_that_of_least_squares() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 8, (200, 3)).astype(float), rng.normal(size=200)
    steps = np.column_stack([X[:, [d]] > np.unique(X[:, d])[:-1] for d in range(3)]).astype(float)
    design = np.column_stack([np.ones(200), steps])
    residual = y - design @ np.linalg.lstsq(design, y)[0]
    model = regressor(n_stumps=100 * steps.shape[1], alpha=1e-9, min_samples_leaf=0, tol=0.0, max_iter=1000).fit(X, y)
    null = SquaredLoss().value(y, np.full(200, y.mean())).sum()
    assert -1e-12 * null <= model.objective_ - residual @ residual / 2 <= 1e-6 * null
