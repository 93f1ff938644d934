"""A prediction as a request spells it: lists of bits, labels and probabilities, turned into arrays that fit an instance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Self

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, PlainValidator, TypeAdapter, WithJsonSchema, model_validator

from solvers.graphs.arrays import Array, Number, as_written, flags, inside, is_number, list_of, numbers, pairs
from solvers.graphs.canonical import Instance
from solvers.graphs.predictions import EdgePredictions, VertexPredictions
from solvers.operation import InvalidInput

_BIT = {"anyOf": [{"type": "integer", "enum": [0, 1]}, {"type": "null"}]}
_HALF = {"type": "number", "exclusiveMinimum": 0, "maximum": 0.5}


def _accuracy(value: Any) -> Any:
    if value is None or isinstance(value, list):
        return value
    if not is_number(value) or not 0 < value <= 0.5:
        raise ValueError(f"{as_written(value)} does not lie above 0 and at most at 1/2")
    return float(value)


Accuracy = Annotated[
    Any, PlainValidator(_accuracy), WithJsonSchema({"anyOf": [_HALF, {"type": "array", "items": _HALF}, {"type": "null"}]})
]
"""An epsilon, or a list of them, one per label."""


class PredictionFields(BaseModel):
    """A prediction of one optimal solution, about edges, vertices or both."""

    model_config = ConfigDict(extra="forbid")

    edge_bits: Annotated[list[Any], list_of({"type": "array", "items": _BIT, "minItems": 2, "maxItems": 2})] | None = Field(
        None,
        description="Row e has a bit about each end of edge e (its first vertex, then its second): the side that the prediction "
        "puts it on; null where there is none. A table with a row per listed edge, duplicates and self-loops too, is accepted.",
    )
    edge_bits_flat: Annotated[list[Any], list_of({"type": "integer", "enum": [0, 1, -1]})] | None = Field(
        None, description="`edge_bits` row after row in one list, -1 where there is no bit."
    )
    vertex_labels: Annotated[list[Any], list_of(_BIT)] | None = Field(
        None, description="The predicted side of every vertex; null where there is none."
    )
    vertex_probabilities: (
        Annotated[list[Any], list_of({"anyOf": [{"type": "number", "minimum": 0, "maximum": 1}, {"type": "null"}]})] | None
    ) = Field(None, description="Probability that a vertex is on side 1; null where there is none.")
    epsilon: Accuracy = Field(
        None,
        description="A bit or label is right with probability 1/2 + epsilon, in (0, 1/2]; for `vertex_labels` it may be a list. "
        "Estimated from the bits where it is left out. It says nothing about `vertex_probabilities`.",
    )
    overdispersion: Number = Field(
        0.0,
        ge=0,
        le=1,
        description="Correlation of the bits about one vertex, where one learned model made them from the same features.",
    )

    @model_validator(mode="after")
    def _holds_a_prediction(self) -> Self:
        if self.edge_bits is not None and self.edge_bits_flat is not None:
            raise ValueError("edge_bits and edge_bits_flat are the same table; give one of them")
        if self.edge_bits is self.edge_bits_flat is self.vertex_labels is self.vertex_probabilities is None:
            raise ValueError("a prediction has edge_bits, edge_bits_flat, vertex_labels or vertex_probabilities")
        return self

    def read(self, instance: Instance, pointer: str) -> list[EdgePredictions | VertexPredictions]:
        """Return the prediction as arrays that fit the instance; `pointer` is that of this object."""
        found: list[EdgePredictions | VertexPredictions] = []
        bits = self._bits(pointer)
        if bits is not None:
            if isinstance(self.epsilon, list):
                raise InvalidInput("a list of accuracies is for vertex_labels alone", pointer=f"{pointer}/epsilon")
            field = "edge_bits" if self.edge_bits_flat is None else "edge_bits_flat"
            rows, endpoints = rows_of_votes(bits, instance, f"{pointer}/{field}")
            found.append(EdgePredictions(rows, self.epsilon, self.overdispersion, endpoints))
        if self.vertex_labels is not None or self.vertex_probabilities is not None:
            found.append(self._about_vertices(instance, pointer))
        return found

    def _bits(self, pointer: str) -> npt.NDArray[np.int8] | None:
        if self.edge_bits is not None:
            prefix = f"{pointer}/edge_bits"
            flat = pairs(self.edge_bits, prefix, "a pair of bits")
            return flags(flat, lambda bit: f"{prefix}/{bit // 2}/{bit % 2}", None).reshape(-1, 2)
        if self.edge_bits_flat is None:
            return None
        prefix = f"{pointer}/edge_bits_flat"
        if len(self.edge_bits_flat) % 2:
            raise InvalidInput(f"{len(self.edge_bits_flat)} bits are no pairs", pointer=prefix)
        return flags(self.edge_bits_flat, inside(prefix), -1).reshape(-1, 2)

    def _about_vertices(self, instance: Instance, pointer: str) -> VertexPredictions:
        return one_per_item(
            self.vertex_labels, self.vertex_probabilities, self.epsilon, instance.num_vertices, ("vertex", "vertices"), pointer
        )


def one_per_item(
    labels: list[Any] | None, probabilities: list[Any] | None, epsilon: Any, count: int, names: tuple[str, str], pointer: str
) -> VertexPredictions:
    """Return labels and probabilities of a request as arrays.

    Parameters
    ----------
    labels, probabilities : list, optional
        With null where one is missing.
    epsilon : float or list, optional
        Of the labels.
    count : int
        How many items there are.
    names : (str, str)
        What an item is called, and several of them: the fields are `{name}_labels` and `{name}_probabilities`.
    pointer : str
        Of the prediction.
    """
    name, items = names
    ternary, chances, accuracies = None, None, None
    if labels is not None:
        field = f"{pointer}/{name}_labels"
        require_one_each(labels, count, items, field)
        ternary = flags(labels, inside(field), None)
        accuracies = epsilon
        if isinstance(epsilon, list):
            require_one_each(epsilon, count, items, f"{pointer}/epsilon")
            accuracies = numbers(epsilon, inside(f"{pointer}/epsilon"))
            is_right = (accuracies > 0) & (accuracies <= 0.5)
            _require_all(is_right, accuracies, "does not lie above 0 and at most at 1/2", f"{pointer}/epsilon")
    if probabilities is not None:
        field = f"{pointer}/{name}_probabilities"
        require_one_each(probabilities, count, items, field)
        chances = _probabilities(probabilities, field)
    return VertexPredictions(ternary, chances, accuracies)


def rows_of_votes(
    bits: npt.NDArray[np.int8], instance: Instance, pointer: str
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int32] | None]:
    """Return a table of bits with the vertices that its rows speak of.

    Parameters
    ----------
    bits : int8 array of shape (r, 2)
        One row per edge of the instance or, if the caller may hold such a table, per listed edge.
    instance : Instance
    pointer : str
        Of the table, for faults.

    Returns
    -------
    bits : int8 array of shape (s, 2)
        First a row for every edge of the instance, then those of duplicates; those of self-loops are left out.
    endpoints : int32 array of shape (s, 2), or None
        The two vertices of each row; None if there are no rows of duplicates.
    """
    num_edges, num_listed = len(instance.edges), len(instance.listed_rows)
    if len(bits) == num_edges:
        return bits, None
    if not instance.has_row_per_edge or len(bits) != num_listed:
        listed = f", {num_listed} as listed" if instance.has_row_per_edge and num_listed != num_edges else ""
        raise InvalidInput(f"{len(bits)} rows of bits for {num_edges} edges{listed}", pointer=pointer)
    kept = np.flatnonzero(instance.listed_rows >= 0)
    # Of several values for one row the last assigned stays: the first appearance.
    firsts = np.empty(num_edges, dtype=np.int64)
    firsts[instance.listed_rows[kept[::-1]]] = kept[::-1]
    if len(kept) == num_edges:
        return bits[firsts], None
    order = np.concatenate([firsts, np.setdiff1d(kept, firsts, assume_unique=True)])
    endpoints = instance.edges[instance.listed_rows[order]]
    is_swapped = instance.is_swapped[order]
    endpoints[is_swapped] = endpoints[is_swapped, ::-1]
    return bits[order], endpoints


def _probabilities(values: list[Any], pointer: str) -> npt.NDArray[np.float64]:
    is_missing = [value is None for value in values]
    probabilities = numbers([0.0 if value is None else value for value in values], inside(pointer)).astype(np.float64)
    _require_all((probabilities >= 0) & (probabilities <= 1), probabilities, "is not a probability between 0 and 1", pointer)
    probabilities[is_missing] = np.nan
    return probabilities


def _require_per_vertex(values: Sequence[Any] | Array, instance: Instance, pointer: str) -> None:
    require_one_each(values, instance.num_vertices, "vertices", pointer)


def require_one_each(values: Sequence[Any] | Array, count: int, items: str, pointer: str) -> None:
    """Raise :class:`InvalidInput` unless there are as many values as items."""
    if len(values) != count:
        raise InvalidInput(f"{len(values)} values for {count} {items}", pointer=pointer)


def _require_all(is_right: npt.NDArray[np.bool_], values: npt.NDArray[Any], complaint: str, pointer: str) -> None:
    if not is_right.all():
        index = int(np.argmin(is_right))
        raise InvalidInput(f"{values[index]:.15g} {complaint}", pointer=f"{pointer}/{index}")


_MANY_PREDICTIONS = TypeAdapter(list[PredictionFields])


def one_or_many(value: Any) -> Any:
    """Validate the field `predictions`: one prediction, a list of them, or null."""
    # Not left to a union, whose faults would name its branches in their pointers.
    if value is None:
        return None
    return _MANY_PREDICTIONS.validate_python(value) if isinstance(value, list) else PredictionFields.model_validate(value)


def as_list_of_predictions(predictions: Any) -> list[Any]:
    """Return one prediction, a list of them or None as a list."""
    if predictions is None:
        return []
    return list(predictions) if isinstance(predictions, (list, tuple)) else [predictions]


def held_prediction(one: Any) -> EdgePredictions | VertexPredictions | PredictionFields:
    """Return a prediction of a library call; a dict has the fields of a request."""
    if isinstance(one, (EdgePredictions, VertexPredictions, PredictionFields)):
        return one
    if isinstance(one, dict):
        return PredictionFields.model_validate(one)
    raise InvalidInput(f"{as_written(one)} is no prediction; give EdgePredictions or VertexPredictions", pointer="/predictions")


def fitted(one: EdgePredictions | VertexPredictions, instance: Instance, pointer: str) -> EdgePredictions | VertexPredictions:
    """Return a prediction of a library call with one row of bits per edge of the instance, or with endpoints."""
    if isinstance(one, VertexPredictions):
        for values, field in ((one.labels, "vertex_labels"), (one.probabilities, "vertex_probabilities")):
            if values is not None:
                _require_per_vertex(values, instance, f"{pointer}/{field}")
        return one
    if one.endpoints is not None:
        if one.endpoints.size and not 0 <= one.endpoints.min() <= one.endpoints.max() < instance.num_vertices:
            raise InvalidInput("endpoints name a vertex that is not there", pointer=f"{pointer}/edge_bits")
        return one
    bits, endpoints = rows_of_votes(one.bits, instance, f"{pointer}/edge_bits")
    return EdgePredictions(bits, one.epsilon, one.overdispersion, endpoints)
