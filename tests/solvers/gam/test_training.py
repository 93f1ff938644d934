from __future__ import annotations

import numpy as np
import pytest

from solvers.gam.forest import ForestOptions
from solvers.gam.losses import GammaLoss, HuberLoss, LogisticLoss, Loss, PoissonLoss, QuantileLoss, SquaredLoss
from solvers.gam.training import Computing, Search, prepare, train

LOSSES: list[Loss] = [SquaredLoss(), LogisticLoss(), PoissonLoss(), GammaLoss(), HuberLoss(1.0), QuantileLoss(0.5)]


def rows(loss: Loss, n: int = 400):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3, n)).round(1)
    F = np.sin(2 * X[0]) + (X[1] > 0)
    y = {
        "logit": lambda: (rng.random(n) < 1 / (1 + np.exp(-F))).astype(float),
        "log": lambda: rng.poisson(np.exp(F)) + 0.5,
        "identity": lambda: F + rng.normal(0, 0.5, n),
    }[loss.link]()
    return X, y, rng


class StopsAfter:
    def __init__(self, calls: int) -> None:
        self.calls = calls

    def __call__(self) -> bool:
        self.calls -= 1
        return self.calls < 0


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_a_stopped_fit_returns_the_best_so_far(loss):
    X, y, _ = rows(loss)
    sample, options = prepare(list(X), ["a", "b", "c"], y), ForestOptions(30, 1.0, tol=0.0)
    whole = train(sample, loss, options)
    for calls in (0, 1, 2):
        stopped = train(sample, loss, options, should_stop=StopsAfter(calls))
        assert len(stopped.history) <= len(whole.history)
        assert stopped.objective == stopped.history[-1] >= whole.objective - 1e-9 * abs(whole.objective)
    assert train(sample, loss, options, should_stop=lambda: True).history == whole.history[:1]


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_an_offset_is_part_of_the_decision(loss):
    X, y, rng = rows(loss)
    offset = rng.normal(0, 0.3, len(y))
    sample = prepare(list(X), ["a", "b", "c"], y, offset=offset)
    fit = train(sample, loss, ForestOptions(20, 2.0))
    constant = train(sample, loss, ForestOptions(0))
    best = loss.best_constant(y, np.ones(len(y)), offset)
    assert constant.objective == pytest.approx(np.sum(loss.value(y, offset + best)), rel=1e-12)
    assert fit.objective < constant.objective
    if loss.link == "identity":
        shifted = train(prepare(list(X), ["a", "b", "c"], y - offset), loss, ForestOptions(20, 2.0))
        assert shifted.objective == pytest.approx(fit.objective, rel=1e-9)


def test_a_search_is_reproducible_and_never_worse_than_greedy():
    X, y, _ = rows(SquaredLoss())
    sample, options = prepare(list(X), ["a", "b", "c"], y), ForestOptions(12, 1.0)
    search = Search(init="best", n_restarts=6, seed=3)
    one, other = (train(sample, SquaredLoss(), options, search=search) for _ in range(2))
    np.testing.assert_array_equal(one.forests[0].steps, other.forests[0].steps)
    assert one.objective <= train(sample, SquaredLoss(), options).objective


def test_engines_and_threads_give_the_same_model():
    X, y, _ = rows(LogisticLoss())
    sample, options = prepare(list(X), ["a", "b", "c"], y), ForestOptions(12, 1.0)
    one = train(sample, LogisticLoss(), options)
    threads = train(sample, LogisticLoss(), options, computing=Computing(n_jobs=2))
    by_rows = train(sample, LogisticLoss(), options, computing=Computing(engine="rows"))
    np.testing.assert_array_equal(one.forests[0].steps, threads.forests[0].steps)
    np.testing.assert_allclose(one.forests[0].steps, by_rows.forests[0].steps, atol=1e-9)
    assert 0 < by_rows.certify().lower_bound <= one.objective


def test_normalised_weights_leave_no_room_for_a_leaf():
    X, y, _ = rows(SquaredLoss())
    weights = np.full(len(y), 1 / len(y))
    fit = train(prepare(list(X), ["a", "b", "c"], y, weights=weights), SquaredLoss(), ForestOptions())
    assert (len(fit.sample.columns), len(fit.forests[0].columns)) == (0, 0)


@pytest.mark.parametrize("seed", range(5))
def test_a_smooth_truth_is_recovered(seed):
    rng = np.random.default_rng(seed)

    def truth(X):
        return np.sin(2 * X[0]) + np.abs(X[1]) + (X[2] > 0)

    X, fresh = rng.uniform(-2, 2, (5, 5000)), rng.uniform(-2, 2, (5, 20_000))
    sample = prepare(list(X), list("abcde"), truth(X) + rng.normal(size=5000))
    fit = train(sample, SquaredLoss(), ForestOptions(100, 10.0))
    (shapes,), (forest,) = fit.shapes(), fit.forests
    F = forest.intercept + sum(shapes[d][sample.table.features[d].codes(fresh[d])] for d in range(5))
    error = F - truth(fresh)
    assert 1 - np.mean(error**2) / np.var(truth(fresh)) >= 0.94
