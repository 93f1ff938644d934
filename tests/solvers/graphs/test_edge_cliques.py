"""Cliques that cover the edges are cliques and cover them."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given

from solvers.graphs import edge_cliques
from solvers.graphs.csr import build_csr
from solvers.graphs.edge_cliques import edge_clique_cover
from tests.solvers.graphs.weighted_vertices import dimacs_graph, sparse_graph, weighted_vertices


def pairs_of(cliques):
    return {pair for clique in cliques for pair in combinations(sorted(clique), 2)}


def edges_of(graph):
    return set(map(tuple, np.sort(graph.edges, axis=1).tolist()))


@given(weighted_vertices(max_vertices=12))
def test_every_pair_in_a_clique_is_an_edge_and_every_edge_is_in_one(graph):
    cliques = edge_clique_cover(graph.csr)

    assert pairs_of(cliques) == edges_of(graph)
    assert all(len(set(clique)) == len(clique) >= 2 for clique in cliques)


@pytest.mark.parametrize("name", ["brock200_2", "CA-GrQc"])
def test_instances_are_covered(name):
    graph = dimacs_graph(name)

    cliques = edge_clique_cover(graph.csr)

    assert pairs_of(cliques) == edges_of(graph)
    assert len(cliques) < len(graph.edges) / 2


def test_a_complete_graph_is_one_clique():
    complete = build_csr(6, list(combinations(range(6), 2)), np.ones(15))

    assert [sorted(clique) for clique in edge_clique_cover(complete)] == [list(range(6))]


def test_the_cover_does_not_depend_on_how_the_work_is_divided(monkeypatch):
    graph = sparse_graph(500, 3000, seed=1)
    whole = edge_clique_cover(graph.csr)

    monkeypatch.setattr(edge_cliques, "WORK_PER_CALL", 100)

    assert edge_clique_cover(graph.csr) == whole


def test_a_cover_that_is_stopped_is_none(monkeypatch):
    monkeypatch.setattr(edge_cliques, "WORK_PER_CALL", 100)

    assert edge_clique_cover(sparse_graph(500, 3000, seed=1).csr, stop=lambda: True) is None
