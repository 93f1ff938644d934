"""The formats with a ``p`` line: DIMACS (``p edge n m``, lines ``e u v``) and PACE (``p td n m``, lines ``u v``); ids from 1."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from solvers.graphs.arrays import Array, as_written
from solvers.graphs.formats.rudy import graph_of_lines
from solvers.graphs.formats.text import MalformedLine, Text, edges_of
from solvers.graphs.graph import Graph, InvalidGraph, Source
from solvers.graphs.pairs import first_appearances


def read_dimacs(text: Text, source: Source) -> Graph:
    """Return the graph of a text in DIMACS format.

    Lines ``c ..`` are comments, ``e u v [weight]`` edges (``a`` in the files of the shortest-path challenge), ``n v weight``
    weights of vertices, 1 where there is none.

    Raises
    ------
    InvalidGraph
        If a line is malformed, or the header counts neither the edge lines nor the distinct edges.
    """
    header, num_vertices, num_edges = _header(text, "p edge VERTICES EDGES")
    lines = _after(text, header)
    kinds = np.where(text.begins_with_letter(lines), text.first_bytes[lines], 0)
    is_edge = (kinds == ord("e")) | (kinds == ord("a"))
    is_unknown = ~is_edge & (kinds != ord("n"))
    if is_unknown.any():
        line = int(lines[np.argmax(is_unknown)])
        shown = as_written(text.fields(line)[0].decode("utf-8", "replace"))
        raise MalformedLine(line + 1, f"a line begins with c, e, a or n, not with {shown}")

    found = text.numbers(lines[is_edge], skip=1)
    edges, weights = edges_of(found)
    weighted = lines[kinds == ord("n")]
    graph = Graph(
        num_vertices,
        edges,
        weights,
        index_base=1,
        source=source.on_lines(found.lines),
        read_vertex_weights=(lambda: _vertex_weights(text, weighted, num_vertices)) if len(weighted) else None,
    )
    if num_edges != len(edges):
        distinct = len(first_appearances(graph.edges[:, 0], graph.edges[:, 1]).firsts)
        if num_edges != distinct:
            raise MalformedLine(
                header + 1, f"the header promises {num_edges} edges; there are {len(edges)}, {distinct} of them distinct"
            )
    return graph


def _vertex_weights(text: Text, lines: npt.NDArray[np.int64], num_vertices: int) -> Array:
    found = text.numbers(lines, skip=1)
    wrong = np.flatnonzero(found.fields != 2)
    if len(wrong):
        raise MalformedLine(found.lines[wrong[0]], "a line about a vertex is 'n VERTEX WEIGHT'")
    vertices = found.integers_at(2 * np.arange(len(lines)))
    outside = np.flatnonzero((vertices < 1) | (vertices > num_vertices))
    if len(outside):
        raise MalformedLine(
            found.lines[outside[0]], f"there is no vertex {vertices[outside[0]]}; ids go from 1 to {num_vertices}"
        )
    given = found.numbers[1::2]
    weights = np.ones(num_vertices, dtype=given.dtype)
    weights[vertices - 1] = given
    return weights


def read_pace(text: Text, source: Source) -> Graph:
    """Return the graph of a text in the format of the PACE challenges; lines that begin with ``c`` are comments.

    Raises
    ------
    InvalidGraph
        If a line is malformed, or the header disagrees with the lines.
    """
    header, num_vertices, num_edges = _header(text, "p td VERTICES EDGES")
    return graph_of_lines(num_vertices, num_edges, text.numbers(_after(text, header)), header + 1, source)


def _after(text: Text, header: int) -> npt.NDArray[np.int64]:
    kinds = text.first_bytes
    return np.flatnonzero((kinds != 0) & (kinds != ord("c")) & (np.arange(len(kinds)) > header))


def _header(text: Text, form: str) -> tuple[int, int, int]:
    lines = _after(text, -1)
    if not len(lines):
        raise InvalidGraph(f"the text has no header {form!r}")
    header = int(lines[0])
    fields = text.fields(header)
    if len(fields) != 4 or fields[0] != b"p" or not (fields[2].isdigit() and fields[3].isdigit()):
        raise MalformedLine(header + 1, f"the header should be {form!r}")
    # More digits than any count has would only be slow to convert.
    num_vertices, num_edges = (int(field[-19:]) if len(field) < 20 else 10**19 for field in fields[2:])
    return header, num_vertices, num_edges
