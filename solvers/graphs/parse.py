"""The canonical form of a graph: what every other operation takes the caller's graph for.

Tables of predictions have their rows in the order of its edges; the answer, sent back as a request, is the same graph again.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
import orjson
from pydantic import BaseModel, ConfigDict, Field

from solvers.graphs import adapters
from solvers.graphs.canonical import Instance
from solvers.graphs.request import InstanceFields
from solvers.graphs.result import Id, Number, WarningEntry
from solvers.operation import Context, Operation, Resources

LARGEST_INLINE = 100_000
LINES_AT_ONCE = 2**18

EXAMPLES: dict[str, dict[str, Any]] = {
    "A text in Gset's format, with a duplicate and a self-loop": {
        "problem": "max-cut",
        "graph": {"text": "3 4\n2 1 5\n1 2 -1\n3 3 1\n2 3 1\n"},
    },
    "Named vertices": {"problem": "max-cut", "labels": ["ann", "bob", "cy"], "edges": [["cy", "ann"]], "edge_weights": [0.5]},
}

DESCRIPTION = f"""
Reads a graph in any form that the other operations take, and gives it in canonical form: edges by first appearance, each in the
direction in which it was written there, without duplicates and self-loops. Row e of `edge_bits`, and an edge of a certificate, speak of
row e of these edges.

Edges are pairs of integers from `index_base`; where the vertices have names, they count the `labels`. A request with the same
`num_vertices`, `edges`, `edge_weights`, `labels` and `index_base` is about the same graph. More than {LARGEST_INLINE} edges come as a
`file` in Gset's format (rudy), whose ids count from 1.
"""


class ParseRequest(InstanceFields):
    """A graph, and what it is looked at for."""

    problem: Literal["max-cut"] = Field(description="The problem that the graph is read for.")


class ParseResult(BaseModel):
    """A graph in canonical form."""

    model_config = ConfigDict(extra="forbid")

    num_vertices: int = Field(description="Isolated vertices included.")
    num_edges: int = Field(description="Without duplicates and self-loops.")
    edges: list[Annotated[list[int], Field(min_length=2, max_length=2)]] | None = Field(
        None, description="By first appearance; integers from `index_base`, in the order of the labels if there are any."
    )
    edge_weights: list[Number] | None = Field(None, description="One for every edge; those of duplicates are added.")
    file: str | None = Field(
        None, description="Where there are too many edges: id of a file, in Gset's format, with the edges and their weights."
    )
    loops: list[Id] = Field(default_factory=list, description="The vertices of the self-loops that were dropped, each once.")
    labels: list[Id] | None = Field(None, description="The names of the vertices in order, if the request had names.")
    index_base: int = Field(0, ge=0, le=1, description="The integer id of the first vertex.")
    format: str | None = Field(None, description="The format that the graph was read from; null for an inline graph.")
    warnings: list[WarningEntry] = Field(default_factory=list, description="What was repaired.")


def run_parse(request: ParseRequest, context: Context) -> ParseResult:
    """Carry out a request."""
    instance = request.read_instance(context)
    result = ParseResult(
        num_vertices=instance.num_vertices,
        num_edges=len(instance.edges),
        loops=instance.vertex_ids(np.unique(instance.loops)),
        labels=instance.labels,
        index_base=instance.index_base,
        format=instance.format,
        warnings=[WarningEntry.model_validate(repair) for repair in instance.warnings],
    )
    if len(instance.edges) > LARGEST_INLINE:
        result.file = context.files.save(rudy_text(instance), name="graph.txt", media_type="text/plain")
    else:
        result.edges = (instance.edges + instance.index_base).tolist()
        result.edge_weights = instance.edge_weights.tolist()
    return result


def rudy_text(instance: Instance) -> bytes:
    """Return a graph as a text in Gset's format.

    Examples
    --------
    >>> from solvers.graphs.canonical import canonicalise
    >>> from solvers.graphs.graph import Graph
    >>> print(rudy_text(canonicalise(Graph(3, [[1, 0], [1, 2]], [1, 0.5]))).decode())
    3 2
    2 1 1.0
    2 3 0.5
    """
    pieces = [f"{instance.num_vertices} {len(instance.edges)}\n".encode()]
    for begin in range(0, len(instance.edges), LINES_AT_ONCE):
        rows = slice(begin, begin + LINES_AT_ONCE)
        columns = (instance.edges[rows, 0] + 1, instance.edges[rows, 1] + 1, instance.edge_weights[rows])
        lines = zip(*map(_words, columns), strict=True)
        pieces.append(b"\n".join(map(b" ".join, lines)) + b"\n")
    return b"".join(pieces)


def _words(numbers: np.ndarray) -> list[bytes]:
    """Return numbers as they are written, floats so that they are read as the same again."""
    return orjson.dumps(np.ascontiguousarray(numbers), option=orjson.OPT_SERIALIZE_NUMPY)[1:-1].split(b",")


def from_file(file_id: str) -> dict[str, Any]:
    """Return the body that asks about the graph in an uploaded file.

    Examples
    --------
    >>> from_file("file_1")
    {'graph': {'file': 'file_1'}, 'problem': 'max-cut'}
    """
    return adapters.from_file(file_id) | {"problem": "max-cut"}


def from_objects(graph: Any, *, problem: str = "max-cut") -> dict[str, Any]:
    """Return the body that asks about a graph in memory.

    Examples
    --------
    >>> from_objects([[0, 1]])["edges_flat"]
    [0, 1]
    """
    return adapters.from_objects(graph) | {"problem": problem}


GRAPHS_PARSE = Operation(
    name="graphs-parse",
    path="graphs/parse",
    summary="Read a graph in any form and give its canonical list of edges.",
    description=DESCRIPTION,
    request=ParseRequest,
    result=ParseResult,
    run=run_parse,
    resources=Resources(time_limit=60.0),
    examples=EXAMPLES,
    volatile=("file",),
    from_file=from_file,
    from_objects=from_objects,
)
