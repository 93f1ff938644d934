r"""The greedy independent set, and the weight that is sure without looking at more than degrees.

A vertex of greatest w_v / (d_v + 1) is taken and leaves with its neighbours, d_v being the degree at that time; for unit weights it is
one of least degree. The set weighs at least :math:`\sum w_v / (d_v + 1)` by the degrees at the start, which a random order reaches
on average (Caro 1979, Wei 1981; with weights: Sakai, Togasaki and Yamazaki, "A Note on Greedy Algorithms for the Maximum
Weighted Independent Set Problem", Discrete Applied Mathematics 2003), and for unit weights at least 3 / (D + 2) of the best
on graphs of largest degree D (Halldorsson and Radhakrishnan, "Greed is Good", Algorithmica 1997).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numba import njit

from solvers.graphs.csr import Csr
from solvers.graphs.indexed_heap import heapify, sift_up, take_at

WORK_PER_CALL = 2_000_000

# What is known of a vertex.
BLOCKED, FREE, HELD, LEAVING = np.int8(0), np.int8(1), np.int8(2), np.int8(3)


def min_degree_greedy(
    csr: Csr, vertex_weights: np.ndarray, within: np.ndarray | None = None, *, stop: Callable[[], bool] = lambda: False
) -> np.ndarray:
    """Return a maximal independent set, as a mask.

    Parameters
    ----------
    csr : Csr
        Its weights play no part.
    vertex_weights : int64 array of shape (n,)
        Positive.
    within : bool array of shape (n,), optional
        The vertices that may be taken and whose degrees count.
    stop : callable
        Asked now and then; once true, nothing more is taken.

    Returns
    -------
    bool array of shape (n,)
        Ties go to the lower number.

    Notes
    -----
    O(m log n).

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> path = build_csr(5, [[0, 1], [1, 2], [2, 3], [3, 4]], [1, 1, 1, 1])
    >>> min_degree_greedy(path, np.array([1, 1, 1, 1, 1])).tolist()
    [True, False, True, False, True]
    >>> min_degree_greedy(path, np.array([1, 9, 1, 9, 1])).tolist()
    [False, True, False, True, False]
    """
    n = csr.num_vertices
    state = np.full(n, FREE) if within is None else np.where(within, FREE, BLOCKED).astype(np.int8)
    weights = np.asarray(vertex_weights, dtype=np.float64)
    degree, key = np.zeros(n, np.int64), np.empty(n, np.float64)
    heap, place = np.empty(n, np.int32), np.empty(n, np.int32)
    size = int(_fill_heap(csr.indptr, csr.indices, weights, state, degree, key, heap, place))
    while size and not stop():
        size = int(_take(csr.indptr, csr.indices, weights, state, degree, key, heap, place, size, WORK_PER_CALL))
    held: np.ndarray = state == HELD
    return held


def extended_greedily(
    csr: Csr, vertex_weights: np.ndarray, members: np.ndarray, *, stop: Callable[[], bool] = lambda: False
) -> np.ndarray:
    """Return an independent set with vertices added, by :func:`min_degree_greedy` on those that are not joined to it.

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> path = build_csr(4, [[0, 1], [1, 2], [2, 3]], [1, 1, 1])
    >>> extended_greedily(path, np.ones(4, np.int64), np.array([False, True, False, False])).tolist()
    [False, True, False, True]
    """
    held = np.require(members, np.bool_, ["C", "W"])
    is_free = ~held
    _exclude_neighbours(csr.indptr, csr.indices, held, is_free)
    return held | min_degree_greedy(csr, vertex_weights, is_free, stop=stop)


def completed_in_order(csr: Csr, members: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return an independent set with vertices added in an order, each unless a neighbour is in it; O(n + m), and never stopped.

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> path = build_csr(3, [[0, 1], [1, 2]], [1, 1])
    >>> completed_in_order(path, np.zeros(3, bool), np.array([0, 1, 2])).tolist()
    [True, False, True]
    """
    completed = np.array(members, dtype=np.bool_)
    _add_in_order(csr.indptr, csr.indices, np.require(order, np.int64, ["C", "W"]), completed)
    return completed


def caro_wei(csr: Csr, vertex_weights: np.ndarray) -> float:
    """Return the sum of w_v / (d_v + 1), which the heaviest independent set reaches.

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> caro_wei(build_csr(3, [[0, 1], [1, 2]], [1, 1]), np.array([1, 1, 1])) == 4 / 3
    True
    """
    return math.fsum((np.asarray(vertex_weights) / (np.diff(csr.indptr) + 1)).tolist())


@njit(cache=True, nogil=True)
def _add_in_order(indptr, indices, order, members):  # type: ignore[no-untyped-def]
    for v in order:
        is_free = not members[v]
        for slot in range(indptr[v], indptr[v + 1]):
            if members[indices[slot]]:
                is_free = False
                break
        if is_free:
            members[v] = True


@njit(cache=True, nogil=True)
def _exclude_neighbours(indptr, indices, members, is_free):  # type: ignore[no-untyped-def]
    for v in range(members.shape[0]):
        if members[v]:
            for slot in range(indptr[v], indptr[v + 1]):
                is_free[indices[slot]] = False


@njit(cache=True, nogil=True)
def _fill_heap(indptr, indices, weights, state, degree, key, heap, place):  # type: ignore[no-untyped-def]
    size = 0
    for v in range(state.shape[0]):
        if state[v] != FREE:
            continue
        for slot in range(indptr[v], indptr[v + 1]):
            degree[v] += state[indices[slot]] == FREE
        # Quotients are rounded alike everywhere; of equal weights the larger degree never has the larger quotient.
        key[v] = -weights[v] / (degree[v] + 1)
        heap[size] = v
        place[v] = size
        size += 1
    heapify(key, heap, place, size)
    return size


@njit(cache=True, nogil=True)
def _take(indptr, indices, weights, state, degree, key, heap, place, size, budget):  # type: ignore[no-untyped-def]
    while size > 0 and budget > 0:
        v = heap[0]
        state[v] = HELD
        size = take_at(key, heap, place, 0, size)
        for slot in range(indptr[v], indptr[v + 1]):
            u = indices[slot]
            if state[u] == FREE:
                state[u] = LEAVING
                size = take_at(key, heap, place, place[u], size)
        for slot in range(indptr[v], indptr[v + 1]):
            u = indices[slot]
            if state[u] != LEAVING:
                continue
            state[u] = BLOCKED
            budget -= indptr[u + 1] - indptr[u]
            for other in indices[indptr[u] : indptr[u + 1]]:
                if state[other] == FREE:
                    degree[other] -= 1
                    key[other] = -weights[other] / (degree[other] + 1)
                    sift_up(key, heap, place, place[other])
        budget -= 1 + indptr[v + 1] - indptr[v]
    return size
