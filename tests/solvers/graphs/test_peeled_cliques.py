"""Large cliques are taken out one by one, and are found where they were planted."""

import itertools

import numpy as np
import pytest
from hypothesis import given

from solvers.graphs import peeled_cliques as module
from solvers.graphs.clique_partition import clique_partition
from solvers.graphs.csr import build_csr
from solvers.graphs.peeled_cliques import peeled_cliques
from tests.solvers.graphs.weighted_vertices import dimacs_graph, heaviest_independent_set, weighted_vertices


def planted_cliques(count, size, seed):
    """Disjoint cliques, and as many edges by chance."""
    rng = np.random.default_rng(seed)
    own = [pair for first in range(0, count * size, size) for pair in itertools.combinations(range(first, first + size), 2)]
    others = np.sort(rng.integers(0, count * size, (len(own), 2)), axis=1)
    shuffled = rng.permutation(count * size)[np.vstack([own, others[others[:, 0] < others[:, 1]]])]
    edges = np.unique(np.sort(shuffled, axis=1), axis=0)
    return build_csr(count * size, edges, np.ones(len(edges), np.int64))


@given(weighted_vertices())
def test_the_cliques_share_out_the_vertices_and_are_cliques(graph):
    clique_of = peeled_cliques(graph.csr, graph.weights)

    pairs = {frozenset(pair) for pair in graph.edges.tolist()}
    assert sorted(set(clique_of.tolist())) == list(range(clique_of.max(initial=-1) + 1))
    for u, v in itertools.combinations(range(graph.num_vertices), 2):
        assert clique_of[u] != clique_of[v] or frozenset((u, v)) in pairs


@given(weighted_vertices(max_vertices=11))
def test_the_bound_of_the_best_partition_is_none_below_the_optimum(graph):
    partition = clique_partition(graph.csr, graph.weights)

    heaviest = [max(graph.weights[v] for v in clique) for clique in partition.cliques()]
    assert partition.upper_bound == sum(heaviest) >= heaviest_independent_set(*graph)


@pytest.mark.parametrize("seed", range(5))
def test_planted_cliques_are_found(seed):
    csr = planted_cliques(30, 15, seed)

    assert peeled_cliques(csr, np.ones(450, np.int64)).max() == 29


def test_large_cliques_say_more_of_a_dense_graph_than_any_order():
    graph = dimacs_graph("gen200_p0.9_44")

    assert clique_partition(graph.csr, graph.weights).upper_bound <= 46


def test_heavy_vertices_come_together():
    square_with_a_diagonal = build_csr(4, [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]], np.ones(5, np.int64))

    clique_of = peeled_cliques(square_with_a_diagonal, np.array([9, 1, 9, 8]))

    assert clique_of.tolist() == [0, 1, 0, 0]


def test_pieces_of_work_make_no_difference(monkeypatch):
    graph = dimacs_graph("brock200_2")
    whole = peeled_cliques(graph.csr, graph.weights)

    monkeypatch.setattr(module, "WORK_PER_CALL", 1000)

    assert peeled_cliques(graph.csr, graph.weights).tolist() == whole.tolist()
    assert peeled_cliques(graph.csr, graph.weights, stop=lambda: True) is None


def test_graphs_that_take_too_long_are_left_alone(monkeypatch):
    graph = dimacs_graph("brock200_2")
    monkeypatch.setattr(module, "MOST_WORK", 50_000)

    assert peeled_cliques(graph.csr, graph.weights) is None
