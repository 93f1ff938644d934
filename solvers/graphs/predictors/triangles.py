"""How many triangles every vertex lies in.

Edges point from the vertex that leaves first in the smallest-last order to the other, so that no vertex of a graph of degeneracy d
has more than d of them; each triangle is found once, from its first vertex, in O(m d) altogether.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit

from solvers.graphs.csr import Csr

WORK_PER_CALL = 20_000_000


def triangles_at(csr: Csr, order: np.ndarray, *, stop: Callable[[], bool] = lambda: False) -> np.ndarray:
    """Return the number of triangles at each vertex, as int64 of shape (n,); fewer where it was stopped.

    Parameters
    ----------
    csr : Csr
        Its weights play no part.
    order : int32 array of shape (n,)
        As :func:`solvers.graphs.degeneracy.removal_order` returns it.
    stop : callable
        Asked now and then.

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> from solvers.graphs.degeneracy import removal_order
    >>> paw = build_csr(4, [[0, 1], [0, 2], [1, 2], [2, 3]], [1, 1, 1, 1])
    >>> triangles_at(paw, removal_order(paw)).tolist()
    [1, 1, 1, 0]
    """
    n = csr.num_vertices
    place = np.empty(n, np.int32)
    place[order] = np.arange(n, dtype=np.int32)
    sources = np.repeat(np.arange(n, dtype=np.int32), np.diff(csr.indptr))
    points_on = place[sources] < place[csr.indices]
    heads = csr.indices[points_on]
    starts = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(sources[points_on], minlength=n), out=starts[1:])
    counts, marks = np.zeros(n, np.int64), np.full(n, -1, np.int32)
    v = 0
    while v < n and not stop():
        v = _count(starts, heads, counts, marks, v, WORK_PER_CALL)
    return counts


@njit(cache=True, nogil=True)
def _count(starts, heads, counts, marks, v, budget):  # type: ignore[no-untyped-def]
    """Count the triangles whose first vertex is `v` or a later one until the budget is spent; return the next vertex."""
    n = counts.shape[0]
    work = 0
    while v < n and work < budget:
        for slot in range(starts[v], starts[v + 1]):
            marks[heads[slot]] = v
        for slot in range(starts[v], starts[v + 1]):
            u = heads[slot]
            for onward in range(starts[u], starts[u + 1]):
                w = heads[onward]
                if marks[w] == v:
                    counts[v] += 1
                    counts[u] += 1
                    counts[w] += 1
            work += starts[u + 1] - starts[u] + 1
        work += 1
        v += 1
    return v
