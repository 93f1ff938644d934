"""A graph with weighted vertices that vertices can be taken out of and merged in: what reductions of vertex cover work on.

The neighbours of a vertex are a row of one array. A vertex that leaves is only marked; rows drop those that have left when they are
next read. Merging vertices writes a new row for the one that stays and puts its number in place of the others' in the rows of their
neighbours, which hence never grow. All functions but :func:`build_shrinking_graph`, :func:`repacked` and :func:`what_is_left` are
kernels, to be called from kernels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from solvers.graphs.csr import build_csr


class ShrinkingGraph(NamedTuple):
    """The arrays of a graph that gets smaller.

    Attributes
    ----------
    is_left : bool array of shape (n,)
    degree : int32 array of shape (n,)
        Number of neighbours that are left.
    weight : int64 array of shape (n,)
    start, length : int64 arrays of shape (n,)
        The row of each vertex is ``neighbours[start[v] : start[v] + length[v]]``; it may name vertices that have left.
    neighbours : int32 array
    used : int64 array of shape (1,)
        How much of `neighbours` is in use.
    """

    is_left: np.ndarray
    degree: np.ndarray
    weight: np.ndarray
    start: np.ndarray
    length: np.ndarray
    neighbours: np.ndarray
    used: np.ndarray


def build_shrinking_graph(num_vertices: int, edges: np.ndarray, vertex_weights: np.ndarray, spare: int) -> ShrinkingGraph:
    """Return the graph, with room for `spare` entries in rows that merging writes."""
    ends = np.asarray(edges, dtype=np.int32).reshape(-1, 2)
    csr = build_csr(num_vertices, ends, np.ones(len(ends), np.int64))
    lengths = np.diff(csr.indptr)
    return ShrinkingGraph(
        is_left=np.ones(num_vertices, np.bool_),
        degree=lengths.astype(np.int32),
        weight=np.array(vertex_weights, dtype=np.int64),
        start=csr.indptr[:-1].copy(),
        length=lengths,
        neighbours=np.concatenate((csr.indices, np.zeros(spare, np.int32))),
        used=np.array([len(csr.indices)], np.int64),
    )


def repacked(graph: ShrinkingGraph, spare: int) -> ShrinkingGraph:
    """Return the graph with its rows packed again, vertices that have left dropped, and room for `spare` entries more."""
    size = int(graph.degree[graph.is_left].sum(dtype=np.int64))
    start, neighbours = np.zeros_like(graph.start), np.zeros(size + spare, np.int32)
    _pack(graph, start, neighbours)
    return graph._replace(
        start=start,
        length=np.where(graph.is_left, graph.degree, 0).astype(np.int64),
        neighbours=neighbours,
        used=np.array([size], np.int64),
    )


def what_is_left(graph: ShrinkingGraph) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices that are left, increasing, and the edges between positions u < v among them, sorted."""
    vertices = np.flatnonzero(graph.is_left).astype(np.int32)
    position = np.full(len(graph.is_left), -1, np.int32)
    position[vertices] = np.arange(len(vertices), dtype=np.int32)
    edges = np.empty((int(graph.degree[vertices].sum(dtype=np.int64)) // 2, 2), np.int32)
    _collect_edges(graph, vertices, position, edges)
    # One sort of integers takes a fraction of a lexicographic one's time.
    keys = np.sort(edges[:, 0].astype(np.int64) << 32 | edges[:, 1])
    return vertices, np.column_stack([keys >> 32, keys & 0xFFFFFFFF]).astype(np.int32)


@njit(cache=True, nogil=True)
def compacted_row(graph, v):  # type: ignore[no-untyped-def]
    """Return the neighbours of `v` that are left, a view."""
    begin, kept = graph.start[v], graph.start[v]
    if graph.length[v] > graph.degree[v]:
        for slot in range(begin, begin + graph.length[v]):
            u = graph.neighbours[slot]
            if graph.is_left[u]:
                graph.neighbours[kept] = u
                kept += 1
        graph.length[v] = kept - begin
    return graph.neighbours[begin : begin + graph.length[v]]


@njit(cache=True, nogil=True)
def take_vertex_out(graph, v):  # type: ignore[no-untyped-def]
    """Take a vertex out."""
    graph.is_left[v] = False
    for u in compacted_row(graph, v):
        graph.degree[u] -= 1


@njit(cache=True, nogil=True)
def merge_into(graph, v, others, mark, stamp):  # type: ignore[no-untyped-def]
    """Give `v` the neighbours that `others` have outside v's own, and take `others` out; return False if there is no room.

    `v` has no neighbours but vertices that have been taken out, or are among the `others`, which are independent. `mark` holds
    numbers below `stamp`, one per vertex.
    """
    size = 0
    for other in others:
        size += graph.degree[other]
    begin = graph.used[0]
    if begin + size > graph.neighbours.shape[0]:
        return False
    for other in others:
        graph.is_left[other] = False
    end = begin
    for other in others:
        for u in compacted_row(graph, other):
            if u == v:
                continue
            if mark[u] == stamp:
                graph.degree[u] -= 1
                continue
            mark[u] = stamp
            graph.neighbours[end] = u
            end += 1
            row = graph.neighbours[graph.start[u] : graph.start[u] + graph.length[u]]
            place = 0
            while row[place] != other:
                place += 1
            row[place] = v
    graph.start[v] = begin
    graph.length[v] = graph.degree[v] = end - begin
    graph.used[0] = end
    return True


@njit(cache=True, nogil=True)
def _pack(graph, start, neighbours):  # type: ignore[no-untyped-def]
    end = 0
    for v in range(graph.is_left.shape[0]):
        start[v] = end
        if graph.is_left[v]:
            for u in compacted_row(graph, v):
                neighbours[end] = u
                end += 1


@njit(cache=True, nogil=True)
def _collect_edges(graph, vertices, position, edges):  # type: ignore[no-untyped-def]
    count = 0
    for v in vertices:
        for u in compacted_row(graph, v):
            if v < u:
                edges[count, 0], edges[count, 1] = position[v], position[u]
                count += 1
