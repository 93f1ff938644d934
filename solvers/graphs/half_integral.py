r"""The half-integral optimum of vertex cover's linear relaxation, and which vertices it decides for good.

The relaxation, minimise :math:`\sum w_v x_v` with :math:`x_u + x_v \ge 1` on every edge, has an optimum with all :math:`x_v` in
{0, 1/2, 1}; some optimal cover contains every vertex at 1 and none at 0 (Nemhauser and Trotter, "Vertex Packings: Structural
Properties and Algorithms", Mathematical Programming 1975). It is half a minimum cut of the double cover, which has a left and a
right copy of each vertex and, for each edge uv, arcs from left u to right v and from left v to right u. The flow that proves the
cut minimal gives the dual solution: a packing of y on the edges, at most :math:`w_v` at each vertex.

The flow is found by Dinic's algorithm on that graph, whose arcs are the slots of the adjacency, which for unit weights is
Hopcroft and Karp's: :math:`O(m \sqrt n)` then, and exact in 64 bits for all weights that add up to less than 2^62.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import njit

from solvers.graphs.csr import Csr

WORK_PER_CALL = 5_000_000

SCALE = 2
"""What the packing of :class:`HalfIntegral` is scaled by."""


@dataclass(frozen=True, eq=False)
class HalfIntegral:
    """A solution of the relaxation of vertex cover and of its dual.

    Attributes
    ----------
    doubled : int8 array of shape (n,)
        2 x_v: 0, 1 or 2. All 1 if the solver was stopped before the optimum.
    flow : int64 array of shape (2m,)
        Flow from the left copy of each vertex to the right copies of its neighbours, by slots of the adjacency.
    doubled_bound : int
        The value of the flow: no cover weighs less than half of it. Twice the relaxation's optimum if that was found.
    is_optimal : bool
        Whether the solver came to its end.
    """

    doubled: np.ndarray
    flow: np.ndarray
    doubled_bound: int
    is_optimal: bool
    _csr: Csr

    @property
    def lower_bound(self) -> int:
        """What every cover weighs at least."""
        return -(-self.doubled_bound // 2)

    @property
    def is_in(self) -> np.ndarray:
        """Mask of the vertices that some optimal cover contains together."""
        mask: np.ndarray = self.doubled == 2
        return mask

    @property
    def is_out(self) -> np.ndarray:
        """Mask of the vertices that the same cover leaves out."""
        mask: np.ndarray = self.doubled == 0
        return mask

    @property
    def is_undecided(self) -> np.ndarray:
        """Mask of the vertices at 1/2, the kernel: its optimal covers weigh at least half of all that it has."""
        mask: np.ndarray = self.doubled == 1
        return mask

    @cached_property
    def packing(self) -> np.ndarray:
        """Twice the dual solution, int64 of shape (m,): at most twice the weight of each vertex on its edges together."""
        packing = np.zeros(len(self.flow) // 2, np.int64)
        np.add.at(packing, self._csr.edge_ids, self.flow)
        return packing

    def crown_flow(self) -> np.ndarray:
        """Return why the decided vertices are decided well: rows (v, u, amount), v at 1 and u at 0, as int64 of shape (k, 3).

        Every v receives its whole weight and no u gives more than its own, so that whatever part of the vertices at 1 an
        independent set holds can be exchanged for vertices at 0 that weigh no less.
        """
        sources = np.repeat(np.arange(len(self.doubled)), np.diff(self._csr.indptr))
        rows = np.flatnonzero((self.flow > 0) & self.is_in[self._csr.indices])
        return np.column_stack((self._csr.indices[rows], sources[rows], self.flow[rows])).astype(np.int64)


def half_integral_cover(csr: Csr, vertex_weights: np.ndarray, *, stop: Callable[[], bool] = lambda: False) -> HalfIntegral:
    """Solve the linear relaxation of vertex cover.

    Parameters
    ----------
    csr : Csr
        Its weights play no part.
    vertex_weights : int64 array of shape (n,)
        Positive, adding up to less than 2^62.
    stop : callable
        Asked now and then; once true, the bound reached so far is returned and every vertex is undecided.

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> star = build_csr(4, [[0, 1], [0, 2], [0, 3]], [1, 1, 1])
    >>> solution = half_integral_cover(star, np.ones(4, np.int64))
    >>> solution.doubled.tolist(), solution.lower_bound
    ([2, 0, 0, 0], 1)
    """
    weights = np.require(vertex_weights, np.int64, ["C", "W"])
    n = csr.num_vertices
    network = (
        csr.indptr,
        csr.indices,
        _mirrors(csr.edge_ids),
        np.zeros(len(csr.indices), np.int64),
        weights.copy(),
        weights.copy(),
    )
    flow, left_rest = network[3], network[4]
    level, queue, path = np.empty(2 * n, np.int32), np.empty(2 * n, np.int32), np.empty(2 * n + 1, np.int64)
    _push_along_single_arcs(*network)
    while not stop():
        last = _set_levels(*network, level, queue)
        if last < 0:
            doubled = np.where(level[:n] < 0, 1, 0) + np.where(level[n:] < 0, 0, 1)
            return HalfIntegral(doubled.astype(np.int8), flow, int((weights - left_rest).sum()), True, csr)
        next_slot = np.concatenate((csr.indptr[:-1], csr.indptr[:-1]))
        root = 0
        while root < n and not stop():
            root = _block(*network, level, next_slot, path, root, WORK_PER_CALL)
    return HalfIntegral(np.ones(n, np.int8), flow, int((weights - left_rest).sum()), False, csr)


@njit(cache=True, nogil=True)
def _mirrors(edge_ids):  # type: ignore[no-untyped-def]
    """Return for every slot the slot of the same edge at its other end."""
    mirrors = np.empty(edge_ids.shape[0], np.int64)
    first = np.full(edge_ids.shape[0] // 2, -1, np.int64)
    for slot in range(edge_ids.shape[0]):
        other = first[edge_ids[slot]]
        if other < 0:
            first[edge_ids[slot]] = slot
        else:
            mirrors[slot] = other
            mirrors[other] = slot
    return mirrors


@njit(cache=True, nogil=True)
def _push_along_single_arcs(indptr, indices, mirrors, flow, left_rest, right_rest):  # type: ignore[no-untyped-def]
    for u in range(left_rest.shape[0]):
        for slot in range(indptr[u], indptr[u + 1]):
            if left_rest[u] == 0:
                break
            amount = min(left_rest[u], right_rest[indices[slot]])
            flow[slot] += amount
            left_rest[u] -= amount
            right_rest[indices[slot]] -= amount


@njit(cache=True, nogil=True)
def _set_levels(indptr, indices, mirrors, flow, left_rest, right_rest, level, queue):  # type: ignore[no-untyped-def]
    """Set distances from the left copies with flow to spare; return that of the nearest right copies with room, or -1.

    Copies farther than those, and such as cannot be reached, have level -1.
    """
    n = left_rest.shape[0]
    level[:] = -1
    last, head, tail = -1, 0, 0
    for v in range(n):
        if left_rest[v] > 0:
            level[v] = 0
            queue[tail] = v
            tail += 1
    while head < tail:
        copy = queue[head]
        head += 1
        if 0 <= last <= level[copy]:
            break
        v = copy if copy < n else copy - n
        for slot in range(indptr[v], indptr[v + 1]):
            u = indices[slot]
            other = u + n if copy < n else u
            if level[other] >= 0 or (copy >= n and flow[mirrors[slot]] == 0):
                continue
            level[other] = level[copy] + 1
            queue[tail] = other
            tail += 1
            if copy < n and right_rest[u] > 0:
                last = level[other]
    return last


@njit(cache=True, nogil=True)
def _block(indptr, indices, mirrors, flow, left_rest, right_rest, level, next_slot, path, root, budget):  # type: ignore[no-untyped-def]
    """Augment along shortest paths from left copies, `root` first, until none is left; return where to go on, n at the end."""
    n = left_rest.shape[0]
    while root < n:
        if left_rest[root] == 0 or level[root] != 0:
            root += 1
            continue
        if budget <= 0:
            return root
        depth = 0
        copy = root
        while True:
            if copy >= n and right_rest[copy - n] > 0:
                break
            v = copy if copy < n else copy - n
            slot = next_slot[copy]
            while slot < indptr[v + 1]:
                other = indices[slot] + n if copy < n else indices[slot]
                if level[other] == level[copy] + 1 and (copy < n or flow[mirrors[slot]] > 0):
                    break
                slot += 1
            budget -= 1 + slot - next_slot[copy]
            next_slot[copy] = slot
            if slot < indptr[v + 1]:
                path[depth] = slot
                depth += 1
                copy = other
                continue
            level[copy] = -1
            if depth == 0:
                break
            # Back to where the last arc left, which is the end of that arc's mirror.
            depth -= 1
            back = indices[mirrors[path[depth]]]
            copy = back if copy >= n else back + n
        if level[root] == 0:
            amount = min(left_rest[root], right_rest[copy - n])
            for step in range(1, depth, 2):
                amount = min(amount, flow[mirrors[path[step]]])
            for step in range(depth):
                if step & 1:
                    flow[mirrors[path[step]]] -= amount
                else:
                    flow[path[step]] += amount
            left_rest[root] -= amount
            right_rest[copy - n] -= amount
            budget -= depth
    return n
