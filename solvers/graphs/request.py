"""What a request about a graph may say: the instance, predictions about it, and how to search.

Lists of a million elements are passed through unchecked by the models and turned into arrays in one go by
:meth:`InstanceFields.read_instance` and :meth:`GraphRequest.read_predictions`, whose faults carry the pointer of the element.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, PrivateAttr, WithJsonSchema, model_validator

from solvers.graphs.arrays import Flag, Integer, Number, as_written, inside, integers, is_integer, list_of
from solvers.graphs.canonical import Instance, Problem, canonicalise
from solvers.graphs.formats import Format, read_graph, read_node_link
from solvers.graphs.formats.node_link import frozen
from solvers.graphs.graph import FLAT, Graph, InvalidGraph
from solvers.graphs.prediction_fields import PredictionFields, as_list_of_predictions, fitted, held_prediction, one_or_many
from solvers.graphs.predictions import EdgePredictions, VertexPredictions
from solvers.operation import Context, UnknownFile

_NUMBER = {"type": "number"}
_ID = {"anyOf": [{"type": "integer"}, {"type": "string"}]}
_PAIR = {"type": "array", "items": _ID, "minItems": 2, "maxItems": 2}
_LABEL = {"anyOf": [{"type": "integer"}, {"type": "number"}, {"type": "string"}, {"type": "array"}]}


class GraphSource(BaseModel):
    """A graph given as a document, a text or an uploaded file."""

    model_config = ConfigDict(extra="forbid")

    node_link: dict[str, Any] | None = Field(
        None, description="Node-link document as NetworkX writes it: `nodes`, `edges` or `links`."
    )
    file: str | None = Field(None, description="Id of an uploaded file.")
    text: str | None = Field(None, description="The content of such a file.")
    format: Format | None = Field(None, description="Format of `file` or `text`; told by the content where it is left out.")

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        given = [name for name in ("node_link", "file", "text") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"give one of node_link, file and text, not {' and '.join(given) or 'none of them'}")
        if self.node_link is not None and self.format not in (None, "node_link"):
            raise ValueError(f"a node-link document is not in format {self.format}")
        return self

    def read(self, context: Context, index_base: int | None) -> Graph:
        """Return the graph as listed."""
        if self.node_link is not None:
            if index_base is not None:
                raise InvalidGraph("node-link ids are names; index_base is for edge lists", pointer="/index_base")
            return read_node_link(self.node_link, "/graph/node_link")
        if self.text is not None:
            return read_graph(self.text, self.format, index_base=index_base)
        assert self.file is not None
        try:
            with context.files.open(self.file) as stream:
                content = stream.read()
        except UnknownFile as fault:
            fault.pointer = "/graph/file"
            raise
        return read_graph(content, self.format, index_base=index_base, pointer="/graph/file")


class InstanceFields(BaseModel):
    """A graph: either the fields of an inline graph, or `graph`."""

    model_config = ConfigDict(extra="forbid")

    num_vertices: Integer | None = Field(
        None, ge=0, description="Default: the number of labels, else as many as the largest id asks for."
    )
    edges: Annotated[list[Any], list_of(_PAIR)] | None = Field(
        None, description="Pairs of ids: integers from `index_base`, or names, if one of them is a string."
    )
    edges_flat: Annotated[list[Any], list_of({"type": "integer"})] | None = Field(
        None, description="`edges` pair after pair in one list of integers; faster to read."
    )
    edge_weights: Annotated[list[Any], list_of(_NUMBER)] | None = Field(
        None, description="Any sign; default 1. Integers are exact while the sum of their magnitudes is at most 2^53."
    )
    vertex_weights: Annotated[list[Any], list_of(_NUMBER)] | None = Field(
        None,
        description="Not negative; default 1. Ignored by problems about edges, as weights of edges are by those about vertices.",
    )
    index_base: Integer | None = Field(
        None,
        ge=0,
        le=1,
        description="The least integer id: 0 (default) or 1. With it, the ids of an edge list in `graph` are integers.",
    )
    labels: Annotated[list[Any], list_of(_LABEL)] | None = Field(
        None, description="A name for every vertex, isolated ones too; edges may use them, and the answer does."
    )
    graph: GraphSource | None = Field(None, description="The graph in another form, in place of the fields of an inline graph.")

    _listed: Graph | None = PrivateAttr(None)

    @model_validator(mode="after")
    def _is_one_instance(self) -> Self:
        self.require_one_graph()
        return self

    def require_one_graph(self) -> None:
        """Refuse with a ValueError what gives no graph, or more than one."""
        inline = ("num_vertices", "edges", "edges_flat", "edge_weights", "vertex_weights", "labels")
        given = [name for name in inline if getattr(self, name) is not None]
        if self.graph is not None and given:
            raise ValueError(f"give the graph inline or as 'graph', not both: {', '.join(given)}")
        if self.graph is None and not {"num_vertices", "edges", "edges_flat", "labels"}.intersection(given):
            raise ValueError("there is no graph: give 'edges', 'edges_flat', 'num_vertices', 'labels' or 'graph'")
        if self.edges is not None and self.edges_flat is not None:
            raise ValueError("edges and edges_flat are the same list; give one of them")

    def read_instance(self, context: Context, problem: Problem = "max-cut") -> Instance:
        """Return the graph in canonical order, as a problem looks at it.

        Raises
        ------
        InvalidInput
            If the graph is malformed; the fault names the element or the line.
        TooLarge
            If it has more vertices or edges than the service takes.
        UnknownFile
            If `graph` names no file of the caller's.
        """
        graph = self._listed
        if graph is None:
            graph = self._inline(context) if self.graph is None else self.graph.read(context, self.index_base)
        where = "/graph" if self.graph is not None else "/edges" if self.edges_flat is None else "/edges_flat"
        context.require("max_vertices", graph.num_vertices, "vertices", pointer=where)
        context.require("max_edges", len(graph.edges), "edges", pointer=where)
        return canonicalise(graph, problem)

    def _inline(self, context: Context) -> Graph:
        context.require("max_vertices", self.num_vertices or 0, "vertices", pointer="/num_vertices")
        context.require("max_vertices", len(self.labels or ()), "vertices", pointer="/labels")
        context.require("max_edges", len(self.edges or ()), "edges", pointer="/edges")
        context.require("max_edges", len(self.edges_flat or ()) // 2, "edges", pointer="/edges_flat")
        labels = None if self.labels is None else [frozen(label) for label in self.labels]
        weights = (self.edge_weights, self.vertex_weights)
        base = self.index_base or 0
        if self.edges_flat is None:
            return Graph(self.num_vertices, self.edges or [], *weights, labels, base)
        if len(self.edges_flat) % 2:
            raise InvalidGraph(f"{len(self.edges_flat)} ids are no pairs", pointer="/edges_flat")
        flat = integers(self.edges_flat, inside("/edges_flat"), "the id of a vertex")
        return Graph(self.num_vertices, flat.reshape(-1, 2), *weights, labels, base, source=FLAT)


def _threshold(value: Any) -> Any:
    if value in ("auto", "paper") or (is_integer(value) and value >= 1):
        return value
    raise ValueError(f"{as_written(value)} is neither 'auto' nor 'paper' nor a number of votes from 1 up")


class SearchOptions(BaseModel):
    """How to search, and when to stop."""

    model_config = ConfigDict(extra="forbid")

    method: Literal["auto", "paper", "greedy", "local_search", "exact"] = Field(
        "auto",
        description="`auto`: every stage, ending with the exact finish; `paper`: the published algorithm with its own threshold; "
        "`greedy`, `local_search`: that stage, with no exact finish; `exact`: no more search than a warm start needs.",
    )
    threshold: Annotated[
        Any,
        PlainValidator(_threshold),
        WithJsonSchema({"anyOf": [{"type": "string", "enum": ["auto", "paper"]}, {"type": "integer", "minimum": 1}]}),
    ] = Field(
        "auto", description="Votes from which a vertex follows its prediction: tried out (`auto`), the paper's, or a number."
    )
    time_limit: Number | None = Field(
        None, gt=0, description="Seconds until the answer, reading and bounds included; default: the operation's."
    )
    max_iterations: Integer | None = Field(
        None,
        ge=1,
        le=2**53,
        description="Iterations of the local search without predictions; predictions get as many on top. Then no stage reads the "
        "clock, and the same seed gives the same answer.",
    )
    target: Number | None = Field(None, description="Stop at the first solution that is at least as good.")
    certificate: Flag = Field(True, description="Whether to return the proof of the bound.")
    solution_file: Flag = Field(False, description="Whether to write the solution to a file, too.")
    seed: Integer = Field(0, ge=0, le=2**53, description="Of all random choices.")


class GraphRequest(InstanceFields):
    """A graph and, if there is one, a prediction about an optimal solution."""

    predictions: Annotated[
        Any, PlainValidator(one_or_many, json_schema_input_type=PredictionFields | list[PredictionFields] | None)
    ] = Field(None, description="A prediction, or a list of predictions from several sources.")
    options: SearchOptions = Field(default_factory=SearchOptions)

    _held: list[Any] = PrivateAttr(default_factory=list)

    @classmethod
    def of(cls, graph: Any, predictions: Any = None, **fields: Any) -> Self:
        """Return the request of a library call, whose arrays are taken as they are.

        Parameters
        ----------
        graph : object
            As for :meth:`solvers.graphs.graph.Graph.from_objects`.
        predictions : EdgePredictions, VertexPredictions, PredictionFields or dict, or a list of them, optional
            A dict has the fields of a request.
        **fields
            Further fields of the request, such as ``options={"time_limit": 10}``.

        Examples
        --------
        >>> request = GraphRequest.of([[0, 1], [1, 2]], EdgePredictions([[0, 1], [1, 0]], epsilon=0.1), options={"seed": 1})
        >>> request.read_predictions(request.read_instance(Context()))[0].epsilon
        0.1
        """
        listed = Graph.from_objects(graph)
        request = cls(num_vertices=listed.num_vertices, **fields)
        request._listed = listed
        request._held = [held_prediction(one) for one in as_list_of_predictions(predictions)]
        return request

    def read_predictions(self, instance: Instance) -> list[EdgePredictions | VertexPredictions]:
        """Return the predictions as arrays that fit the instance.

        Raises
        ------
        InvalidInput
            If one is malformed, or its length does not fit; the fault names the element.
        """
        given = self._held or as_list_of_predictions(self.predictions)
        is_list = len(given) > 1 or isinstance(self.predictions, list)
        found: list[EdgePredictions | VertexPredictions] = []
        for index, one in enumerate(given):
            pointer = f"/predictions/{index}" if is_list else "/predictions"
            found += one.read(instance, pointer) if isinstance(one, PredictionFields) else [fitted(one, instance, pointer)]
        return found
