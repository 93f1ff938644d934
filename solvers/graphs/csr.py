"""Symmetric adjacency of a graph in compressed rows, and the value of a cut.

A graph is `num_vertices`, `edges` (int32 array of shape (m, 2); simple, no loops) and `weights` (m values). A cut is an int8
array of n sides, 0 or 1; it is worth the total weight of the edges whose ends lie on different sides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit


class Csr(NamedTuple):
    """Adjacency of a graph: the neighbours of `v` are `indices[indptr[v]:indptr[v + 1]]`, in increasing order.

    Attributes
    ----------
    indptr : int64 array of shape (n + 1,)
    indices : int32 array of shape (2m,)
    weights : int64 array of shape (2m,)
        Weight of the edge to each neighbour.
    edge_ids : int32 array of shape (2m,)
        Row of that edge in the list of edges.
    """

    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray
    edge_ids: np.ndarray

    @property
    def num_vertices(self) -> int:
        return len(self.indptr) - 1


def build_csr(num_vertices: int, edges: np.ndarray, weights: np.ndarray) -> Csr:
    """Return the adjacency of a graph, in O(n + m).

    Parameters
    ----------
    num_vertices : int
    edges : int array of shape (m, 2)
        Simple, without loops.
    weights : int array of shape (m,)

    Examples
    --------
    >>> path = build_csr(3, [[1, 2], [0, 1]], [5, 7])
    >>> path.indices.tolist(), path.weights.tolist()
    ([1, 0, 2, 1], [7, 7, 5, 5])
    """
    # Read-only arrays would be compiled for anew.
    ends = np.require(edges, np.int32, ["C", "W"]).reshape(-1, 2)
    return Csr(*_symmetric_rows(int(num_vertices), ends, np.require(weights, np.int64, ["C", "W"])))


def cut_value(edges: np.ndarray, weights: np.ndarray, sides: np.ndarray) -> int:
    """Return the total weight of the edges that a cut separates, counted from scratch.

    Examples
    --------
    >>> cut_value(np.array([[0, 1], [1, 2]]), np.array([5, -7]), np.array([0, 1, 1], dtype=np.int8))
    5
    """
    ends = np.require(edges, np.int32, ["C", "W"]).reshape(-1, 2)
    return int(_separated_weight(ends, np.require(weights, np.int64, ["C", "W"]), np.require(sides, np.int8, ["C", "W"])))


@njit(cache=True, nogil=True)
def _separated_weight(edges, weights, sides):  # type: ignore[no-untyped-def]
    total = 0
    for e in range(edges.shape[0]):
        total += weights[e] * (sides[edges[e, 0]] != sides[edges[e, 1]])
    return total


@njit(cache=True, nogil=True)
def _symmetric_rows(n, edges, weights):  # type: ignore[no-untyped-def]
    m = edges.shape[0]
    indptr = np.zeros(n + 1, np.int64)
    for e in range(m):
        indptr[edges[e, 0] + 1] += 1
        indptr[edges[e, 1] + 1] += 1
    for v in range(n):
        indptr[v + 1] += indptr[v]

    # Two stable passes: the first collects the edges of each vertex; reading those lists in the order of the vertices then meets
    # the neighbours of every vertex in increasing order.
    unsorted = np.empty(2 * m, np.int32)
    end = indptr[:-1].copy()
    for e in range(m):
        for side in range(2):
            v = edges[e, side]
            unsorted[end[v]] = e
            end[v] += 1

    indices = np.empty(2 * m, np.int32)
    row_weights = np.empty(2 * m, np.int64)
    edge_ids = np.empty(2 * m, np.int32)
    end[:] = indptr[:-1]
    for v in range(n):
        for slot in range(indptr[v], indptr[v + 1]):
            e = unsorted[slot]
            u = edges[e, 0] if edges[e, 1] == v else edges[e, 1]
            indices[end[u]] = v
            row_weights[end[u]] = weights[e]
            edge_ids[end[u]] = e
            end[u] += 1
    return indptr, indices, row_weights, edge_ids
