"""Cliques that together contain every edge of a graph.

"At most one of each clique" then says all that the edges say, and much more to a linear relaxation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from solvers.graphs.csr import Csr

WORK_PER_CALL = 10_000_000


def edge_clique_cover(csr: Csr, *, stop: Callable[[], bool] = lambda: False) -> list[list[int]] | None:
    """Return cliques of two vertices or more that contain every edge, or None when told to stop.

    Each edge that no clique contains yet is extended by the common neighbours of its ends, those of high degree first, as far as they
    go.

    Parameters
    ----------
    csr : Csr
        Its weights play no part.
    stop : callable
        Asked now and then.

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> edge_clique_cover(build_csr(4, [[0, 1], [1, 2], [0, 2], [2, 3]], [1, 1, 1, 1]))
    [[0, 2, 1], [2, 3]]
    """
    n, m = csr.num_vertices, len(csr.indices) // 2
    # The rows by descending degree, so that extensions come in that order.
    sources = np.repeat(np.arange(n), np.diff(csr.indptr))
    degrees = np.diff(csr.indptr)
    order = np.lexsort((csr.indices, -degrees[csr.indices], sources))
    rows = csr._replace(indices=csr.indices[order], edge_ids=csr.edge_ids[order])
    desk = _Desk(
        is_covered=np.zeros(m, np.bool_),
        joined=np.zeros(n, np.int64),
        is_member=np.zeros(n, np.bool_),
        members=np.empty(2 * m + n, np.int32),
        ends=np.empty(m, np.int64),
        state=np.zeros(4, np.int64),
    )
    while not _cover_edges(rows, desk, WORK_PER_CALL):
        if stop():
            return None
        count = int(desk.state[_CLIQUES])
        if count and desk.ends[count - 1] + n > len(desk.members):
            desk = desk._replace(members=np.concatenate((desk.members, np.empty_like(desk.members))))
    return [clique.tolist() for clique in np.split(desk.members, desk.ends[: desk.state[_CLIQUES]])[:-1]]


class _Desk(NamedTuple):
    """What has been covered by which cliques."""

    is_covered: np.ndarray  # (m,) bool
    joined: np.ndarray  # (n,) int64: a stamp, plus how many members of the clique at hand the vertex is joined to
    is_member: np.ndarray  # (n,) bool: of the clique at hand
    members: np.ndarray  # int32: the cliques, one after the other
    ends: np.ndarray  # (m,) int64: where each ends
    state: np.ndarray  # (4,) int64, by the names below


_NEXT_VERTEX, _NEXT_SLOT, _CLIQUES, _STAMP = range(4)


@njit(cache=True, nogil=True)
def _cover_edges(rows, desk, work):  # type: ignore[no-untyped-def]
    """Go on from edge to edge until all are covered, which is returned, or the work is done or the room for members is used."""
    n = rows.indptr.shape[0] - 1
    state = desk.state
    while state[_NEXT_VERTEX] < n:
        u = state[_NEXT_VERTEX]
        slot = rows.indptr[u] + state[_NEXT_SLOT]
        if slot == rows.indptr[u + 1]:
            state[_NEXT_VERTEX], state[_NEXT_SLOT] = u + 1, 0
            continue
        if not desk.is_covered[rows.edge_ids[slot]]:
            begin = desk.ends[state[_CLIQUES] - 1] if state[_CLIQUES] else 0
            if work <= 0 or begin + n > desk.members.shape[0]:
                return False
            work -= _extend(rows, desk, u, rows.indices[slot], begin)
        state[_NEXT_SLOT] += 1
    return True


@njit(cache=True, nogil=True)
def _extend(rows, desk, u, v, begin):  # type: ignore[no-untyped-def]
    """Note down a clique that contains u and v; return the entries read."""
    state = desk.state
    state[_STAMP] += rows.indptr.shape[0]
    stamp = state[_STAMP]
    work = _join(rows, desk, u, stamp, 0)
    work += _join(rows, desk, v, stamp, 1)
    size = 2
    desk.members[begin], desk.members[begin + 1] = u, v
    for slot in range(rows.indptr[u], rows.indptr[u + 1]):
        w = rows.indices[slot]
        if desk.joined[w] == stamp + size and not desk.is_member[w]:
            work += _join(rows, desk, w, stamp, size)
            desk.members[begin + size] = w
            size += 1
    for place in range(begin, begin + size):
        desk.is_member[desk.members[place]] = False
    desk.ends[state[_CLIQUES]] = begin + size
    state[_CLIQUES] += 1
    return work + rows.indptr[u + 1] - rows.indptr[u]


@njit(cache=True, nogil=True)
def _join(rows, desk, v, stamp, size):  # type: ignore[no-untyped-def]
    """Make `v` a member of the clique at hand, which has `size` members; return the entries read."""
    for slot in range(rows.indptr[v], rows.indptr[v + 1]):
        w = rows.indices[slot]
        if desk.is_member[w]:
            desk.is_covered[rows.edge_ids[slot]] = True
        if size == 0:
            desk.joined[w] = stamp + 1
        elif desk.joined[w] == stamp + size:
            desk.joined[w] += 1
    desk.is_member[v] = True
    return rows.indptr[v + 1] - rows.indptr[v]
