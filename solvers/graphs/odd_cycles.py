"""An upper bound on MaxCut from edge-disjoint odd cycles.

A cut separates an even number of a cycle's edges, so that it misses at least one edge of every odd cycle. For cycles that share
no edge and have positive weights only, the sum of the positive weights less the least weight of each cycle is therefore a bound.
The packing is greedy: triangles first, then short cycles that breadth-first searches close. Where the semidefinite bound needs a
factorisation, this one takes a walk through the graph, and its certificate is checked by counting.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numba import njit

from solvers.graphs.bound import Bound
from solvers.graphs.csr import Csr

# Edges looked at before a kernel returns, so that Python can look at the clock: about a tenth of a second.
WORK_PER_CALL = 2_000_000


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
    n, m = csr.num_vertices, len(csr.indices) // 2
    positive = csr.weights > 0
    free = np.zeros(m, np.bool_)
    free[csr.edge_ids[positive]] = True
    # Every cycle has as many vertices as edges, and at least three.
    vertices, ends = np.empty(m, np.int32), np.zeros(m // 3 + 1, np.int64)
    # Number of cycles, of vertices in them, their least weights added up, edges looked at.
    counts = np.zeros(4, np.int64)

    vertex = 0
    while vertex < n and not stop():
        vertex = _add_triangles(*csr, free, vertices, ends, counts, vertex, WORK_PER_CALL)

    edge_weights = np.zeros(m, np.int64)
    edge_weights[csr.edge_ids] = csr.weights
    neighbours, edge_ids, size = csr.indices.copy(), csr.edge_ids.copy(), np.diff(csr.indptr)
    level, settled, queue = np.full(n, -1, np.int64), np.zeros(n, np.bool_), np.empty(n, np.int32)
    parent, parent_edge = np.empty(n, np.int32), np.empty(n, np.int32)
    vertex = 0
    while vertex < n and not stop():
        vertex = _add_searched(
            csr.indptr, size, neighbours, edge_ids, edge_weights, free, settled, level, parent, parent_edge, queue,
            vertices, ends, counts, vertex, WORK_PER_CALL,
        )  # fmt: skip

    starts, flat = ends[: counts[0] + 1].tolist(), vertices[: counts[1]].tolist()
    cycles = [flat[first:last] for first, last in pairwise(starts)]
    value = int(csr.weights[positive].sum()) // 2 - int(counts[2])
    return Bound(float(value), "odd_cycles", {"kind": "odd_cycles", "cycles": cycles})


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
    indptr, size, neighbours, edge_ids, edge_weights, free, settled, level, parent, parent_edge, queue,
    cycle_vertices, ends, counts, first, work_limit,
):  # fmt: skip
    """Search from vertex after vertex, again from the same one while that closes cycles.

    A search ends with the first level that closes a cycle: later ones are longer. A component that it exhausts without closing one
    is bipartite, and stays so as edges are used up: it is settled. Edges in use are dropped from the rows when met.
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
        found = 0
        head = 0
        while head < reached and found == 0:
            # One level: first the edges within it, which close cycles, then, only if none did, those that lead on.
            tail = reached
            for k in range(head, tail):
                u = queue[k]
                work += size[u] + 1
                slot = indptr[u]
                while slot < indptr[u] + size[u]:
                    e = edge_ids[slot]
                    if not free[e]:
                        size[u] -= 1
                        neighbours[slot] = neighbours[indptr[u] + size[u]]
                        edge_ids[slot] = edge_ids[indptr[u] + size[u]]
                        continue
                    v = neighbours[slot]
                    if level[v] == level[u] and _close(
                        u, v, e, edge_weights, free, parent, parent_edge, cycle_vertices, ends, counts
                    ):
                        found += 1
                    slot += 1
            if found == 0:
                for k in range(head, tail):
                    u = queue[k]
                    for slot in range(indptr[u], indptr[u] + size[u]):
                        v = neighbours[slot]
                        if level[v] < offset:
                            level[v] = level[u] + 1
                            parent[v] = u
                            parent_edge[v] = edge_ids[slot]
                            queue[reached] = v
                            reached += 1
            head = tail
        counts[3] += work
        if found == 0:
            for k in range(reached):
                settled[queue[k]] = True
            root += 1
    return root


@njit(cache=True, nogil=True)
def _close(near, far, closing, edge_weights, free, parent, parent_edge, cycle_vertices, ends, counts):  # type: ignore[no-untyped-def]
    """Record the cycle of an edge between two vertices of one level and their paths up to where these meet, if all is free."""
    length = 1
    a, b = near, far
    while a != b:
        if not (free[parent_edge[a]] and free[parent_edge[b]]):
            return False
        length += 2
        a, b = parent[a], parent[b]

    least = edge_weights[closing]
    free[closing] = False
    left, right = counts[1], counts[1] + length - 1
    a, b = near, far
    while a != b:
        cycle_vertices[left], cycle_vertices[right] = a, b
        left += 1
        right -= 1
        least = min(least, edge_weights[parent_edge[a]], edge_weights[parent_edge[b]])
        free[parent_edge[a]] = False
        free[parent_edge[b]] = False
        a, b = parent[a], parent[b]
    cycle_vertices[left] = a
    counts[0] += 1
    counts[1] += length
    ends[counts[0]] = counts[1]
    counts[2] += least
    return True
