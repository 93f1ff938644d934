"""Edge lists: a line ``u v [weight]`` per edge, ids of the caller's own."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.graphs.arrays import Array, as_written
from solvers.graphs.formats.text import MalformedLine, NumberLines, Text, edges_of, require_two_or_three
from solvers.graphs.graph import Graph, InvalidGraph, Source

INTEGER = re.compile(rb"[+-]?\d{1,19}")


def read_edge_list(text: Text, source: Source, index_base: int | None = None) -> Graph:
    """Return the graph of an edge list; lines that begin with ``#`` or ``%`` are comments.

    Parameters
    ----------
    text : Text
    source : Source
    index_base : {0, 1}, optional
        Where it is given, ids are integers from it up to the largest. Otherwise they are names, in order of first appearance:
        integers if all are, of 64 bits, else strings.

    Raises
    ------
    InvalidGraph
        If a line is malformed.
    """
    try:
        found = text.body.filled()
        edges, weights = edges_of(found)
    except InvalidGraph:
        if index_base is not None:
            raise
        return _with_names_as_written(text, source)
    if index_base is not None:
        return Graph(None, edges, weights, index_base=index_base, source=source.on_lines(found.lines))
    if not _are_exact(found, edges):
        return _with_names_as_written(text, source)

    names, firsts, places = np.unique(edges, return_index=True, return_inverse=True)
    by_appearance = np.argsort(firsts)
    rank = np.empty_like(by_appearance)
    rank[by_appearance] = np.arange(len(names))
    labels = names[by_appearance].tolist()
    return Graph(len(labels), rank[places].reshape(-1, 2), weights, labels=labels, source=source.on_lines(found.lines))


def _are_exact(found: NumberLines, ids: Array) -> bool:
    """Whether the bulk parser kept every id: it holds integers at the ends of its range, and rounds those among floats."""
    largest = 2**53 if found.numbers.dtype == np.float64 else 2**63 - 1
    return not ids.size or bool(-largest < ids.min() and ids.max() < largest)


def _with_names_as_written(text: Text, source: Source) -> Graph:
    words, fields = text.words(text.uncommented)
    lines, fields = text.uncommented[fields > 0] + 1, fields[fields > 0]
    require_two_or_three(fields, lines)
    begins = np.cumsum(fields) - fields
    names = _decoded([words[place] for place in np.column_stack([begins, begins + 1]).ravel().tolist()], lines)
    labels = list(dict.fromkeys(names))
    positions = {label: position for position, label in enumerate(labels)}
    edges = np.fromiter(map(positions.__getitem__, names), np.int64, len(names)).reshape(-1, 2)

    weights = None
    weighted = np.flatnonzero(fields == 3)
    if len(weighted):
        weights = np.ones(len(fields))
        weights[weighted] = [
            _weight(words[place], line) for place, line in zip((begins[weighted] + 2).tolist(), lines[weighted], strict=True)
        ]
    return Graph(len(labels), edges, weights, labels=labels, source=source.on_lines(lines))


def _weight(field: bytes, line: int) -> float:
    try:
        # Python would take 1_000 for a number.
        return float(field.replace(b"_", b"?"))
    except ValueError:
        raise MalformedLine(line, f"the weight {as_written(field.decode('utf-8', 'replace'))} is not a number") from None


def _decoded(names: list[bytes], lines: npt.NDArray[np.int64]) -> list[Any]:
    if all(map(INTEGER.fullmatch, names)):
        found = [int(name) for name in names]
        if not found or (min(found) >= -(2**63) and max(found) < 2**63):
            return found
    try:
        return [name.decode() for name in names]
    except UnicodeDecodeError as fault:
        index = names.index(fault.object)
        raise MalformedLine(lines[index // 2], f"{as_written(names[index])} is not UTF-8") from None
