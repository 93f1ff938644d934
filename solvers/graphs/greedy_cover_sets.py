"""The greedy cover: again and again the set that is cheapest per element it newly covers.

Its cost is at most H(d) = 1 + 1/2 + .. + 1/d times the optimum, d the size of the largest set (V. Chvatal, "A Greedy Heuristic for
the Set-Covering Problem", Mathematics of Operations Research 4, 1979). Prices are compared exactly, ties go to the lower index.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numba import njit

from solvers.graphs.exact_products import compare_products
from solvers.graphs.incidence import Incidence

WORK_PER_CALL = 2_000_000

FULL_WEIGHT = 1 << 10
"""Weight of a set whose price is not raised."""

Stop = Callable[[], bool]


def greedy_cover(
    incidence: Incidence,
    *,
    allowed: np.ndarray | None = None,
    chosen: np.ndarray | None = None,
    weights: np.ndarray | None = None,
    stop: Stop = lambda: False,
) -> np.ndarray:
    """Return sets in the order in which they are chosen, until no allowed set covers anything new.

    Parameters
    ----------
    incidence : Incidence
    allowed : bool array of shape (n,), optional
        Which sets may be chosen; default: all.
    chosen : bool array of shape (n,), optional
        Sets that are chosen already, and are not in the answer.
    weights : int64 array of shape (n,), optional
        From 1 to `FULL_WEIGHT`: the price of a set is its cost / (new elements x weight).
    stop : callable
        Asked now and then; once true, the sets chosen so far are returned, which may leave elements uncovered.

    Returns
    -------
    int32 array

    Notes
    -----
    A lazy heap: gains only fall, so that an outdated entry comes up early and is put back. O(k log n) in practice.

    Examples
    --------
    >>> from solvers.graphs.incidence import build_incidence
    >>> greedy_cover(build_incidence(3, [0, 2, 4, 7], [0, 1, 1, 2, 0, 1, 2], [1, 1, 3])).tolist()
    [0, 1]
    """
    n = incidence.num_sets
    is_open = np.ones(n, bool) if allowed is None else np.array(allowed, dtype=bool)
    is_covered = np.zeros(incidence.num_elements, bool)
    if chosen is not None:
        is_open &= ~np.asarray(chosen, dtype=bool)
        is_covered = incidence.times_covered(chosen) > 0
    factors = np.full(n, FULL_WEIGHT, np.int64) if weights is None else np.require(weights, np.int64, ["C", "W"])
    gains, heap = np.zeros(n, np.int64), np.empty(n, np.int32)
    rows = (incidence.set_ptr, incidence.elements, incidence.costs)
    # Size of the heap, number of chosen sets.
    state = np.array([_fill_heap(*rows, factors, is_open, is_covered, gains, heap), 0], np.int64)
    order = np.empty(n, np.int32)
    while state[0] and not stop():
        _choose(*rows, factors, is_covered, gains, heap, order, state, WORK_PER_CALL)
    return order[: state[1]].copy()


def without_redundant(incidence: Incidence, members: np.ndarray, *, order: np.ndarray | None = None) -> np.ndarray:
    """Return a cover without sets whose elements are all covered by others.

    Parameters
    ----------
    incidence : Incidence
    members : bool array of shape (n,)
    order : int array, optional
        The order in which members are tried; default: descending cost, then index.

    Returns
    -------
    bool array of shape (n,)
    """
    kept = np.array(members, dtype=bool)
    tried = np.flatnonzero(kept) if order is None else np.asarray(order)
    if order is None:
        tried = tried[np.argsort(-incidence.costs[tried], kind="stable")]
    counts = incidence.times_covered(kept)
    _drop_redundant(incidence.set_ptr, incidence.elements, tried.astype(np.int32), kept, counts)
    return kept


def harmonic_ratio(incidence: Incidence) -> float:
    """Return H(size of the largest set): the greedy cover costs at most so many times the optimum.

    Examples
    --------
    >>> from solvers.graphs.incidence import build_incidence
    >>> harmonic_ratio(build_incidence(2, [0, 2], [0, 1], [1]))
    1.5
    """
    largest = int(incidence.sizes.max(initial=0))
    return math.fsum(1 / size for size in range(1, largest + 1)) if largest else 1.0


@njit(cache=True, nogil=True)
def _fill_heap(set_ptr, elements, costs, factors, is_open, is_covered, gains, heap):  # type: ignore[no-untyped-def]
    size = 0
    for j in range(len(costs)):
        if not is_open[j]:
            continue
        new = 0
        for place in range(set_ptr[j], set_ptr[j + 1]):
            if not is_covered[elements[place]]:
                new += 1
        gains[j] = new * factors[j]
        if new:
            heap[size] = j
            size += 1
    for place in range(size // 2 - 1, -1, -1):
        _sift_down(costs, gains, heap, size, place)
    return size


@njit(cache=True, nogil=True)
def _choose(set_ptr, elements, costs, factors, is_covered, gains, heap, order, state, budget):  # type: ignore[no-untyped-def]
    size, count = state[0], state[1]
    while size and budget > 0:
        j = heap[0]
        new = 0
        for place in range(set_ptr[j], set_ptr[j + 1]):
            if not is_covered[elements[place]]:
                new += 1
        budget -= 20 + set_ptr[j + 1] - set_ptr[j]
        if new * factors[j] == gains[j]:
            for place in range(set_ptr[j], set_ptr[j + 1]):
                is_covered[elements[place]] = True
            order[count] = j
            count += 1
            new = 0
        gains[j] = new * factors[j]
        if new == 0:
            size -= 1
            heap[0] = heap[size]
        _sift_down(costs, gains, heap, size, 0)
    state[0], state[1] = size, count


@njit(cache=True, nogil=True)
def _sift_down(costs, gains, heap, size, place):  # type: ignore[no-untyped-def]
    if place >= size:
        return
    j = heap[place]
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and _is_cheaper(costs, gains, heap[child + 1], heap[child]):
            child += 1
        if not _is_cheaper(costs, gains, heap[child], j):
            break
        heap[place] = heap[child]
        place = child
    heap[place] = j


@njit(cache=True, nogil=True)
def _is_cheaper(costs, gains, i, j):  # type: ignore[no-untyped-def]
    order = compare_products(costs[i], gains[j], costs[j], gains[i])
    return order < 0 or (order == 0 and i < j)


@njit(cache=True, nogil=True)
def _drop_redundant(set_ptr, elements, tried, kept, counts):  # type: ignore[no-untyped-def]
    for j in tried:
        needed = False
        for place in range(set_ptr[j], set_ptr[j + 1]):
            if counts[elements[place]] == 1:
                needed = True
                break
        if needed or not kept[j]:
            continue
        kept[j] = False
        for place in range(set_ptr[j], set_ptr[j + 1]):
            counts[elements[place]] -= 1
