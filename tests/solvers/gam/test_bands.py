"""Standard errors and bands: against explicit formulas, and their coverage."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from solvers.gam.bands import conditional_spread
from solvers.gam.cross_validated import StumpForestClassifierCV, StumpForestRegressorCV
from solvers.gam.estimators import StumpForestClassifier, StumpForestRegressor
from solvers.operation import InvalidInput


def rows(n: int = 300, seed: int = 0) -> tuple[dict[str, Any], np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n).round(1)
    x[::10] = np.nan
    level = rng.choice(["a", "b", "c"], n).astype(object)
    y = np.nan_to_num(x) ** 2 + (level == "b") + 0.5 * rng.normal(size=n)
    return {"x": x, "level": level}, y


def test_conditional_errors_are_those_of_the_ridge_regression_on_the_steps() -> None:
    X, y = rows()
    alpha, n = 3.0, len(y)
    model = StumpForestRegressor(n_stumps=30, alpha=alpha).fit(X, y)
    stumps = model.stumps_
    x, level = X["x"], X["level"]
    present = ~np.isnan(x)
    columns = [
        (present & (np.nan_to_num(x) > step["threshold"])) if step["feature"] == 0 else level == step["level"] for step in stumps
    ]
    U = np.array(columns, dtype=float).T
    U -= U.mean(axis=0)
    A = U.T @ U + np.diag(alpha / stumps["multiplicity"])
    inverse = np.linalg.inv(A)
    np.testing.assert_allclose(inverse @ U.T @ (y - y.mean()), stumps["step"], rtol=1e-8)
    degrees = 1 + np.trace(inverse @ U.T @ U)
    variance = np.sum((y - model.predict(X)) ** 2) / (n - degrees)
    covariance = variance * inverse @ U.T @ U @ inverse
    total = np.sqrt(np.einsum("ij,jk,ik->i", U, covariance, U) + variance / n)
    np.testing.assert_allclose(model.decision_errors(X), total, rtol=1e-8)
    of_x = U[:, stumps["feature"] == 0]
    block = covariance[np.ix_(stumps["feature"] == 0, stumps["feature"] == 0)]
    shape = model.shape_function("x")
    np.testing.assert_allclose(shape.stderr[shape.bins(x)], np.sqrt(np.einsum("ij,jk,ik->i", of_x, block, of_x)), rtol=1e-8)


def test_logistic_errors_are_those_of_weighted_ridge_regression() -> None:
    X, y = rows()
    label = y > 1
    model = StumpForestClassifier(n_stumps=20, alpha=3.0).fit(X, label)
    stumps, p = model.stumps_, model.predict_proba(X)[:, 1]
    x, level = X["x"], X["level"]
    U = np.array(
        [
            (~np.isnan(x) & (np.nan_to_num(x) > step["threshold"])) if step["feature"] == 0 else level == step["level"]
            for step in stumps
        ],
        dtype=float,
    ).T
    h = p * (1 - p)
    U -= h @ U / h.sum()
    M = U.T @ (h[:, None] * U)
    inverse = np.linalg.inv(M + np.diag(3.0 / stumps["multiplicity"]))
    n = len(y)
    dispersion = np.sum((p - label) ** 2) / h.sum() * n / (n - 1 - np.trace(inverse @ M))
    covariance = dispersion * inverse @ M @ inverse
    expected = np.sqrt(np.einsum("ij,jk,ik->i", U, covariance, U) + dispersion / h.sum())
    np.testing.assert_allclose(model.decision_errors(X), expected, rtol=1e-8)


def few_values() -> tuple[dict[str, Any], np.ndarray]:
    """Return rows whose values all occur in every part, so that fits to a part have the same bins."""
    X, y = rows()
    return {"x": np.clip(np.nan_to_num(X["x"]).round(), -2, 2), "level": X["level"]}, y


def test_bootstrap_errors_are_the_spread_of_the_bags() -> None:
    X, y = few_values()
    model = StumpForestRegressor(n_stumps=30, alpha=3.0, bagging=5, random_state=4).fit(X, y)
    rng = np.random.default_rng(4)
    bags = [rng.poisson(1.0, len(y)) for _ in range(5)]
    decisions = [StumpForestRegressor(n_stumps=30, alpha=3.0).fit(X, y, counts).predict(X) for counts in bags]
    np.testing.assert_allclose(model.predict(X), np.mean(decisions, axis=0), rtol=1e-9)
    np.testing.assert_allclose(model.decision_errors(X), np.std(decisions, axis=0, ddof=1), rtol=1e-6)


def test_an_average_of_bags_is_their_mean_and_minimises_nothing() -> None:
    X, y = rows()
    one, two = (StumpForestRegressor(alpha=3.0, bagging=n).fit(X, y) for n in (1, 2))
    assert (two.objective_, two.gap_, two.gap_reason_) == (None, None, "average")
    assert two.n_steps_ >= one.n_steps_
    with pytest.raises(InvalidInput, match="spread"):
        one.confidence_band("x")
    assert two.confidence_band("x").kind == "bootstrap"
    total = two.intercept_ + two.contributions(X).sum(axis=1)
    np.testing.assert_allclose(total, two.predict(X), rtol=1e-12)


def test_jackknife_errors_are_those_of_the_fits_without_a_fold() -> None:
    X, y = few_values()
    model = StumpForestRegressorCV(n_stumps=(30,), alphas=(3.0,), cv=4).fit(X, y)
    assert model.best_params_["n_stumps"] == 30
    fold = np.random.RandomState(0).permutation(len(y)) % 4
    decisions = [StumpForestRegressor(**model.best_params_).fit(X, y, fold != k).predict(X) for k in range(4)]
    deviations = np.array(decisions) - np.mean(decisions, axis=0)
    np.testing.assert_allclose(model.decision_errors(X), np.sqrt(3 / 4 * np.sum(deviations**2, axis=0)), rtol=1e-6)


def test_a_band_of_bags_goes_from_quantile_to_quantile_of_their_centred_shapes() -> None:
    X, y = few_values()
    model = StumpForestRegressor(n_stumps=30, alpha=3.0, bagging=7, random_state=4).fit(X, y)
    rng = np.random.default_rng(4)
    bags = [StumpForestRegressor(n_stumps=30, alpha=3.0).fit(X, y, rng.poisson(1.0, len(y))) for _ in range(7)]
    for position, feature in enumerate(("x", "level")):
        values = np.unique(X[feature])
        at = [np.flatnonzero(X[feature] == value)[0] for value in values]
        of_rows = np.array([bag.contributions(X)[:, position] for bag in bags])
        draws = (of_rows - of_rows.mean(axis=1, keepdims=True))[:, at]
        for level in (0.5, 0.95):
            band = model.confidence_band(feature, level)
            code = 1 + (np.searchsorted(band.thresholds, values.astype(float)) if feature == "x" else np.arange(3))
            lowest, highest = np.quantile(draws, [0.5 - level / 2, 0.5 + level / 2], axis=0)
            np.testing.assert_allclose(band.lower[code], lowest, rtol=1e-6, atol=1e-9)
            np.testing.assert_allclose(band.upper[code], highest, rtol=1e-6, atol=1e-9)


def test_an_interval_of_bags_goes_from_quantile_to_quantile_of_their_decisions() -> None:
    X, y = few_values()
    model = StumpForestRegressor(n_stumps=30, alpha=3.0, bagging=7, random_state=4).fit(X, y)
    rng = np.random.default_rng(4)
    bags = [StumpForestRegressor(n_stumps=30, alpha=3.0).fit(X, y, rng.poisson(1.0, len(y))) for _ in range(7)]
    below, above = model.fitted_.spreads[0].decision_band(model._columns(X), 0.8)
    lowest, highest = np.quantile([bag.predict(X) for bag in bags], [0.1, 0.9], axis=0)
    np.testing.assert_allclose(model.predict(X) - below, lowest, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.predict(X) + above, highest, rtol=1e-6, atol=1e-9)


def test_bands_of_one_fit_are_normal_and_centred_on_the_shape() -> None:
    X, y = rows()
    model = StumpForestRegressor(alpha=3.0).fit(X, y)
    for feature in ("x", "level"):
        wide, narrow = model.confidence_band(feature, 0.95), model.confidence_band(feature, 0.5)
        np.testing.assert_allclose(wide.upper - wide.scores, wide.scores - wide.lower)
        np.testing.assert_allclose(
            (wide.upper - wide.scores) * norm.ppf(0.75), (narrow.upper - narrow.scores) * norm.ppf(0.975), atol=1e-12
        )
        shape = model.shape_function(feature)
        bins = shape.bins([None, *wide.levels] if wide.levels else np.append([np.nan], np.append(wide.thresholds, np.inf)))
        np.testing.assert_array_equal(wide.scores, shape.table[bins])


def test_classes_have_bands_of_their_own() -> None:
    X, y = rows()
    label = np.digitize(y, [0.5, 1.5])
    for model in (StumpForestClassifier().fit(X, label), StumpForestClassifierCV(n_stumps=(20,), alphas=(3.0,)).fit(X, label)):
        assert model.decision_errors(X).shape == (len(y), 3)
        bands = [model.confidence_band("x", label=k) for k in range(3)]
        assert all(np.all(band.upper >= band.lower) for band in bands)
        assert not np.array_equal(bands[0].scores, bands[1].scores)


def test_quantiles_have_no_band_without_bags() -> None:
    X, y = rows()
    with pytest.raises(InvalidInput, match="bagging=20"):
        StumpForestRegressor(loss="quantile").fit(X, y).confidence_band("x")
    assert StumpForestRegressor(loss="quantile", bagging=3).fit(X, y).confidence_band("x").kind == "bootstrap"


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, np.nan])
def test_a_level_outside_zero_and_one_is_refused(level: float) -> None:
    X, y = rows()
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        StumpForestRegressor().fit(X, y).confidence_band("x", level)


def test_a_fit_with_as_many_degrees_of_freedom_as_rows_has_no_conditional_band() -> None:
    x = np.arange(8.0)
    fitted = StumpForestRegressor(alpha=1e-12, min_samples_leaf=0, n_stumps=100).fit({"x": x}, np.sin(x)).fitted_.fit
    assert fitted.training is not None
    assert conditional_spread(fitted.training, np.ones((1, 10))) is None


def smooth_rows(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(5000, 5))
    return X, np.sin(2 * X[:, 0]) + np.abs(X[:, 1]) + (X[:, 2] > 0) + rng.normal(size=5000)


TRUTH = (lambda x: np.sin(2 * x), lambda x: np.abs(x) - 1.0, lambda x: (x > 0) - 0.5)


@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(20), marks=pytest.mark.long)], ids=["three", "twenty"])
def test_bootstrap_bands_cover_the_truth(seeds: range) -> None:
    grid = np.linspace(-1.95, 1.95, 79)
    covered, in_quantiles = [], []
    for seed in seeds:
        X, y = smooth_rows(seed)
        model = StumpForestRegressor(n_stumps=100, alpha=10.0, bagging=20, random_state=seed).fit(X, y)
        for feature, truth in enumerate(TRUTH):
            band = model.confidence_band(feature)
            at = 1 + np.searchsorted(band.thresholds, grid)
            reach = 1.96 * model.fitted_.spreads[0].errors(feature)[at]
            covered.append(np.abs(band.scores[at] - truth(grid)) <= reach)
            in_quantiles.append((band.lower[at] <= truth(grid)) & (truth(grid) <= band.upper[at]))
    assert np.mean(covered) >= 0.88
    assert np.mean(in_quantiles) >= 0.88


@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(20), marks=pytest.mark.long)], ids=["three", "twenty"])
def test_a_known_function_is_learned(seeds: range) -> None:
    for seed in seeds:
        X, y = smooth_rows(seed)
        model = StumpForestRegressor(n_stumps=100, alpha=10.0).fit(X, y)
        fresh = np.random.default_rng(1000 + seed).uniform(-2, 2, size=(20_000, 5))
        target = sum(truth(fresh[:, feature]) for feature, truth in enumerate(TRUTH))
        truth_with_means = target + 1.5
        assert model.score(fresh, truth_with_means) >= 0.94


def test_averaging_thresholds_is_smoother_and_leaves_few_levels_alone() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(-2, 2, 1500), rng.integers(0, 24, 1500)])
    y = np.sin(2 * X[:, 0]) + (X[:, 1] % 2) + rng.normal(size=1500)
    single = StumpForestRegressor(alpha=10.0).fit(X, y)
    averaged = StumpForestRegressor(alpha=10.0, threshold_fraction=0.7).fit(X, y)
    assert averaged.shape_function(0).n_steps > 1.5 * single.shape_function(0).n_steps
    largest = [np.abs(np.diff(model.shape_function(0).scores)).max() for model in (single, averaged)]
    assert largest[1] < largest[0]
    np.testing.assert_allclose(averaged.shape_function(1).scores, single.shape_function(1).scores, atol=0.05)
