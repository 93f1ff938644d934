"""Canonical graphs and set systems written as texts that the service reads again, for what is too large for a response.

Numbers are written by the JSON library, floats so that they are read as the same again; no line is formatted in a loop in Python.
"""

from __future__ import annotations

import numpy as np
import orjson

from solvers.graphs.arrays import Array
from solvers.graphs.canonical import Instance
from solvers.graphs.set_system import SetSystem

LINES_AT_ONCE = 2**18


def rudy_text(instance: Instance) -> bytes:
    """Return a graph with weights of edges as a text in Gset's format.

    Examples
    --------
    >>> from solvers.graphs.canonical import canonicalise
    >>> from solvers.graphs.graph import Graph
    >>> print(rudy_text(canonicalise(Graph(3, [[1, 0], [1, 2]], [1, 0.5]))).decode())
    3 2
    2 1 1.0
    2 3 0.5
    """
    header = f"{instance.num_vertices} {len(instance.edges)}\n".encode()
    return header + _lines(b"", *(instance.edges + 1).T, instance.edge_weights)


def dimacs_text(instance: Instance) -> bytes:
    """Return a graph with weights of vertices as a text in DIMACS format.

    Examples
    --------
    >>> from solvers.graphs.canonical import canonicalise
    >>> from solvers.graphs.graph import Graph
    >>> print(dimacs_text(canonicalise(Graph(2, [[1, 0]], vertex_weights=[3, 1]), "vertex-cover")).decode())
    p edge 2 1
    n 1 3
    n 2 1
    e 2 1
    """
    header = f"p edge {instance.num_vertices} {len(instance.edges)}\n".encode()
    vertices = np.arange(1, instance.num_vertices + 1)
    return header + _lines(b"n ", vertices, instance.vertex_weights) + _lines(b"e ", *(instance.edges + 1).T)


def rail_text(system: SetSystem) -> bytes:
    """Return a set system as a text in the format of the OR-Library's railway instances.

    Examples
    --------
    >>> rail_text(SetSystem([[0, 2], [], [1]], costs=[5, 1, 2])).split()
    [b'3', b'3', b'5', b'2', b'1', b'3', b'1', b'0', b'2', b'1', b'2']
    """
    begins = system.set_ptr[:-1] + 2 * np.arange(system.num_sets)
    numbers = np.empty(2 * system.num_sets + len(system.elements), system.costs.dtype)
    is_element = np.ones(len(numbers), bool)
    is_element[begins] = is_element[begins + 1] = False
    numbers[begins], numbers[begins + 1] = system.costs, np.diff(system.set_ptr)
    numbers[is_element] = system.elements + 1
    return f"{system.num_elements} {system.num_sets}\n".encode() + _lines(b"", numbers)


def _lines(prefix: bytes, *columns: Array) -> bytes:
    """Return a line for every row of a table."""
    pieces = []
    for begin in range(0, len(columns[0]), LINES_AT_ONCE):
        words = (_words(column[begin : begin + LINES_AT_ONCE]) for column in columns)
        pieces.append(prefix + (b"\n" + prefix).join(map(b" ".join, zip(*words, strict=True))) + b"\n")
    return b"".join(pieces)


def _words(numbers: Array) -> list[bytes]:
    return orjson.dumps(np.ascontiguousarray(numbers), option=orjson.OPT_SERIALIZE_NUMPY)[1:-1].split(b",")
