"""Graphs as text: Gset and other collections in the formats that they come in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

from solvers.graphs.arrays import as_written
from solvers.graphs.formats.dimacs import read_dimacs, read_pace
from solvers.graphs.formats.edge_list import read_edge_list
from solvers.graphs.formats.matrix_market import read_matrix_market
from solvers.graphs.formats.metis import read_metis
from solvers.graphs.formats.node_link import read_node_link, read_node_link_text
from solvers.graphs.formats.rudy import read_rudy
from solvers.graphs.formats.sniffing import AmbiguousFormat, sniff
from solvers.graphs.formats.text import MalformedLine, Text
from solvers.graphs.graph import Graph, InvalidGraph, Source
from solvers.operation import InvalidInput

__all__ = ["FORMATS", "AmbiguousFormat", "Format", "MalformedLine", "read_graph", "read_node_link", "sniff_format"]

Format = Literal["rudy", "dimacs", "pace", "metis", "matrix_market", "edge_list", "node_link"]
FORMATS: tuple[str, ...] = get_args(Format)

_ONE_BASED: dict[str, Callable[[Text, Source], Graph]] = {
    "rudy": read_rudy,
    "dimacs": read_dimacs,
    "pace": read_pace,
    "metis": read_metis,
    "matrix_market": read_matrix_market,
}


def read_graph(
    text: str | bytes, format: str | None = None, *, index_base: int | None = None, pointer: str = "/graph/text"
) -> Graph:
    r"""Return the graph that a text describes.

    Parameters
    ----------
    text : str or bytes
        UTF-8.
    format : str, optional
        One of :data:`FORMATS`; default: told by the content.
    index_base : {0, 1}, optional
        Of an edge list: its ids are integers from here. The other formats have their own rule.
    pointer : str
        JSON pointer of the text, for faults.

    Raises
    ------
    InvalidInput
        If a line is malformed (the fault's member `line` counts from 1), the header disagrees with the body, or the format is
        unknown or ambiguous.

    Examples
    --------
    >>> graph = read_graph("3 2\n1 2\n2 3 -1\n")
    >>> graph.source.format, graph.edges.tolist(), graph.edge_weights.tolist()
    ('rudy', [[0, 1], [1, 2]], [1, -1])
    """
    if format is not None and format not in FORMATS:
        raise InvalidInput(
            f"there is no format {as_written(format)}; the known ones are {', '.join(FORMATS)}", pointer="/graph/format"
        )
    try:
        return _read(Text(text), format, index_base, pointer)
    except InvalidInput as fault:
        fault.pointer = pointer if fault.pointer is None else fault.pointer
        raise


def sniff_format(text: str | bytes) -> str:
    r"""Return the format that a text is in, told by its content.

    Raises
    ------
    AmbiguousFormat
        If the text may be an edge list or a rudy file that was cut off.

    Examples
    --------
    >>> sniff_format("p edge 2 1\ne 1 2\n")
    'dimacs'
    """
    return sniff(Text(text))


def _read(text: Text, format: str | None, index_base: int | None, pointer: str) -> Graph:
    name = sniff(text) if format is None else format
    source = Source(pointer, pointer, pointer, pointer, pointer, has_row_per_edge=name == "edge_list", format=name)
    if name == "edge_list":
        return read_edge_list(text, source, index_base)
    if index_base is not None and (name == "node_link" or index_base != 1):
        rule = "node-link ids are names" if name == "node_link" else f"{name} files count from 1"
        raise InvalidGraph(f"{rule}; index_base is for edge lists", pointer="/index_base")
    if name == "node_link":
        return read_node_link_text(text, source)
    return _ONE_BASED[name](text, source)
