"""The fields of requests and answers: all that are promised are there, with their defaults, in every form of an instance."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse

from solvers.graphs import Graph, IncidencePredictions, SetSystem, VertexPredictions, sample_edge_predictions, vertex_cover
from solvers.graphs.batch import SOLVERS, BatchRequest, run_batch
from solvers.graphs.max_cut import max_cut
from solvers.graphs.parse import LARGEST_INLINE, ParseRequest, run_parse
from solvers.graphs.result import GraphResult, HistoryRow
from solvers.graphs.set_cover import set_cover
from solvers.operation import Context

GRAPH_FIELDS = {
    "num_vertices", "edges", "edges_flat", "edge_weights", "vertex_weights", "index_base", "labels", "graph", "predictions", "options",
}  # fmt: skip
SET_FIELDS = {"num_elements", "sets", "costs", "index_base", "labels", "graph", "predictions", "options"}
PREDICTION_FIELDS = {"edge_bits", "edge_bits_flat", "vertex_labels", "vertex_probabilities", "epsilon", "overdispersion"}
SET_PREDICTION_FIELDS = {"incidence_bits", "set_labels", "set_probabilities", "epsilon", "overdispersion"}
OPTION_DEFAULTS = {
    "method": "auto", "threshold": "auto", "time_limit": None, "max_iterations": None, "target": None, "certificate": True,
    "solution_file": False, "seed": 0,
}  # fmt: skip
RESULT_FIELDS = {
    "solution", "solution_file", "value", "bound", "bound_kind", "certificate", "optimal", "gap", "ratio", "value_without_predictions",
    "winner", "epsilon_used", "epsilon_estimate", "prediction_agreement", "threshold_used", "guarantee", "reduction", "history",
    "stopped_by", "deterministic", "warnings", "labels", "index_base", "timings",
}  # fmt: skip

RING = np.array([[v, (v + step) % 31] for step in (1, 3, 8, 12) for v in range(31)])
ARCS = [[(v + step) % 31 for step in (0, 1, 5)] for v in range(31)]
OPEN: dict[str, dict[str, Any]] = {problem: {"edges": RING.tolist()} for problem in SOLVERS} | {"set-cover": {"sets": ARCS}}

every = pytest.mark.parametrize("problem", SOLVERS)


def answered(problem: str, body: dict[str, Any], **options: Any) -> GraphResult:
    operation = SOLVERS[problem]
    return operation.run(operation.request.model_validate(body | {"options": {"max_iterations": 100} | options}), Context())


@every
def test_a_request_has_the_fields_of_its_problem(problem: str) -> None:
    schema = SOLVERS[problem].request.model_json_schema()
    is_cover = problem == "set-cover"

    predictions = schema["$defs"]["SetPredictionFields" if is_cover else "PredictionFields"]

    assert set(schema["properties"]) == (SET_FIELDS if is_cover else GRAPH_FIELDS)
    assert set(predictions["properties"]) == (SET_PREDICTION_FIELDS if is_cover else PREDICTION_FIELDS)
    options = schema["$defs"]["CutOptions" if problem == "max-cut" else "SearchOptions"]["properties"]
    assert {name: field["default"] for name, field in options.items()} == OPTION_DEFAULTS
    assert all(field.get("description") for field in options.values())


@every
def test_an_answer_has_the_same_fields_whatever_the_problem(problem: str) -> None:
    result = answered(problem, OPEN[problem])

    assert set(result.model_dump()) == RESULT_FIELDS
    assert set(HistoryRow.model_fields) == {"seconds", "value", "bound", "source"}
    assert SOLVERS[problem].time_limit(SOLVERS[problem].request.model_validate(OPEN[problem])) == 10.0
    assert result.certificate is not None
    assert result.certificate["kind"] == result.bound_kind


@every
def test_a_certificate_may_be_left_out_without_the_bound(problem: str) -> None:
    whole, without = answered(problem, OPEN[problem]), answered(problem, OPEN[problem], certificate=False)

    assert without.certificate is None
    assert (without.bound, without.bound_kind) == (whole.bound, whole.bound_kind)


@every
def test_every_method_names_a_stage_and_a_reason_to_end(problem: str) -> None:
    methods = ["auto", "paper", "greedy", "local_search", "exact"] + ["sdp"] * (problem == "max-cut")
    for method in methods:
        result = answered(problem, OPEN[problem], method=method)
        assert result.stopped_by in ("optimal", "max_iterations", "completed"), method
        assert result.value == result.value_without_predictions or result.winner == "exact", method


def test_labels_and_index_base_are_echoed() -> None:
    named = answered("independent-set", {"labels": ["a", "b", "c"], "edges": [["c", "a"]]})
    based = answered("independent-set", {"index_base": 1, "edges": [[1, 3]], "num_vertices": 3})

    assert (named.labels, named.index_base) == (["a", "b", "c"], 0)
    assert (based.labels, based.index_base, based.solution[0] >= 1) == (None, 1, True)


@pytest.mark.parametrize(
    ("body", "labels"),
    [
        ({"edges": [["b", "a"], ["c", "b"]]}, ["b", "a", "c"]),
        ({"graph": {"text": "700 5\n30 700\n", "format": "edge_list"}}, [700, 5, 30]),
        ({"graph": {"node_link": {"nodes": [{"id": 9}, {"id": 4}], "links": [{"source": 4, "target": 9}]}}}, [9, 4]),
        ({"graph": {"text": "p edge 2 1\ne 2 1\n"}}, None),
        ({"graph": {"text": "1 3\n2 3\n", "format": "edge_list"}, "index_base": 1}, None),
    ],
)
def test_names_are_numbered_in_order_of_first_appearance(body: dict[str, Any], labels: list[Any] | None) -> None:
    assert answered("max-cut", body).labels == labels


def test_one_side_of_a_cut_is_that_of_the_first_vertex() -> None:
    assert answered("max-cut", {"edges": [[2, 1], [1, 0]]}).solution == [0, 1, 0]


@pytest.mark.parametrize(
    ("graph", "first_edge"),
    [
        ({"text": "3 2\n2 3\n1\n1\n"}, [1, 2]),
        ({"text": "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n3 1\n2 1\n"}, [3, 1]),
        ({"node_link": {"nodes": [{"id": "x"}, {"id": "y"}], "edges": [{"source": "y", "target": "x"}]}}, [1, 0]),
        ({"text": "c\np edge 3 1\ne 3 2\n"}, [3, 2]),
    ],
)
def test_rows_of_bits_speak_of_edges_as_they_are_written(graph: dict[str, Any], first_edge: list[int]) -> None:
    body = {"problem": "max-cut", "graph": graph}
    assert run_parse(ParseRequest.model_validate(body), Context()).edges[0] == first_edge


@pytest.mark.parametrize("extra", [0, 1])
def test_more_than_a_hundred_thousand_edges_are_parsed_into_a_file(extra: int) -> None:
    ring = np.arange(LARGEST_INLINE + extra)
    flat = np.column_stack([ring, np.roll(ring, -1)]).ravel().tolist()

    parsed = run_parse(ParseRequest(problem="vertex-cover", edges_flat=flat), Context())

    assert LARGEST_INLINE == 10**5
    assert (parsed.edges is None, parsed.file is None) == (bool(extra), not extra)


def test_a_batch_answers_in_order_and_a_problem_stands_in_the_place_of_its_instance() -> None:
    instances = [{"sets": [[0], [0, 1]]}, {"sets": [[0]], "num_elements": 2}, {"sets": ARCS}, {"edges": [[0, 1]]}, {"sets": []}]

    answers = run_batch(
        BatchRequest(problem="set-cover", instances=instances, options={"max_iterations": 50}), Context(60)
    ).results

    assert [answer.result and answer.result.value for answer in answers] == [1, None, answers[2].result.value, None, 0]
    assert [answer.problem and answer.problem["type"] for answer in answers] == [None, "infeasible", None, "invalid-input", None]


def test_one_prediction_or_a_list_of_all_kinds_is_taken() -> None:
    labels = np.arange(31) % 2
    bits = sample_edge_predictions(RING, labels, 0.2, 0)
    many = [bits, VertexPredictions(labels=labels, epsilon=0.2), {"vertex_probabilities": [0.5] * 31}]

    one, all_of_them = (vertex_cover(RING, given, max_iterations=20) for given in (bits, many))

    assert one.epsilon_used == 0.2
    assert 0 <= all_of_them.prediction_agreement <= 1


@pytest.mark.parametrize("weights", [None, [2, 3]])
def test_the_library_takes_what_its_callers_hold(weights: list[int] | None) -> None:
    graph = nx.path_graph(["a", "b", "c"])
    if weights is not None:
        nx.set_edge_attributes(graph, dict(zip(graph.edges, weights, strict=True)), "weight")
    matrix = nx.to_scipy_sparse_array(graph)
    listed = Graph(3, [[0, 1], [1, 2]], edge_weights=weights)

    values = {max_cut(one).value for one in (graph, matrix, listed)}

    assert values == {2 if weights is None else 5}


def test_the_library_takes_sets_in_every_form() -> None:
    matrix = scipy.sparse.csr_array([[1, 0], [1, 1], [0, 1]])
    forms = ([[0, 1], [1, 2]], [{0, 1}, {1, 2}], SetSystem([[0, 1], [1, 2]]), matrix)
    bits = IncidencePredictions([[1, 1], [1, None]], epsilon=0.4)

    assert {set_cover(form, bits).value for form in forms} == {2}
