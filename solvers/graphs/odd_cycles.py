"""An upper bound on MaxCut from edge-disjoint odd cycles.

A cut separates an even number of a cycle's edges, so that it misses at least one edge of every odd cycle. For cycles that share no
edge and have positive weights only, the sum of the positive weights less the least weight of each cycle is therefore a bound. The
packing is greedy: triangles first, then cycles that a breadth-first search closes. It takes about linear time, where the semidefinite
bound needs a factorisation, and the certificate is checked by counting.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit

from solvers.graphs.bound import Bound
from solvers.graphs.csr import Csr

# Edges looked at before a kernel returns, so that Python can look at the clock: about a tenth of a second.
WORK_PER_CALL = 10_000_000

# Edges one search may look at, round by round: nearby cycles are short and cost others the fewest edges. The last round is complete.
SEARCH_LIMITS = (256, 4096, 2**62)

# No packing is worth more: what is left after that is found too slowly to matter.
LARGEST_WORK = 1_500_000_000


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
    (8.0, [[0, 1, 2]])
    """
    packing = _Packing(csr)
    packing.add_triangles(stop)
    for limit in SEARCH_LIMITS:
        packing.add_searched(limit, stop)
    positive = int(csr.weights[csr.weights > 0].sum()) // 2
    return Bound(float(positive - packing.loss), "odd_cycles", {"kind": "odd_cycles", "cycles": packing.cycles()})


class _Packing:
    """Odd cycles that share no edge; `free` marks the edges of positive weight that none of them uses."""

    def __init__(self, csr: Csr) -> None:
        n, m = csr.num_vertices, len(csr.indices) // 2
        self._csr = csr
        self._free = np.zeros(m, np.bool_)
        self._free[csr.edge_ids[csr.weights > 0]] = True
        # Every cycle takes at least three edges, and as many vertices as edges.
        self._vertices = np.empty(m, np.int32)
        self._ends = np.zeros(m // 3 + 1, np.int64)
        # Cycles, vertices in them, loss, work.
        self._counts = np.zeros(4, np.int64)
        self._settled = np.zeros(n, np.bool_)

    @property
    def loss(self) -> int:
        return int(self._counts[2])

    def cycles(self) -> list[list[int]]:
        """Return the cycles, each as the list of its vertices in order."""
        starts, vertices = self._ends[: self._counts[0] + 1].tolist(), self._vertices[: self._counts[1]].tolist()
        return [vertices[first:last] for first, last in zip(starts, starts[1:], strict=False)]

    def add_triangles(self, stop: Callable[[], bool]) -> None:
        csr = self._csr
        vertex = 0
        while vertex < csr.num_vertices and not stop():
            vertex = _add_triangles(
                csr.indptr, csr.indices, csr.weights, csr.edge_ids, self._free,
                self._vertices, self._ends, self._counts, vertex, WORK_PER_CALL,
            )  # fmt: skip

    def add_searched(self, limit: int, stop: Callable[[], bool]) -> None:
        csr = self._csr
        n = csr.num_vertices
        level, queue = np.full(n, -1, np.int64), np.empty(n, np.int32)
        parent, parent_slot = np.empty(n, np.int32), np.empty(n, np.int64)
        vertex = 0
        while vertex < n and self._counts[3] < LARGEST_WORK and not stop():
            vertex = _add_searched(
                csr.indptr, csr.indices, csr.weights, csr.edge_ids, self._free, self._settled,
                level, parent, parent_slot, queue,
                self._vertices, self._ends, self._counts, vertex, limit, WORK_PER_CALL,
            )  # fmt: skip


@njit(cache=True, nogil=True)
def _add_triangles(  # type: ignore[no-untyped-def]
    indptr, indices, weights, edge_ids, free, cycle_vertices, ends, counts, first, work_limit
):
    n = len(indptr) - 1
    limit = counts[3] + work_limit
    slot_to = np.full(n, -1, np.int64)
    u = first
    while u < n and counts[3] < limit:
        for slot in range(indptr[u], indptr[u + 1]):
            if free[edge_ids[slot]]:
                slot_to[indices[slot]] = slot
        for first_slot in range(indptr[u], indptr[u + 1]):
            v = indices[first_slot]
            # From its least vertex, each triangle is met once.
            if v < u or not free[edge_ids[first_slot]]:
                continue
            counts[3] += indptr[v + 1] - indptr[v]
            for second in range(indptr[v], indptr[v + 1]):
                w = indices[second]
                third = slot_to[w]
                if w <= v or third < 0 or not free[edge_ids[second]] or not free[edge_ids[third]]:
                    continue
                free[edge_ids[first_slot]] = free[edge_ids[second]] = free[edge_ids[third]] = False
                at = counts[1]
                cycle_vertices[at], cycle_vertices[at + 1], cycle_vertices[at + 2] = u, v, w
                counts[0] += 1
                counts[1] += 3
                ends[counts[0]] = counts[1]
                counts[2] += min(weights[first_slot], weights[second], weights[third])
                break
        for slot in range(indptr[u], indptr[u + 1]):
            slot_to[indices[slot]] = -1
        counts[3] += indptr[u + 1] - indptr[u] + 1
        u += 1
    return u


@njit(cache=True, nogil=True)
def _add_searched(  # type: ignore[no-untyped-def]
    indptr, indices, weights, edge_ids, free, settled, level, parent, parent_slot, queue,
    cycle_vertices, ends, counts, first, search_limit, work_limit,
):  # fmt: skip
    """Search from vertex after vertex, again from the same one while that closes cycles.

    A search ends with the first level that closes a cycle: later ones are longer. A component that it exhausts without meeting an odd
    closing edge is bipartite, and stays so as edges are used up: it is settled.
    """
    n = len(indptr) - 1
    limit = counts[3] + work_limit
    root = first
    while root < n and counts[3] < limit:
        if settled[root]:
            root += 1
            continue
        # Levels are told from those of older searches by their offset, which grows by more than a search has levels.
        offset = counts[3]
        reached = 1
        queue[0] = root
        level[root] = offset
        parent[root] = -1
        work = 1
        last = offset + n
        is_odd = False
        found = 0
        head = 0
        while head < reached and level[queue[head]] <= last and work <= search_limit:
            u = queue[head]
            head += 1
            here = level[u]
            for slot in range(indptr[u], indptr[u + 1]):
                if not free[edge_ids[slot]]:
                    continue
                v = indices[slot]
                if level[v] < offset:
                    level[v] = here + 1
                    parent[v] = u
                    parent_slot[v] = slot
                    queue[reached] = v
                    reached += 1
                elif level[v] == here:
                    is_odd = True
                    if _close(u, slot, indices, weights, edge_ids, free, parent, parent_slot, cycle_vertices, ends, counts):
                        found += 1
                        last = here
            work += indptr[u + 1] - indptr[u] + 1
        counts[3] += work
        if found == 0:
            if head == reached and not is_odd:
                for k in range(reached):
                    settled[queue[k]] = True
            root += 1
    return root


@njit(cache=True, nogil=True)
def _close(near, closing, indices, weights, edge_ids, free, parent, parent_slot, cycle_vertices, ends, counts):  # type: ignore[no-untyped-def]
    """Record the cycle of an edge between two vertices of one level and their paths up to where these meet, if all is free."""
    far = indices[closing]
    length = 1
    a, b = near, far
    while a != b:
        if not (free[edge_ids[parent_slot[a]]] and free[edge_ids[parent_slot[b]]]):
            return False
        length += 2
        a, b = parent[a], parent[b]

    least = weights[closing]
    free[edge_ids[closing]] = False
    begin = counts[1]
    left, right = begin, begin + length - 1
    a, b = near, far
    while a != b:
        cycle_vertices[left], cycle_vertices[right] = a, b
        left += 1
        right -= 1
        least = min(least, weights[parent_slot[a]], weights[parent_slot[b]])
        free[edge_ids[parent_slot[a]]] = False
        free[edge_ids[parent_slot[b]]] = False
        a, b = parent[a], parent[b]
    cycle_vertices[left] = a
    counts[0] += 1
    counts[1] += length
    ends[counts[0]] = counts[1]
    counts[2] += least
    return True
