"""An instance of any of the problems: a graph or a set system, as the problem has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, PlainValidator, TypeAdapter, model_validator

from solvers.graphs import adapters, set_cover_request
from solvers.graphs.arrays import Integer, list_of
from solvers.graphs.canonical import Instance
from solvers.graphs.canonical import Problem as GraphProblem
from solvers.graphs.request import GraphSource, InstanceFields
from solvers.graphs.set_cover_request import SetSystemFields, SetSystemSource
from solvers.graphs.set_system import SetSystem
from solvers.operation import Context, InvalidInput

AnyProblem = Literal["max-cut", "vertex-cover", "independent-set", "set-cover"]

_OF_GRAPHS = ("num_vertices", "edges", "edges_flat", "edge_weights", "vertex_weights")
_OF_SET_SYSTEMS = ("num_elements", "sets", "costs")

_SOURCES: dict[bool, TypeAdapter[BaseModel]] = {True: TypeAdapter(SetSystemSource), False: TypeAdapter(GraphSource)}


def _source(value: Any) -> Any:
    # Not left to a union, whose faults would name its branches in their pointers.
    if value is None or isinstance(value, (GraphSource, SetSystemSource)):
        return value
    is_set_system = isinstance(value, dict) and value.get("format") in ("orlib", "rail", "steiner")
    return _SOURCES[is_set_system].validate_python(value)


class AnyInstance(InstanceFields):
    """A graph or a set system: either the fields of an inline one, or `graph`."""

    graph: Annotated[Any, PlainValidator(_source, json_schema_input_type=GraphSource | SetSystemSource | None)] = Field(
        None, description="The graph or set system in another form, in place of the fields of an inline one."
    )
    num_elements: Integer | None = Field(None, ge=0, description="Of a set system; default: as many as the largest id asks for.")
    sets: (
        Annotated[list[Any], list_of({"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "string"}]}})] | None
    ) = Field(None, description="The elements of every set, for set-cover.")
    costs: Annotated[list[Any], list_of({"type": "number", "minimum": 0})] | None = Field(
        None, description="What choosing each set costs; default 1."
    )

    @model_validator(mode="after")
    def _is_one_instance(self) -> Self:
        # A file may be either; the problem tells once it is known.
        if isinstance(self.graph, SetSystemSource) or any(getattr(self, name) is not None for name in _OF_SET_SYSTEMS):
            self.require_one_instance_of("set-cover")
        elif self.graph is None or any(getattr(self, name) is not None for name in _OF_GRAPHS):
            self.require_one_graph()
        return self

    def require_one_instance_of(self, problem: AnyProblem) -> None:
        """Refuse with a ValueError what gives no instance of a problem, or more than one."""
        foreign = _OF_GRAPHS if problem == "set-cover" else _OF_SET_SYSTEMS
        stray = [name for name in foreign if getattr(self, name) is not None]
        if stray:
            raise ValueError(f"{problem} has no {', '.join(stray)}")
        if problem != "set-cover":
            self.require_one_graph()
        elif (self.graph is None) == (self.sets is None):
            raise ValueError("give the system as 'sets' or as 'graph'")
        elif self.graph is not None and (self.num_elements, self.costs, self.labels, self.index_base) != (None,) * 4:
            raise ValueError("give the system inline or as 'graph', not both")

    def read_as(self, problem: AnyProblem, context: Context) -> Instance | SetSystem:
        """Return the instance as a problem looks at it, whose elements some set covers; faults as for the two that it may be."""
        try:
            self.require_one_instance_of(problem)
        except ValueError as fault:
            raise InvalidInput(str(fault), pointer="") from None
        if problem != "set-cover":
            return self.read_graph(problem, context)
        system = self.read_system(context)
        system.require_coverable()
        return system

    def read_graph(self, problem: GraphProblem, context: Context) -> Instance:
        """Return the graph in canonical order, as the problem looks at it; faults as for :meth:`read_instance`."""
        if isinstance(self.graph, SetSystemSource):
            raise InvalidInput(
                f"{problem} is about a graph, not a set system in format {self.graph.format}", pointer="/graph/format"
            )
        return self.read_instance(context, problem)

    def read_system(self, context: Context) -> SetSystem:
        """Return the set system; faults as for :meth:`solvers.graphs.set_cover_request.SetSystemFields.read_system`."""
        source = self.graph
        if isinstance(source, GraphSource):
            if source.node_link is not None or source.format is not None:
                kind = "node_link" if source.format is None else source.format
                raise InvalidInput(f"a set system is no graph in format {kind}", pointer="/graph")
            source = SetSystemSource(file=source.file, text=source.text)
        fields = SetSystemFields(
            num_elements=self.num_elements,
            sets=self.sets,
            costs=self.costs,
            index_base=self.index_base,
            labels=self.labels,
            graph=source,
        )
        return fields.read_system(context)


class AnyInstanceFields(AnyInstance):
    """A problem, and the graph or set system that it is about."""

    problem: AnyProblem = Field(description="What is to be solved.")

    @model_validator(mode="after")
    def _is_one_instance(self) -> Self:
        self.require_one_instance_of(self.problem)
        return self

    def read(self, context: Context) -> Instance:
        """Return the graph in canonical order, as the problem looks at it; faults as for :meth:`read_instance`."""
        assert self.problem != "set-cover"
        return self.read_graph(self.problem, context)


def body_of(problem: AnyProblem) -> Callable[..., dict[str, Any]]:
    """Return what turns an instance of a problem in memory into the body of a request."""
    if problem == "set-cover":
        return set_cover_request.from_objects
    return adapters.from_objects if problem == "max-cut" else adapters.from_weighted_objects
