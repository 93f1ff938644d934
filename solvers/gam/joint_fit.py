"""Best leaf values of all stumps at once, for given splits: a convex problem in the heights b of the columns in use.

    minimise  b'M b / 2 - s0'b + sum_j ridge_j b_j^2 / 2 + l1 sum_j |b_j|      (b_j >= 0 or b_j <= 0 where only one sign is allowed)

m stumps on a column share its height equally, so that ridge_j = alpha / m_j.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.linalg import LinAlgError

from solvers.gam.interruption import Interrupted, ShouldStop, never
from solvers.gam.panel_cholesky import solve_positive_definite

JITTER = 1e-9
KKT_TOLERANCE = 1e-8
MOST_ROUNDS = 1000
CYCLES_PER_ROUND = 3
ROUNDS_UNASKED = 250
"""Columns up to which all rounds together are a matter of a second."""


def best_heights(
    block: np.ndarray,
    correlations: np.ndarray,
    ridge: np.ndarray,
    *,
    l1: float,
    sign: np.ndarray,
    start: np.ndarray | None = None,
    should_stop: ShouldStop = never,
) -> np.ndarray:
    """Solve the problem, in closed form where it has neither an l1 penalty nor signs.

    Parameters
    ----------
    block, correlations, ridge
        As for :func:`ridge_fit`.
    l1 : float
    sign : float64 array of shape (K,)
        +1 or -1 where only heights of that sign are allowed, else 0.
    start : float64 array of shape (K,), optional
        Where to begin.
    should_stop : callable, optional
        Asked now and then, of a small problem never.

    Raises
    ------
    Interrupted
        If it was told to stop.
    """
    if l1 == 0 and not sign.any():
        return ridge_fit(block, correlations, ridge, should_stop)
    return constrained_fit(block, correlations, ridge, l1=l1, sign=sign, start=start, should_stop=should_stop)


def ridge_fit(block: np.ndarray, correlations: np.ndarray, ridge: np.ndarray, should_stop: ShouldStop = never) -> np.ndarray:
    """Solve (M + diag(ridge)) b = s0 in O(K^3).

    Parameters
    ----------
    block : float64 array of shape (K, K)
        M of the columns in use; positive semidefinite.
    correlations : float64 array of shape (K,)
        s0.
    ridge : float64 array of shape (K,)
        Not negative. If the sum is singular (ridge 0), the tiny multiple of the identity that is added picks a small solution.

    Examples
    --------
    >>> ridge_fit(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([3.0, 3.0]), np.zeros(2))
    array([1., 1.])
    """
    matrix = block.copy()
    matrix[np.diag_indices_from(matrix)] += ridge
    try:
        return solve_positive_definite(matrix, correlations, should_stop)
    except LinAlgError:
        matrix[np.diag_indices_from(matrix)] += JITTER * matrix.diagonal().mean()
        return solve_positive_definite(matrix, correlations, should_stop)


def constrained_fit(
    block: np.ndarray,
    correlations: np.ndarray,
    ridge: np.ndarray,
    *,
    l1: float,
    sign: np.ndarray,
    start: np.ndarray | None = None,
    should_stop: ShouldStop = never,
) -> np.ndarray:
    """Solve the problem with an l1 penalty or signs: cycles of coordinate descent, each few followed by a solve on the columns in use.

    Parameters
    ----------
    block, correlations, ridge
        As for :func:`ridge_fit`.
    l1, sign, start, should_stop
        As for :func:`best_heights`.

    Returns
    -------
    float64 array of shape (K,)
        Violates the optimality conditions by at most 1e-8 of the largest correlation.

    Examples
    --------
    >>> constrained_fit(np.eye(2), np.array([3.0, -2.0]), np.ones(2), l1=1.0, sign=np.array([0.0, 1.0]))
    array([1., 0.])
    """
    matrix = block.copy()
    matrix[np.diag_indices_from(matrix)] += ridge
    up, down = (sign >= 0).astype(np.float64), (sign <= 0).astype(np.float64)
    heights = np.zeros(len(correlations)) if start is None else start.copy()
    tolerance = KKT_TOLERANCE * np.abs(correlations).max(initial=0.0)
    for _ in range(MOST_ROUNDS):
        gradient = correlations - matrix @ heights
        violation = _descend(matrix, gradient, heights, l1, up, down, CYCLES_PER_ROUND)
        if violation <= tolerance:
            break
        if len(heights) > ROUNDS_UNASKED and should_stop():
            raise Interrupted
        _solve_on_support(matrix, correlations, heights, l1, should_stop)
    return heights


def _solve_on_support(
    matrix: np.ndarray, correlations: np.ndarray, heights: np.ndarray, l1: float, should_stop: ShouldStop
) -> None:
    """Move towards the best heights on the columns in use until one of them would change its sign; the objective does not rise."""
    support = np.flatnonzero(heights)
    now = heights[support]
    pull = correlations[support] - l1 * np.sign(now)
    target = ridge_fit(matrix[np.ix_(support, support)], pull, np.zeros(len(support)), should_stop)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(target * now < 0, now / (now - target), 1.0)
    stride = float(reach.min(initial=1.0))
    heights[support] = np.where(reach <= stride, 0.0, now + stride * (target - now)) if stride < 1 else target


@njit(cache=True, nogil=True)
def _descend(matrix, gradient, heights, l1, up, down, cycles):  # type: ignore[no-untyped-def]
    """Cycle through the coordinates; return the worst violation that the last cycle met."""
    worst = 0.0
    for _ in range(cycles):
        worst = 0.0
        for j in range(heights.size):
            curvature = matrix[j, j]
            if curvature <= 0.0:
                continue
            pull = gradient[j] + curvature * heights[j]
            size = max(max(up[j] * pull, -down[j] * pull) - l1, 0.0) / curvature
            change = (size if pull > 0 else -size) - heights[j]
            if change != 0.0:
                worst = max(worst, abs(change) * curvature)
                heights[j] += change
                row = matrix[j]
                for k in range(gradient.size):
                    gradient[k] -= change * row[k]
    return worst
