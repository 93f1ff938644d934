"""The smallest-last order of a graph, and the colouring that it leads to.

A vertex of least degree leaves, again and again; where each has at most d neighbours left when it leaves, the graph is d-degenerate, and
colouring the vertices in the opposite order, each with the first colour that its neighbours leave, takes at most d + 1 colours
(Matula and Beck, "Smallest-Last Ordering and Clustering and Graph Coloring Algorithms", Journal of the ACM 1983).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from solvers.graphs.csr import Csr


def removal_order(csr: Csr) -> np.ndarray:
    """Return the vertices in the order in which one of least remaining degree leaves, as int32 of shape (n,); O(n + m).

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> removal_order(build_csr(4, [[0, 1], [0, 2], [1, 2], [2, 3]], [1, 1, 1, 1])).tolist()
    [3, 2, 1, 0]
    """
    order: np.ndarray = _removal_order(csr.indptr, csr.indices)
    return order


def smallest_last_colouring(csr: Csr) -> np.ndarray:
    """Return a colour of every vertex, no two neighbours alike: int32 of shape (n,), colours counting from 0; O(n + m).

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> smallest_last_colouring(build_csr(4, [[0, 1], [1, 2], [2, 3], [3, 0]], [1, 1, 1, 1])).tolist()
    [1, 0, 1, 0]
    """
    colours: np.ndarray = _colour(csr.indptr, csr.indices, removal_order(csr)[::-1].copy())
    return colours


@njit(cache=True, nogil=True)
def _removal_order(indptr, indices):  # type: ignore[no-untyped-def]
    n = indptr.shape[0] - 1
    degree = np.empty(n, np.int64)
    largest = 0
    for v in range(n):
        degree[v] = indptr[v + 1] - indptr[v]
        largest = max(largest, degree[v])
    # The vertices of each degree that have not left are a linked list.
    first = np.full(largest + 1, -1, np.int32)
    after, before = np.empty(n, np.int32), np.empty(n, np.int32)
    for v in range(n - 1, -1, -1):
        _enlist(first, after, before, v, degree[v])
    has_left = np.zeros(n, np.bool_)
    order = np.empty(n, np.int32)
    least = 0
    for place in range(n):
        while first[least] < 0:
            least += 1
        v = first[least]
        _delist(first, after, before, v, least)
        has_left[v] = True
        order[place] = v
        for slot in range(indptr[v], indptr[v + 1]):
            u = indices[slot]
            if not has_left[u]:
                _delist(first, after, before, u, degree[u])
                degree[u] -= 1
                _enlist(first, after, before, u, degree[u])
        least = max(0, least - 1)
    return order


@njit(cache=True, nogil=True)
def _enlist(first, after, before, v, degree):  # type: ignore[no-untyped-def]
    successor = first[degree]
    after[v], before[v] = successor, -1
    if successor >= 0:
        before[successor] = v
    first[degree] = v


@njit(cache=True, nogil=True)
def _delist(first, after, before, v, degree):  # type: ignore[no-untyped-def]
    successor, predecessor = after[v], before[v]
    if successor >= 0:
        before[successor] = predecessor
    if predecessor >= 0:
        after[predecessor] = successor
    else:
        first[degree] = successor


@njit(cache=True, nogil=True)
def _colour(indptr, indices, order):  # type: ignore[no-untyped-def]
    n = order.shape[0]
    colours = np.full(n, -1, np.int32)
    seen_by = np.full(n + 1, -1, np.int32)
    for v in order:
        for slot in range(indptr[v], indptr[v + 1]):
            if colours[indices[slot]] >= 0:
                seen_by[colours[indices[slot]]] = v
        colour = 0
        while seen_by[colour] == v:
            colour += 1
        colours[v] = colour
    return colours
