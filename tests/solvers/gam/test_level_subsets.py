from __future__ import annotations

import itertools

import numpy as np
import pytest

from solvers.gam.candidate_columns import row_sums
from solvers.gam.forest import ForestOptions, penalty
from solvers.gam.level_subsets import steepest_subset, with_views, without_views
from solvers.gam.losses import LogisticLoss, PoissonLoss, SquaredLoss
from solvers.gam.shape_functions import CodedColumn
from solvers.gam.training import Search, Training, prepare, train

SUBSETS = Search(level_subsets=True)


def rows(seed: int, n: int = 300, n_levels: int = 6):
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, n_levels, n)
    effect = rng.normal(size=n_levels + 1)
    x = rng.normal(size=n).round(1)
    F = effect[codes] + (x > 0.3)
    weights = rng.uniform(0.5, 2, n) if seed % 2 else None
    return [CodedColumn(codes, tuple("abcdefgh"[:n_levels])), x], F, weights, rng


def sets_of(codes: np.ndarray):
    """Return the 0/1 column of every set of bins that holds bin 0."""
    bins = np.unique(codes)
    for size in range(1, len(bins)):
        for chosen in itertools.combinations(bins, size):
            if bins[0] in chosen:
                yield np.isin(codes, chosen).astype(float)


@pytest.mark.parametrize("seed", range(8))
def test_one_stump_without_a_ridge_takes_the_best_of_all_sets(seed):
    values, F, weights, rng = rows(seed)
    y = F + rng.normal(0, 0.3, len(F))
    least = 20.0 * (seed > 3)
    sample = prepare(values[:1], ["level"], y, weights=weights, min_samples_leaf=least)
    fit = train(sample, SquaredLoss(), ForestOptions(1, alpha=1e-12), search=SUBSETS)
    w = sample.row_weights()
    best = w @ (y - np.average(y, weights=w)) ** 2 / 2
    for inside in sets_of(sample.table.codes[0]):
        if min(w @ inside, w @ (1 - inside)) >= least:
            means = [np.average(y, weights=w * part) for part in (1 - inside, inside)]
            best = min(best, w @ (y - np.where(inside, means[1], means[0])) ** 2 / 2)
    assert fit.objective == pytest.approx(best, rel=1e-9)


def check(fit: Training, sample) -> None:
    """The folded shapes score the rows as the columns do, and J is that of the rows."""
    (forest,), (shapes,) = fit.forests, fit.shapes()
    decision = forest.intercept + row_sums(sample.table, shapes) + sample.row_offsets()
    np.testing.assert_allclose(decision, forest.intercept + fit.sample.decision(forest) + sample.row_offsets(), atol=1e-12)
    value = sample.row_weights() @ fit.loss.value(sample.target, decision)
    assert fit.objective == pytest.approx(value + penalty(forest, fit.options), rel=1e-9)
    assert np.all(np.diff(fit.history) <= 1e-9 * abs(fit.history[0]))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("loss", [SquaredLoss(), LogisticLoss(), PoissonLoss()])
def test_sets_of_levels_lower_the_objective(seed, loss):
    values, F, weights, rng = rows(seed, n=600, n_levels=8)
    y = {
        "identity": lambda: F + rng.normal(0, 0.5, len(F)),
        "logit": lambda: (rng.random(len(F)) < 1 / (1 + np.exp(-F))).astype(float),
        "log": lambda: rng.poisson(np.exp(F)).astype(float),
    }[loss.link]()
    sample = prepare(values, ["level", "x"], y, weights=weights)
    options = ForestOptions(4, alpha=5.0)
    single = train(sample, loss, options)
    sets = train(sample, loss, options, search=SUBSETS)
    check(sets, sample)
    assert sets.objective < single.objective * (1 - 1e-3 * np.sign(single.objective))
    assert len(sets.views.feature) >= 1


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("loss", [SquaredLoss(), LogisticLoss()])
def test_the_bound_holds_for_every_set(seed, loss):
    values, F, weights, rng = rows(seed, n=200, n_levels=4)
    y = F + rng.normal(0, 0.5, 200) if loss.link == "identity" else (np.median(F) < F).astype(float)
    sample, options = prepare(values[:1], ["level"], y, weights=weights, min_samples_leaf=0), ForestOptions(2, alpha=2.0)
    fit = train(sample, loss, options, search=SUBSETS)
    columns = np.stack(list(sets_of(sample.table.codes[0])))
    w, best = sample.row_weights(), np.inf
    for pair in itertools.combinations_with_replacement(range(len(columns)), 2):
        best = min(best, _best_of(columns[list(pair)], y, w, options.alpha, loss))
    proof = fit.certify()
    assert 0 < proof.lower_bound <= best * (1 + 1e-9) <= fit.objective * (1 + 1e-8)


def _best_of(U: np.ndarray, y: np.ndarray, w: np.ndarray, alpha: float, loss) -> float:
    """Return the optimum of two stumps on given columns, by Newton steps."""
    A = np.vstack([np.ones(len(y)), U])
    b, ridge = np.zeros(len(A)), np.diag([0.0] + [alpha] * len(U))
    b[0] = loss.best_constant(y, w, np.zeros(len(y)))
    for _ in range(30):
        F = b @ A
        b = b - np.linalg.solve(
            (A * w * loss.hessian(y, F)) @ A.T + ridge + 1e-12 * np.eye(len(A)), A @ (w * loss.gradient(y, F)) + ridge @ b
        )
    return float(w @ loss.value(y, b @ A) + b @ ridge @ b / 2)


def test_the_steepest_set_is_the_best_of_all():
    values, F, weights, rng = rows(1, n=120, n_levels=5)
    sample = prepare(values, ["level", "x"], F, weights=weights)
    pull = sample.row_weights() * rng.normal(size=120)
    centred = pull - sample.row_weights() * pull.sum() / sample.row_weights().sum()
    best = max(abs(inside @ centred) for inside in sets_of(sample.table.codes[0]))
    assert steepest_subset(with_views(without_views(sample), pull), pull) == pytest.approx(best, rel=1e-12)


def test_limits_count_a_view_as_its_feature():
    values, F, _, rng = rows(2, n=600, n_levels=8)
    y = F + rng.normal(0, 0.5, 600)
    sample = prepare(values, ["level", "x"], y)
    fit = train(sample, SquaredLoss(), ForestOptions(30, alpha=0.1, max_features=1), search=SUBSETS)
    columns = fit.sample.columns
    assert len(set(columns.counts_as[columns.feature[fit.forests[0].columns]])) == 1
    fit = train(sample, SquaredLoss(), ForestOptions(30, alpha=0.1, max_steps_per_feature=2), search=SUBSETS)
    columns = fit.sample.columns
    assert np.bincount(columns.counts_as[columns.feature[fit.forests[0].columns]]).max() == 2


def test_classes_share_the_views_of_all():
    values, F, _, rng = rows(4, n=900, n_levels=8)
    y = np.digitize(F + rng.logistic(size=900), [0.0, 1.0]).astype(float)
    sample = prepare(values, ["level", "x"], y)
    fit = train(sample, LogisticLoss(), ForestOptions(4, alpha=2.0), n_classes=3, search=SUBSETS)
    assert fit.objective < train(sample, LogisticLoss(), ForestOptions(4, alpha=2.0), n_classes=3).objective
    for forest, shapes in zip(fit.forests, fit.shapes(), strict=True):
        np.testing.assert_allclose(row_sums(sample.table, shapes), fit.sample.decision(forest), atol=1e-12)
