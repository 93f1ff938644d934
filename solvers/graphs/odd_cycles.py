"""An upper bound on MaxCut from edge-disjoint odd cycles.

A cut separates an even number of a cycle's edges, so that it misses at least one edge of every odd cycle. For cycles that share
no edge and have positive weights only, the sum of the positive weights less the least weight of each cycle is therefore a bound.
The packing is greedy, the shorter cycles before the longer ones, as breadth-first searches close them. Where the semidefinite bound
needs a factorisation, this one takes a walk through the graph, and its certificate is checked by counting.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numba import njit

from solvers.graphs.bound import Bound
from solvers.graphs.csr import Csr

# Edges looked at before a kernel returns, so that Python can look at the clock: about a tenth of a second.
WORK_PER_CALL = 3_000_000

# Levels are stored in 32 bits, of which no search between two looks at them uses up half.
HIGHEST_LEVEL = 2**30

# Cycles of 3, 5, 7 and 9 edges come in passes of their own. In sparse graphs, hardly any are longer; in graphs whose odd cycles are
# long, a search of small depth from every vertex costs little.
SHALLOW_DEPTHS = (1, 2, 3, 4)


def odd_cycle_bound(csr: Csr, *, stop: Callable[[], bool] = lambda: False) -> Bound:
    """Return the sum of the positive weights less the least weight of each cycle of a packing.

    Parameters
    ----------
    csr : Csr
    stop : callable
        Asked now and then; once true, the packing found so far is used, which bounds just as well.

    Returns
    -------
    Bound
        Its certificate lists the cycles by their vertices.

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> bound = odd_cycle_bound(build_csr(4, [[0, 1], [1, 2], [2, 0], [2, 3]], [2, 3, 4, 1]))
    >>> bound.value, bound.certificate["cycles"]
    (8.0, [[0, 2, 1]])
    """
    packing = OddCyclePacking(csr)
    packing.advance(stop)
    return packing.bound()


class OddCyclePacking:
    """Edge-disjoint odd cycles of positive weights, to which more are added for as long as there is time.

    Parameters
    ----------
    csr : Csr

    Attributes
    ----------
    is_complete : bool
        Whether what is left of the edges of positive weight has no odd cycle.
    """

    def __init__(self, csr: Csr) -> None:
        n, m = csr.num_vertices, len(csr.indices) // 2
        self._csr = csr
        self._total = int(csr.weights[csr.weights > 0].sum()) // 2
        edge_weights = np.zeros(m, np.int64)
        edge_weights[csr.edge_ids] = csr.weights
        # Every cycle has as many vertices as edges, and at least three.
        vertices, ends, counts = np.empty(m, np.int32), np.zeros(m // 3 + 1, np.int64), np.zeros(3, np.int64)
        self._cycles = _Cycles(edge_weights > 0, edge_weights, vertices, ends, counts)
        self._forest = _Forest(np.full(n, -1, np.int32), *np.empty((3, n), np.int32), np.zeros(1, np.int64))
        self._rows = _Rows(
            csr.indptr, np.empty(n, np.int64), np.empty(2 * m, np.int32), np.empty(2 * m, np.int32), np.empty((m, 2), np.int64)
        )
        # A vertex of many neighbours makes every search dear that comes past it, until it is done.
        self._roots = np.argsort(-np.diff(csr.indptr), kind="stable")
        self._depths = [*SHALLOW_DEPTHS, n]
        self._begin_pass()

    @property
    def is_complete(self) -> bool:
        return not self._depths

    def advance(self, stop: Callable[[], bool]) -> None:
        """Add cycles until the packing is complete or told to stop."""
        while self._depths and not stop():
            self._next_root = _add_cycles(
                self._rows,
                self._is_done,
                self._forest,
                self._cycles,
                self._roots,
                self._next_root,
                self._depths[0],
                WORK_PER_CALL,
            )
            if self._forest.highest[0] > HIGHEST_LEVEL:
                self._forest.level.fill(-1)
                self._forest.highest[0] = 0
            if self._next_root == len(self._roots):
                self._depths.pop(0)
                self._begin_pass()

    def bound(self) -> Bound:
        """Return the bound of the packing as it is."""
        num_cycles, num_vertices, least_weights = self._cycles.counts.tolist()
        starts, flat = self._cycles.ends[: num_cycles + 1].tolist(), self._cycles.vertices[:num_vertices].tolist()
        cycles = [flat[first:last] for first, last in pairwise(starts)]
        return Bound(float(self._total - least_weights), "odd_cycles", {"kind": "odd_cycles", "cycles": cycles})

    def _begin_pass(self) -> None:
        _fill_rows(self._csr.indices, self._csr.edge_ids, self._cycles.is_free, self._rows)
        self._is_done = np.zeros(self._csr.num_vertices, np.bool_)
        self._next_root = 0


class _Rows(NamedTuple):
    """The edges that a search may take: `size` of them in the row of each vertex, from `indptr` on, in any order.

    `slots` says where an edge is: in the row of its lesser end, and in that of its greater.
    """

    indptr: np.ndarray
    size: np.ndarray
    neighbours: np.ndarray
    edge_ids: np.ndarray
    slots: np.ndarray


class _Forest(NamedTuple):
    """Breadth-first trees, one after another: levels lie above the `highest` of the tree before."""

    level: np.ndarray
    parent: np.ndarray
    parent_edge: np.ndarray
    queue: np.ndarray
    highest: np.ndarray


class _Cycles(NamedTuple):
    """The packing: which edges are free, and for the cycles one after another their vertices, and where these end.

    `counts` holds the number of cycles, that of their vertices, and their least weights added up.
    """

    is_free: np.ndarray
    edge_weights: np.ndarray
    vertices: np.ndarray
    ends: np.ndarray
    counts: np.ndarray


@njit(cache=True, nogil=True)
def _fill_rows(indices, edge_ids, is_free, rows):  # type: ignore[no-untyped-def]
    for u in range(len(rows.size)):
        end = rows.indptr[u]
        for slot in range(rows.indptr[u], rows.indptr[u + 1]):
            v, e = indices[slot], edge_ids[slot]
            if is_free[e]:
                rows.neighbours[end], rows.edge_ids[end] = v, e
                rows.slots[e, int(u > v)] = end
                end += 1
        rows.size[u] = end - rows.indptr[u]


@njit(cache=True, nogil=True)
def _add_cycles(rows, is_done, forest, cycles, roots, first, most_levels, work_limit):  # type: ignore[no-untyped-def]
    """Search from root after root; return the place of the next.

    A root that was searched from is done, and leaves the rows: other roots, or the next pass, find the few cycles through it that are
    left. In the last pass, which goes as deep as it must, it is done when it closes no more. A search that got to see all of a
    component without closing a cycle has found that to be bipartite, which it stays as edges are used up.
    """
    place = first
    work = 0
    while place < len(roots) and work < work_limit:
        root = roots[place]
        if is_done[root] or rows.size[root] < 2:
            place += 1
            continue
        found, reached, is_whole, looks = _search(rows, forest, cycles, root, most_levels)
        work += looks
        if found and most_levels >= len(roots):
            continue
        if is_whole and not found:
            for k in range(reached):
                is_done[forest.queue[k]] = True
        while rows.size[root]:
            slot = rows.indptr[root]
            _drop(rows, root, rows.neighbours[slot], rows.edge_ids[slot])
        place += 1
    return place


@njit(cache=True, nogil=True)
def _search(rows, forest, cycles, root, most_levels):  # type: ignore[no-untyped-def]
    """Search from a root, until a level closes cycles: later ones are longer.

    Return how many cycles that are, how many vertices were reached, whether no others can be, and how many edges were looked at.
    """
    level, queue = forest.level, forest.queue
    base = forest.highest[0] + 1
    level[root] = base
    queue[0] = root
    head, reached = 0, 1
    looks = 1
    found = 0
    depth = 0
    while head < reached and found == 0 and depth <= most_levels:
        here = base + depth
        tail = reached
        for k in range(head, tail):
            u = queue[k]
            looks += rows.size[u] + 1
            slot = rows.indptr[u]
            # The row gets shorter where a cycle is closed; an edge that is thereby passed over is met again from its other end.
            while slot < rows.indptr[u] + rows.size[u]:
                v = rows.neighbours[slot]
                if level[v] == here:
                    found += _close(u, v, rows.edge_ids[slot], rows, forest, cycles)
                elif level[v] < base and depth < most_levels:
                    level[v] = here + 1
                    forest.parent[v] = u
                    forest.parent_edge[v] = rows.edge_ids[slot]
                    queue[reached] = v
                    reached += 1
                slot += 1
        head = tail
        depth += 1
    forest.highest[0] = base + depth
    return found, reached, head == reached and depth <= most_levels, looks


@njit(cache=True, nogil=True)
def _close(near, far, closing, rows, forest, cycles):  # type: ignore[no-untyped-def]
    """Take the cycle of an edge between two vertices of one level and their paths up to where these meet, if all is free."""
    parent, parent_edge = forest.parent, forest.parent_edge
    length = 1
    a, b = near, far
    while a != b:
        if not (cycles.is_free[parent_edge[a]] and cycles.is_free[parent_edge[b]]):
            return 0
        length += 2
        a, b = parent[a], parent[b]

    counts = cycles.counts
    least = _take(rows, cycles, near, far, closing)
    left, right = counts[1], counts[1] + length - 1
    a, b = near, far
    while a != b:
        cycles.vertices[left], cycles.vertices[right] = a, b
        left += 1
        right -= 1
        least = min(least, _take(rows, cycles, a, parent[a], parent_edge[a]))
        least = min(least, _take(rows, cycles, b, parent[b], parent_edge[b]))
        a, b = parent[a], parent[b]
    cycles.vertices[left] = a
    counts[0] += 1
    counts[1] += length
    cycles.ends[counts[0]] = counts[1]
    counts[2] += least
    return 1


@njit(cache=True, nogil=True)
def _take(rows, cycles, u, v, e):  # type: ignore[no-untyped-def]
    """Use up an edge; return its weight."""
    cycles.is_free[e] = False
    _drop(rows, u, v, e)
    return cycles.edge_weights[e]


@njit(cache=True, nogil=True)
def _drop(rows, u, v, e):  # type: ignore[no-untyped-def]
    _drop_from_row(rows, u, v, e)
    _drop_from_row(rows, v, u, e)


@njit(cache=True, nogil=True)
def _drop_from_row(rows, near, far, e):  # type: ignore[no-untyped-def]
    """Take an edge out of the row of one of its ends, the last of the row coming in its place."""
    slot = rows.slots[e, int(near > far)]
    rows.size[near] -= 1
    last = rows.indptr[near] + rows.size[near]
    moved, to = rows.edge_ids[last], rows.neighbours[last]
    rows.edge_ids[slot], rows.neighbours[slot] = moved, to
    rows.slots[moved, int(near > to)] = slot
