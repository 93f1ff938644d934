"""The canonical form of a graph as an answer."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from solvers.graphs import canonical_text, parse
from solvers.graphs.canonical import canonicalise
from solvers.graphs.canonical_text import rudy_text
from solvers.graphs.graph import Graph
from solvers.graphs.parse import ParseRequest, from_file, from_objects, run_parse
from solvers.operation import Context, InvalidInput, TooLarge, UnknownFile

TEXT = "3 4\n2 1 5\n1 2 -1\n3 3 1\n2 3 1\n"
ORLIB = "3 3\n1 1 2\n2 1 3\n2 1 2\n2 2 3\n"
STEINER = "3 1\n1 2 3\n"
SENT_BACK = ("num_vertices", "edges", "edge_weights", "vertex_weights", "num_elements", "sets", "costs", "labels", "index_base")


def parsed(context=None, problem="max-cut", **fields):
    return run_parse(ParseRequest(problem=problem, **fields), context or Context())


def sent_back(result, problem):
    return parsed(problem=problem, **{name: getattr(result, name) for name in SENT_BACK})


def test_edges_come_by_first_appearance_with_the_weights_of_duplicates_added():
    result = parsed(graph={"text": TEXT})
    assert (result.edges, result.edge_weights) == ([[2, 1], [2, 3]], [4, 1])
    assert (result.num_vertices, result.num_edges, result.index_base) == (3, 2, 1)


def test_loops_and_warnings_name_what_was_dropped():
    result = parsed(graph={"text": TEXT})
    assert result.loops == [3]
    assert [warning.code for warning in result.warnings] == ["self-loops", "duplicate-edges"]


def test_vertex_with_two_loops_is_listed_once_by_its_name():
    result = parsed(edges=[["b", "b"], ["a", "b"], ["b", "b"]])
    assert result.loops == ["b"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (TEXT, "rudy"),
        ("p edge 2 1\ne 1 2\n", "dimacs"),
        ("p td 2 1\n1 2\n", "pace"),
        ("2 1\n2\n1\n", "metis"),
        ("%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 3\n", "matrix_market"),
        ("10 20 0.5\n20 30 1\n", "edge_list"),
        ('{"nodes": [{"id": "a"}], "links": []}', "node_link"),
    ],
)
def test_format_is_named(text, name):
    assert parsed(graph={"text": text}).format == name


def test_format_of_a_node_link_document_is_named():
    assert parsed(graph={"node_link": nx.node_link_data(nx.path_graph(2), edges="edges")}).format == "node_link"


def test_inline_graph_has_no_format():
    assert parsed(edges=[[0, 1]]).format is None


def test_names_are_echoed_and_edges_count_them():
    result = parsed(labels=["ann", "bob", "cy"], edges=[["cy", "ann"]])
    assert (result.labels, result.edges) == (["ann", "bob", "cy"], [[2, 0]])


@pytest.mark.parametrize(
    ("problem", "fields"),
    [
        ("max-cut", {"graph": {"text": TEXT}}),
        ("max-cut", {"graph": {"text": "10 20 0.5\n20 30 1\n"}}),
        ("max-cut", {"edges": [["a", "b"], ["b", "c"]], "edge_weights": [0.25, -1]}),
        ("max-cut", {"labels": [30, 10, 20], "edges": [[0, 2]]}),
        ("max-cut", {"num_vertices": 3, "edges": []}),
        ("max-cut", {"graph": {"node_link": nx.node_link_data(nx.grid_2d_graph(2, 2), edges="edges")}}),
        ("vertex-cover", {"edges": [["a", "b"], ["b", "c"]], "vertex_weights": [0.25, 1, 7]}),
        ("independent-set", {"graph": {"text": "p edge 3 2\nn 2 5\ne 1 2\ne 2 3\n"}}),
        ("set-cover", {"graph": {"text": ORLIB}}),
        ("set-cover", {"sets": [["x", "y"], ["y", "z"], []], "costs": [1, 0.5, 2]}),
    ],
)
def test_answer_sent_back_is_the_same_instance(problem, fields):
    first = parsed(problem=problem, **fields)
    again = sent_back(first, problem)
    assert [getattr(again, name) for name in SENT_BACK] == [getattr(first, name) for name in SENT_BACK]


def test_graph_without_vertices_is_parsed():
    result = parsed(num_vertices=0)
    assert (result.num_vertices, result.edges, result.edge_weights) == (0, [], [])


def test_more_edges_than_a_response_holds_come_as_a_file_of_the_same_graph(monkeypatch):
    monkeypatch.setattr(parse, "LARGEST_INLINE", 1)
    context = Context()
    fields = {"num_vertices": 4, "edges": [[2, 0], [1, 2], [0, 2]], "edge_weights": [0.1, 3, 7]}
    large = parsed(context, **fields)
    assert (large.edges, large.edge_weights, large.num_edges) == (None, None, 2)

    monkeypatch.setattr(parse, "LARGEST_INLINE", 2)
    read = parsed(context, graph={"file": large.file})
    inline = parsed(**fields)
    assert read.format == "rudy"
    assert read.edges == [[u + 1, v + 1] for u, v in inline.edges]
    assert read.edge_weights == inline.edge_weights


@pytest.mark.parametrize("problem", ["vertex-cover", "independent-set"])
def test_weights_of_vertices_are_kept_and_those_of_duplicates_are_not_added(problem):
    result = parsed(problem=problem, edges=[[0, 1], [1, 0], [1, 1]], edge_weights=[5, 5, 5], vertex_weights=[2, 0.5])
    assert (result.edges, result.edge_weights, result.vertex_weights) == ([[0, 1]], None, [2, 0.5])
    assert result.loops == [1]


def test_elements_of_a_set_come_in_order_each_once():
    result = parsed(problem="set-cover", sets=[[2, 0, 2], []], num_elements=4, costs=[3, 1])
    assert (result.sets, result.costs, result.num_elements, result.num_sets) == ([[0, 2], []], [3, 1], 4, 2)
    assert [warning.code for warning in result.warnings] == ["repeated-elements", "empty-sets"]


@pytest.mark.parametrize(("text", "name"), [(ORLIB, "orlib"), (STEINER, "steiner")])
def test_format_of_a_set_system_is_named(text, name):
    result = parsed(problem="set-cover", graph={"text": text})
    assert (result.format, result.index_base) == (name, 1)


@pytest.mark.parametrize("problem", ["vertex-cover", "independent-set"])
def test_file_of_a_large_graph_keeps_the_weights_of_its_vertices(monkeypatch, problem):
    monkeypatch.setattr(parse, "LARGEST_INLINE", 1)
    context = Context()
    fields = {"num_vertices": 4, "edges": [[2, 0], [1, 2], [0, 2]], "vertex_weights": [0.1, 3, 0, 1]}
    large = parsed(context, problem, **fields)
    monkeypatch.setattr(parse, "LARGEST_INLINE", 2)
    read = parsed(context, problem, graph={"file": large.file})
    assert (large.edges, large.vertex_weights, read.format) == (None, None, "dimacs")
    assert (read.edges, read.vertex_weights) == ([[3, 1], [2, 3]], [0.1, 3, 0, 1])


@pytest.mark.parametrize("costs", [[5, 1, 2], [0.1, 1, 1e-7]])
def test_file_of_a_large_set_system_is_the_same_system(monkeypatch, costs):
    monkeypatch.setattr(parse, "LARGEST_INLINE", 1)
    context = Context()
    large = parsed(context, "set-cover", sets=[[2, 0], [], [1, 2, 3]], num_elements=5, costs=costs)
    monkeypatch.setattr(parse, "LARGEST_INLINE", 10)
    read = parsed(context, "set-cover", graph={"file": large.file, "format": "rail"})
    assert (large.sets, large.costs) == (None, None)
    assert (read.sets, read.costs, read.num_elements) == ([[1, 3], [], [2, 3, 4]], costs, 5)


@given(
    st.integers(1, 8).flatmap(
        lambda n: st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.floats(-1e14, 1e14)), max_size=12)
    )
)
def test_file_holds_weights_to_the_last_bit(listed):
    instance = canonicalise(Graph(8, [row[:2] for row in listed], [row[2] for row in listed]))
    result = parsed(graph={"text": rudy_text(instance).decode(), "format": "rudy"})
    assert result.edge_weights == instance.edge_weights.tolist()
    assert result.edges == (instance.edges + 1).tolist()


def test_file_is_written_in_pieces_that_fit_together(monkeypatch):
    monkeypatch.setattr(canonical_text, "LINES_AT_ONCE", 2)
    instance = canonicalise(Graph(6, np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]])))
    assert rudy_text(instance) == b"6 5\n1 2 1\n2 3 1\n3 4 1\n4 5 1\n5 6 1\n"


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"edges": [[0, 1], [0, 5]], "num_vertices": 2}, "/edges/1/1"),
        ({"edges": [[0, 1]], "edge_weights": ["x"]}, "/edge_weights/0"),
        ({"graph": {"text": "p edge 2 1\ne 1 9\n"}}, "/graph/text"),
        ({"graph": {"text": "3 2\n1 2\n"}}, "/graph/text"),
        ({"problem": "vertex-cover", "edges": [[0, 1]], "vertex_weights": [1, -1]}, "/vertex_weights/1"),
        ({"problem": "set-cover", "sets": [[0], [1, 9]], "num_elements": 2}, "/sets/1/1"),
        ({"problem": "set-cover", "sets": [[0]], "costs": [-1]}, "/costs/0"),
        ({"problem": "set-cover", "graph": {"text": "3 3\n1 1\n"}}, "/graph/text"),
    ],
)
def test_bad_graph_is_refused_with_its_place(fields, pointer):
    with pytest.raises(InvalidInput) as refused:
        parsed(**fields)
    assert refused.value.pointer == pointer


def test_unknown_file_is_refused():
    with pytest.raises(UnknownFile):
        parsed(graph={"file": "file_0"})


def test_graph_beyond_the_limit_of_the_service_is_refused():
    with pytest.raises(TooLarge):
        parsed(Context(limits={"max_edges": 1}), edges=[[0, 1], [1, 2]])


@pytest.mark.parametrize(
    "fields",
    [
        {"edges": [[0, 1]]},
        {"problem": "colouring", "edges": [[0, 1]]},
        {"problem": "max-cut"},
        {"problem": "max-cut", "sets": [[0]]},
        {"problem": "set-cover", "edges": [[0, 1]]},
    ],
)
def test_request_without_a_known_problem_or_a_graph_is_refused(fields):
    with pytest.raises(ValidationError):
        ParseRequest(**fields)


def test_file_becomes_a_request():
    assert ParseRequest(**from_file("file_1")).graph.file == "file_1"


@pytest.mark.parametrize(("problem", "instance"), [("max-cut", nx.path_graph(3)), ("set-cover", [[0, 1], [1, 2]])])
def test_objects_in_memory_become_a_request(problem, instance):
    result = run_parse(ParseRequest(**from_objects(instance, problem=problem)), Context())
    assert (result.edges or result.sets) == [[0, 1], [1, 2]]
