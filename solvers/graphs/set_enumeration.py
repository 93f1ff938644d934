"""Heaviest independent sets of graphs of at most 25 vertices, as sets of bits.

A vertex is either in, which leaves its neighbours out, or out; one with no neighbour left is in. A branch ends where all that is left
together could not beat the best.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from solvers.graphs.csr import Csr

MAX_VERTICES = 25


class EnumeratedSet(NamedTuple):
    """A heaviest independent set.

    Attributes
    ----------
    value : int
    members : bool array of shape (n,)
    """

    value: int
    members: np.ndarray


def enumerate_independent_sets(csr: Csr, vertex_weights: np.ndarray) -> EnumeratedSet:
    """Return a heaviest independent set.

    Parameters
    ----------
    csr : Csr
        At most 25 vertices; its weights play no part.
    vertex_weights : int64 array of shape (n,)
        Positive.

    Notes
    -----
    Every branching takes one vertex out or two: at most 2 * 10^5 branches for 25 vertices, some milliseconds.

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> enumerate_independent_sets(build_csr(3, [[0, 1], [1, 2]], [1, 1]), np.array([2, 3, 2])).members.tolist()
    [True, False, True]
    """
    n = csr.num_vertices
    if n > MAX_VERTICES:
        raise ValueError(f"{n} vertices have too many independent sets; at most {MAX_VERTICES} vertices")
    rows = np.zeros(n, np.int64)
    np.bitwise_or.at(rows, np.repeat(np.arange(n), np.diff(csr.indptr)), np.int64(1) << csr.indices.astype(np.int64))
    value, chosen = _heaviest(rows, np.require(vertex_weights, np.int64, ["C", "W"]))
    return EnumeratedSet(int(value), (int(chosen) >> np.arange(n) & 1).astype(bool))


@njit(cache=True, nogil=True)
def _heaviest(rows, weights):  # type: ignore[no-untyped-def]
    n = rows.shape[0]
    one = np.int64(1)
    # Branches that wait: what may still be chosen, what was, their weights.
    free, chosen = np.zeros(2 * n + 2, np.int64), np.zeros(2 * n + 2, np.int64)
    rest, value = np.zeros(2 * n + 2, np.int64), np.zeros(2 * n + 2, np.int64)
    free[0] = (one << n) - 1
    rest[0] = weights.sum()
    waiting = 1
    best = np.int64(0)
    best_chosen = np.int64(0)
    while waiting > 0:
        waiting -= 1
        left, held, left_weight, held_weight = free[waiting], chosen[waiting], rest[waiting], value[waiting]
        while left != 0 and held_weight + left_weight > best:
            v = 0
            while (left >> v) & 1 == 0:
                v += 1
            left &= ~(one << v)
            left_weight -= weights[v]
            joined = rows[v] & left
            if joined != 0:
                # Without it; that branch waits.
                free[waiting], chosen[waiting], rest[waiting], value[waiting] = left, held, left_weight, held_weight
                waiting += 1
            for u in range(n):
                if (joined >> u) & 1:
                    left_weight -= weights[u]
            left &= ~joined
            held |= one << v
            held_weight += weights[v]
        if held_weight > best:
            best, best_chosen = held_weight, held
    return best, best_chosen
