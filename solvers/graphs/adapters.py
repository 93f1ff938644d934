"""Requests from files and from the objects of other libraries, for the command line and the client."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.graphs.arrays import as_written
from solvers.graphs.graph import Graph, InvalidGraph
from solvers.graphs.prediction_fields import PredictionFields, as_list_of_predictions
from solvers.graphs.predictions import EdgePredictions, VertexPredictions
from solvers.operation import InvalidInput


def from_file(file_id: str) -> dict[str, Any]:
    """Return the body that asks about the graph in an uploaded file.

    Examples
    --------
    >>> from_file("file_1")
    {'graph': {'file': 'file_1'}}
    """
    return {"graph": {"file": file_id}}


def from_objects(graph: Any, predictions: Any = None, **options: Any) -> dict[str, Any]:
    """Return the body that asks about a graph in memory.

    Parameters
    ----------
    graph : object
        As for :meth:`solvers.graphs.graph.Graph.from_objects`.
    predictions : EdgePredictions, VertexPredictions or dict, or a list of them, optional
        A dict has the fields of a request.
    **options
        Fields of `options`, such as `time_limit`.

    Raises
    ------
    InvalidInput
        If an object has no place in a request.

    Examples
    --------
    >>> from_objects([[0, 1], [1, 2]], time_limit=10)
    {'num_vertices': 3, 'index_base': 0, 'edges_flat': [0, 1, 1, 2], 'options': {'time_limit': 10}}
    """
    listed = Graph.from_objects(graph)
    body: dict[str, Any] = {
        "num_vertices": listed.num_vertices,
        "index_base": listed.index_base,
        "edges_flat": (listed.edges + listed.index_base).ravel().tolist(),
    }
    for name in ("edge_weights", "vertex_weights"):
        weights = getattr(listed, name)
        if weights is not None:
            body[name] = weights.tolist()
    if listed.labels is not None:
        body["labels"] = [_json_label(label, position) for position, label in enumerate(listed.labels)]
    given = [_json_prediction(one) for one in as_list_of_predictions(predictions)]
    if given:
        body["predictions"] = given if isinstance(predictions, (list, tuple)) else given[0]
    if options:
        body["options"] = {name: value.item() if isinstance(value, np.generic) else value for name, value in options.items()}
    return body


def from_weighted_objects(graph: Any, predictions: Any = None, **options: Any) -> dict[str, Any]:
    """Return the body that asks about a graph in memory whose vertices may have weights; parameters as for :func:`from_objects`.

    Examples
    --------
    >>> import networkx as nx
    >>> path = nx.path_graph(2)
    >>> path.add_node(0, weight=3)
    >>> from_weighted_objects(path)["vertex_weights"]
    [3, 1]
    """
    listed = Graph.from_objects(graph)
    listed.weights_of_vertices()
    return from_objects(listed, predictions, **options)


def solution_text(sides: npt.ArrayLike) -> str:
    r"""Return a cut as a text: the side of every vertex, one per line.

    Examples
    --------
    >>> solution_text([0, 1, 1])
    '0\n1\n1\n'
    """
    return "".join(f"{side}\n" for side in np.asarray(sides, dtype=np.int64).tolist())


def _json_label(label: Any, position: int) -> Any:
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, tuple):
        return [_json_label(part, position) for part in label]
    if isinstance(label, (str, int, float)) and not isinstance(label, bool):
        return label
    raise InvalidGraph(
        f"vertex {as_written(label)} has a name that JSON cannot hold; use numbers, strings or tuples of them",
        pointer=f"/labels/{position}",
    )


def _json_prediction(one: Any) -> dict[str, Any]:
    if isinstance(one, dict):
        return one
    if isinstance(one, PredictionFields):
        return one.model_dump(exclude_unset=True)
    if isinstance(one, VertexPredictions):
        return _json_vertex_prediction(one)
    if isinstance(one, EdgePredictions):
        if one.endpoints is not None:
            raise InvalidInput("a request has no place for endpoints: its rows of bits follow the edges", pointer="/predictions")
        fields: dict[str, Any] = {"edge_bits_flat": one.bits.ravel().tolist(), "overdispersion": one.overdispersion}
        return fields if one.epsilon is None else fields | {"epsilon": one.epsilon}
    raise InvalidInput(f"{as_written(one)} is no prediction; give EdgePredictions or VertexPredictions", pointer="/predictions")


def _json_vertex_prediction(one: VertexPredictions) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if one.labels is not None:
        fields["vertex_labels"] = [None if label < 0 else label for label in one.labels.tolist()]
    if one.probabilities is not None:
        fields["vertex_probabilities"] = [None if value != value else value for value in one.probabilities.tolist()]
    if one.epsilon is not None:
        fields["epsilon"] = np.asarray(one.epsilon).tolist()
    return fields
