"""How far the probability of each of several classes may be off, on the scale of its log odds against all others.

    log odds of class k = F_k - log(sum over the others of exp(F_j)),    q_j = exp(F_j) / (sum over the others)

Draws of the bootstrap are fits, whose log odds have quantiles. Of the others only squares mean anything: the delta method gives

    deviation           = dF_k - sum over the others of q_j dF_j

with the outputs' deviations together for each left-out fold, and as independent for the splits as they are. A band on the log odds keeps
probabilities between 0 and 1, and is that of the decision where classes are two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.stats import norm

from solvers.gam.bands import ROWS_AT_ONCE, Spread
from solvers.gam.feature_columns import Column
from solvers.gam.shape_functions import Floats

MOST_AT_ONCE = 4_000_000  # numbers
LEAST = -300.0
"""Of a decision beside the largest of its row, so that its weight can be squared."""


def log_odds(decision: Floats) -> Floats:
    """Return the log odds of each class against all others, for decisions whose last axis is that of the K > 1 classes.

    Examples
    --------
    >>> log_odds(np.array([[0.0, np.log(3.0)]])).round(3)
    array([[-1.099,  1.099]])
    """
    shifted, weights = _weights(decision)
    odds: Floats = shifted - np.log(_of_others(weights, weights))
    return odds


def log_odds_band(spreads: Sequence[Spread], columns: Sequence[Column], decision: Floats, level: float) -> tuple[Floats, Floats]:
    """Return the lower and the upper bound of the log odds of each row and class.

    Parameters
    ----------
    spreads : sequence of K Spread
        All of one kind.
    columns : sequence of D columns
    decision : float64 array of shape (N, K)
    level : float
        In (0, 1).

    Returns
    -------
    lower, upper : float64 array of shape (N, K)
    """
    if spreads[0].kind == "bootstrap":
        lower, upper = np.empty_like(decision), np.empty_like(decision)
        for rows, deviations in _deviations(spreads, columns):
            members = decision[rows, None, :] + np.sqrt(deviations.shape[1] - 1) * deviations
            lower[rows], upper[rows] = np.quantile(log_odds(members), [0.5 - level / 2, 0.5 + level / 2], axis=1)
        return lower, upper
    odds, reach = log_odds(decision), float(norm.ppf(0.5 + level / 2)) * log_odds_errors(spreads, columns, decision)
    return odds - reach, odds + reach


def log_odds_errors(spreads: Sequence[Spread], columns: Sequence[Column], decision: Floats) -> Floats:
    """Return the standard error of the log odds of each row and class, by the delta method; parameters as :func:`log_odds_band`."""
    weights = _weights(decision)[1]
    rest = _of_others(weights, weights)
    if spreads[0].kind == "conditional":
        errors = np.column_stack([spread.decision_errors(columns) for spread in spreads])
        independent: Floats = np.sqrt(errors**2 + _of_others((weights * errors) ** 2, weights) / rest**2)
        return independent
    joint = np.empty_like(decision)
    for rows, deviations in _deviations(spreads, columns):
        of_class = weights[rows, None, :]
        moved = _of_others(of_class * deviations, of_class) / rest[rows, None, :]
        joint[rows] = np.sqrt(np.sum((deviations - moved) ** 2, axis=1))
    return joint


def _deviations(spreads: Sequence[Spread], columns: Sequence[Column]) -> Iterator[tuple[slice, Floats]]:
    """Yield some rows after the other with the deviation of each row, draw and class."""
    rows_at_once = max(1, min(ROWS_AT_ONCE, MOST_AT_ONCE // (len(spreads[0].intercept) * len(spreads))))
    for of_outputs in zip(*(spread.decision_deviations(columns, rows_at_once) for spread in spreads), strict=True):
        yield of_outputs[0][0], np.stack([deviations for _, deviations in of_outputs], axis=2)


def _weights(decision: Floats) -> tuple[Floats, Floats]:
    """Return decisions relative to the largest of each row, and their exponentials."""
    shifted = np.maximum(decision - decision.max(axis=-1, keepdims=True), LEAST)
    return shifted, np.exp(shifted)


def _of_others(values: Floats, weights: Floats) -> Floats:
    """Return for each class the sum of the values of all others, along the last axis.

    The class of most weight is left out of the sum before it is taken: the difference would cancel to nothing.
    """
    largest = np.broadcast_to(np.argmax(weights, axis=-1, keepdims=True), (*values.shape[:-1], 1))
    own = np.take_along_axis(values, largest, axis=-1)
    without = values.copy()
    np.put_along_axis(without, largest, 0.0, axis=-1)
    sum_without = without.sum(axis=-1, keepdims=True)
    others: Floats = (sum_without + own) - values
    np.put_along_axis(others, largest, sum_without, axis=-1)
    return others
