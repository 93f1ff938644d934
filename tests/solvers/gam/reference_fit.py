"""The alternating fit in plain NumPy, on the 0/1 columns themselves: an oracle for the engine, slow and short."""

from __future__ import annotations

import numpy as np

from solvers.gam.forest import ForestOptions
from tests.solvers.gam.problems import Problem


def reference_history(p: Problem, options: ForestOptions) -> list[float]:
    """Return J of the empty forest and after every round (squared loss; no l1, l0, signs or limits)."""
    h = np.ones(len(p.z)) if p.weights is None else p.weights
    U = p.indicators()
    U = U - h @ U / h.sum()
    z = p.z - h @ p.z / h.sum()
    squares = h @ U**2
    null = float(h @ z**2 / 2)
    column, step = np.full(options.n_stumps, -1), np.zeros(options.n_stumps)
    history = [null]
    for _ in range(options.max_iter):
        for _ in range(options.sweeps_per_iter):
            before = column.copy()
            for t in range(options.n_stumps):
                others = np.arange(options.n_stumps) != t
                used = others & (column >= 0)
                residual = z - U[:, column[used]] @ step[used]
                s = U.T @ (h * residual)
                gain = s**2 / (2 * (squares + options.alpha))
                best = int(np.flatnonzero(gain >= gain.max() * (1 - 1e-12))[0])
                if column[t] < 0 or gain[best] > gain[column[t]] * (1 + 1e-9) + 1e-12 * null:
                    column[t] = best
                step[t] = s[column[t]] / (squares[column[t]] + options.alpha)
            if np.array_equal(before, column):
                break
        active, multiplicity = np.unique(column, return_counts=True)
        A = U[:, active]
        b = np.linalg.solve(A.T @ (h[:, None] * A) + np.diag(options.alpha / multiplicity), A.T @ (h * z))
        step = (b / multiplicity)[np.searchsorted(active, column)]
        history.append(float(h @ (z - A @ b) ** 2 / 2 + options.alpha / 2 * np.sum(b**2 / multiplicity)))
        if history[-2] - history[-1] <= options.tol * abs(null - history[-1]):
            break
    return history
