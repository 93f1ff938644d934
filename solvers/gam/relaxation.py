"""The convex relaxation of the forest problem: the squared total variation of all shape functions in place of T stumps.

For any T stumps, sum beta_t^2 >= (sum_j |b_j|)^2 / T, so that with mu = alpha / T

    minimise  ||z - U b||_h^2 / 2 + (mu / 2) (sum_j |b_j|)^2 + l1 sum_j |b_j|                      (b_j of the allowed sign)

is never above the best forest. Cyclic coordinate descent solves it: with R = sum of the other |b_k| and a = s_j + M_jj b_j,
b_j = sign(a) (|a| - mu R - l1)_+ / (M_jj + mu). Its solution is also a start for the forest. With a smoothing base m0 of p columns, T
becomes T + m0 p.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from solvers.gam.candidate_columns import CandidateColumns
from solvers.gam.forest import ForestOptions
from solvers.gam.gram import Gram, Response
from solvers.gam.interruption import ShouldStop, never, portions

TOLERANCE = 1e-8
SWEPT_UNASKED = 2000
"""Columns up to which ten sweeps are a matter of a fraction of a second."""


def relaxed_ridge(options: ForestOptions, n_columns: int) -> float:
    """Return mu: alpha by the stumps that share it, those of the smoothing base of all columns included."""
    return options.alpha / (options.n_stumps + options.smoothing * n_columns)


class Relaxation:
    """Coordinate descent on the relaxation, some sweeps at a time.

    Parameters
    ----------
    gram : Gram
    response : Response
    columns : CandidateColumns
    mu, l1 : float
    start : float array of shape (p,), optional
        Heights to begin with.
    should_stop : callable, optional
        Asked within long sweeps: any heights are as good as a start or for a bound.

    Attributes
    ----------
    heights : float64 array of shape (p,)
        b.
    correlations : float64 array of shape (p,)
        s = s0 - M b.
    """

    def __init__(
        self,
        gram: Gram,
        response: Response,
        columns: CandidateColumns,
        *,
        mu: float,
        l1: float = 0.0,
        start: np.ndarray | None = None,
        should_stop: ShouldStop = never,
    ) -> None:
        self.mu, self._l1, self._should_stop = mu, l1, should_stop
        self.heights = np.zeros(len(columns)) if start is None else np.array(start, dtype=np.float64)
        self._gram, self._response = gram, response
        self._up = (columns.sign >= 0).astype(np.float64)
        self._down = (columns.sign <= 0).astype(np.float64)
        self.refresh()

    def refresh(self) -> None:
        """Recompute the correlations from scratch, which removes the drift of their updates."""
        active = np.flatnonzero(self.heights)
        self.correlations = self._response.correlations - self._gram.combine(active, self.heights[active])

    def descend(self, sweeps: int) -> tuple[int, float]:
        """Sweep over all columns; return how many heights changed and the largest violation that the last sweep met."""
        changed, worst = 0, 0.0
        for number in range(sweeps):
            if number and len(self.heights) > SWEPT_UNASKED and self._should_stop():
                break
            more, worst = self._sweep()
            changed += more
            if more == 0:
                break
        self.refresh()
        return changed, worst

    def _sweep(self) -> tuple[int, float]:
        variation, changed, worst = float(np.abs(self.heights).sum()), 0, 0.0
        for first, last in portions(len(self.heights), len(self.heights), self._should_stop):
            more, violation, variation = _descend(
                self._gram.products,
                self.correlations,
                self.heights,
                variation,
                self.mu,
                self._l1,
                self._up,
                self._down,
                first,
                last,
            )
            changed, worst = changed + int(more), max(worst, float(violation))
        return changed, worst

    def solve(self, max_sweeps: int = 1000) -> np.ndarray:
        """Sweep until no optimality condition is violated by more than 1e-8 of the largest correlation; return the heights."""
        tolerance = TOLERANCE * np.abs(self._response.correlations).max(initial=0.0)
        for _ in range(0, max_sweeps, 10):
            if self.descend(10)[1] <= tolerance or self._should_stop():
                break
        return self.heights

    def objective(self) -> float:
        """Return the relaxation's objective at the present heights."""
        b = self.heights
        variation = np.abs(b).sum()
        inner = (self._response.correlations + self.correlations) @ b
        return float((self._response.squares - inner + self.mu * variation**2) / 2 + self._l1 * variation)


def stumps_of(heights: np.ndarray, n_stumps: int) -> np.ndarray:
    """Share stumps out among columns in proportion to their heights, by largest remainders.

    Parameters
    ----------
    heights : float array of shape (p,)
    n_stumps : int

    Returns
    -------
    int64 array of shape (n_stumps,), empty if all heights are 0
        Column of each stump, in order.

    Examples
    --------
    >>> stumps_of(np.array([2.0, 0.0, -0.9, 0.1]), 3)
    array([0, 0, 2])
    """
    size = np.abs(heights)
    if not size.any():
        return np.empty(0, dtype=np.int64)
    ideal = n_stumps * size / size.sum()
    number = np.floor(ideal).astype(np.int64)
    left = n_stumps - int(number.sum())
    number[np.argsort(number - ideal, kind="stable")[:left]] += 1
    return np.repeat(np.arange(len(heights)), number)


@njit(cache=True, nogil=True)
def _descend(products, correlations, heights, variation, mu, l1, up, down, first, last):  # type: ignore[no-untyped-def]
    """Go through some columns once; return how many changed, the worst violation and the sum of all |b|."""
    changed, worst = 0, 0.0
    for j in range(first, last):
        curvature = products[j, j]
        if curvature <= 0.0:
            continue
        old = heights[j]
        pull = correlations[j] + curvature * old
        others = max(variation - abs(old), 0.0)
        size = max(max(up[j] * pull, -down[j] * pull) - mu * others - l1, 0.0) / (curvature + mu)
        new = size if pull > 0 else -size
        if new == old:
            continue
        changed += 1
        worst = max(worst, abs(new - old) * (curvature + mu))
        variation = others + size
        heights[j] = new
        row, change = products[j], new - old
        for k in range(heights.size):
            correlations[k] -= change * row[k]
    return changed, worst, variation
