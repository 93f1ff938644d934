"""Weights of vertices: where they are read from, and what canonical order makes of them."""

import networkx as nx
import numpy as np
import pytest

from solvers.graphs.adapters import from_weighted_objects
from solvers.graphs.canonical import canonicalise
from solvers.graphs.formats import read_graph, read_node_link
from solvers.graphs.graph import Graph, InvalidGraph
from solvers.operation import InvalidInput

PROBLEMS = ["vertex-cover", "independent-set"]
NODE_LINK = {"nodes": [{"id": "a", "weight": 2}, {"id": "b"}], "edges": [{"source": "a", "target": "b"}]}


def weights_of(graph):
    return canonicalise(graph, "vertex-cover").vertex_weights.tolist()


def test_default_is_one():
    assert weights_of(Graph(3, [[0, 1]])) == [1, 1, 1]


def test_whole_floats_are_integers():
    instance = canonicalise(Graph(2, [], vertex_weights=[1.0, 2.0]), "vertex-cover")
    assert instance.vertex_weights.dtype == np.int64


def test_cuts_do_not_look_at_them():
    assert canonicalise(Graph(2, [[0, 1]], vertex_weights=[-1, 5])).vertex_weights.tolist() == [1, 1]


@pytest.mark.parametrize("problem", PROBLEMS)
def test_edges_weigh_one_whatever_their_weights(problem):
    graph = Graph(3, [[0, 1], [1, 0], [1, 2]], edge_weights=[2**60, 2**60, -1])
    assert canonicalise(graph, problem).edge_weights.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("problem", "loops"),
    [
        ("vertex-cover", "2 self-loops were taken out and their vertices put into the cover; first: edge 0, 1 to 1"),
        ("independent-set", "2 self-loops were taken out and their vertices kept out of the set; first: edge 0, 1 to 1"),
    ],
)
def test_repairs_say_what_becomes_of_loops_and_duplicates(problem, loops):
    warnings = canonicalise(Graph(3, [[1, 1], [0, 1], [2, 2], [1, 0]]), problem).warnings
    assert [warning["message"] for warning in warnings] == [
        loops,
        "1 edge repeats an earlier one and was dropped; first: edge 3, 1 to 0",
    ]


@pytest.mark.parametrize("weights", [[1, -1], [0.5, -0.5]])
def test_negative_weights_are_refused(weights):
    with pytest.raises(InvalidGraph) as refused:
        canonicalise(Graph(None, [["a", "b"]], vertex_weights=weights), "vertex-cover")
    assert refused.value.pointer == "/vertex_weights/1"
    assert "vertex 'b'" in str(refused.value)


@pytest.mark.parametrize("weights", [[2**53, 1], [1e308, 1.5e308]])
def test_weights_that_cannot_be_added_are_refused(weights):
    with pytest.raises(InvalidGraph):
        canonicalise(Graph(2, [], vertex_weights=weights), "vertex-cover")


def test_networkx_has_them_at_its_nodes():
    graph = nx.path_graph(3)
    graph.nodes[1]["weight"] = 2.5
    assert weights_of(Graph.from_objects(graph)) == [1, 2.5, 1]
    assert from_weighted_objects(graph)["vertex_weights"] == [1, 2.5, 1]


def test_what_networkx_has_at_its_nodes_does_not_matter_to_a_cut():
    graph = nx.path_graph(2)
    graph.nodes[0]["weight"] = "heavy"
    assert canonicalise(Graph.from_objects(graph)).num_vertices == 2
    with pytest.raises(InvalidInput):
        weights_of(Graph.from_objects(graph))


def test_node_link_has_them_at_its_nodes():
    assert weights_of(read_node_link(NODE_LINK)) == [2, 1]


def test_a_node_s_weight_is_faulted_where_it_stands():
    document = NODE_LINK | {"nodes": [{"id": "a"}, {"id": "b", "weight": -3}]}
    with pytest.raises(InvalidGraph) as refused:
        weights_of(read_node_link(document, "/graph/node_link"))
    assert refused.value.pointer == "/graph/node_link/nodes/1/weight"


def test_dimacs_has_lines_for_them():
    assert weights_of(read_graph("p edge 3 1\nn 2 7\ne 1 2\n")) == [1, 7, 1]


@pytest.mark.parametrize("line", ["n 4 1", "n 1", "n 1 2 3", "n x 1", "n 1 -1"])
def test_a_wrong_line_of_dimacs_is_refused_unless_it_does_not_matter(line):
    text = f"p edge 3 1\n{line}\ne 1 2\n"
    assert canonicalise(read_graph(text)).num_vertices == 3
    with pytest.raises(InvalidInput) as refused:
        weights_of(read_graph(text))
    assert refused.value.pointer == "/graph/text"


def test_metis_has_them_before_the_neighbours():
    assert weights_of(read_graph("3 2 10\n5 2\n6 1 3\n7 2\n", "metis")) == [5, 6, 7]


def test_of_several_weights_in_metis_the_first_counts_after_the_size():
    assert weights_of(read_graph("2 1 111 2\n9 5 1 2 4\n9 6 1 1 4\n", "metis")) == [5, 6]
