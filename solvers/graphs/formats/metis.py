"""The METIS format: a header ``vertices edges [fmt [ncon]]``, then a line of neighbours for every vertex, ids from 1."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.graphs.arrays import Array
from solvers.graphs.formats.text import MalformedLine, NumberLines, Text, sizes_of
from solvers.graphs.graph import Graph, Source, listing_only


class Layout(NamedTuple):
    """What stands on the line of a vertex.

    Attributes
    ----------
    about_vertex : int
        Numbers about the vertex itself, before its neighbours.
    weight_place : int or None
        Which of those is its weight, the first if it has several.
    has_edge_weights : bool
        Whether a weight follows every neighbour.
    """

    about_vertex: int
    weight_place: int | None
    has_edge_weights: bool


def read_metis(text: Text, source: Source) -> Graph:
    """Return the graph of a text in METIS format; lines that begin with ``%`` or ``#`` are comments, empty lines are vertices.

    Raises
    ------
    InvalidGraph
        If a line is malformed, the header disagrees with the lines, or the adjacency has a loop, a repeated or a one-sided
        neighbour.

    Notes
    -----
    The sizes of vertices that `fmt` may announce are passed over, and so are weights of a vertex after its first.
    """
    found = text.body
    header = found.after(int(np.argmax(found.fields > 0)) if len(found) else 0)
    num_vertices, num_edges = sizes_of(header, "the numbers of vertices and edges")
    layout = _layout(header)
    body = header.after(1)
    surplus = body.after(num_vertices) if num_vertices < len(body) else None
    if len(body) < num_vertices or (surplus is not None and surplus.fields.any()):
        raise MalformedLine(
            header.lines[0], f"the header promises {num_vertices} vertices; {_count_without_blank_end(body)} lines follow"
        )
    kept = min(num_vertices, len(body))
    body = NumberLines(body.numbers, body.fields[:kept], body.lines[:kept])

    listed = _adjacency(num_vertices, body, layout, source)
    if len(listed.edges) != 2 * num_edges:
        raise MalformedLine(
            header.lines[0],
            f"the header promises {num_edges} edges, that is {2 * num_edges} neighbours; there are {len(listed.edges)}",
        )
    return _each_edge_once(listed)


def _layout(header: NumberLines) -> Layout:
    fields = NumberLines(header.first(), header.fields[:1], header.lines[:1]).integers().tolist()
    code = fields[2] if len(fields) > 2 else 0
    if len(fields) > 4 or code not in (0, 1, 10, 11, 100, 101, 110, 111):
        raise MalformedLine(header.lines[0], "the header should be 'VERTICES EDGES [FMT [NCON]]', FMT of three digits 0 or 1")
    has_sizes, has_weights, has_edge_weights = code // 100, code // 10 % 10, code % 10
    num_weights = fields[3] if len(fields) > 3 else has_weights
    if num_weights < 0 or (has_weights and num_weights < 1):
        raise MalformedLine(header.lines[0], f"{num_weights} is not a number of weights per vertex")
    about_vertex = has_sizes + (num_weights if has_weights else 0)
    return Layout(about_vertex, has_sizes if has_weights else None, bool(has_edge_weights))


def _count_without_blank_end(body: NumberLines) -> int:
    filled = np.flatnonzero(body.fields)
    return int(filled[-1]) + 1 if len(filled) else 0


def _adjacency(num_vertices: int, body: NumberLines, layout: Layout, source: Source) -> Graph:
    stride = 2 if layout.has_edge_weights else 1
    counts = body.fields - layout.about_vertex
    wrong = (counts < 0) | (counts % stride != 0)
    if wrong.any():
        line = int(np.argmax(wrong))
        each = "neighbours, each followed by a weight" if layout.has_edge_weights else "neighbours"
        before = f"{layout.about_vertex} numbers about the vertex, then " if layout.about_vertex else ""
        raise MalformedLine(body.lines[line], f"{body.fields[line]} fields; a line has {before}{each}")
    begins = np.cumsum(body.fields) - body.fields
    degrees = counts // stride
    ranks = np.arange(int(degrees.sum())) - np.repeat(np.cumsum(degrees) - degrees, degrees)
    places = np.repeat(begins + layout.about_vertex, degrees) + stride * ranks
    edges = np.column_stack([np.repeat(np.arange(1, num_vertices + 1), degrees), body.integers_at(places)])
    weights = body.numbers[places + 1] if layout.has_edge_weights else None
    place = layout.weight_place
    return Graph(
        num_vertices,
        edges,
        weights,
        index_base=1,
        source=source.on_lines(np.repeat(body.lines, degrees)),
        read_vertex_weights=None if place is None else lambda: body.numbers[begins + place],
    )


def _each_edge_once(listed: Graph) -> Graph:
    u, v = listed.edges[:, 0], listed.edges[:, 1]
    loops = np.flatnonzero(u == v)
    if len(loops):
        raise listed.source.fault(int(loops[0]), f"vertex {u[loops[0]] + 1} is its own neighbour")
    # There are as many vertices as lines, so that two ids fit one key.
    order = np.argsort((u << 32) | v)
    _require_distinct(listed, order)
    mirrored = np.argsort((v << 32) | u)
    unmatched = (u[order] != v[mirrored]) | (v[order] != u[mirrored])
    if unmatched.any():
        raise _one_sided(listed, int(order[np.argmax(unmatched)]), int(mirrored[np.argmax(unmatched)]))
    _require_equal_weights(listed, listed.edge_weights, order, mirrored)
    return listing_only(listed, np.flatnonzero(u < v))


def _require_distinct(listed: Graph, order: npt.NDArray[np.int64]) -> None:
    edges = listed.edges[order]
    repeats = np.flatnonzero((edges[1:] == edges[:-1]).all(axis=1))
    if len(repeats):
        edge = int(order[repeats[0] + 1])
        raise listed.source.fault(edge, f"neighbour {listed.edges[edge, 1] + 1} is listed twice")


def _one_sided(listed: Graph, edge: int, mirrored: int) -> Exception:
    # Both sequences are sorted; where they part, the smaller one of the two has no counterpart.
    pair, image = listed.edges[edge].tolist(), listed.edges[mirrored][::-1].tolist()
    alone = edge if pair < image else mirrored
    u, v = (listed.edges[alone] + 1).tolist()
    return listed.source.fault(alone, f"{v} is a neighbour of {u}, but {u} is none of {v}")


def _require_equal_weights(
    listed: Graph, weights: Array | None, order: npt.NDArray[np.int64], mirrored: npt.NDArray[np.int64]
) -> None:
    if weights is None:
        return
    unequal = np.flatnonzero(weights[order] != weights[mirrored])
    if len(unequal):
        edge, image = int(order[unequal[0]]), int(mirrored[unequal[0]])
        u, v = (listed.edges[edge] + 1).tolist()
        raise listed.source.fault(
            edge, f"the edge from {u} to {v} weighs {weights[edge]:.15g}, back {weights[image]:.15g}", "weight"
        )
