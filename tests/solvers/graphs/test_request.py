"""Requests: the forms a graph and a prediction may take, and how faults in them are reported."""

import json

import networkx
import numpy as np
import orjson
import pytest
from pydantic import ValidationError

from solvers.graphs.predictions import EdgePredictions, VertexPredictions
from solvers.graphs.request import GraphRequest
from solvers.operation import Context, InvalidInput, MemoryFiles, TooLarge, UnknownFile

PATH = {"edges": [[0, 1], [1, 2]]}
DOUBLED = {"edges": [[0, 1], [1, 1], [1, 0], [1, 2]]}


def read(body: dict, context: Context | None = None):
    return GraphRequest.model_validate(body).read_instance(context or Context())


def predictions_of(body: dict):
    request = GraphRequest.model_validate(body)
    return request.read_predictions(request.read_instance(Context()))


def pointers(body: dict) -> list[str]:
    """The JSON pointers of the faults of a request, from its model or from reading it."""
    try:
        predictions_of(body)
    except ValidationError as invalid:
        return ["".join(f"/{part}" for part in fault["loc"]) for fault in invalid.errors()]
    except InvalidInput as fault:
        return [str(fault.pointer)]
    return []


@pytest.mark.parametrize(
    "body",
    [
        PATH,
        {"edges_flat": [0, 1, 1, 2]},
        {"edges": [[1, 2], [2, 3]], "index_base": 1},
        {"edges_flat": [1, 2, 2, 3], "index_base": 1, "num_vertices": 3, "edge_weights": [1, 1.0]},
        {"edges": [["a", "b"], ["b", "c"]]},
        {"graph": {"text": "3 2\n1 2\n2 3\n"}},
        {"graph": {"text": "a b\nb c\n", "format": "edge_list"}},
        {"graph": {"text": "1 2\n2 3\n", "format": "edge_list"}, "index_base": 1},
        {"graph": {"node_link": networkx.node_link_data(networkx.path_graph(3), edges="edges")}},
        {"graph": {"node_link": networkx.node_link_data(networkx.path_graph(3), edges="links")}},
    ],
)
def test_every_form_of_a_graph_is_the_same_instance(body: dict) -> None:
    instance = read(body)

    assert (instance.num_vertices, instance.edges.tolist(), instance.edge_weights.tolist()) == (3, [[0, 1], [1, 2]], [1, 1])


def test_a_file_is_read_from_the_files_of_the_caller() -> None:
    files = MemoryFiles()
    file_id = files.save(b"3 2\n1 2\n2 3\n", name="path.txt", media_type="text/plain")

    assert read({"graph": {"file": file_id}}, Context(files=files)).edges.tolist() == [[0, 1], [1, 2]]


def test_a_fault_in_a_file_points_to_the_file() -> None:
    files = MemoryFiles()
    file_id = files.save(b"3 2\n1 2\n2 x\n", name="path.txt", media_type="text/plain")

    with pytest.raises(InvalidInput) as caught:
        read({"graph": {"file": file_id, "format": "rudy"}}, Context(files=files))

    assert (caught.value.pointer, caught.value.members["line"]) == ("/graph/file", 3)


def test_an_unknown_file_is_reported_where_it_is_named() -> None:
    with pytest.raises(UnknownFile) as caught:
        read({"graph": {"file": "file_0"}})

    assert caught.value.pointer == "/graph/file"


@pytest.mark.parametrize("label", [None, True, {"a": 1}, [{"a": 1}], [[["a"], {}]]])
def test_what_cannot_be_told_apart_is_no_name_of_a_vertex(label: object) -> None:
    with pytest.raises(InvalidInput) as caught:
        read({"labels": ["a", label], "edges": []})

    assert caught.value.pointer == "/labels/1"


@pytest.mark.parametrize("body", [{"num_vertices": 0}, {"edges": []}, {"num_vertices": 4}, {"labels": ["a"]}, {"edges_flat": []}])
def test_a_graph_may_be_empty(body: dict) -> None:
    assert len(read(body).edges) == 0


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, ""),
        ({"options": {}}, ""),
        (PATH | {"edges_flat": [0, 1]}, ""),
        (PATH | {"graph": {"text": "1 2"}}, ""),
        (PATH | {"colour": 1}, "/colour"),
        ({"graph": {}}, "/graph"),
        ({"graph": {"text": "1 2", "file": "f"}}, "/graph"),
        ({"graph": {"text": "1 2", "format": "gml"}}, "/graph/format"),
        ({"graph": {"node_link": {}, "format": "rudy"}}, "/graph"),
        (
            {"graph": {"node_link": {"nodes": [{"id": 1}], "edges": [{"source": 1, "target": 2}]}}},
            "/graph/node_link/edges/0/target",
        ),
        ({"graph": {"node_link": {"nodes": [], "edges": []}}, "index_base": 0}, "/index_base"),
        ({"graph": {"text": "3 2\n1 2\n2 4\n", "format": "rudy"}}, "/graph/text"),
        ({"graph": {"text": "3 2\n1 2\n"}}, "/graph/text"),
        ({"edges": "ab"}, "/edges"),
        ({"edges": [[0, 1], [1, "2"], [2, True]]}, "/edges/2/1"),
        ({"edges_flat": [0, 1, 1]}, "/edges_flat"),
        ({"edges_flat": [0, 1, 1, "2"]}, "/edges_flat/3"),
        ({"edges_flat": [0, 1, 1, 5], "num_vertices": 3}, "/edges_flat/3"),
        (PATH | {"num_vertices": 2}, "/edges/1/1"),
        (PATH | {"num_vertices": "3"}, "/num_vertices"),
        (PATH | {"num_vertices": True}, "/num_vertices"),
        (PATH | {"num_vertices": -1}, "/num_vertices"),
        (PATH | {"index_base": 2}, "/index_base"),
        (PATH | {"index_base": True}, "/index_base"),
        (PATH | {"edge_weights": [1, None]}, "/edge_weights/1"),
        (PATH | {"edge_weights": [1, 2, 3]}, "/edge_weights"),
        (PATH | {"vertex_weights": [1, 2]}, "/vertex_weights"),
        (PATH | {"options": {"time_limit": 0}}, "/options/time_limit"),
        (PATH | {"options": {"time_limit": "10"}}, "/options/time_limit"),
        (PATH | {"options": {"time_limit": float("inf")}}, "/options/time_limit"),
        (PATH | {"options": {"max_iterations": 0}}, "/options/max_iterations"),
        (PATH | {"options": {"max_iterations": 1.5}}, "/options/max_iterations"),
        (PATH | {"options": {"threshold": 0}}, "/options/threshold"),
        (PATH | {"options": {"threshold": True}}, "/options/threshold"),
        (PATH | {"options": {"threshold": "high"}}, "/options/threshold"),
        (PATH | {"options": {"method": "magic"}}, "/options/method"),
        (PATH | {"options": {"seed": -1}}, "/options/seed"),
        (PATH | {"options": {"certificate": 1}}, "/options/certificate"),
        (PATH | {"options": {"speed": 1}}, "/options/speed"),
    ],
)
def test_a_malformed_request_is_refused_with_a_pointer(body: dict, pointer: str) -> None:
    assert pointers(body) == [pointer]


BITS = [[0, 1], [1, None]]


@pytest.mark.parametrize(
    ("predictions", "pointer"),
    [
        ({}, "/predictions"),
        (7, "/predictions"),
        ({"epsilon": 0.1}, "/predictions"),
        ({"edge_bits": BITS, "edge_bits_flat": [0, 1, 1, -1]}, "/predictions"),
        ({"edge_bits": BITS, "epsilon": 0}, "/predictions/epsilon"),
        ({"edge_bits": BITS, "epsilon": 0.6}, "/predictions/epsilon"),
        ({"edge_bits": BITS, "epsilon": -0.1}, "/predictions/epsilon"),
        ({"edge_bits": BITS, "epsilon": float("nan")}, "/predictions/epsilon"),
        ({"edge_bits": BITS, "epsilon": "0.1"}, "/predictions/epsilon"),
        ({"edge_bits": BITS, "epsilon": [0.1, 0.1, 0.1]}, "/predictions/epsilon"),
        ({"edge_bits": BITS, "overdispersion": 2}, "/predictions/overdispersion"),
        ({"edge_bits": BITS, "confidence": 2}, "/predictions/confidence"),
        ({"edge_bits": [[0, 1]]}, "/predictions/edge_bits"),
        ({"edge_bits": [[0, 1], [1, 0, 1]]}, "/predictions/edge_bits/1"),
        ({"edge_bits": [[0, 1], None]}, "/predictions/edge_bits/1"),
        ({"edge_bits": [[0, 1], [1, 2]]}, "/predictions/edge_bits/1/1"),
        ({"edge_bits": [[0, 1], [1, -1]]}, "/predictions/edge_bits/1/1"),
        ({"edge_bits": [[0, 1], [True, 1]]}, "/predictions/edge_bits/1/0"),
        ({"edge_bits": [[0, 1], [[], 1]]}, "/predictions/edge_bits/1/0"),
        ({"edge_bits": [[0, 1], ["1", 1]]}, "/predictions/edge_bits/1/0"),
        ({"edge_bits": [[0, 1], [1.0, 1]]}, "/predictions/edge_bits/1/0"),
        ({"edge_bits_flat": [0, 1, 1]}, "/predictions/edge_bits_flat"),
        ({"edge_bits_flat": [0, 1, 1, None]}, "/predictions/edge_bits_flat/3"),
        ({"edge_bits_flat": [0, 1, 1, 3]}, "/predictions/edge_bits_flat/3"),
        ({"edge_bits_flat": [0, 1]}, "/predictions/edge_bits_flat"),
        ({"vertex_labels": [0, 1]}, "/predictions/vertex_labels"),
        ({"vertex_labels": [0, 1, 2]}, "/predictions/vertex_labels/2"),
        ({"vertex_labels": [0, 1, 0], "epsilon": [0.1, 0.2]}, "/predictions/epsilon"),
        ({"vertex_labels": [0, 1, 0], "epsilon": [0.1, 0.2, 0.7]}, "/predictions/epsilon/2"),
        ({"vertex_labels": [0, 1, 0], "epsilon": [0.1, 0.2, None]}, "/predictions/epsilon/2"),
        ({"vertex_probabilities": [0.5, 0.5]}, "/predictions/vertex_probabilities"),
        ({"vertex_probabilities": [0.5, 0.5, 1.5]}, "/predictions/vertex_probabilities/2"),
        ({"vertex_probabilities": [0.5, None, -0.5]}, "/predictions/vertex_probabilities/2"),
        ({"vertex_probabilities": [0.5, "x", 0.5]}, "/predictions/vertex_probabilities/1"),
        ([{"edge_bits": BITS}, {"edge_bits": [[0, 1], [1, 7]]}], "/predictions/1/edge_bits/1/1"),
        ([{"edge_bits": BITS}, {"edge_bits": BITS, "epsilon": 1}], "/predictions/1/epsilon"),
        ([{"edge_bits": [[0, 3], [1, 0]]}], "/predictions/0/edge_bits/0/1"),
    ],
)
def test_a_malformed_prediction_is_refused_with_a_pointer(predictions: object, pointer: str) -> None:
    assert pointers(PATH | {"predictions": predictions}) == [pointer]


def test_missing_bits_are_minus_one() -> None:
    [bits] = predictions_of(PATH | {"predictions": {"edge_bits": BITS, "epsilon": 0.1}})

    assert (bits.bits.tolist(), bits.epsilon, bits.endpoints) == ([[0, 1], [1, -1]], 0.1, None)


def test_flat_bits_are_the_same_table() -> None:
    [bits] = predictions_of(PATH | {"predictions": {"edge_bits_flat": [0, 1, 1, -1]}})

    assert bits.bits.tolist() == [[0, 1], [1, -1]]


def test_one_object_may_speak_of_edges_and_vertices() -> None:
    fields = {"edge_bits": BITS, "vertex_labels": [0, None, 1], "vertex_probabilities": [0.5, None, 1], "epsilon": 0.2}

    bits, vertices = predictions_of(PATH | {"predictions": fields})

    assert bits.bits.tolist() == [[0, 1], [1, -1]]
    assert (vertices.labels.tolist(), vertices.epsilon) == ([0, -1, 1], 0.2)
    np.testing.assert_array_equal(vertices.probabilities, [0.5, np.nan, 1])


def test_labels_may_have_an_accuracy_each() -> None:
    [labels] = predictions_of(PATH | {"predictions": {"vertex_labels": [0, 1, 1], "epsilon": [0.1, 0.2, 0.5]}})

    assert labels.epsilon.tolist() == [0.1, 0.2, 0.5]


@pytest.mark.parametrize("predictions", [None, []])
def test_there_may_be_no_predictions(predictions: object) -> None:
    assert predictions_of(PATH | {"predictions": predictions}) == []


def test_a_table_by_listed_edges_counts_duplicates_as_further_votes_about_their_own_ends() -> None:
    [bits] = predictions_of(DOUBLED | {"predictions": {"edge_bits": [[0, 1], [1, 1], [1, None], [1, 0]]}})

    assert bits.bits.tolist() == [[0, 1], [1, 0], [1, -1]]
    assert bits.endpoints.tolist() == [[0, 1], [1, 2], [1, 0]]


def test_a_table_by_canonical_edges_is_taken_as_it_is() -> None:
    [bits] = predictions_of(DOUBLED | {"predictions": {"edge_bits": [[0, 1], [1, 0]]}})

    assert (bits.bits.tolist(), bits.endpoints) == ([[0, 1], [1, 0]], None)


def test_rows_of_self_loops_are_ignored() -> None:
    body = {"edges": [[0, 0], [0, 1]], "predictions": {"edge_bits": [[1, 1], [0, 1]]}}

    [bits] = predictions_of(body)

    assert (bits.bits.tolist(), bits.endpoints) == ([[0, 1]], None)


def test_a_format_that_lists_both_directions_has_no_table_by_listed_edges() -> None:
    text = "p edge 2 2\ne 1 2\ne 2 1\n"

    assert pointers({"graph": {"text": text}, "predictions": {"edge_bits": [[0, 1], [0, 1]]}}) == ["/predictions/edge_bits"]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"num_vertices": 10**30}, "/num_vertices"),
        ({"edges": [[0, 1]] * 5}, "/edges"),
        ({"edges_flat": [0, 1] * 5}, "/edges_flat"),
        ({"labels": list("abcdef")}, "/labels"),
        ({"edges": [[0, 9]]}, "/edges"),
        ({"edges_flat": [0, 9]}, "/edges_flat"),
        ({"graph": {"text": "99999999999999999999 1\n1 2\n", "format": "rudy"}}, "/graph"),
        ({"graph": {"text": "1 2\n" * 5, "format": "edge_list"}}, "/graph"),
    ],
)
def test_a_too_large_graph_is_refused_by_the_limit_and_its_setting(body: dict, pointer: str) -> None:
    with pytest.raises(TooLarge, match="FORESOLVE_MAX_") as caught:
        read(body, Context(limits={"max_vertices": 5, "max_edges": 4}))

    assert caught.value.pointer == pointer


def test_a_library_call_keeps_its_arrays() -> None:
    bits = EdgePredictions([[0, 1], [1, 0]], epsilon=0.1)
    graph = networkx.path_graph(["x", "y", "z"])

    request = GraphRequest.of(graph, [bits, VertexPredictions(labels=[0, 1, 0])], options={"time_limit": 5})
    instance = request.read_instance(Context())
    found = request.read_predictions(instance)

    assert (instance.labels, request.options.time_limit) == (["x", "y", "z"], 5)
    np.testing.assert_array_equal(found[0].bits, bits.bits)
    assert found[1].labels.tolist() == [0, 1, 0]


def test_a_library_call_may_bring_a_table_by_listed_edges() -> None:
    request = GraphRequest.of(DOUBLED["edges"], EdgePredictions([[0, 1], [1, 1], [1, -1], [1, 0]]))

    [bits] = request.read_predictions(request.read_instance(Context()))

    assert bits.endpoints.tolist() == [[0, 1], [1, 2], [1, 0]]


@pytest.mark.parametrize(
    "prediction",
    [EdgePredictions([[0, 1]]), VertexPredictions(labels=[0]), VertexPredictions(probabilities=[0.1]), {"edge_bits": [[0, 1]]}],
)
def test_a_prediction_of_the_wrong_length_is_refused_in_a_library_call_too(prediction: object) -> None:
    request = GraphRequest.of(PATH["edges"], prediction)

    with pytest.raises(InvalidInput) as caught:
        request.read_predictions(request.read_instance(Context()))

    assert str(caught.value.pointer).startswith("/predictions/")


def test_something_that_is_no_prediction_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no prediction"):
        GraphRequest.of(PATH["edges"], "all ones")


def test_the_schema_describes_every_field() -> None:
    schema = json.dumps(GraphRequest.model_json_schema())

    assert all(f'"{name}"' in schema for name in ("edges_flat", "edge_bits_flat", "node_link", "threshold", "matrix_market"))


def test_a_million_edges_are_read_from_flat_lists() -> None:
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 10**5, 2 * 10**6)
    body = orjson.dumps({"edges_flat": edges.tolist(), "predictions": {"edge_bits_flat": (edges % 2).tolist()}})

    request = GraphRequest.model_validate(orjson.loads(body))
    [bits] = request.read_predictions(request.read_instance(Context()))

    is_loop = edges[::2] == edges[1::2]
    assert len(bits.bits) == np.sum(~is_loop)


@pytest.mark.parametrize("depth", [17, 300, 900])
def test_a_label_of_lists_within_lists_without_end_is_refused(depth):
    label = []
    for _ in range(depth):
        label = [label]

    assert pointers({"labels": [label]}) == ["/labels/0"]
    assert pointers({"graph": {"node_link": {"nodes": [{"id": label}], "edges": []}}}) == ["/graph/node_link/nodes/0/id"]
