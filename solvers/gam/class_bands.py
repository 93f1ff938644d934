"""How far the probability of each of several classes may be off: the delta method on its log odds.

    log odds of class k = F_k - log(sum over the others of exp(F_j)),    q_j = exp(F_j) / (sum over the others)
    deviation           = dF_k - sum over the others of q_j dF_j

Where draws are refits, one draw deviates in all outputs at once, and their deviations go together; for the splits as they are, the outputs
count as independent. A band on the log odds keeps probabilities between 0 and 1, and is that of the decision where classes are two.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from solvers.gam.bands import ROWS_AT_ONCE, Spread
from solvers.gam.feature_columns import Column
from solvers.gam.shape_functions import Floats

MOST_AT_ONCE = 4_000_000  # numbers
LEAST = -300.0
"""Of a decision beside the largest of its row, so that its weight can be squared."""


def log_odds(decision: Floats) -> Floats:
    """Return the log odds of each class against all others, for decisions of shape (N, K) with K > 1.

    Examples
    --------
    >>> log_odds(np.array([[0.0, np.log(3.0)]])).round(3)
    array([[-1.099,  1.099]])
    """
    shifted, weights = _weights(decision)
    odds: Floats = shifted - np.log(_of_others(weights, weights))
    return odds


def log_odds_errors(spreads: Sequence[Spread], columns: Sequence[Column], decision: Floats) -> Floats:
    """Return the standard error of the log odds of each row and class.

    Parameters
    ----------
    spreads : sequence of K Spread
    columns : sequence of D columns
    decision : float64 array of shape (N, K)

    Returns
    -------
    float64 array of shape (N, K)
    """
    if spreads[0].kind == "conditional":
        errors = np.column_stack([spread.decision_errors(columns) for spread in spreads])
        weights = _weights(decision)[1]
        rest = _of_others(weights, weights)
        independent: Floats = np.sqrt(errors**2 + _of_others((weights * errors) ** 2, weights) / rest**2)
        return independent
    result = np.empty_like(decision)
    draws = len(spreads[0].intercept)
    rows_at_once = max(1, min(ROWS_AT_ONCE, MOST_AT_ONCE // (draws * len(spreads))))
    parts = [spread.decision_deviations(columns, rows_at_once) for spread in spreads]
    for of_output in zip(*parts, strict=True):
        rows = of_output[0][0]
        result[rows] = _joint_errors(np.stack([deviations for _, deviations in of_output], axis=2), decision[rows])
    return result


def _joint_errors(deviations: Floats, decision: Floats) -> Floats:
    """Return the errors of some rows from the deviations of each row, draw and class."""
    weights = _weights(decision)[1]
    rest = _of_others(weights, weights)[:, None, :]
    moved = _of_others(weights[:, None, :] * deviations, weights[:, None, :])
    errors: Floats = np.sqrt(np.sum((deviations - moved / rest) ** 2, axis=1))
    return errors


def _weights(decision: Floats) -> tuple[Floats, Floats]:
    """Return decisions relative to the largest of each row, and their exponentials."""
    shifted = np.maximum(decision - decision.max(axis=1, keepdims=True), LEAST)
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
