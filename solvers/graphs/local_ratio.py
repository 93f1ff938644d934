"""A cover of at most twice the least weight, with the packing of edges that proves it: the local ratio method.

Every edge in turn takes as much as it can, y_e, from what is left of the weights of its ends; vertices with nothing left form a
cover. No cover weighs less than the sum of y, of which each vertex of this one has paid at most its weight and each edge at most
twice (Bar-Yehuda and Even, "A Linear-Time Approximation Algorithm for the Weighted Vertex Cover Problem", Journal of Algorithms
1981). For unit weights the edges with y = 1 are a maximal matching, and the cover is their ends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from solvers.graphs.csr import Csr


class PackedCover(NamedTuple):
    """A cover and a packing, each within a factor of two of the other.

    Attributes
    ----------
    members : bool array of shape (n,)
    packing : int64 array of shape (m,)
        At most the weight of each vertex on its edges together; no cover weighs less than its sum.
    """

    members: np.ndarray
    packing: np.ndarray


def local_ratio_cover(csr: Csr, vertex_weights: np.ndarray, within: np.ndarray | None = None) -> PackedCover:
    """Cover the edges of a graph, or of the subgraph that some vertices induce.

    Vertices are served in order and each in the order of its neighbours, so that for unit weights every vertex that is free when
    its turn comes is matched to its first free neighbour.

    Parameters
    ----------
    csr : Csr
        Its weights play no part.
    vertex_weights : int64 array of shape (n,)
        Positive.
    within : bool array of shape (n,), optional
        The vertices that induce the subgraph.

    Notes
    -----
    O(n + m).

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> path = build_csr(4, [[0, 1], [1, 2], [2, 3]], [1, 1, 1])
    >>> cover = local_ratio_cover(path, np.array([3, 1, 2, 2]))
    >>> cover.members.tolist(), cover.packing.tolist()
    ([False, True, True, True], [1, 0, 2])
    """
    inside = np.ones(csr.num_vertices, np.bool_) if within is None else np.require(within, np.bool_, ["C", "W"])
    left = np.array(vertex_weights, dtype=np.int64)
    packing = np.zeros(len(csr.indices) // 2, np.int64)
    _pack(csr.indptr, csr.indices, csr.edge_ids, inside, left, packing)
    return PackedCover(inside & (left == 0), packing)


@njit(cache=True, nogil=True)
def _pack(indptr, indices, edge_ids, inside, left, packing):  # type: ignore[no-untyped-def]
    for u in range(inside.shape[0]):
        if not inside[u]:
            continue
        for slot in range(indptr[u], indptr[u + 1]):
            if left[u] == 0:
                break
            v = indices[slot]
            if inside[v] and left[v] > 0:
                amount = min(left[u], left[v])
                packing[edge_ids[slot]] += amount
                left[u] -= amount
                left[v] -= amount
