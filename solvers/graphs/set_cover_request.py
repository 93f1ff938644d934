"""What a request about a set system may say: the instance, predictions about it, and how to search."""

from __future__ import annotations

from typing import Annotated, Any, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, PlainValidator, PrivateAttr, TypeAdapter, model_validator

from solvers.graphs.arrays import Integer, Number, as_written, list_of
from solvers.graphs.formats.set_cover import SetCoverFormat, read_set_system
from solvers.graphs.incidence_predictions import IncidencePredictions, flat_bits
from solvers.graphs.prediction_fields import Accuracy, as_list_of_predictions, one_per_item, require_one_each
from solvers.graphs.predictions import VertexPredictions
from solvers.graphs.request import SearchOptions
from solvers.graphs.set_system import SetSystem
from solvers.operation import Context, InvalidInput, UnknownFile

SetPredictions = IncidencePredictions | VertexPredictions

_ID = {"anyOf": [{"type": "integer"}, {"type": "string"}]}
_BIT = {"anyOf": [{"type": "integer", "enum": [0, 1]}, {"type": "null"}]}
_PROBABILITY = {"anyOf": [{"type": "number", "minimum": 0, "maximum": 1}, {"type": "null"}]}


class SetSystemSource(BaseModel):
    """A set system given as a text or an uploaded file."""

    model_config = ConfigDict(extra="forbid")

    file: str | None = Field(None, description="Id of an uploaded file.")
    text: str | None = Field(None, description="The content of such a file.")
    format: SetCoverFormat | None = Field(
        None, description="Format of `file` or `text`; told by the content where it is left out."
    )

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.file is None) == (self.text is None):
            raise ValueError("give one of file and text")
        return self

    def read(self, context: Context) -> SetSystem:
        """Return the system as listed."""
        if self.text is not None:
            return self._named(*read_set_system(self.text, self.format))
        assert self.file is not None
        try:
            with context.files.open(self.file) as stream:
                content = stream.read()
        except UnknownFile as fault:
            fault.pointer = "/graph/file"
            raise
        return self._named(*read_set_system(content, self.format, pointer="/graph/file"))

    def _named(self, system: SetSystem, name: str) -> SetSystem:
        system.format = name
        return system


class SetSystemFields(BaseModel):
    """A set system: either the fields of an inline one, or `graph`."""

    model_config = ConfigDict(extra="forbid")

    num_elements: Integer | None = Field(
        None, ge=0, description="Default: the number of labels, else as many as the largest id asks for."
    )
    sets: Annotated[list[Any], list_of({"type": "array", "items": _ID})] | None = Field(
        None, description="The elements of every set: integers from `index_base`, or names, if one of them is a string."
    )
    costs: Annotated[list[Any], list_of({"type": "number", "minimum": 0})] | None = Field(
        None, description="What choosing each set costs, not negative; default 1. Integers are exact up to a sum of 2^53."
    )
    index_base: Integer | None = Field(
        None, ge=0, le=1, description="The id of the first set and of the first element: 0 (default) or 1."
    )
    labels: Annotated[list[Any], list_of(_ID)] | None = Field(None, description="A name for every element; sets may use them.")
    graph: SetSystemSource | None = Field(None, description="The system as a text or file, in place of the inline fields.")

    _listed: SetSystem | None = PrivateAttr(None)

    @model_validator(mode="after")
    def _is_one_instance(self) -> Self:
        inline = ("num_elements", "sets", "costs", "index_base", "labels")
        given = [name for name in inline if getattr(self, name) is not None]
        if self.graph is not None and given:
            raise ValueError(f"give the system inline or as 'graph', not both: {', '.join(given)}")
        if self.graph is None and self.sets is None:
            raise ValueError("there is no set system: give 'sets' or 'graph'")
        return self

    def read_system(self, context: Context) -> SetSystem:
        """Return the set system.

        Raises
        ------
        InvalidInput
            If it is malformed; the fault names the element or the line.
        TooLarge
            If it has more sets, elements or elements of sets than the service takes.
        UnknownFile
            If `graph` names no file of the caller's.
        """
        system = self._listed
        if system is None:
            system = self._inline(context) if self.graph is None else self.graph.read(context)
        where = "/sets" if self.graph is None else "/graph"
        context.require("max_vertices", system.num_sets, "sets", pointer=where)
        context.require("max_vertices", system.num_elements, "elements", pointer=where)
        context.require("max_edges", int(system.listed_sizes.sum()), "elements of sets", pointer=where)
        return system

    def _inline(self, context: Context) -> SetSystem:
        assert self.sets is not None
        context.require("max_vertices", self.num_elements or 0, "elements", pointer="/num_elements")
        context.require("max_vertices", len(self.sets), "sets", pointer="/sets")
        for j, row in enumerate(self.sets):
            if not isinstance(row, list):
                raise InvalidInput(f"{as_written(row)} is not a list of elements", pointer=f"/sets/{j}")
        context.require("max_edges", sum(map(len, self.sets)), "elements of sets", pointer="/sets")
        return SetSystem(self.sets, self.costs, self.num_elements, labels=self.labels, index_base=self.index_base or 0)


class SetPredictionFields(BaseModel):
    """A prediction of one least-cost cover."""

    model_config = ConfigDict(extra="forbid")

    incidence_bits: Annotated[list[Any], list_of({"type": "array", "items": _BIT})] | None = Field(
        None, description="Row j has a bit for every element of set j: whether the set is chosen; null where there is none."
    )
    set_labels: Annotated[list[Any], list_of(_BIT)] | None = Field(
        None, description="Whether each set is predicted to be chosen; null where nothing is."
    )
    set_probabilities: Annotated[list[Any], list_of(_PROBABILITY)] | None = Field(
        None, description="Probability that each set is chosen; null where there is none."
    )
    epsilon: Accuracy = Field(
        None,
        description="A bit or label is right with probability 1/2 + epsilon, in (0, 1/2]; for `set_labels` it may be a list. "
        "Estimated from the bits where it is left out. It says nothing about `set_probabilities`.",
    )
    overdispersion: Number = Field(
        0.0,
        ge=0,
        le=1,
        description="Correlation of the bits about one set, where one learned model made them from the same features.",
    )

    @model_validator(mode="after")
    def _holds_a_prediction(self) -> Self:
        if self.incidence_bits is self.set_labels is self.set_probabilities is None:
            raise ValueError("a prediction has incidence_bits, set_labels or set_probabilities")
        return self

    def read(self, system: SetSystem, pointer: str) -> list[SetPredictions]:
        """Return the prediction as arrays that fit the system; `pointer` is that of this object."""
        found: list[SetPredictions] = []
        if self.incidence_bits is not None:
            if isinstance(self.epsilon, list):
                raise InvalidInput("a list of accuracies is for set_labels alone", pointer=f"{pointer}/epsilon")
            bits, sizes = flat_bits(self.incidence_bits, f"{pointer}/incidence_bits")
            found.append(IncidencePredictions(bits, self.epsilon, self.overdispersion, sizes))
        if self.set_labels is not None or self.set_probabilities is not None:
            about_sets = (self.set_labels, self.set_probabilities, self.epsilon)
            found.append(one_per_item(*about_sets, system.num_sets, ("set", "sets"), pointer))
        return found


_MANY_PREDICTIONS = TypeAdapter(list[SetPredictionFields])


def _one_or_many(value: Any) -> Any:
    # Not left to a union, whose faults would name its branches in their pointers.
    if value is None:
        return None
    return _MANY_PREDICTIONS.validate_python(value) if isinstance(value, list) else SetPredictionFields.model_validate(value)


def _held(one: Any) -> SetPredictions | SetPredictionFields:
    if isinstance(one, (IncidencePredictions, VertexPredictions, SetPredictionFields)):
        return one
    if isinstance(one, dict):
        return SetPredictionFields.model_validate(one)
    raise InvalidInput(
        f"{as_written(one)} is no prediction of a cover; give IncidencePredictions or VertexPredictions", pointer="/predictions"
    )


class SetCoverRequest(SetSystemFields):
    """A set system and, if there is one, a prediction of its least-cost cover."""

    predictions: Annotated[
        Any, PlainValidator(_one_or_many, json_schema_input_type=SetPredictionFields | list[SetPredictionFields] | None)
    ] = Field(None, description="A prediction, or a list of predictions from several sources.")
    options: SearchOptions = Field(default_factory=SearchOptions)

    _held_predictions: list[Any] = PrivateAttr(default_factory=list)

    @classmethod
    def of(cls, system: Any, predictions: Any = None, **fields: Any) -> Self:
        """Return the request of a library call, whose arrays are taken as they are.

        Parameters
        ----------
        system : object
            As for :meth:`solvers.graphs.set_system.SetSystem.from_objects`.
        predictions : IncidencePredictions, VertexPredictions (of the sets) or dict, or a list of them, optional
            A dict has the fields of a request.
        **fields
            Further fields of the request, such as ``options={"time_limit": 10}``.

        Examples
        --------
        >>> request = SetCoverRequest.of([[0, 1], [1]], IncidencePredictions([[1, 1], [0]]), options={"seed": 1})
        >>> request.read_predictions(request.read_system(Context()))[0].bits.tolist()
        [1, 1, 0]
        """
        listed = SetSystem.from_objects(system)
        request = cls(sets=[], **fields)
        request._listed = listed
        request._held_predictions = [_held(one) for one in as_list_of_predictions(predictions)]
        return request

    def read_predictions(self, system: SetSystem) -> list[SetPredictions]:
        """Return the predictions as arrays that fit the system.

        Raises
        ------
        InvalidInput
            If one is malformed, or its length does not fit; the fault names the element.
        """
        given = self._held_predictions or as_list_of_predictions(self.predictions)
        is_list = len(given) > 1 or isinstance(self.predictions, list)
        found: list[SetPredictions] = []
        for index, one in enumerate(given):
            pointer = f"/predictions/{index}" if is_list else "/predictions"
            read = one.read(system, pointer) if isinstance(one, SetPredictionFields) else [one]
            for prediction in read:
                if isinstance(prediction, IncidencePredictions):
                    prediction.votes_about(system, pointer)
                else:
                    _require_fit(prediction, system, pointer)
            found += read
        return found


def _require_fit(prediction: VertexPredictions, system: SetSystem, pointer: str) -> None:
    for values, field in ((prediction.labels, "set_labels"), (prediction.probabilities, "set_probabilities")):
        if values is not None:
            require_one_each(values, system.num_sets, "sets", f"{pointer}/{field}")


def from_file(file_id: str) -> dict[str, Any]:
    """Return the body that asks about the set system in an uploaded file.

    Examples
    --------
    >>> from_file("file_1")
    {'graph': {'file': 'file_1'}}
    """
    return {"graph": {"file": file_id}}


def from_objects(system: Any, predictions: Any = None, **options: Any) -> dict[str, Any]:
    """Return the body that asks about a set system in memory.

    Parameters
    ----------
    system : object
        As for :meth:`solvers.graphs.set_system.SetSystem.from_objects`.
    predictions : IncidencePredictions, VertexPredictions (of the sets) or dict, or a list of them, optional
    **options
        Fields of `options`, such as `time_limit`.

    Examples
    --------
    >>> from_objects([[0, 1], [1]], time_limit=10)
    {'num_elements': 2, 'sets': [[0, 1], [1]], 'costs': [1, 1], 'index_base': 0, 'options': {'time_limit': 10}}
    """
    listed = SetSystem.from_objects(system)
    rows = np.split(listed.elements, listed.set_ptr[1:-1]) if listed.num_sets else []
    if listed.labels is None:
        sets = [(row + listed.index_base).tolist() for row in rows]
    else:
        sets = [[listed.labels[position] for position in row.tolist()] for row in rows]
    body: dict[str, Any] = {
        "num_elements": listed.num_elements,
        "sets": sets,
        "costs": listed.costs.tolist(),
        "index_base": listed.index_base,
    }
    if listed.labels is not None:
        body["labels"] = listed.labels
    given = [_json_prediction(one, listed) for one in as_list_of_predictions(predictions)]
    if given:
        body["predictions"] = given if isinstance(predictions, (list, tuple)) else given[0]
    if options:
        body["options"] = {name: value.item() if isinstance(value, np.generic) else value for name, value in options.items()}
    return body


def _json_prediction(one: Any, system: SetSystem) -> dict[str, Any]:
    if isinstance(one, dict):
        return one
    held = _held(one)
    if isinstance(held, SetPredictionFields):
        return held.model_dump(exclude_unset=True)
    fields: dict[str, Any] = {}
    if isinstance(held, IncidencePredictions):
        held.votes_about(system)
        if (held.sizes != np.diff(system.set_ptr)).any():
            raise InvalidInput("bits of elements that a set lists twice have no place in this request", pointer="/predictions")
        rows = np.split(held.bits, np.cumsum(held.sizes)[:-1]) if len(held.sizes) else []
        fields["incidence_bits"] = [[None if bit < 0 else bit for bit in row.tolist()] for row in rows]
        fields["overdispersion"] = held.overdispersion
    else:
        if held.labels is not None:
            fields["set_labels"] = [None if label < 0 else label for label in held.labels.tolist()]
        if held.probabilities is not None:
            fields["set_probabilities"] = [None if value != value else value for value in held.probabilities.tolist()]
    return fields if held.epsilon is None else fields | {"epsilon": np.asarray(held.epsilon).tolist()}
