"""The rudy format of the Gset graphs: ``vertices edges``, then a line ``u v [weight]`` per edge, ids from 1."""

from __future__ import annotations

from solvers.graphs.formats.text import MalformedLine, NumberLines, Text, edges_of, sizes_of
from solvers.graphs.graph import Graph, Source


def read_rudy(text: Text, source: Source) -> Graph:
    """Return the graph of a text in rudy format; lines that begin with ``#`` or ``%`` are comments.

    Raises
    ------
    InvalidGraph
        If a line is malformed, or the header disagrees with the lines.
    """
    found = text.body.filled()
    num_vertices, num_edges = sizes_of(found, "the numbers of vertices and edges")
    if found.fields[0] != 2:
        raise MalformedLine(
            found.lines[0], f"the header has {found.fields[0]} fields; it should be the numbers of vertices and edges"
        )
    return graph_of_lines(num_vertices, num_edges, found.after(1), int(found.lines[0]), source)


def graph_of_lines(num_vertices: int, num_edges: int, found: NumberLines, header: int, source: Source) -> Graph:
    """Return the graph of a header and its edge lines, ids from 1."""
    edges, weights = edges_of(found)
    if len(edges) != num_edges:
        raise MalformedLine(header, f"the header promises {num_edges} edges; there are {len(edges)}")
    return Graph(num_vertices, edges, weights, index_base=1, source=source.on_lines(found.lines))
