"""Cut the vertices that nothing is decided about, given the sides of those that something is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit

from solvers.graphs.csr import Csr
from solvers.graphs.indexed_heap import heapify, sift_down, sift_up, take_at

WORK_PER_CALL = 2_000_000

UNDECIDED = -1


def complete_greedily(csr: Csr, sides: np.ndarray, *, stop: Callable[[], bool] = lambda: False) -> np.ndarray:
    """Decide the undecided vertices one by one, always the one whose better side is the most ahead of its other.

    Parameters
    ----------
    csr : Csr
    sides : ndarray of int8, shape (n,)
        0, 1, or -1 where nothing is decided; not modified.
    stop : callable
        Asked now and then; once true, what is still undecided goes to side 0.

    Returns
    -------
    ndarray of int8, shape (n,)
        The decided sides as they were. Ties between vertices go to the lower number, between sides to 0.

    Notes
    -----
    O(m log n). For weights >= 0 at least half the weight that touches an undecided vertex is cut.

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> path = build_csr(4, [[0, 1], [1, 2], [2, 3]], [1, 1, 1])
    >>> complete_greedily(path, np.array([-1, -1, 1, -1], dtype=np.int8)).tolist()
    [1, 0, 1, 0]
    """
    completed = np.array(sides, dtype=np.int8)
    n = csr.num_vertices
    lead, key = np.empty(n, np.int64), np.empty(n, np.int64)
    heap, place = np.empty(n, np.int32), np.empty(n, np.int32)
    size = int(_fill_heap(csr.indptr, csr.indices, csr.weights, completed, lead, key, heap, place))
    while size and not stop():
        size = int(_decide(csr.indptr, csr.indices, csr.weights, completed, lead, key, heap, place, size, WORK_PER_CALL))
    return np.maximum(completed, 0)


@njit(cache=True, nogil=True)
def _fill_heap(indptr, indices, weights, sides, lead, key, heap, place):  # type: ignore[no-untyped-def]
    """Count how far side 1 is ahead at every undecided vertex, and put these vertices in a heap; return their number."""
    size = 0
    for v in range(sides.shape[0]):
        if sides[v] >= 0:
            continue
        lead[v] = 0
        for slot in range(indptr[v], indptr[v + 1]):
            side = sides[indices[slot]]
            if side >= 0:
                lead[v] += weights[slot] if side == 0 else -weights[slot]
        key[v] = -abs(lead[v])
        heap[size] = v
        place[v] = size
        size += 1
    heapify(key, heap, place, size)
    return size


@njit(cache=True, nogil=True)
def _decide(indptr, indices, weights, sides, lead, key, heap, place, size, budget):  # type: ignore[no-untyped-def]
    while size > 0 and budget > 0:
        v = heap[0]
        size = take_at(key, heap, place, 0, size)
        sides[v] = 1 if lead[v] > 0 else 0
        for slot in range(indptr[v], indptr[v + 1]):
            u = indices[slot]
            if sides[u] < 0:
                lead[u] += weights[slot] if sides[v] == 0 else -weights[slot]
                key[u] = -abs(lead[u])
                sift_down(key, heap, place, sift_up(key, heap, place, place[u]), size)
        budget -= 1 + indptr[v + 1] - indptr[v]
    return size
