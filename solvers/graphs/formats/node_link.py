"""Node-link JSON, as NetworkX writes it: ``{"nodes": [{"id": ..}], "edges": [{"source": .., "target": ..}]}``, perhaps with a `weight`."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import orjson

from solvers.graphs.arrays import as_written
from solvers.graphs.formats.text import MalformedLine, Text
from solvers.graphs.graph import Graph, InvalidGraph, Source, label_positions

DEEPEST_LABEL = 16


def read_node_link_text(text: Text, source: Source) -> Graph:
    """Return the graph of a node-link text.

    Raises
    ------
    InvalidGraph
        If the text is no JSON, or the document is malformed.
    """
    try:
        document = orjson.loads(text.content)
    except orjson.JSONDecodeError as fault:
        raise MalformedLine(fault.lineno, f"this is no JSON: {fault.msg}") from None
    return read_node_link(document, source.edge)


def read_node_link(document: Any, pointer: str = "") -> Graph:
    """Return the graph of a node-link document; its list of edges is named ``edges`` or ``links``.

    Parameters
    ----------
    document : dict
    pointer : str
        JSON pointer of the document itself.

    Raises
    ------
    InvalidGraph
        If a node has no id or that of another, an edge names no node, or a weight is no number.

    Examples
    --------
    >>> read_node_link({"nodes": [{"id": "a"}, {"id": "b"}], "edges": [{"source": "b", "target": "a"}]}).edges.tolist()
    [[1, 0]]
    """
    if not isinstance(document, Mapping):
        raise InvalidGraph("a node-link document is an object", pointer=pointer)
    nodes = _rows(document, "nodes", pointer)
    name = "links" if "links" in document and "edges" not in document else "edges"
    rows = _rows(document, name, pointer)
    labels = [frozen(_member(nodes, index, "id", f"{pointer}/nodes")) for index in range(len(nodes))]
    positions = _positions(labels, f"{pointer}/nodes")

    prefix = f"{pointer}/{name}"
    ends = [_positions_of(rows, end, positions, prefix) for end in ("source", "target")]
    weights = [row.get("weight", 1) for row in rows]
    source = Source(
        f"{prefix}/{{edge}}",
        f"{prefix}/{{edge}}/source",
        f"{prefix}/{{edge}}/target",
        f"{prefix}/{{edge}}/weight",
        f"{pointer}/nodes/{{vertex}}/weight",
        format="node_link",
        is_directed=bool(document.get("directed", False)),
    )
    return Graph(
        len(labels),
        np.column_stack(ends),
        weights,
        labels=labels,
        source=source,
        read_vertex_weights=lambda: [node.get("weight", 1) for node in nodes],
    )


def frozen(label: Any, depth: int = DEEPEST_LABEL) -> Any:
    """Return a label as a dictionary key: JSON has lists where NetworkX had tuples.

    Lists nested more than `depth` deep stay lists, so that a label with them is no key.

    Examples
    --------
    >>> frozen([0, [1, 2]])
    (0, (1, 2))
    """
    return tuple(frozen(part, depth - 1) for part in label) if isinstance(label, list) and depth else label


def _rows(document: Mapping[str, Any], name: str, pointer: str) -> list[dict[str, Any]]:
    rows = document.get(name)
    if not isinstance(rows, list):
        raise InvalidGraph(f"a node-link document has a list {name!r}", pointer=f"{pointer}/{name}")
    if not set(map(type, rows)) <= {dict}:
        index = next(index for index, row in enumerate(rows) if not isinstance(row, dict))
        raise InvalidGraph(f"{as_written(rows[index])} is not an object", pointer=f"{pointer}/{name}/{index}")
    return rows


def _member(rows: list[dict[str, Any]], index: int, name: str, prefix: str) -> Any:
    try:
        return rows[index][name]
    except KeyError:
        raise InvalidGraph(f"the member {name!r} is missing", pointer=f"{prefix}/{index}") from None


def _positions(labels: list[Any], prefix: str) -> Mapping[Hashable, int]:
    try:
        return label_positions(labels, prefix)
    except InvalidGraph as fault:
        fault.pointer = f"{fault.pointer}/id"
        raise


def _positions_of(rows: list[dict[str, Any]], end: str, positions: Mapping[Hashable, int], prefix: str) -> list[int]:
    try:
        return [positions[row[end]] for row in rows]
    except (KeyError, TypeError):
        pass
    found = []
    for index in range(len(rows)):
        name = frozen(_member(rows, index, end, prefix))
        if not isinstance(name, Hashable) or name not in positions:
            raise InvalidGraph(f"there is no node {as_written(name)}", pointer=f"{prefix}/{index}/{end}")
        found.append(positions[name])
    return found
