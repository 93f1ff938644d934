"""The linear baseline: against scikit-learn's linear models, and at the edges."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.linear_model import LinearRegression, LogisticRegression

from solvers.gam.linear_baseline import MOST_LEVELS, fit_linear
from solvers.gam.losses import GammaLoss, HuberLoss, LogisticLoss, Loss, PoissonLoss, QuantileLoss, SquaredLoss
from solvers.gam.shape_functions import CodedColumn

N = 1500


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture
def columns(rng: np.random.Generator) -> list:
    """A number far from 0, a number that is missing now and then, and levels of which some are missing."""
    numbers = rng.normal(1000.0, 5.0, N)
    gaps = np.where(rng.uniform(size=N) < 0.1, np.nan, rng.normal(size=N))
    return [numbers, gaps, CodedColumn(rng.integers(-1, 3, N), ("a", "b", "c"))]


def design(columns: list) -> np.ndarray:
    """The columns of the textbook: standardised numbers, 0 and a mark where missing, a column for each level."""
    numbers, gaps, levels = columns
    missing = np.isnan(gaps)
    return np.column_stack(
        [(numbers - 1000.0) / 5.0, np.where(missing, 0.0, gaps), missing, *(levels.codes == code for code in range(3))]
    ).astype(float)


def truth(columns: list) -> np.ndarray:
    return design(columns) @ np.array([0.5, -1.0, 0.7, 0.2, 0.4, -0.6])


def test_squared_loss_is_least_squares(columns: list, rng: np.random.Generator) -> None:
    target = truth(columns) + rng.normal(size=N)
    weights = rng.uniform(0.5, 2.0, N)
    fit = fit_linear(columns, target, SquaredLoss(), weights)
    expected = LinearRegression().fit(design(columns), target, sample_weight=weights).predict(design(columns))
    np.testing.assert_allclose(fit.decision(columns)[:, 0], expected, atol=1e-4)


def test_logistic_loss_is_logistic_regression(columns: list, rng: np.random.Generator) -> None:
    target = (rng.uniform(size=N) < 1 / (1 + np.exp(-truth(columns)))).astype(float)
    fit = fit_linear(columns, target, LogisticLoss(), np.ones(N))
    peer = LogisticRegression(C=1e6, tol=1e-10, max_iter=10_000).fit(design(columns), target)
    np.testing.assert_allclose(fit.decision(columns)[:, 0], peer.decision_function(design(columns)), atol=1e-3)


def test_several_classes_come_close_to_multinomial_regression(columns: list, rng: np.random.Generator) -> None:
    logits = np.column_stack([truth(columns), -truth(columns), np.zeros(N)])
    target = np.argmax(logits + rng.gumbel(size=(N, 3)), axis=1).astype(float)
    decision = fit_linear(columns, target, LogisticLoss(), np.ones(N), n_classes=3).decision(columns)
    loss = np.mean(logsumexp(decision, axis=1) - decision[np.arange(N), target.astype(int)])
    peer = LogisticRegression(C=1e6, max_iter=10_000).fit(design(columns), target)
    expected = -np.mean(peer.predict_log_proba(design(columns))[np.arange(N), target.astype(int)])
    assert expected - 1e-6 <= loss <= expected + 1e-3


@pytest.mark.parametrize("loss", [PoissonLoss(), GammaLoss(), HuberLoss(1.0), QuantileLoss(0.8)])
def test_no_other_linear_model_nearby_is_better(columns: list, rng: np.random.Generator, loss: Loss) -> None:
    mean = np.exp(truth(columns) / 4)
    target = {PoissonLoss: rng.poisson(mean).astype(float), GammaLoss: rng.gamma(2.0, mean / 2)}.get(
        type(loss), truth(columns) + rng.normal(size=N)
    )
    decision = fit_linear(columns, target, loss, np.ones(N)).decision(columns)[:, 0]
    lowest = loss.value(target, decision).mean()
    for direction in design(columns).T:
        for length in (-0.05, 0.05):
            assert loss.value(target, decision + length * direction).mean() > lowest - 1e-4 * lowest


def test_an_offset_is_part_of_the_decision(columns: list) -> None:
    offset = np.linspace(-1.0, 1.0, N)
    fit = fit_linear(columns, truth(columns) + offset, SquaredLoss(), np.ones(N), offset)
    np.testing.assert_allclose(fit.decision(columns, offset)[:, 0], truth(columns) + offset, atol=1e-4)


def test_contributions_and_intercept_are_the_decision(columns: list, rng: np.random.Generator) -> None:
    fit = fit_linear(columns, rng.normal(size=N), SquaredLoss(), np.ones(N))
    total = fit.intercepts + sum(fit.contributions(columns, feature) for feature in range(3))
    np.testing.assert_allclose(total, fit.decision(columns), atol=1e-12)


def test_rare_levels_share_what_the_intercept_gives() -> None:
    codes = np.concatenate([np.repeat(np.arange(MOST_LEVELS), 10), np.arange(MOST_LEVELS, MOST_LEVELS + 20)])
    levels = CodedColumn(codes, tuple(f"level {number:03d}" for number in range(MOST_LEVELS + 20)))
    target = np.where(codes < MOST_LEVELS, 1.0 * codes, -5.0)
    fit = fit_linear([levels], target, SquaredLoss(), np.ones(len(codes)))
    np.testing.assert_allclose(fit.decision([levels])[:, 0], target, atol=1e-2)
    unseen = CodedColumn(np.array([0]), ("never seen",))
    assert fit.decision([unseen])[0, 0] == pytest.approx(-5.0, abs=1e-2)


@pytest.mark.parametrize(
    "column", [np.full(50, 7.0), np.full(50, np.nan), CodedColumn(np.zeros(50, dtype=int), ("only",)), np.full(50, 1e300)]
)
def test_a_column_that_says_nothing_changes_nothing(column) -> None:
    target = np.arange(50.0)
    fit = fit_linear([column], target, SquaredLoss(), np.ones(50))
    np.testing.assert_allclose(fit.decision([column])[:, 0], np.full(50, target.mean()))


def test_a_fit_that_is_stopped_at_once_is_a_constant(columns: list) -> None:
    fit = fit_linear(columns, truth(columns), SquaredLoss(), np.ones(N), should_stop=lambda: True)
    np.testing.assert_allclose(fit.decision(columns)[:, 0], np.full(N, truth(columns).mean()))
