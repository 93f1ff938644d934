"""A weighted graph that edges can be taken out of and added to in constant time: what reductions and eliminations work on.

Every edge is two half-edges in the doubly linked lists of its ends; a hash table finds the edge between two vertices, so that a
parallel edge adds its weight to the one that is there, however many neighbours the ends have. Slots of edges taken out are used
again. All functions but :func:`build_linked_graph` are kernels, to be called from kernels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

ABSENT = -1


class LinkedGraph(NamedTuple):
    """The arrays of a changing graph.

    Attributes
    ----------
    degree : int32 array of shape (n,)
    first : int32 array of shape (n,)
        A half-edge that leaves the vertex, or -1; `after` leads on from it.
    after, before : int32 arrays of shape (2 capacity,)
        The neighbours of a half-edge in its vertex's list.
    target : int32 array of shape (2 capacity,)
        Where a half-edge leads; edge `e` consists of the half-edges ``2 e`` and ``2 e + 1``.
    weight : int64 array of shape (capacity,)
    unused : int32 array of shape (capacity,)
        Stack of the free edge slots.
    num_unused : int64 array of shape (1,)
    pairs : int64 array, its length a power of two
        Hash table: ``u n + v`` for an edge between u < v, or -1.
    edge_of : int32 array of the same length
        The edge of each pair.
    """

    degree: np.ndarray
    first: np.ndarray
    after: np.ndarray
    before: np.ndarray
    target: np.ndarray
    weight: np.ndarray
    unused: np.ndarray
    num_unused: np.ndarray
    pairs: np.ndarray
    edge_of: np.ndarray


def build_linked_graph(num_vertices: int, edges: np.ndarray, weights: np.ndarray, spare_edges: int = 0) -> LinkedGraph:
    """Return a graph that can hold `spare_edges` more than it is given; parallel edges are merged, those of weight 0 left out."""
    ends = np.ascontiguousarray(edges, dtype=np.int32).reshape(-1, 2)
    capacity = len(ends) + spare_edges
    table_size = 1 << max(1, (2 * capacity).bit_length())
    graph = LinkedGraph(
        degree=np.zeros(num_vertices, np.int32),
        first=np.full(num_vertices, ABSENT, np.int32),
        after=np.empty(2 * capacity, np.int32),
        before=np.empty(2 * capacity, np.int32),
        target=np.empty(2 * capacity, np.int32),
        weight=np.empty(capacity, np.int64),
        unused=np.arange(capacity - 1, -1, -1, dtype=np.int32),
        num_unused=np.array([capacity], np.int64),
        pairs=np.full(table_size, ABSENT, np.int64),
        edge_of=np.empty(table_size, np.int32),
    )
    _add_all(graph, ends, np.ascontiguousarray(weights, dtype=np.int64))
    return graph


@njit(cache=True, nogil=True)
def add_weight(graph, u, v, weight):  # type: ignore[no-untyped-def]
    """Add `weight` to the edge between u and v: it appears if there was none and vanishes when its weight becomes 0."""
    if weight == 0:
        return
    key = _pair(graph, u, v)
    place = _find(graph, key)
    if graph.pairs[place] == key:
        edge = graph.edge_of[place]
        graph.weight[edge] += weight
        if graph.weight[edge] == 0:
            remove_edge(graph, edge)
        return
    graph.num_unused[0] -= 1
    edge = graph.unused[graph.num_unused[0]]
    graph.pairs[place] = key
    graph.edge_of[place] = edge
    graph.weight[edge] = weight
    _attach(graph, 2 * edge, u, v)
    _attach(graph, 2 * edge + 1, v, u)


@njit(cache=True, nogil=True)
def remove_edge(graph, edge):  # type: ignore[no-untyped-def]
    """Take an edge out."""
    v, u = graph.target[2 * edge], graph.target[2 * edge + 1]
    _detach(graph, 2 * edge, u)
    _detach(graph, 2 * edge + 1, v)
    _forget(graph, _find(graph, _pair(graph, u, v)))
    graph.unused[graph.num_unused[0]] = edge
    graph.num_unused[0] += 1


@njit(cache=True, nogil=True)
def take_out(graph, v, neighbours, weights):  # type: ignore[no-untyped-def]
    """Remove all edges of `v`, filling in its neighbours, in increasing order, and their weights; return how many they were."""
    count = 0
    while graph.first[v] != ABSENT:
        half = graph.first[v]
        u, weight = graph.target[half], graph.weight[half >> 1]
        place = count
        while place > 0 and neighbours[place - 1] > u:
            neighbours[place] = neighbours[place - 1]
            weights[place] = weights[place - 1]
            place -= 1
        neighbours[place] = u
        weights[place] = weight
        count += 1
        remove_edge(graph, half >> 1)
    return count


@njit(cache=True, nogil=True)
def _add_all(graph, edges, weights):  # type: ignore[no-untyped-def]
    for e in range(edges.shape[0]):
        add_weight(graph, edges[e, 0], edges[e, 1], weights[e])


@njit(cache=True, nogil=True)
def _attach(graph, half, source, target):  # type: ignore[no-untyped-def]
    successor = graph.first[source]
    graph.target[half] = target
    graph.after[half] = successor
    graph.before[half] = ABSENT
    if successor != ABSENT:
        graph.before[successor] = half
    graph.first[source] = half
    graph.degree[source] += 1


@njit(cache=True, nogil=True)
def _detach(graph, half, source):  # type: ignore[no-untyped-def]
    successor, predecessor = graph.after[half], graph.before[half]
    if successor != ABSENT:
        graph.before[successor] = predecessor
    if predecessor != ABSENT:
        graph.after[predecessor] = successor
    else:
        graph.first[source] = successor
    graph.degree[source] -= 1


@njit(cache=True, nogil=True)
def _pair(graph, u, v):  # type: ignore[no-untyped-def]
    n = np.int64(graph.degree.shape[0])
    return u * n + v if u < v else v * n + u


@njit(cache=True, nogil=True)
def _home(graph, key):  # type: ignore[no-untyped-def]
    # Fibonacci hashing: the upper half of the product depends on every bit of the key.
    mixed = (np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)
    return np.int64(mixed) & (graph.pairs.shape[0] - 1)


@njit(cache=True, nogil=True)
def _find(graph, key):  # type: ignore[no-untyped-def]
    """Return the place of `key` in the table, or the empty place where it belongs."""
    last = graph.pairs.shape[0] - 1
    place = _home(graph, key)
    while graph.pairs[place] != ABSENT and graph.pairs[place] != key:
        place = (place + 1) & last
    return place


@njit(cache=True, nogil=True)
def _forget(graph, hole):  # type: ignore[no-untyped-def]
    """Empty a place of the table, moving back what had been pushed past it."""
    last = graph.pairs.shape[0] - 1
    place = (hole + 1) & last
    while graph.pairs[place] != ABSENT:
        if (place - _home(graph, graph.pairs[place])) & last >= (place - hole) & last:
            graph.pairs[hole] = graph.pairs[place]
            graph.edge_of[hole] = graph.edge_of[place]
            hole = place
        place = (place + 1) & last
    graph.pairs[hole] = ABSENT
