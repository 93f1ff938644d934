from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from solvers.gam.candidate_columns import candidate_columns
from solvers.gam.forest import Forest, ForestOptions
from solvers.gam.gram import build_gram
from solvers.gam.leaf_newton import fit_leaves
from solvers.gam.logistic_bound import certify_logistic
from solvers.gam.losses import LogisticLoss
from solvers.gam.reweighted_fit import fit_reweighted
from solvers.gam.sample import Sample
from tests.solvers.gam.problems import mixed_table


def sample_of(seed: int, n: int, *, max_bins: int = 16) -> Sample:
    rng = np.random.default_rng(seed)
    table = mixed_table(rng, n, n_numeric=2, max_bins=max_bins)
    F = 0.2 * table.codes[0] - 1.5 * (table.codes[2] == 2) - 0.5
    y = (rng.random(n) < 1 / (1 + np.exp(-F))).astype(float)
    weights = rng.uniform(0.5, 2, n) if seed % 2 else None
    offset = rng.normal(0, 0.5, n) if seed % 3 == 2 else None
    return Sample(table, candidate_columns(table, weights, min_samples_leaf=3), y, weights, offset)


def products_of(sample: Sample):
    return lambda curvature: build_gram(sample.table, sample.columns, curvature)


@pytest.mark.parametrize("seed", range(6))
def test_the_bound_is_below_every_pair_of_stumps(seed):
    sample, options = sample_of(seed, 60, max_bins=5), ForestOptions(n_stumps=2, alpha=1.0)
    best = np.inf
    for pair in itertools.combinations_with_replacement(range(len(sample.columns)), 2):
        columns, multiplicity = np.unique(pair, return_counts=True)
        start = Forest(columns, np.zeros(len(columns)), multiplicity, 0.0, np.inf, (), False)
        best = min(best, fit_leaves(sample, LogisticLoss(), options, start, sample.row_offsets()).objective)
    forest = fit_reweighted(sample, LogisticLoss(), options, products_of(sample))
    for iterations in (0, 1, 3):
        proof = certify_logistic(sample, options, forest, products_of(sample), iterations=iterations)
        assert 0 < proof.lower_bound <= best
    assert forest.objective >= best - 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_a_few_steps_nearly_solve_the_relaxation(seed):
    sample, options = sample_of(seed, 200), ForestOptions(n_stumps=15, alpha=3.0, l1=0.5 * (seed == 1))
    forest = fit_reweighted(sample, LogisticLoss(), options, products_of(sample))
    columns, codes = sample.columns, sample.table.codes
    U = np.where(
        columns.is_level[:, None], codes[columns.feature] == columns.cut[:, None], codes[columns.feature] > columns.cut[:, None]
    )
    p, w, o = len(columns), sample.row_weights(), sample.row_offsets()
    sign_y = 2 * sample.target - 1

    def relaxed(parts):
        b = parts[1 : p + 1] - parts[p + 1 :]
        F = o + parts[0] + b @ U
        variation = parts[1:].sum()
        value = w @ np.logaddexp(0, -sign_y * F) + options.alpha / options.n_stumps / 2 * variation**2 + options.l1 * variation
        slope = -w * sign_y / (1 + np.exp(sign_y * F))
        pull, ridge = U @ slope, options.alpha / options.n_stumps * variation + options.l1
        return value, np.concatenate([[slope.sum()], pull + ridge, ridge - pull])

    bounds = [(None, None)] + [(0, None)] * (2 * p)
    reference = minimize(
        relaxed, np.zeros(2 * p + 1), jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": 20_000, "ftol": 1e-14}
    )
    proof = certify_logistic(sample, options, forest, products_of(sample), iterations=4)
    assert reference.fun * (1 - 1e-3) <= proof.lower_bound <= reference.fun * (1 + 1e-7)
    fewer = certify_logistic(sample, options, forest, products_of(sample), iterations=0)
    assert fewer.lower_bound <= proof.lower_bound
    assert certify_logistic(sample, options, forest, products_of(sample)).iterations == 1


def test_no_ridge_means_no_bound_and_no_stumps_no_gap():
    sample = sample_of(0, 60)
    for options, reason, gap in ((ForestOptions(5, alpha=0.0), "alpha", None), (ForestOptions(0), None, 0.0)):
        forest = fit_reweighted(sample, LogisticLoss(), options, products_of(sample))
        proof = certify_logistic(sample, options, forest, products_of(sample))
        assert (proof.reason, proof.gap) == (reason, gap)
