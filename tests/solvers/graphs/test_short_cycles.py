"""Short cycles, against all simple cycles as NetworkX lists them."""

from itertools import combinations

import networkx as nx
import numpy as np
from hypothesis import given

from solvers.graphs.short_cycles import short_cycles
from tests.solvers.graphs.signed_graphs import signed_graphs


def networkx_graph(graph):
    return nx.Graph(graph.edges.tolist())


@given(signed_graphs(max_vertices=9))
def test_all_triangles_and_squares_without_chords_are_found_once_each(graph):
    built = networkx_graph(graph)
    expected = {frozenset(c) for c in nx.simple_cycles(built, length_bound=4) if built.subgraph(c).number_of_edges() == len(c)}

    found = [
        frozenset(graph.edges[list(c)].ravel().tolist()) for c in short_cycles(graph.num_vertices, graph.edges) if len(c) <= 4
    ]

    assert len(found) == len(set(found))
    assert set(found) == expected


@given(signed_graphs(max_vertices=12, max_edges=16))
def test_what_is_found_are_cycles_without_chords_of_at_most_six_edges(graph):
    built = networkx_graph(graph)

    for rows in short_cycles(graph.num_vertices, graph.edges):
        cycle = nx.Graph(graph.edges[list(rows)].tolist())
        assert len(rows) <= 6
        assert nx.is_connected(cycle)
        assert all(degree == 2 for _, degree in cycle.degree)
        assert built.subgraph(cycle).number_of_edges() == len(rows)


@given(signed_graphs(max_vertices=12, max_edges=16))
def test_every_edge_that_is_on_a_short_cycle_is_on_one_that_is_found(graph):
    found = {row for cycle in short_cycles(graph.num_vertices, graph.edges) for row in cycle}

    built = networkx_graph(graph)
    for row, (u, v) in enumerate(graph.edges.tolist()):
        without = nx.restricted_view(built, [], [(u, v)])
        on_one = nx.has_path(without, u, v) and nx.shortest_path_length(without, u, v) <= 5
        assert (row in found) == on_one


def test_no_cycle_follows_a_stop():
    edges = np.array(list(combinations(range(6), 2)))

    assert list(short_cycles(6, edges, stop=lambda: True)) == []
