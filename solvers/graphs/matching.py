"""A largest matching of a graph: its edges need a cover vertex each.

Edmonds' algorithm, "Paths, Trees, and Flowers" (Canadian Journal of Mathematics 1965), started from a matching of the vertices in
order. A tree of alternating paths grows from a free vertex; an edge between two vertices at even distance closes an odd cycle, which
from then on counts as one vertex (kept as sets of a union-find forest). A tree that finds no other free vertex takes no part in
later searches. Unlike the linear relaxation, whose bound is never smaller for unit weights, a matching proves itself with
nothing but its edges.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from solvers.graphs.csr import Csr

WORK_PER_CALL = 5_000_000

UNSEEN, EVEN, ODD = np.int8(0), np.int8(1), np.int8(2)


class Forest(NamedTuple):
    """The alternating trees of the searches, as arrays that kernels share.

    Attributes
    ----------
    label : int8 array of shape (n,)
        Whether the distance from the root is even or odd; a vertex on an odd cycle counts as even.
    above : int32 array of shape (n,)
        From a vertex at odd distance, or on an odd cycle, the next on its way to the root; its mate comes before.
    base : int32 array of shape (n,)
        Forest of the sets that count as one vertex: leads to the vertex that stands for them.
    mark : int64 array of shape (n + 1,)
        The last stamp given, and that of each vertex.
    queue : int32 array of shape (n,)
        Vertices at even distance, in the order in which their neighbours are looked at.
    touched : int32 array of shape (n + 1,)
        All vertices of the present tree.
    """

    label: np.ndarray
    above: np.ndarray
    base: np.ndarray
    mark: np.ndarray
    queue: np.ndarray
    touched: np.ndarray


def maximal_matching(csr: Csr) -> np.ndarray:
    """Match each vertex that is free when its turn comes to its first free neighbour; O(n + m).

    Returns
    -------
    int32 array of shape (n,)
        The mate of every vertex, -1 for free vertices.

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> maximal_matching(build_csr(4, [[0, 1], [1, 2], [2, 3]], [1, 1, 1])).tolist()
    [1, 0, 3, 2]
    """
    mate = np.full(csr.num_vertices, -1, np.int32)
    _match_in_order(csr.indptr, csr.indices, mate)
    return mate


def largest_matching(csr: Csr, *, stop: Callable[[], bool] = lambda: False) -> np.ndarray:
    """Return the mate of every vertex in a largest matching, -1 for free vertices: int32 of shape (n,).

    Parameters
    ----------
    csr : Csr
        Its weights play no part.
    stop : callable
        Asked now and then; once true, the matching reached so far is returned.

    Notes
    -----
    O(n m) at worst; far less on most graphs, few vertices being free at the start.

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> largest_matching(build_csr(4, [[0, 1], [0, 2], [1, 3]], [1, 1, 1])).tolist()
    [2, 3, 0, 1]
    """
    mate = maximal_matching(csr)
    n = csr.num_vertices
    forest = Forest(
        label=np.zeros(n, np.int8),
        above=np.full(n, -1, np.int32),
        base=np.arange(n, dtype=np.int32),
        mark=np.zeros(n + 1, np.int64),
        queue=np.empty(n, np.int32),
        touched=np.empty(n + 1, np.int32),
    )
    root = 0
    while root < n and not stop():
        root = _augment(csr.indptr, csr.indices, mate, forest, root, WORK_PER_CALL)
    return mate


def matched_edges(csr: Csr, mate: np.ndarray) -> np.ndarray:
    """Return the rows of the edges of a matching, increasing.

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> path = build_csr(4, [[1, 2], [0, 1], [2, 3]], [1, 1, 1])
    >>> matched_edges(path, largest_matching(path)).tolist()
    [1, 2]
    """
    sources = np.repeat(np.arange(csr.num_vertices), np.diff(csr.indptr))
    rows: np.ndarray = np.sort(csr.edge_ids[(mate[sources] == csr.indices) & (sources < csr.indices)])
    return rows


@njit(cache=True, nogil=True)
def _match_in_order(indptr, indices, mate):  # type: ignore[no-untyped-def]
    for u in range(mate.shape[0]):
        if mate[u] >= 0:
            continue
        for slot in range(indptr[u], indptr[u + 1]):
            v = indices[slot]
            if mate[v] < 0:
                mate[u], mate[v] = v, u
                break


@njit(cache=True, nogil=True)
def _augment(indptr, indices, mate, forest, root, budget):  # type: ignore[no-untyped-def]
    """Search from free vertices, `root` first, and return where to go on, n at the end."""
    n = mate.shape[0]
    while root < n and budget > 0:
        if mate[root] < 0:
            budget -= _grow_tree(indptr, indices, mate, forest, np.int32(root))
        budget -= 1
        root += 1
    return root


@njit(cache=True, nogil=True)
def _grow_tree(indptr, indices, mate, forest, root):  # type: ignore[no-untyped-def]
    """Grow a tree from a free vertex, augment if it reaches another, and return the work done."""
    label, queue, touched = forest.label, forest.queue, forest.touched
    label[root] = EVEN
    queue[0] = touched[0] = root
    head, tail, num_touched = 0, 1, 1
    work = 1
    while head < tail:
        u = queue[head]
        head += 1
        work += indptr[u + 1] - indptr[u]
        for w in indices[indptr[u] : indptr[u + 1]]:
            if label[w] == UNSEEN and mate[w] < 0:
                forest.above[w] = u
                _flip(mate, forest.above, w)
                for v in touched[:num_touched]:
                    label[v], forest.base[v] = UNSEEN, v
                return work + num_touched
            if label[w] == UNSEEN:
                forest.above[w] = u
                label[w], label[mate[w]] = ODD, EVEN
                queue[tail] = mate[w]
                touched[num_touched], touched[num_touched + 1] = w, mate[w]
                tail += 1
                num_touched += 2
            elif label[w] == EVEN and _base(forest.base, u) != _base(forest.base, w):
                # Vertices at even distance in trees of before have no neighbours outside those, so that this is one tree.
                meeting = _meeting(mate, forest, u, w)
                tail = _close(mate, forest, tail, u, w, meeting)
                tail = _close(mate, forest, tail, w, u, meeting)
    return work


@njit(cache=True, nogil=True)
def _meeting(mate, forest, u, w):  # type: ignore[no-untyped-def]
    """Return where the paths from two vertices to the root meet."""
    forest.mark[0] += 1
    stamp = forest.mark[0]
    while True:
        if u >= 0:
            u = _base(forest.base, u)
            if forest.mark[u + 1] == stamp:
                return u
            forest.mark[u + 1] = stamp
            u = forest.above[mate[u]] if mate[u] >= 0 else -1
        u, w = w, u


@njit(cache=True, nogil=True)
def _close(mate, forest, tail, v, beyond, meeting):  # type: ignore[no-untyped-def]
    """Join the path from `v` to the meeting into one vertex with it, and return the new end of the queue.

    What was at odd distance now has a path to the root of even length as well, the other way round by way of `beyond`.
    """
    while _base(forest.base, v) != meeting:
        forest.above[v] = beyond
        beyond = mate[v]
        if forest.label[beyond] == ODD:
            forest.label[beyond] = EVEN
            forest.queue[tail] = beyond
            tail += 1
        for one in (v, beyond):
            if forest.base[one] == one:
                forest.base[one] = meeting
        v = forest.above[beyond]
    return tail


@njit(cache=True, nogil=True)
def _flip(mate, above, v):  # type: ignore[no-untyped-def]
    """Exchange the edges inside and outside the matching on the path from a free vertex to the root."""
    while v >= 0:
        parent = above[v]
        following = mate[parent]
        mate[v], mate[parent] = parent, v
        v = following


@njit(cache=True, nogil=True)
def _base(base, v):  # type: ignore[no-untyped-def]
    while base[v] != v:
        base[v] = base[base[v]]
        v = base[v]
    return v
