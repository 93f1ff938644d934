"""Reductions keep the largest cut, and say how they came about."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.graphs.csr import cut_value
from solvers.graphs.reductions import reduce_max_cut
from tests.solvers.graphs.signed_graphs import SignedGraph, grid, largest_cut, random_graph, signed_graphs, value_of

# Up to 12 vertices with few edges: enough to hold on to a kernel now and then.
SPARSE_GRAPHS = signed_graphs(max_vertices=12, max_edges=24)
UNIT_GRAPHS = signed_graphs(max_vertices=12, max_edges=24, weights=st.sampled_from([1, -1]))


def kernel_of(reduction):
    return SignedGraph(len(reduction.kernel_vertices), reduction.edges, reduction.weights)


def replay(graph, steps):
    """Carry out the steps in fractions, weighing the sides of each vertex against each other; return the edges and the constant."""
    adjacency = [{} for _ in range(graph.num_vertices)]

    def add(u, v, weight):
        total = adjacency[u].get(v, 0) + weight
        for a, b in ((u, v), (v, u)):
            adjacency[a].pop(b, None)
            if total:
                adjacency[a][b] = total

    for (u, v), weight in zip(graph.edges.tolist(), graph.weights.tolist(), strict=True):
        add(u, v, Fraction(weight))
    constant = Fraction(0)
    for rule, v, *neighbours in steps:
        assert rule == f"degree_{len(neighbours)}"
        assert sorted(adjacency[v]) == neighbours
        star = dict(adjacency[v])
        total = sum(star.values())

        def best(apart, star=star, total=total):
            across = sum(star[u] for u in apart)
            return max(across, total - across)

        alone = {u: best([u]) - best([]) for u in neighbours}
        for u in neighbours:
            add(u, v, -star[u])
        for p, q in combinations(neighbours, 2):
            add(p, q, (alone[p] + alone[q] - (best([p, q]) - best([]))) / 2)
        constant += best([])
    return {(u, v): weight for u, row in enumerate(adjacency) for v, weight in row.items() if u < v}, constant


@settings(max_examples=150)
@given(SPARSE_GRAPHS)
def test_kernel_and_constant_have_the_largest_cut_of_the_graph(graph):
    reduction = reduce_max_cut(*graph)

    assert reduction.scale * largest_cut(*graph) == reduction.constant + largest_cut(*kernel_of(reduction))


@settings(max_examples=150)
@given(UNIT_GRAPHS, st.integers(0, 2**12 - 1))
def test_a_lifted_cut_is_worth_the_constant_and_the_cut_of_the_kernel(graph, code):
    reduction = reduce_max_cut(*graph)
    sides = np.array([code >> v & 1 for v in range(len(reduction.kernel_vertices))], np.int8)

    lifted = reduction.lift(sides)

    assert reduction.scale * value_of(graph, lifted) == reduction.constant + value_of(kernel_of(reduction), sides)
    assert lifted[reduction.kernel_vertices].tolist() == sides.tolist()


@given(SPARSE_GRAPHS)
def test_whoever_replays_the_steps_comes_to_the_same_kernel(graph):
    reduction = reduce_max_cut(*graph)

    edges, constant = replay(graph, reduction.steps())

    left = reduction.kernel_vertices.tolist()
    kernel = {(left[u], left[v]): w for (u, v), w in zip(reduction.edges.tolist(), reduction.weights.tolist(), strict=True)}
    assert constant * reduction.scale == reduction.constant
    assert {pair: weight * reduction.scale for pair, weight in edges.items()} == kernel


@given(SPARSE_GRAPHS)
def test_no_vertex_of_degree_three_or_less_stays(graph):
    reduction = reduce_max_cut(*graph)

    assert (np.bincount(reduction.edges.ravel(), minlength=len(reduction.kernel_vertices)) > 3).all()


def test_the_doubled_weights_at_every_vertex_sum_to_an_even_number():
    graph = SignedGraph(200, *random_graph(200, 330, np.random.default_rng(8)))

    reduction = reduce_max_cut(*graph)

    sums = np.bincount(reduction.edges.ravel(), np.repeat(reduction.weights, 2)).astype(int)
    assert (reduction.weights % 2 == 1).any()
    assert (sums % 2 == 0).all()


def test_edges_that_cancel_are_no_edges():
    # The path 1-0-2 puts -1 on the edge 12, which had 1.
    edges = [[0, 1], [0, 2], [1, 2], [1, 3], [1, 4], [1, 5], [2, 3], [2, 4], [2, 5], [3, 4], [3, 5], [4, 5]]

    reduction = reduce_max_cut(6, edges, np.ones(12, np.int64))

    assert ["degree_2", 0, 1, 2] in reduction.steps()
    assert len(reduction.kernel_vertices) == 0


@pytest.mark.parametrize("num_vertices", [0, 1, 5])
def test_vertices_without_edges_all_leave(num_vertices):
    reduction = reduce_max_cut(num_vertices, np.empty((0, 2)), [])

    assert reduction.steps() == [["degree_0", v] for v in range(num_vertices)]
    assert reduction.lift(np.zeros(0, np.int8)).tolist() == [0] * num_vertices


def test_a_graph_of_large_degrees_comes_through_sorted_and_doubled():
    pairs = list(combinations(range(6), 2))

    reduction = reduce_max_cut(6, [(v, u) for u, v in reversed(pairs)], range(1, 16))

    assert reduction.edges.tolist() == [list(pair) for pair in pairs]
    assert reduction.weights.tolist() == list(range(30, 0, -2))


def test_the_largest_weights_do_not_overflow():
    graph = SignedGraph(4, np.array([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]]), np.array([2**51, 2**51, -(2**51), 2**51, 2**50]))

    reduction = reduce_max_cut(*graph)

    assert len(reduction.kernel_vertices) == 0
    assert reduction.constant == 2 * largest_cut(*graph)


def test_a_reduction_that_is_stopped_is_exact_where_it_is():
    graph = SignedGraph(12, grid(3, 4), np.arange(-8, 9, dtype=np.int64))

    reduction = reduce_max_cut(*graph, stop=lambda: True)

    assert reduction.steps() == []
    assert largest_cut(*kernel_of(reduction)) == reduction.scale * largest_cut(*graph)


def test_a_large_sparse_graph_is_reduced_and_lifted_to_the_value_promised():
    rng = np.random.default_rng(3)
    edges = np.unique(np.sort(rng.integers(0, 20_000, (30_000, 2)), axis=1), axis=0)
    edges = edges[edges[:, 0] != edges[:, 1]]
    weights = rng.integers(-100, 101, len(edges))

    reduction = reduce_max_cut(20_000, edges, weights)
    sides = rng.integers(0, 2, len(reduction.kernel_vertices)).astype(np.int8)

    assert 0 < len(reduction.kernel_vertices) < 10_000
    expected = reduction.constant + cut_value(reduction.edges, reduction.weights, sides)
    assert reduction.scale * cut_value(edges, weights, reduction.lift(sides)) == expected
