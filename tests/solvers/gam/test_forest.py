from __future__ import annotations

import numpy as np
import pytest

from solvers.gam.forest import ForestOptions, fit_forest
from solvers.gam.restarts import best_forest
from tests.solvers.gam.problems import mixed_table, problem, summed_up, vectors
from tests.solvers.gam.reference_fit import reference_history

OPTIMA = vectors("forest_optimum")["cases"]
SEGMENTS = vectors("segment_dp")["cases"]


@pytest.mark.parametrize("case", OPTIMA, ids=range(len(OPTIMA)))
def test_the_forest_is_near_the_optimum_and_restarts_find_it(case):
    p = problem(case["X"], case["y"], case["sample_weight"])
    options = ForestOptions(n_stumps=case["n_stumps"], alpha=case["alpha"])
    greedy = fit_forest(p.gram, p.response, p.columns, options)
    assert case["optimum"] - 1e-9 <= greedy.objective <= 1.02 * case["optimum"]
    assert greedy.history[0] == pytest.approx(case["null_objective"], rel=1e-12)
    best = best_forest(p.gram, p.response, p.columns, options, init="best", n_restarts=20, rng=np.random.default_rng(0))
    assert best.objective == pytest.approx(case["optimum"], abs=1e-9)


def test_restarts_find_the_best_step_function():
    found, cases = 0, 0
    for case in SEGMENTS:
        p = problem([[v] for v in case["x"]], case["y"], case["sample_weight"])
        for best in case["best"][1:]:
            options = ForestOptions(n_stumps=best["n_steps"], alpha=1e-9)
            rng = np.random.default_rng(0)
            forest = best_forest(p.gram, p.response, p.columns, options, n_restarts=20, rng=rng)
            assert best["half_sse"] - 1e-9 <= forest.objective <= 1.1 * best["half_sse"] + 1e-7
            found += forest.objective <= best["half_sse"] + 1e-7
            cases += 1
    assert cases == 16
    assert found >= 14


@pytest.mark.parametrize(
    "penalties", [{}, {"l1": 1.0}, {"l0": 0.5}, {"smoothing": 0.1}, {"l1": 0.4, "l0": 0.1, "smoothing": 0.2}]
)
@pytest.mark.parametrize("seed", range(3))
def test_the_objective_never_rises_and_is_that_of_the_rows(seed, penalties):
    rng = np.random.default_rng(seed)
    p = summed_up(mixed_table(rng, 250), rng.normal(3, 1, 250), rng.uniform(0.5, 2, 250) if seed else None)
    forest = fit_forest(p.gram, p.response, p.columns, ForestOptions(n_stumps=25, alpha=2.0, tol=0.0, **penalties))
    assert np.all(np.diff(forest.history) <= 1e-9 * forest.history[0])
    assert forest.objective == pytest.approx(p.objective(forest, 2.0, **penalties), rel=1e-10)
    weights = np.ones(250) if p.weights is None else p.weights
    assert weights @ p.residual(forest) == pytest.approx(0, abs=1e-9)
    assert forest.multiplicity.sum() <= 25
    assert np.all(np.diff(forest.columns) > 0)


def test_a_higher_price_of_steps_leaves_fewer():
    rng = np.random.default_rng(0)
    p = summed_up(mixed_table(rng, 250), rng.normal(size=250))
    sizes = [
        len(fit_forest(p.gram, p.response, p.columns, ForestOptions(n_stumps=40, alpha=0.1, l0=l0)).columns)
        for l0 in (0, 0.3, 1, 1e9)
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 0 < sizes[-2] < sizes[0]


@pytest.mark.parametrize("options", [ForestOptions(n_stumps=0), ForestOptions(alpha=1e12)])
def test_no_stumps_or_a_boundless_ridge_give_the_constant_model(options):
    rng = np.random.default_rng(0)
    p = summed_up(mixed_table(rng, 100), rng.normal(2, 1, 100))
    forest = fit_forest(p.gram, p.response, p.columns, options)
    assert forest.objective == pytest.approx(p.response.squares / 2, rel=1e-8)
    np.testing.assert_allclose(p.residual(forest), p.z - p.z.mean(), atol=1e-8)


def test_a_constant_response_is_fitted_exactly_by_no_step():
    p = summed_up(mixed_table(np.random.default_rng(0), 100), np.full(100, 0.3))
    forest = fit_forest(p.gram, p.response, p.columns, ForestOptions())
    assert (len(forest.columns), forest.objective, forest.intercept) == (0, 0.0, 0.3)


def test_a_table_without_columns_gives_the_constant_model():
    p = problem([[1.0], [1.0]], [0.0, 2.0])
    forest = fit_forest(p.gram, p.response, p.columns, ForestOptions(n_stumps=3, alpha=0.0))
    assert (len(forest.columns), forest.objective, forest.intercept) == (0, 1.0, 1.0)


def test_one_binary_feature_has_a_closed_form():
    x = np.array([0.0, 0, 0, 1, 1])
    y = np.array([1.0, 2, 3, 8, 10])
    p = problem(x[:, None], y)
    forest = fit_forest(p.gram, p.response, p.columns, ForestOptions(n_stumps=4, alpha=2.0))
    assert forest.steps[0] == pytest.approx(1.2 * 7 / (1.2 + 2.0 / 4))  # M = 5 * 0.4 * 0.6, difference of means 7


def test_binary_features_give_ridge_regression():
    rng = np.random.default_rng(1)
    X = (rng.random((80, 6)) < 0.4).astype(float)
    y = X @ np.array([1.0, -2, 0.5, 1.5, -1, 2]) + rng.normal(0, 0.3, 80)
    p = problem(X, y)
    forest = fit_forest(p.gram, p.response, p.columns, ForestOptions(n_stumps=12, alpha=1.5, tol=0.0))
    assert forest.columns.tolist() == list(range(6))
    centred, target = X - X.mean(axis=0), y - y.mean()
    ridge = 1.5 / forest.multiplicity
    b = np.linalg.solve(centred.T @ centred + np.diag(ridge), centred.T @ target)
    residual = target - centred @ b
    assert forest.objective == pytest.approx(residual @ residual / 2 + ridge @ b**2 / 2, rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_very_many_stumps_without_a_ridge_reach_least_squares_on_all_columns(seed):
    rng = np.random.default_rng(seed)
    n = 150
    X = np.round(rng.normal(size=(n, 3)), 1)
    y = np.sin(X[:, 0]) + np.abs(X[:, 1]) + rng.normal(0, 0.5, n)
    p = problem(X, y, max_bins=20)
    U = p.indicators() - p.indicators().mean(axis=0)
    least = np.linalg.lstsq(U, y - y.mean(), rcond=None)[0]
    residual = y - y.mean() - U @ least
    options = ForestOptions(n_stumps=100 * len(p.columns), alpha=1e-9, tol=0.0)
    forest = fit_forest(p.gram, p.response, p.columns, options)
    assert forest.objective - residual @ residual / 2 <= 1e-6 * p.response.squares / 2


def test_a_feature_of_distinct_values_can_be_fitted_exactly():
    rng = np.random.default_rng(2)
    p = problem(rng.permutation(25)[:, None].astype(float), rng.normal(size=25))
    forest = fit_forest(p.gram, p.response, p.columns, ForestOptions(n_stumps=2400, alpha=1e-9, tol=0.0))
    assert forest.objective <= 1e-6 * p.response.squares / 2


@pytest.mark.parametrize("seed", range(8))
def test_every_round_is_that_of_the_plain_method(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(100, 400))
    table = mixed_table(rng, n, n_numeric=4, n_categorical=seed % 3)
    z = np.sin(table.codes[0] / 3) + (table.codes[1] > 6) + rng.normal(0, 0.5, n)
    p = summed_up(table, z, rng.uniform(0.5, 2, n) if seed % 2 else None, min_samples_leaf=5)
    options = ForestOptions(n_stumps=int(rng.integers(5, 40)), alpha=float(rng.uniform(0.5, 20)))
    forest = fit_forest(p.gram, p.response, p.columns, options)
    np.testing.assert_allclose(forest.history, reference_history(p, options), rtol=1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("l1", [0.0, 0.5])
def test_constrained_features_get_monotone_shapes_and_missing_values_are_free(seed, l1):
    rng = np.random.default_rng(seed)
    table = mixed_table(rng, 400)
    codes = table.codes.astype(float)
    z = np.sin(codes[0]) + np.where(codes[0] == 0, 5.0, 0.0) - np.sin(codes[1]) + rng.normal(0, 0.3, 400)
    p = summed_up(table, z, min_samples_leaf=3, monotonic_cst=np.array([1, -1, 0, 0]))
    options = ForestOptions(n_stumps=40, alpha=0.5, l1=l1, tol=0.0)
    forest = fit_forest(p.gram, p.response, p.columns, options)
    shapes = p.columns.scores(forest.heights(len(p.columns)), table.n_codes)
    bins = table.n_codes
    assert np.all(np.diff(shapes[0, 1 : bins[0]]) >= 0)
    assert np.all(np.diff(shapes[1, 1 : bins[1]]) <= 0)
    assert np.any(np.diff(shapes[2, 1 : bins[2]]) > 0)
    assert shapes[0, 0] > shapes[0, 1]  # missing values are high although the shape may only rise
    free = summed_up(table, z, min_samples_leaf=3)
    assert forest.objective > fit_forest(free.gram, free.response, free.columns, options).objective
