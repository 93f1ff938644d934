"""Objectives on public data sets, which are not part of the repository: FORESOLVE_GAM_DATA names the folder that holds them."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.gam.binning import BinnedTable, encode
from solvers.gam.candidate_columns import row_sums
from solvers.gam.forest import ForestOptions
from solvers.gam.losses import LogisticLoss, SquaredLoss
from solvers.gam.training import prepare, train
from tests.solvers.gam.problems import vectors
from tests.solvers.gam.public_data import FOLDER, columns_of, some, split

TARGETS = vectors("objective_targets")
LOSSES = {"squared": SquaredLoss(), "logistic": LogisticLoss()}


@pytest.mark.skipif(FOLDER is None, reason="FORESOLVE_GAM_DATA is not set")
@pytest.mark.parametrize("target", TARGETS, ids=[f"{t['data']}-{t['split_seed']}-{t['n_stumps']}" for t in TARGETS])
def test_the_objective_and_the_test_score_are_those_of_the_reference(target):
    names, columns, y = columns_of(target["data"])
    training, test = split(len(y), target["split_seed"])
    values = [some(columns[name], training) for name in names]
    sample = prepare(values, names, y[training], max_bins=target["max_bins"], min_samples_leaf=target["min_samples_leaf"])
    loss = LOSSES[target["loss"]]
    fit = train(sample, loss, ForestOptions(target["n_stumps"], target["alpha"]))
    assert target["lower_bound"] * (1 - 1e-6) <= fit.objective <= 1.01 * target["objective"]
    proof = fit.certify()
    assert proof.lower_bound <= target.get("relaxation_optimum", target["objective"]) * (1 + 1e-6)
    assert proof.gap <= target["gap"] + 0.04
    held_out = BinnedTable(sample.table.features, encode(sample.table.features, [some(columns[name], test) for name in names]))
    forest = fit.forests[0]
    shapes = sample.columns.scores(forest.heights(len(sample.columns)), sample.table.n_codes)
    F = forest.intercept + row_sums(held_out, shapes)
    if len(training) > 3000:
        error = np.mean(loss.value(y[test], F))
        score = np.sqrt(2 * error) if target["loss"] == "squared" else error
        assert score == pytest.approx(target.get("test_rmse", target.get("test_log_loss")), rel=0.03)
