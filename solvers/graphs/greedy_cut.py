"""Greedy MaxCut: vertices take sides one by one, heaviest first, each against the neighbours that are already placed.

With weights of at least 0 the cut holds at least half of the total weight (Sahni and Gonzalez, "P-Complete Approximation Problems",
Journal of the ACM 23, 1976); with signed weights it is at least the sum of half of all weights, whatever their signs.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from solvers.graphs.csr import Csr


def greedy_cut(csr: Csr) -> np.ndarray:
    """Return the sides of a greedy cut, as an int8 array; O(n log n + m).

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> greedy_cut(build_csr(3, [[0, 1], [1, 2]], [1, 1])).tolist()
    [1, 0, 1]
    """
    magnitude = np.concatenate(([0.0], np.cumsum(np.abs(csr.weights), dtype=np.float64)))
    weight_at = magnitude[csr.indptr[1:]] - magnitude[csr.indptr[:-1]]
    order = np.argsort(-weight_at, kind="stable").astype(np.int64)
    return _place(csr.indptr, csr.indices, csr.weights, order)


@njit(cache=True, nogil=True)
def _place(indptr, indices, weights, order):  # type: ignore[no-untyped-def]
    sides = np.full(len(order), -1, np.int8)
    for v in order:
        pull = np.int64(0)
        for slot in range(indptr[v], indptr[v + 1]):
            if sides[indices[slot]] == 0:
                pull += weights[slot]
            elif sides[indices[slot]] == 1:
                pull -= weights[slot]
        sides[v] = 1 if pull > 0 else 0
    return sides
