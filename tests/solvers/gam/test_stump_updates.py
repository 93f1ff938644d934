from __future__ import annotations

import numpy as np
import pytest

from solvers.gam.forest import ForestOptions, fit_forest, one_swap_residual
from solvers.gam.stump_updates import rules, stumps_on
from tests.solvers.gam.problems import mixed_table, problem, summed_up, vectors

SINGLE = vectors("single_stump")["cases"]
TRACES = vectors("ao_trace")["cases"]
OPTIMA = vectors("forest_optimum")["cases"]


@pytest.mark.parametrize("case", SINGLE, ids=range(len(SINGLE)))
def test_one_stump_is_the_best_by_enumeration(case):
    p = problem(case["X"], case["y"], case["sample_weight"], min_samples_leaf=case["min_samples_leaf"])
    forest = fit_forest(p.gram, p.response, p.columns, ForestOptions(n_stumps=1, alpha=case["alpha"]))
    assert len(p.columns) == case["n_candidates"]
    assert forest.columns.tolist() == [p.index(case["feature"], float(case["threshold"]))]
    assert forest.steps[0] == pytest.approx(case["step"], abs=1e-9)
    assert forest.intercept == pytest.approx(case["intercept"], abs=1e-9)
    assert forest.objective == pytest.approx(case["objective"], abs=1e-9)
    gains = p.response.correlations**2 / (2 * (p.gram.diagonal + case["alpha"]))
    np.testing.assert_allclose(np.sort(gains)[::-1][:3], case["gains_top3"], atol=1e-9)


@pytest.mark.parametrize("case", TRACES, ids=range(len(TRACES)))
def test_every_sweep_is_that_of_the_reference(case):
    source = OPTIMA[case["case"]]
    p = problem(source["X"], source["y"], source["sample_weight"])
    assert [[c["feature"], c["threshold"]] for c in case["columns"]] == [
        [f, t] for f, t in zip(p.columns.feature, p.columns.thresholds(p.table), strict=True)
    ]
    state = stumps_on(np.full(source["n_stumps"], -1), np.zeros(source["n_stumps"]), p.columns)
    rule = rules(p.columns, p.gram.diagonal, p.gram.total, null_objective=source["null_objective"], alpha=source["alpha"])
    correlations, change = p.response.correlations.copy(), 0.0
    for entry in case["trace"]:
        change -= p.gram.sweep(rule, correlations, state)[1]
        assert state.columns.tolist() == entry["cols"]
        np.testing.assert_allclose(state.steps, entry["steps"], atol=1e-9)
        assert change == pytest.approx(entry["objective_change"], abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_gains_of_the_moves_add_up_to_the_fall_of_the_objective(seed):
    rng = np.random.default_rng(seed)
    p = summed_up(mixed_table(rng, 200), rng.normal(size=200))
    alpha, l1, l0 = 2.0, 0.3, 0.05
    state = stumps_on(np.full(12, -1), np.zeros(12), p.columns)
    null = p.response.squares / 2
    rule = rules(p.columns, p.gram.diagonal, p.gram.total, null_objective=null, alpha=alpha, l1=l1, l0=l0)
    correlations = p.response.correlations.copy()
    gained = sum(p.gram.sweep(rule, correlations, state)[1] for _ in range(3))
    used = state.columns >= 0
    fitted = p.indicators()[:, state.columns[used]] @ state.steps[used]
    residual = p.z - p.z.mean() - (fitted - fitted.mean())
    penalty = alpha / 2 * np.sum(state.steps**2) + l1 * np.abs(state.steps).sum() + l0 * used.sum()
    assert null - gained == pytest.approx(residual @ residual / 2 + penalty, rel=1e-8)
    centred = p.indicators() - p.indicators().mean(axis=0)
    np.testing.assert_allclose(correlations, centred.T @ residual, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_no_single_stump_can_do_better_once_none_moves(seed):
    rng = np.random.default_rng(seed)
    p = summed_up(mixed_table(rng, 200), rng.normal(size=200))
    options = ForestOptions(n_stumps=15, alpha=1.0, tol=0.0, max_iter=200)
    forest = fit_forest(p.gram, p.response, p.columns, options)
    assert forest.is_settled
    assert one_swap_residual(p.gram, p.response, p.columns, options, forest) <= 1e-9
    early = fit_forest(p.gram, p.response, p.columns, ForestOptions(n_stumps=15, alpha=1.0, max_iter=1, sweeps_per_iter=1))
    stumps, U = early.stump_columns(), p.indicators() - p.indicators().mean(axis=0)
    z, steps = p.z - p.z.mean(), early.heights(len(p.columns))
    per_stump = {c: s / m for c, s, m in zip(early.columns, early.steps, early.multiplicity, strict=True)}
    best = 0.0
    for t in set(stumps):
        residual = z - U @ steps + per_stump[t] * U[:, t]
        gains = (U.T @ residual) ** 2 / (2 * ((U**2).sum(axis=0) + 1.0))
        best = max(best, gains.max() - gains[t])
    residual = one_swap_residual(p.gram, p.response, p.columns, ForestOptions(n_stumps=15, alpha=1.0), early)
    assert residual == pytest.approx(best / (z @ z / 2), rel=1e-9)


def test_equal_gains_go_to_the_first_column():
    x = np.arange(8.0)
    p = problem(np.stack([x, -x, x], axis=1), np.where(x > 3, 1.0, 0.0))
    forest = fit_forest(p.gram, p.response, p.columns, ForestOptions(n_stumps=3, alpha=1.0))
    assert set(p.columns.feature[forest.columns]) == {0}


def test_limits_on_features_and_steps_hold():
    rng = np.random.default_rng(7)
    table = mixed_table(rng, 300, n_numeric=6, n_categorical=2)
    p = summed_up(table, rng.normal(size=300))
    for start in (None, rng.integers(len(p.columns), size=60)):
        few = fit_forest(p.gram, p.response, p.columns, ForestOptions(n_stumps=60, alpha=0.1, max_features=3), start=start)
        assert len(set(p.columns.feature[few.columns])) == 3
        short = fit_forest(
            p.gram, p.response, p.columns, ForestOptions(n_stumps=60, alpha=0.1, max_steps_per_feature=2), start=start
        )
        assert np.bincount(p.columns.feature[short.columns]).max() == 2
