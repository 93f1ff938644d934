"""Components, blocks and balanced cuts, against NetworkX and by definition."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs import components
from solvers.graphs.components import balanced_sides, biconnected_blocks, connected_components
from tests.solvers.graphs.signed_graphs import SignedGraph, grid, largest_cut, signed_graphs, value_of


def networkx_graph(graph):
    built = nx.Graph(graph.edges.tolist())
    built.add_nodes_from(range(graph.num_vertices))
    return built


def sets_of_edges(blocks):
    return {frozenset(frozenset(edge) for edge in block) for block in blocks}


@given(signed_graphs(max_edges=12))
def test_components_are_those_of_networkx_in_the_order_of_their_first_vertices(graph):
    labels = connected_components(graph.num_vertices, graph.edges)

    expected = sorted(sorted(part) for part in nx.connected_components(networkx_graph(graph)))
    assert [np.flatnonzero(labels == number).tolist() for number in range(len(expected))] == expected


@pytest.mark.parametrize("arcs_per_call", [1, 7, 1000])
@given(graph=signed_graphs(max_vertices=12, max_edges=16))
def test_blocks_are_those_of_networkx_however_often_the_search_is_interrupted(arcs_per_call, graph):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(components, "ARCS_PER_CALL", arcs_per_call)
        labels = biconnected_blocks(graph.num_vertices, graph.edges)

    blocks = [graph.edges[labels == number].tolist() for number in range(labels.max(initial=-1) + 1)]
    assert all(blocks)
    assert sets_of_edges(blocks) == sets_of_edges(nx.biconnected_component_edges(networkx_graph(graph)))


def test_a_path_of_a_hundred_thousand_vertices_has_as_many_blocks_as_edges():
    path = np.stack([np.arange(99_999), np.arange(1, 100_000)], axis=1)

    assert len(set(biconnected_blocks(100_000, path).tolist())) == 99_999


@given(signed_graphs(max_vertices=8))
def test_a_cut_worth_the_positive_weights_is_found_if_and_only_if_there_is_one(graph):
    sides = balanced_sides(*graph)

    positive = graph.weights[graph.weights > 0].sum()
    assert (sides is not None) == (largest_cut(*graph) == positive)
    if sides is not None:
        assert value_of(graph, sides) == positive


@given(signed_graphs(max_vertices=12), st.integers(0, 2**12 - 1))
def test_a_hidden_cut_is_recovered_with_the_first_vertex_of_every_component_on_side_0(graph, code):
    hidden = np.array([code >> v & 1 for v in range(graph.num_vertices)], np.int8)
    is_cut = hidden[graph.edges[:, 0]] != hidden[graph.edges[:, 1]]

    sides = balanced_sides(graph.num_vertices, graph.edges, np.where(is_cut, 1, -1))

    labels = connected_components(graph.num_vertices, graph.edges)
    first = np.unique(labels, return_index=True)[1]
    assert sides.tolist() == [hidden[v] ^ hidden[first[labels[v]]] for v in range(graph.num_vertices)]


@given(signed_graphs(max_vertices=9, max_edges=12))
def test_cuts_of_the_blocks_make_a_largest_cut_of_the_whole(graph):
    labels = biconnected_blocks(graph.num_vertices, graph.edges)
    is_cut = np.zeros(len(graph.edges), np.bool_)
    for number in range(labels.max(initial=-1) + 1):
        rows = labels == number
        block = SignedGraph(graph.num_vertices, graph.edges[rows], graph.weights[rows])
        best = max(range(1 << graph.num_vertices), key=lambda code, block=block: value_of(block, bits(code, block.num_vertices)))
        sides = np.array(bits(best, graph.num_vertices))
        is_cut[rows] = sides[block.edges[:, 0]] != sides[block.edges[:, 1]]

    whole = balanced_sides(graph.num_vertices, graph.edges, np.where(is_cut, 1, -1))

    assert value_of(graph, whole) == largest_cut(*graph)


def bits(code, count):
    return [code >> v & 1 for v in range(count)]


def test_a_contradiction_in_a_later_portion_of_the_edges_is_found(monkeypatch):
    monkeypatch.setattr(components, "ARCS_PER_CALL", 3)
    edges = np.concatenate([grid(3, 4), [[0, 2]]])

    assert balanced_sides(12, edges[:-1], np.ones(len(edges) - 1)) is not None
    assert balanced_sides(12, edges, np.ones(len(edges))) is None
