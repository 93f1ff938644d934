"""The canonical form of a graph or set system: what every other operation takes the caller's instance for.

Tables of predictions have their rows in the order of its edges or sets; the answer, sent back as a request, is the same instance again.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from solvers.graphs import adapters
from solvers.graphs.any_instance import AnyInstanceFields, AnyProblem, body_of
from solvers.graphs.canonical_text import dimacs_text, rail_text, rudy_text
from solvers.graphs.formats.set_cover import read_set_system
from solvers.graphs.result import Id, Number, WarningEntry
from solvers.operation import Context, Operation, Resources

LARGEST_INLINE = 100_000

EXAMPLES: dict[str, dict[str, Any]] = {
    "A text in Gset's format, with a duplicate and a self-loop": {
        "problem": "max-cut",
        "graph": {"text": "3 4\n2 1 5\n1 2 -1\n3 3 1\n2 3 1\n"},
    },
    "Named vertices": {"problem": "max-cut", "labels": ["ann", "bob", "cy"], "edges": [["cy", "ann"]], "edge_weights": [0.5]},
    "Weights of vertices, in DIMACS format": {
        "problem": "vertex-cover",
        "graph": {"text": "p edge 3 2\nn 2 5\ne 1 2\ne 2 3\n"},
    },
    "Sets in the OR-Library's format": {"problem": "set-cover", "graph": {"text": "3 3\n1 1 2\n2 1 3\n2 1 2\n2 2 3\n"}},
}

DESCRIPTION = f"""
Reads a graph or set system in any form that the other operations take, as they read it for `problem`, and gives it in canonical form:
edges by first appearance, each in the direction in which it was written there, without duplicates and self-loops; the elements of a
set in increasing order, each once. Row e of `edge_bits`, and an edge of a certificate, speak of row e of these edges.

Ids are integers from `index_base`; where vertices or elements have names, they count the `labels`. A request with the same
`num_vertices`, `edges`, `edge_weights`, `vertex_weights`, `labels` and `index_base` (`num_elements`, `sets`, `costs`, `labels` and
`index_base`) is about the same instance, but for self-loops. More than {LARGEST_INLINE} edges, or elements of sets, come as a `file` whose
ids count from 1: in Gset's format (`rudy`) for max-cut, in DIMACS format (`dimacs`) for vertex-cover and independent-set, in that of the
OR-Library's railway instances (`rail`) for set-cover.
"""


class ParseRequest(AnyInstanceFields):
    """A graph or set system, and the problem that it is read for."""


class ParseResult(BaseModel):
    """A graph or set system in canonical form."""

    model_config = ConfigDict(extra="forbid")

    num_vertices: int | None = Field(None, description="Isolated vertices included; null for a set system.")
    num_edges: int | None = Field(None, description="Without duplicates and self-loops; null for a set system.")
    edges: list[Annotated[list[int], Field(min_length=2, max_length=2)]] | None = Field(
        None, description="By first appearance; integers from `index_base`, in the order of the labels if there are any."
    )
    edge_weights: list[Number] | None = Field(None, description="One for every edge, those of duplicates added; max-cut only.")
    vertex_weights: list[Number] | None = Field(None, description="One for every vertex; vertex-cover and independent-set only.")
    num_elements: int | None = Field(None, description="Elements in no set included; null for a graph.")
    num_sets: int | None = Field(None, description="Empty ones included; null for a graph.")
    sets: list[list[int]] | None = Field(
        None, description="The elements of every set; integers from `index_base`, in the order of the labels if there are any."
    )
    costs: list[Number] | None = Field(None, description="One for every set.")
    file: str | None = Field(None, description="Id of the file that holds edges or sets, and weights, where there are too many.")
    loops: list[Id] = Field(default_factory=list, description="The vertices of the self-loops that were taken out, each once.")
    labels: list[Id] | None = Field(None, description="The names of the vertices or elements in order, if the request had names.")
    index_base: int = Field(0, ge=0, le=1, description="The integer id of the first vertex, or of the first set and element.")
    format: str | None = Field(None, description="The format that the instance was read from; null for an inline one.")
    warnings: list[WarningEntry] = Field(default_factory=list, description="What was repaired.")


def run_parse(request: ParseRequest, context: Context) -> ParseResult:
    """Carry out a request."""
    return _parsed_sets(request, context) if request.problem == "set-cover" else _parsed_graph(request, context)


def _parsed_graph(request: ParseRequest, context: Context) -> ParseResult:
    instance = request.read(context)
    is_cut = request.problem == "max-cut"
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
        result.file = _saved(rudy_text(instance) if is_cut else dimacs_text(instance), context)
        return result
    result.edges = (instance.edges + instance.index_base).tolist()
    if is_cut:
        result.edge_weights = instance.edge_weights.tolist()
    else:
        result.vertex_weights = instance.vertex_weights.tolist()
    return result


def _parsed_sets(request: ParseRequest, context: Context) -> ParseResult:
    system = request.read_system(context)
    result = ParseResult(
        num_elements=system.num_elements,
        num_sets=system.num_sets,
        labels=system.labels,
        index_base=system.index_base,
        format=system.format,
        warnings=[WarningEntry.model_validate(repair) for repair in system.warnings],
    )
    if len(system.elements) > LARGEST_INLINE:
        result.file = _saved(rail_text(system), context)
        return result
    elements = (system.elements + system.index_base).tolist()
    result.sets = [elements[begin:end] for begin, end in pairwise(system.set_ptr.tolist())]
    result.costs = system.costs.tolist()
    return result


def _saved(text: bytes, context: Context) -> str:
    return context.files.save(text, name="instance.txt", media_type="text/plain")


def from_file(file_id: str) -> dict[str, Any]:
    """Return the body that asks about the graph in an uploaded file.

    Examples
    --------
    >>> from_file("file_1")
    {'graph': {'file': 'file_1'}, 'problem': 'max-cut'}
    """
    return adapters.from_file(file_id) | {"problem": "max-cut"}


def from_objects(instance: Any, *, problem: AnyProblem = "max-cut") -> dict[str, Any]:
    """Return the body that asks about a graph or set system in memory.

    Examples
    --------
    >>> from_objects([[0, 1]])["edges_flat"]
    [0, 1]
    """
    return body_of(problem)(instance) | {"problem": problem}


def warm() -> None:
    """Compile, or load from the cache, what reads sets."""
    read_set_system("1 1\n1 1 1\n", "rail")


GRAPHS_PARSE = Operation(
    name="graphs-parse",
    path="graphs/parse",
    summary="Read a graph or set system in any form and give it in canonical form.",
    description=DESCRIPTION,
    request=ParseRequest,
    result=ParseResult,
    run=run_parse,
    resources=Resources(time_limit=60.0),
    examples=EXAMPLES,
    volatile=("file",),
    warm=warm,
    from_file=from_file,
    from_objects=from_objects,
)
