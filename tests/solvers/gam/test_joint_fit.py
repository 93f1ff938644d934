from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from solvers.gam.joint_fit import constrained_fit, ridge_fit
from tests.solvers.gam.problems import problem, vectors

MONOTONE = vectors("monotone")["cases"]
SQUARED = [case for case in vectors("joint_fit")["cases"] if case["loss"] == "squared"]


@pytest.mark.parametrize("case", SQUARED, ids=range(len(SQUARED)))
def test_leaf_values_for_given_splits_are_those_of_the_reference(case):
    X = np.array(case["X"])
    p = problem(X, case["y"], case["sample_weight"])
    thresholds = p.columns.thresholds(p.table)
    active = [  # the split falls between two values; the column there is the same
        np.flatnonzero((p.columns.feature == s["feature"]) & (thresholds >= _left_of(X[:, s["feature"]], s["threshold"])))[0]
        for s in case["splits"]
    ]
    multiplicity = np.array([s["multiplicity"] for s in case["splits"]])
    steps = ridge_fit(p.gram.block(np.array(active)), p.response.correlations[active], case["alpha"] / multiplicity)
    np.testing.assert_allclose(steps, case["steps"], atol=1e-6)
    assert p.response.mean - steps @ p.gram.shares[active] == pytest.approx(case["intercept"], abs=1e-6)


def _left_of(x: np.ndarray, threshold: float) -> float:
    return float(x[x <= threshold].max())


@pytest.mark.parametrize("case", MONOTONE, ids=range(len(MONOTONE)))
def test_monotone_heights_are_the_constrained_optimum(case):
    p = problem(case["X"], case["y"], min_samples_leaf=case["min_samples_leaf"], monotonic_cst=case["monotonic_cst"])
    ridge = np.full(len(p.columns), case["alpha"])
    b = constrained_fit(p.gram.products, p.response.correlations, ridge, l1=0.0, sign=p.columns.sign)
    objective = (p.response.squares - 2 * p.response.correlations @ b + b @ p.gram.products @ b + ridge @ b**2) / 2
    assert objective == pytest.approx(case["objective"], rel=1e-7)
    assert np.all(b * p.columns.sign >= 0)
    for column in case["columns"]:
        assert b[p.index(column["feature"], column["threshold"])] == pytest.approx(column["step"], abs=1e-5)


@pytest.mark.parametrize("seed", range(10))
def test_heights_with_an_l1_penalty_and_signs_minimise_the_objective(seed):
    rng = np.random.default_rng(seed)
    k = 12
    root = rng.normal(size=(k, k + (seed - 5)))
    block, correlations = root @ root.T, 5 * rng.normal(size=k)
    ridge, sign, l1 = rng.uniform(0.1, 1, k), rng.integers(-1, 2, k), 1.5
    b = constrained_fit(block, correlations, ridge, l1=l1, sign=sign.astype(float))

    def objective(parts):  # positive and negative part, which makes the problem smooth
        v = parts[:k] - parts[k:]
        return v @ block @ v / 2 - correlations @ v + ridge @ v**2 / 2 + l1 * parts.sum()

    bounds = [(0, None if s >= 0 else 0) for s in sign] + [(0, None if s <= 0 else 0) for s in sign]
    reference = minimize(objective, np.zeros(2 * k), bounds=bounds, method="L-BFGS-B", options={"maxiter": 5000, "ftol": 1e-15})
    mine = objective(np.concatenate([np.maximum(b, 0), np.maximum(-b, 0)]))
    assert mine <= reference.fun + 1e-9 * abs(reference.fun)
    assert np.all(b * sign >= 0)


def test_a_singular_system_is_solved():
    block = np.ones((2, 2))
    b = ridge_fit(block, np.array([2.0, 2.0]), np.zeros(2))
    assert b.sum() == pytest.approx(2.0, rel=1e-6)
