"""The greedy independent set."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs.csr import build_csr
from solvers.graphs.min_degree_greedy import caro_wei, extended_greedily, min_degree_greedy
from tests.solvers.graphs.weighted_vertices import is_independent, random_edges, weighted_vertices


def greedy_by_definition(graph):
    """Take the vertex of greatest weight per closed neighbourhood, ties by number, and drop its neighbours."""
    neighbours = [set() for _ in range(graph.num_vertices)]
    for u, v in graph.edges.tolist():
        neighbours[u].add(v)
        neighbours[v].add(u)
    left, taken = set(range(graph.num_vertices)), []
    while left:
        taken.append(min(left, key=lambda v: (-graph.weights[v] / (len(neighbours[v] & left) + 1), v)))
        left -= neighbours[taken[-1]] | {taken[-1]}
    return sorted(taken)


@given(weighted_vertices(max_vertices=12))
def test_the_set_is_that_of_the_definition(graph):
    assert np.flatnonzero(min_degree_greedy(graph.csr, graph.weights)).tolist() == greedy_by_definition(graph)


@given(weighted_vertices())
def test_the_set_is_independent_and_weighs_what_is_sure(graph):
    members = min_degree_greedy(graph.csr, graph.weights)

    assert is_independent(graph.edges, members)
    assert graph.weights[members].sum() >= caro_wei(graph.csr, graph.weights) - 1e-9


@given(weighted_vertices(), st.integers(0, 2))
def test_only_vertices_within_are_taken_and_only_they_count(graph, residue):
    within = np.arange(graph.num_vertices) % 3 != residue
    kept = graph.edges[within[graph.edges].all(axis=1)]
    alone = build_csr(graph.num_vertices, kept, np.ones(len(kept)))

    members = min_degree_greedy(graph.csr, graph.weights, within)

    assert np.array_equal(members, min_degree_greedy(alone, graph.weights) & within)


@given(weighted_vertices())
def test_an_extended_set_keeps_its_members_and_is_maximal(graph):
    first = np.zeros(graph.num_vertices, bool)
    first[-1:] = True

    members = extended_greedily(graph.csr, graph.weights, first)

    assert members[first].all()
    assert is_independent(graph.edges, members)
    for vertex in np.flatnonzero(~members):
        assert not is_independent(graph.edges, members | (np.arange(graph.num_vertices) == vertex))


def test_a_stopped_greedy_set_is_independent():
    edges = random_edges(50, 100, np.random.default_rng(0))

    members = min_degree_greedy(build_csr(50, edges, np.ones(100)), np.ones(50, np.int64), stop=lambda: True)

    assert is_independent(edges, members)
