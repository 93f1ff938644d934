"""The point of a polyhedron nearest to another point, by the dual active-set method.

min |x - target|^2 subject to normals x >= offsets, the first rows holding with equality. Starting from the target itself, the most
violated row is made active in each step, and rows whose multiplier would turn negative on the way are let go. The multipliers of the
rows that are active at the end prove the answer; being solved for from these rows alone, it is exact up to rounding.

References
----------
D. Goldfarb, A. Idnani, "A numerically stable dual method for solving strictly convex quadratic programs", Mathematical Programming 27
(1983).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

VIOLATION = 1e-11
"""Relative to the largest number of the problem: a row violated by less counts as satisfied."""


def nearest_point(
    target: NDArray[np.float64], normals: NDArray[np.float64], offsets: NDArray[np.float64], n_equalities: int = 0
) -> NDArray[np.float64] | None:
    """Return the nearest point to `target` with ``normals @ x >= offsets``.

    Parameters
    ----------
    target : float array of shape (n,)
    normals : float array of shape (k, n)
    offsets : float array of shape (k,)
    n_equalities : int
        How many of the first rows hold with equality; their normals are independent.

    Returns
    -------
    float array of shape (n,), or None if no point satisfies all rows.

    Examples
    --------
    >>> nearest_point(np.zeros(2), np.array([[1.0, 1.0]]), np.array([2.0])).round(9).tolist()
    [1.0, 1.0]
    """
    scale = max(1.0, float(np.abs(target).max(initial=0.0)), float(np.abs(offsets).max(initial=0.0)))
    active = list(range(n_equalities))
    multipliers: NDArray[Any] = np.zeros(n_equalities)
    x = _on(target, normals, offsets, active)
    for _ in range(100 * (len(offsets) + 1)):
        violation = offsets - normals @ x
        violation[active] = 0.0
        worst = int(np.argmax(violation)) if len(violation) else 0
        if not len(violation) or violation[worst] <= VIOLATION * scale:
            return x
        pressure = 0.0
        while True:
            towards, exchange = _directions(normals, active, worst)
            length = float(towards @ normals[worst])
            falling = [k for k in range(n_equalities, len(active)) if exchange[k] > 1e-12]
            blocking = min(falling, key=lambda k: multipliers[k] / exchange[k], default=None)
            allowed = np.inf if blocking is None else multipliers[blocking] / exchange[blocking]
            needed = np.inf if length <= 1e-12 else float(offsets[worst] - normals[worst] @ x) / length
            if np.isinf(min(allowed, needed)):
                return None
            step = min(allowed, needed)
            if np.isfinite(needed):
                x = x + step * towards
            multipliers, pressure = multipliers - step * exchange, pressure + step
            if step == needed:
                active.append(worst)
                multipliers = np.append(multipliers, pressure)
                x = _on(target, normals, offsets, active)
                break
            assert blocking is not None
            del active[blocking]
            multipliers = np.concatenate((multipliers[:blocking], multipliers[blocking + 1 :]))
    return x


def _on(
    target: NDArray[np.float64], normals: NDArray[np.float64], offsets: NDArray[np.float64], active: list[int]
) -> NDArray[np.float64]:
    """Return the nearest point on which all active rows hold with equality."""
    if not active:
        return target.copy()
    rows = normals[active]
    shift: NDArray[Any] = np.linalg.lstsq(rows, offsets[active] - rows @ target, rcond=None)[0]
    return np.asarray(target + shift, dtype=np.float64)


def _directions(normals: NDArray[np.float64], active: list[int], row: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return where to go so that a row is satisfied and the active ones stay so, and how fast their multipliers fall on the way."""
    if not active:
        return normals[row], np.zeros(0)
    rows = normals[active]
    exchange: NDArray[np.float64] = np.linalg.lstsq(rows.T, normals[row], rcond=None)[0]
    return normals[row] - rows.T @ exchange, exchange
