from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solvers.gam.binning import bin_table
from solvers.gam.candidate_columns import candidate_columns
from solvers.gam.coarse_table import coarsen
from solvers.gam.forest import Forest, ForestOptions
from solvers.gam.gram import build_gram
from solvers.gam.leaf_newton import fit_leaves
from solvers.gam.losses import GammaLoss, HuberLoss, LogisticLoss, PoissonLoss, SquaredLoss
from solvers.gam.sample import Sample
from tests.solvers.gam.problems import mixed_table, vectors

CASES = vectors("joint_fit")["cases"]
LOSSES = {"squared": SquaredLoss(), "logistic": LogisticLoss(), "poisson": PoissonLoss(), "gamma": GammaLoss()}


def unfitted(columns: np.ndarray, multiplicity: np.ndarray) -> Forest:
    return Forest(columns, np.zeros(len(columns)), multiplicity, 0.0, np.inf, (), False)


@pytest.mark.parametrize("case", CASES, ids=[f"{k}-{case['loss']}" for k, case in enumerate(CASES)])
def test_leaf_values_for_given_splits_are_those_of_the_reference(case):
    X, splits = np.array(case["X"]), case["splits"]
    offset = np.log(case["exposure"]) if "exposure" in case else np.zeros(len(X))
    table = bin_table(list(X.T), ["a", "b"], max_bins=None)
    columns = candidate_columns(table, min_samples_leaf=0)
    reach = [np.sum(X[:, s["feature"]] > s["threshold"]) for s in splits]
    sizes = np.array([np.sum(table.codes[f] > c) for f, c in zip(columns.feature, columns.cut, strict=True)])
    active = np.array(
        [np.flatnonzero((columns.feature == s["feature"]) & (sizes == n))[0] for s, n in zip(splits, reach, strict=True)]
    )
    sample = Sample(table, columns, np.array(case["y"]), np.array(case["sample_weight"]), offset)
    options = ForestOptions(alpha=case["alpha"])
    start = unfitted(active, np.array([s["multiplicity"] for s in splits]))
    forest = fit_leaves(sample, LOSSES[case["loss"]], options, start, offset)
    np.testing.assert_allclose(forest.steps, case["steps"], atol=1e-6)
    assert forest.intercept == pytest.approx(case["intercept"], abs=1e-6)
    assert forest.objective == pytest.approx(case["objective"], rel=1e-9)


def test_leaves_under_an_l1_penalty_and_signs_are_optimal():
    rng = np.random.default_rng(0)
    table = mixed_table(rng, 300)
    columns = candidate_columns(table, min_samples_leaf=5, monotonic_cst=np.array([1, -1, 0, 0]))
    y = (rng.random(300) < 0.4).astype(float)
    sample, options = Sample(table, columns, y), ForestOptions(alpha=2.0, l1=1.0)
    active = np.sort(rng.choice(len(columns), 10, replace=False))
    forest = fit_leaves(sample, LogisticLoss(), options, unfitted(active, np.ones(10, int)), np.zeros(300))
    mine = columns.subset(active)
    assert np.all(forest.steps * mine.sign >= 0)
    decision = forest.intercept + sample.decision(replace(forest))
    slope = LogisticLoss().gradient(y, decision)
    for a, j in enumerate(active):
        codes = table.codes[columns.feature[j]]
        rows = codes == columns.cut[j] if columns.is_level[j] else codes > columns.cut[j]
        pull = -slope[rows].sum() - 2.0 * forest.steps[a]
        if forest.steps[a] != 0:
            assert pull == pytest.approx(np.sign(forest.steps[a]), abs=1e-4)
        else:
            assert (pull if mine.sign[a] == 1 else -pull if mine.sign[a] == -1 else abs(pull)) <= 1 + 1e-4


def test_products_of_some_columns_come_from_their_coarse_bins():
    rng = np.random.default_rng(1)
    table = mixed_table(rng, 300, n_numeric=4, n_categorical=2)
    columns = candidate_columns(table)
    for size in (1, 5, 20):
        active = np.sort(rng.choice(len(columns), size, replace=False))
        coarse, mine = coarsen(table, columns, active)
        h = rng.uniform(0, 2, 300)
        np.testing.assert_allclose(build_gram(coarse, mine, h).products, build_gram(table, columns, h).block(active), atol=1e-11)


def test_huber_leaves_reach_a_stationary_point():
    rng = np.random.default_rng(2)
    table = mixed_table(rng, 200)
    columns = candidate_columns(table)
    y = rng.standard_cauchy(200)
    sample, options = Sample(table, columns, y), ForestOptions(alpha=1.0)
    forest = fit_leaves(sample, HuberLoss(0.5), options, unfitted(np.array([2, 9, 20]), np.ones(3, int)), np.zeros(200))
    slope = HuberLoss(0.5).gradient(y, forest.intercept + sample.decision(forest))
    for j, step in zip(forest.columns, forest.steps, strict=True):
        rows = table.codes[columns.feature[j]] > columns.cut[j]
        assert -slope[rows].sum() == pytest.approx(step, abs=1e-4)
