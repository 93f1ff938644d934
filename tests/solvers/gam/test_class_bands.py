"""Errors of the log odds of several classes: against numerical derivatives, and in the cases that are known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm

from solvers.gam.bands import Spread
from solvers.gam.bin_scores import BinScores
from solvers.gam.binning import NumericBins
from solvers.gam.class_bands import log_odds, log_odds_band, log_odds_errors

BINS = NumericBins("x", np.array([0.0]), has_missing=False)
X = [np.array([-1.0, 1.0, 1.0])]


def spreads(kind: str, n_classes: int, draws: int = 5, seed: int = 0) -> list[Spread]:
    rng = np.random.default_rng(seed)
    return [
        Spread(
            kind,  # type: ignore[arg-type]
            (BinScores(BINS, np.ones(3), rng.normal(size=(draws, 3)), np.zeros(draws)),),
            rng.normal(size=draws),
        )
        for _ in range(n_classes)
    ]


def plain_log_odds(decision: np.ndarray) -> np.ndarray:
    others = [logsumexp(np.delete(decision, k, axis=1), axis=1) for k in range(decision.shape[1])]
    return decision - np.column_stack(others)


def derivatives(decision: np.ndarray) -> np.ndarray:
    """Return the derivative of the log odds of each row and class by each decision."""
    step, n_classes = 1e-6, decision.shape[1]
    moves = step * np.eye(n_classes)
    return np.stack([(plain_log_odds(decision + move) - plain_log_odds(decision - move)) / (2 * step) for move in moves], axis=2)


DECISION = np.random.default_rng(1).normal(size=(3, 4)) * 3


def deviations_of(known: list[Spread]) -> np.ndarray:
    return np.stack([of.intercept + of.features[0].scores.T[BINS.codes(X[0])] for of in known], axis=2)


def test_errors_of_left_out_folds_are_those_of_the_derivatives_along_each() -> None:
    known = spreads("jackknife", 4)
    expected = np.sqrt(np.sum(np.einsum("nkj,nrj->nrk", derivatives(DECISION), deviations_of(known)) ** 2, axis=1))
    np.testing.assert_allclose(log_odds_errors(known, X, DECISION), expected, rtol=1e-7)
    lower, upper = log_odds_band(known, X, DECISION, 0.9)
    np.testing.assert_allclose(upper - lower, 2 * norm.ppf(0.95) * expected, rtol=1e-7)


def test_bounds_of_the_bootstrap_are_quantiles_of_the_log_odds_of_its_fits() -> None:
    known = spreads("bootstrap", 4)
    fits = DECISION[:, None, :] + np.sqrt(4) * deviations_of(known)
    of_fits = np.stack([plain_log_odds(fits[:, draw]) for draw in range(5)])
    expected = np.quantile(of_fits, [0.1, 0.9], axis=0)
    np.testing.assert_allclose(log_odds_band(known, X, DECISION, 0.8), expected, rtol=1e-10)


def test_errors_for_the_splits_as_they_are_count_classes_as_independent() -> None:
    known = spreads("conditional", 4)
    errors = np.column_stack([of.decision_errors(X) for of in known])
    expected = np.sqrt(np.einsum("nkj,nj->nk", derivatives(DECISION) ** 2, errors**2))
    np.testing.assert_allclose(log_odds_errors(known, X, DECISION), expected, rtol=1e-7)


def test_log_odds_are_exact_where_one_class_is_all_but_certain() -> None:
    decision = np.array([[40.0, 0.0, -5.0], [800.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    np.testing.assert_allclose(log_odds(decision)[[0, 2]], plain_log_odds(decision)[[0, 2]], rtol=1e-12)
    assert np.isfinite(log_odds(decision)).all()
    for kind in ("conditional", "jackknife", "bootstrap"):
        assert np.isfinite(log_odds_band(spreads(kind, 3), X, decision, 0.9)).all()


def test_what_moves_all_classes_alike_moves_no_probability() -> None:
    (same,) = spreads("jackknife", 1)
    np.testing.assert_allclose(log_odds_errors([same] * 3, X, DECISION[:, :3]), 0.0, atol=1e-9)


def test_rows_in_parts_are_rows_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = [log_odds_band(spreads(kind, 4), X, DECISION, 0.9) for kind in ("jackknife", "bootstrap")]
    monkeypatch.setattr("solvers.gam.class_bands.MOST_AT_ONCE", 20)
    parts = [log_odds_band(spreads(kind, 4), X, DECISION, 0.9) for kind in ("jackknife", "bootstrap")]
    np.testing.assert_array_equal(parts, whole)
