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

TOLERANCE = 1e-8


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
    ) -> None:
        self.mu, self._l1 = mu, l1
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
        changed, worst = _descend(
            self._gram.products, self.correlations, self.heights, self.mu, self._l1, self._up, self._down, sweeps
        )
        self.refresh()
        return int(changed), float(worst)

    def solve(self, max_sweeps: int = 1000) -> np.ndarray:
        """Sweep until no optimality condition is violated by more than 1e-8 of the largest correlation; return the heights."""
        tolerance = TOLERANCE * np.abs(self._response.correlations).max(initial=0.0)
        for _ in range(0, max_sweeps, 10):
            if self.descend(10)[1] <= tolerance:
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
def _descend(products, correlations, heights, mu, l1, up, down, sweeps):  # type: ignore[no-untyped-def]
    p = heights.size
    changed, worst = 0, 0.0
    for _ in range(sweeps):
        worst = 0.0
        variation = np.abs(heights).sum()
        for j in range(p):
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
            for k in range(p):
                correlations[k] -= change * row[k]
        if worst == 0.0:
            break
    return changed, worst
