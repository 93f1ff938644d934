from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from solvers.gam.forest import ForestOptions, fit_forest
from solvers.gam.lower_bound import certify, dual_bound, steepest_step
from solvers.gam.relaxation import Relaxation, relaxed_ridge
from solvers.gam.row_engine import RowProducts
from tests.solvers.gam.problems import Problem, mixed_table, problem, summed_up, vectors

CERTIFICATES = vectors("certificate")["cases"]
OPTIMA = vectors("forest_optimum")["cases"]


def relaxation_of(p: Problem, options: ForestOptions) -> Relaxation:
    return Relaxation(p.gram, p.response, p.columns, mu=relaxed_ridge(options, len(p.columns)), l1=options.l1)


@pytest.mark.parametrize("case", CERTIFICATES, ids=range(len(CERTIFICATES)))
def test_the_bound_and_gap_of_given_stumps_are_those_of_the_reference(case):
    p = problem(case["X"], case["y"])
    options = ForestOptions(n_stumps=case["n_stumps"], alpha=case["alpha"])
    heights = np.zeros(len(p.columns))
    for stump in case["stumps"]:
        heights[p.index(stump["feature"], stump["threshold"])] += stump["step"]
    correlations = p.response.correlations - p.gram.products @ heights
    bound = dual_bound(heights, correlations, p.response, p.columns, options)
    assert steepest_step(correlations, p.columns) == pytest.approx(case["max_abs_correlation"], rel=1e-9)
    assert bound == pytest.approx(case["dual_bound"], rel=1e-9)
    assert 1 - bound / case["objective"] == pytest.approx(case["gap"], rel=1e-9)
    relaxation = relaxation_of(p, options)
    solved = relaxation.solve(20_000)
    assert relaxation.objective() == pytest.approx(case["relaxation_optimum"], rel=1e-9)
    tight = dual_bound(solved, relaxation.correlations, p.response, p.columns, options)
    assert tight == pytest.approx(case["relaxation_dual_bound"], rel=1e-6)
    assert bound <= case["relaxation_optimum"] <= case["objective"]


@pytest.mark.parametrize("case", OPTIMA, ids=range(len(OPTIMA)))
def test_the_bound_is_below_the_global_optimum(case):
    p = problem(case["X"], case["y"], case["sample_weight"])
    options = ForestOptions(n_stumps=case["n_stumps"], alpha=case["alpha"])
    forest = fit_forest(p.gram, p.response, p.columns, options)
    proof = certify(p.gram, p.response, p.columns, options, forest, n_rows=len(p.z), iterations=5000)
    assert proof.lower_bound == pytest.approx(case["relaxation_optimum"], rel=1e-4)
    assert proof.lower_bound <= case["optimum"] + 1e-9
    assert proof.gap == pytest.approx(1 - proof.lower_bound / forest.objective)
    relaxation = relaxation_of(p, options)
    relaxation.solve(20_000)
    assert relaxation.objective() == pytest.approx(case["relaxation_optimum"], rel=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_the_bound_holds_with_all_penalties_and_signs(seed):
    rng = np.random.default_rng(seed)
    table = mixed_table(rng, 150)
    signs = rng.integers(-1, 2, 4) * [1, 1, 1, 0]
    p = summed_up(table, rng.normal(size=150), rng.uniform(0.5, 2, 150), min_samples_leaf=2, monotonic_cst=signs)
    options = ForestOptions(n_stumps=10, alpha=3.0, l1=0.5 * (seed % 2), l0=0.1 * (seed % 3), smoothing=0.1 * (seed > 3))
    forest = fit_forest(p.gram, p.response, p.columns, options)
    proof = certify(p.gram, p.response, p.columns, options, forest, n_rows=150)
    assert 0 < proof.lower_bound <= forest.objective
    relaxation = relaxation_of(p, options)
    relaxation.solve(20_000)
    assert proof.lower_bound <= relaxation.objective() * (1 + 1e-9)
    assert relaxation.objective() <= forest.objective * (1 + 1e-9)


def test_the_scale_of_the_dual_vector_is_the_best():
    rng = np.random.default_rng(0)
    p = summed_up(mixed_table(rng, 150), rng.normal(size=150))
    heights = rng.normal(0, 0.1, len(p.columns))
    correlations = p.response.correlations - p.gram.products @ heights
    for l1 in (0.0, 0.5, 20.0, 1000.0):
        options = ForestOptions(n_stumps=10, alpha=3.0, l1=l1)
        along = p.response.squares - p.response.correlations @ heights
        residual = along - correlations @ heights
        steepest = np.abs(correlations).max()

        def dual(c, l1=l1, along=along, residual=residual, steepest=steepest):
            return c * along - c * c * residual / 2 - 10 * max(0.0, c * steepest - l1) ** 2 / 6

        best = -minimize_scalar(lambda c, dual=dual: -dual(c), bounds=(0, 3), method="bounded", options={"xatol": 1e-12}).fun
        assert dual_bound(heights, correlations, p.response, p.columns, options) == pytest.approx(best, rel=1e-9)


def test_no_ridge_means_no_bound_and_a_perfect_fit_no_gap():
    p = problem([[0.0], [1.0], [2.0]], [0.0, 1.0, 5.0])
    options = ForestOptions(n_stumps=3, alpha=0.0)
    forest = fit_forest(p.gram, p.response, p.columns, options)
    proof = certify(p.gram, p.response, p.columns, options, forest, n_rows=3)
    assert (proof.lower_bound, proof.gap, proof.reason) == (None, None, "alpha")
    flat = problem([[0.0], [1.0]], [1.0, 1.0])
    proof = certify(
        flat.gram, flat.response, flat.columns, options, fit_forest(flat.gram, flat.response, flat.columns, options), n_rows=2
    )
    assert (proof.lower_bound, proof.gap) == (0.0, 0.0)


def test_more_sweeps_never_loosen_the_bound():
    rng = np.random.default_rng(3)
    p = summed_up(mixed_table(rng, 200), rng.normal(size=200))
    options = ForestOptions(n_stumps=20, alpha=3.0)
    forest = fit_forest(p.gram, p.response, p.columns, options)
    bounds = [
        certify(p.gram, p.response, p.columns, options, forest, n_rows=200, iterations=k).lower_bound for k in (0, 5, 50, 500)
    ]
    assert bounds == sorted(bounds)
    assert bounds[0] < bounds[-1]


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_from_rows_is_about_that_from_the_gram(seed):
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.5, 2, 300) if seed % 2 else None
    p = summed_up(mixed_table(rng, 300), rng.normal(size=300), weights, min_samples_leaf=5)
    options = ForestOptions(n_stumps=20, alpha=5.0, l1=0.3 * (seed > 1), smoothing=0.01 * (seed == 3))
    forest = fit_forest(p.gram, p.response, p.columns, options)
    rows = RowProducts(p.table, p.columns, weights)
    proof = certify(rows, p.response, p.columns, options, forest, n_rows=300)
    relaxation = relaxation_of(p, options)
    relaxation.solve(20_000)
    assert relaxation.objective() * (1 - 2e-3) <= proof.lower_bound <= relaxation.objective() * (1 + 1e-9)
    assert proof.lower_bound <= forest.objective
