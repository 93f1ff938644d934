"""The subgraph that some vertices of a graph induce."""

from __future__ import annotations

import numpy as np
from numba import njit

from solvers.graphs.csr import Csr


def induced_subgraph(csr: Csr, members: np.ndarray) -> tuple[Csr, np.ndarray]:
    """Return the subgraph, its vertices numbered in order, and their numbers in the graph.

    Parameters
    ----------
    csr : Csr
    members : bool array of shape (n,)

    Returns
    -------
    Csr
        Edges are numbered anew, by their lesser ends and then by their greater.
    int64 array
        The members, increasing.

    Notes
    -----
    O(n) and the degrees of the members.

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> path = build_csr(4, [[0, 1], [1, 2], [2, 3]], [7, 8, 9])
    >>> rest, vertices = induced_subgraph(path, np.array([False, True, True, True]))
    >>> rest.indices.tolist(), rest.weights.tolist(), vertices.tolist()
    ([1, 0, 2, 1], [8, 8, 9, 9], [1, 2, 3])
    """
    mask = np.require(members, np.bool_, ["C", "W"])
    vertices = np.flatnonzero(mask)
    position = np.full(csr.num_vertices, -1, np.int32)
    position[vertices] = np.arange(len(vertices))
    return Csr(*_induced_rows(csr.indptr, csr.indices, csr.weights, vertices, position)), vertices


@njit(cache=True, nogil=True)
def _induced_rows(indptr, indices, weights, vertices, position):  # type: ignore[no-untyped-def]
    k = vertices.shape[0]
    rows = np.zeros(k + 1, np.int64)
    for at in range(k):
        rows[at + 1] = rows[at]
        for slot in range(indptr[vertices[at]], indptr[vertices[at] + 1]):
            rows[at + 1] += position[indices[slot]] >= 0
    others = np.empty(rows[k], np.int32)
    row_weights = np.empty(rows[k], np.int64)
    edge_ids = np.empty(rows[k], np.int32)
    # Rows are sorted, so that the edges to lesser neighbours of a vertex come in the order in which those are served.
    fill = rows[:-1].copy()
    edge = 0
    end = 0
    for at in range(k):
        for slot in range(indptr[vertices[at]], indptr[vertices[at] + 1]):
            other = position[indices[slot]]
            if other < 0:
                continue
            others[end], row_weights[end] = other, weights[slot]
            if other > at:
                edge_ids[end] = edge_ids[fill[other]] = edge
                fill[other] += 1
                edge += 1
            end += 1
    return rows, others, row_weights, edge_ids
