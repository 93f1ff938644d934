from __future__ import annotations

import numpy as np
import pytest

from solvers.gam.candidate_columns import candidate_columns
from solvers.gam.forest import ForestOptions, fit_forest, penalty
from solvers.gam.gram import build_gram, respond
from solvers.gam.leaf_newton import fit_leaves
from solvers.gam.losses import GammaLoss, HuberLoss, LogisticLoss, Loss, PoissonLoss, QuantileLoss, SquaredLoss
from solvers.gam.multinomial_fit import fit_multinomial
from solvers.gam.reweighted_fit import fit_reweighted
from solvers.gam.sample import Sample
from tests.solvers.gam.problems import mixed_table

LOSSES: dict[str, Loss] = {
    "logistic": LogisticLoss(),
    "poisson": PoissonLoss(),
    "gamma": GammaLoss(),
    "huber": HuberLoss(0.7),
    "quantile": QuantileLoss(0.8),
}


def sample_of(name: str, seed: int, n: int = 400) -> Sample:
    rng = np.random.default_rng(seed)
    table = mixed_table(rng, n)
    codes = table.codes.astype(float)
    F = 0.15 * codes[0] - 0.5 * (codes[1] > 5) + 0.8 * (codes[3] == 2) - 1
    y = {
        "logistic": lambda: (rng.random(n) < 1 / (1 + np.exp(-F))).astype(float),
        "poisson": lambda: rng.poisson(np.exp(F)).astype(float),
        "gamma": lambda: rng.gamma(2, np.exp(F) / 2),
    }.get(name, lambda: F + rng.standard_t(2, n))()
    weights = rng.uniform(0.5, 2, n) if seed % 2 else None
    offset = rng.normal(0, 0.3, n) if seed % 3 == 2 else None
    return Sample(table, candidate_columns(table, weights), y, weights, offset)


def products_of(sample: Sample):
    return lambda curvature: build_gram(sample.table, sample.columns, curvature)


def objective(sample: Sample, loss: Loss, options: ForestOptions, forest) -> float:
    decision = forest.intercept + sample.decision(forest) + sample.row_offsets()
    return float(sample.row_weights() @ loss.value(sample.target, decision)) + penalty(forest, options)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("seed", range(3))
def test_the_objective_falls_and_is_that_of_the_rows(name, seed):
    sample, loss, options = sample_of(name, seed), LOSSES[name], ForestOptions(n_stumps=20, alpha=2.0, l0=0.1 * (seed == 1))
    forest = fit_reweighted(sample, loss, options, products_of(sample))
    assert np.all(np.diff(forest.history) < 0)
    assert len(forest.history) > 2
    assert forest.objective == pytest.approx(objective(sample, loss, options, forest), rel=1e-10)
    constant = loss.best_constant(sample.target, sample.row_weights(), sample.row_offsets())
    start = sample.row_weights() @ loss.value(sample.target, sample.row_offsets() + constant)
    assert forest.history[0] == pytest.approx(start, rel=1e-12)


@pytest.mark.parametrize("name", ["logistic", "poisson", "gamma", "huber"])
@pytest.mark.parametrize("seed", range(3))
def test_the_leaves_are_nearly_the_best_for_their_splits(name, seed):
    sample, loss, options = sample_of(name, seed), LOSSES[name], ForestOptions(n_stumps=20, alpha=2.0)
    forest = fit_reweighted(sample, loss, options, products_of(sample))
    best = fit_leaves(sample, loss, options, forest, sample.row_offsets())
    assert forest.objective - best.objective <= 1e-4 * (forest.history[0] - best.objective)


@pytest.mark.parametrize("name", ["logistic", "poisson", "gamma"])
@pytest.mark.parametrize("seed", range(2))
def test_one_stump_is_about_the_best_by_enumeration(name, seed):
    sample, loss, options = sample_of(name, seed), LOSSES[name], ForestOptions(n_stumps=1, alpha=2.0)
    forest = fit_reweighted(sample, loss, options, products_of(sample))
    one = forest.multiplicity[:1]
    every = [
        fit_leaves(
            sample,
            loss,
            options,
            type(forest)(np.array([j]), np.zeros(1), one, 0.0, np.inf, (), False),
            sample.row_offsets(),
        ).objective
        for j in range(len(sample.columns))
    ]
    assert forest.objective <= min(every) + 0.02 * (forest.history[0] - min(every))
    assert forest.objective >= min(every) - 1e-9 * abs(min(every))


def test_squared_loss_takes_one_step_to_the_fit_of_the_sums():
    sample, options = sample_of("huber", 1), ForestOptions(n_stumps=20, alpha=2.0, max_iter=3)
    forest = fit_reweighted(sample, SquaredLoss(), options, products_of(sample))
    gram = build_gram(sample.table, sample.columns, sample.weights)
    response = respond(sample.table, sample.columns, sample.target, sample.weights)
    direct = fit_forest(gram, response, sample.columns, options)
    assert forest.history[1] == pytest.approx(direct.objective, rel=1e-9)


def test_a_wide_huber_loss_is_squared_loss():
    sample, options = sample_of("huber", 2), ForestOptions(n_stumps=20, alpha=2.0)
    wide = fit_reweighted(sample, HuberLoss(1e6), options, products_of(sample))
    squared = fit_reweighted(sample, SquaredLoss(), options, products_of(sample))
    assert wide.objective == pytest.approx(squared.objective, rel=1e-9)


def test_a_quantile_forest_leaves_that_share_of_the_rows_below():
    sample = sample_of("quantile", 0, n=2000)
    forest = fit_reweighted(sample, QuantileLoss(0.8), ForestOptions(n_stumps=50, alpha=0.1), products_of(sample))
    below = np.mean(sample.target <= forest.intercept + sample.decision(forest))
    assert below == pytest.approx(0.8, abs=0.01)


def test_separable_classes_end_with_finite_leaves():
    sample = sample_of("logistic", 0)
    y = (sample.table.codes[0] > 6).astype(float)
    separable = Sample(sample.table, sample.columns, y)
    for alpha in (1e-6, 0.0):
        forest = fit_reweighted(separable, LogisticLoss(), ForestOptions(n_stumps=5, alpha=alpha), products_of(separable))
        assert np.all(np.isfinite(forest.steps))
        assert np.all((separable.decision(forest) + forest.intercept > 0) == (y == 1))


@pytest.mark.parametrize("name", LOSSES)
def test_no_stumps_or_columns_give_the_best_constant(name):
    sample, loss = sample_of(name, 2), LOSSES[name]
    bare = Sample(sample.table, sample.columns.subset(np.empty(0, int)), sample.target, sample.weights, sample.offset)
    for rows, options in ((sample, ForestOptions(n_stumps=0)), (bare, ForestOptions(n_stumps=5))):
        forest = fit_reweighted(rows, loss, options, products_of(rows))
        assert (len(forest.columns), len(forest.history)) == (0, 1)
        assert forest.intercept == loss.best_constant(sample.target, sample.row_weights(), sample.row_offsets())
    three = Sample(bare.table, bare.columns, np.arange(400.0) % 3)
    fit = fit_multinomial(three, 3, ForestOptions(n_stumps=5), products_of(bare))
    np.testing.assert_allclose([forest.intercept for forest in fit.forests], np.log([134 / 400, 133 / 400, 133 / 400]))


def test_two_classes_are_fitted_as_well_by_either_loss():
    sample, options = sample_of("logistic", 1), ForestOptions(n_stumps=20, alpha=1.0)
    binary = fit_reweighted(sample, LogisticLoss(), options, products_of(sample))
    both = fit_multinomial(sample, 2, options, products_of(sample))
    # Two forests of half the height pay half the ridge, so that the pair can only be better.
    assert both.objective <= binary.objective * 1.001


@pytest.mark.parametrize("seed", range(3))
def test_the_multinomial_objective_falls_and_is_that_of_the_rows(seed):
    rng = np.random.default_rng(seed)
    table = mixed_table(rng, 500)
    logits = np.stack([0.2 * table.codes[0], 3.0 * (table.codes[1] > 7), np.ones(500), 1.5 * (table.codes[3] == 1)])
    y = np.argmax(logits + rng.gumbel(size=logits.shape), axis=0)
    weights = rng.uniform(0.5, 2, 500) if seed else None
    sample, options = Sample(table, candidate_columns(table, weights), y.astype(float), weights), ForestOptions(15, 2.0)
    fit = fit_multinomial(sample, 4, options, products_of(sample))
    assert np.all(np.diff(fit.history) <= 0)
    F = np.stack([forest.intercept + sample.decision(forest) for forest in fit.forests])
    log_p = F - np.log(np.exp(F).sum(axis=0))
    w = sample.row_weights()
    total = -w @ log_p[y, np.arange(500)] + sum(penalty(forest, options) for forest in fit.forests)
    assert fit.objective == pytest.approx(total, rel=1e-10)
    shares = np.bincount(y, weights=w) / w.sum()
    assert fit.history[0] == pytest.approx(-w @ np.log(shares)[y], rel=1e-10)
    assert fit.objective < 0.97 * fit.history[0]


@pytest.mark.parametrize("alpha", [1.0, 100.0])
def test_rates_over_many_orders_of_magnitude_are_fitted(alpha):
    rng = np.random.default_rng(0)
    table = mixed_table(rng, 1000, n_categorical=0)
    rate = np.exp(0.25 * table.codes[0] + 0.25 * table.codes[1])
    sample = Sample(table, candidate_columns(table), rng.poisson(rate).astype(float))
    forest = fit_reweighted(sample, PoissonLoss(), ForestOptions(n_stumps=60, alpha=alpha), products_of(sample))
    best = float(np.sum(PoissonLoss().value(sample.target, np.log(rate))))
    assert forest.objective - best < 0.02 * (forest.history[0] - best)
    assert np.all(np.diff(forest.history) < 0)
