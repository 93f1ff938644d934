"""Reductions of vertex cover keep the optimum, and say how they came about."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.graphs import cover_reductions
from solvers.graphs.cover_reductions import reduce_cover
from solvers.graphs.cover_rules import LONGEST_ENTRY, make_desk
from solvers.graphs.shrinking_graph import build_shrinking_graph, repacked
from solvers.graphs.verify import prove_cover, prove_independent_set
from tests.solvers.graphs.weighted_vertices import (
    WeightedVertices,
    dimacs_graph,
    heaviest_independent_set,
    independent_sets,
    is_cover,
    is_independent,
    random_edges,
    sparse_graph,
    weighed,
    weighted_vertices,
)

GRAPHS = weighted_vertices(max_vertices=12)


def kernel_of(reduction):
    return WeightedVertices(len(reduction.kernel_vertices), reduction.edges, reduction.weights)


def unit_graph(num_vertices, edges):
    return WeightedVertices(num_vertices, np.array(edges, np.int32).reshape(-1, 2), np.ones(num_vertices, np.int64))


@settings(max_examples=150)
@given(GRAPHS)
def test_kernel_and_constant_have_the_heaviest_independent_set_of_the_graph(graph):
    reduction = reduce_cover(*graph)

    assert heaviest_independent_set(*graph) == reduction.constant + heaviest_independent_set(*kernel_of(reduction))


@settings(max_examples=150)
@given(GRAPHS)
def test_kernel_and_cover_constant_have_the_lightest_cover_of_the_graph(graph):
    reduction = reduce_cover(*graph)
    kernel = kernel_of(reduction)

    lightest_of_kernel = kernel.weights.sum() - heaviest_independent_set(*kernel)

    assert graph.weights.sum() - heaviest_independent_set(*graph) == reduction.cover_constant + lightest_of_kernel


@settings(max_examples=150)
@given(GRAPHS, st.data())
def test_a_lifted_independent_set_is_one_and_weighs_the_constant_more(graph, data):
    reduction = reduce_cover(*graph)
    members, weight = data.draw(st.sampled_from(list(independent_sets(*kernel_of(reduction)))))

    lifted = reduction.lift(np.array(members, bool))

    assert is_independent(graph.edges, lifted)
    assert graph.weights[lifted].sum() == reduction.constant + weight


@given(GRAPHS, st.data())
def test_a_lifted_cover_covers_and_weighs_the_cover_constant_more(graph, data):
    reduction = reduce_cover(*graph)
    outside, _ = data.draw(st.sampled_from(list(independent_sets(*kernel_of(reduction)))))
    members = ~np.array(outside, bool)

    lifted = reduction.lift_cover(members)

    assert is_cover(graph.edges, lifted)
    assert graph.weights[lifted].sum() == reduction.cover_constant + reduction.weights[members].sum()


@settings(max_examples=150)
@given(GRAPHS)
def test_the_steps_are_proven(graph):
    reduction = reduce_cover(*graph)
    certificate = {"kind": "reduced", "steps": reduction.steps(), "kernel": {"kind": "enumeration"}}

    proof = prove_independent_set(*graph, certificate)

    assert (proof.bound, proof.faults) == (heaviest_independent_set(*graph), ())


@given(GRAPHS)
def test_equal_weights_stay_equal(graph):
    reduction = reduce_cover(graph.num_vertices, graph.edges, np.full(graph.num_vertices, 7))

    assert set(reduction.weights.tolist()) <= {7}


# Rule, weights, edges, and the step that is expected among the steps.
EXAMPLES = {
    "degree_0": ([5], [], ["degree_0", 0]),
    "degree_1": ([1, 2], [(0, 1)], ["degree_1", 0, 1]),
    "triangle": ([1, 1, 1], [(0, 1), (1, 2), (2, 0)], ["degree_2_triangle", 0, 1, 2]),
    "fold": ([1] * 5, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)], ["fold", 0, 1, 4]),
    "fold of a heavy vertex": ([9, 4, 4, 1], [(0, 1), (0, 2), (1, 3), (2, 3)], ["fold", 0, 1, 2]),
    "twins with an edge": (
        [1] * 8,
        [(0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3), *[(u, v) for u in (2, 3, 4) for v in (5, 6, 7)]],
        ["twin", 0, 1, 2, 3, 4],
    ),
    "weighted twins": (
        [2, 3, 4, 5, 6, 7],
        [(u, v) for u in (0, 1, 2) for v in (3, 4, 5)],
        ["twin", 0, 1],
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_rule_is_used_where_it_applies(name):
    weights, edges, step = EXAMPLES[name]
    graph = WeightedVertices(len(weights), np.array(edges, np.int32).reshape(-1, 2), np.array(weights))

    reduction = reduce_cover(*graph)

    assert step in reduction.steps()


def crowned_ring():
    """Twelve vertices that are not adjacent have but ten neighbours together, five each; a ring with chords hangs on to those."""
    rng = np.random.default_rng(0)
    crown = [(v, 12 + u) for v in range(12) for u in rng.permutation(10)[:5].tolist()]
    ring = [(22 + v, 22 + (v + step) % 20) for v in range(20) for step in (1, 3, 7)]
    links = [(12 + u, 22 + v) for u in range(10) for v in rng.permutation(20)[:6].tolist()]
    return unit_graph(42, crown + ring + links)


def test_a_crown_that_no_vertex_shows_alone_is_taken_out():
    reduction = reduce_cover(*crowned_ring())

    rule, *triples = reduction.steps()[0]
    assert (rule, set(triples[::3])) == ("nt", set(range(12, 22)))
    assert reduction.kernel_vertices.tolist() == list(range(22, 42))
    assert reduction.constant == 12


@pytest.mark.parametrize("graph", [crowned_ring(), sparse_graph(300, 420, seed=1), unit_graph(0, []), unit_graph(4, [])])
def test_steps_name_vertices_as_they_are_told_to(graph):
    names = np.random.default_rng(2).permutation(1000)[: graph.num_vertices]
    reduction = reduce_cover(*graph)

    # Every third number of a step nt is an amount.
    expected = [
        [rule, *(number if rule == "nt" and at % 3 == 2 else names[number] for at, number in enumerate(numbers))]
        for rule, *numbers in reduction.steps()
    ]
    assert reduction.steps(names) == expected


def test_an_unweighted_collaboration_graph_is_solved_with_proof():
    graph = dimacs_graph("CA-GrQc")

    reduction = reduce_cover(*graph)
    certificate = {"kind": "reduced", "steps": reduction.steps(), "kernel": {"kind": "trivial"}}

    assert (len(reduction.kernel_vertices), reduction.constant) == (0, 2459)
    assert reduction.lift(np.zeros(0, bool)).sum() == 2459
    assert prove_cover(*graph, certificate).bound == graph.num_vertices - 2459


def test_a_weighted_collaboration_graph_is_solved_with_proof():
    graph = weighed(dimacs_graph("CA-GrQc"), seed=1)

    reduction = reduce_cover(*graph)
    certificate = {"kind": "reduced", "steps": reduction.steps(), "kernel": {"kind": "trivial"}}

    assert len(reduction.kernel_vertices) == 0
    assert prove_independent_set(*graph, certificate).bound == graph.weights[reduction.lift(np.zeros(0, bool))].sum()


@pytest.mark.parametrize("is_weighted", [False, True])
def test_the_steps_of_a_large_sparse_graph_are_proven(is_weighted):
    graph = sparse_graph(20_000, 36_000, seed=3)
    graph = weighed(graph, seed=4) if is_weighted else graph

    reduction = reduce_cover(*graph)
    proof = prove_independent_set(*graph, {"kind": "reduced", "steps": reduction.steps(), "kernel": {"kind": "trivial"}})

    assert (proof.bound, proof.faults) == (reduction.constant + reduction.weights.sum(), ())
    assert len(Counter(step[0] for step in reduction.steps())) >= 4


def test_rows_that_have_no_room_to_merge_are_packed_again(monkeypatch):
    graph = sparse_graph(2000, 3600, seed=5)
    with_room = reduce_cover(*graph)
    packings = []

    def without_spare(num_vertices, edges, vertex_weights, spare):
        return build_shrinking_graph(num_vertices, edges, vertex_weights, 0)

    def counted(graph, spare):
        packings.append(spare)
        return repacked(graph, spare)

    monkeypatch.setattr(cover_reductions, "build_shrinking_graph", without_spare)
    monkeypatch.setattr(cover_reductions, "repacked", counted)

    without_room = reduce_cover(*graph)

    assert packings
    assert without_room.constant + without_room.weights.sum() == with_room.constant + with_room.weights.sum()
    assert without_room.steps() == with_room.steps()


def test_the_log_grows_as_far_as_needed(monkeypatch):
    graph = sparse_graph(2000, 3600, seed=5)
    expected = reduce_cover(*graph).steps()
    monkeypatch.setattr(cover_reductions, "make_desk", lambda shrinking, log_size: make_desk(shrinking, LONGEST_ENTRY))

    assert reduce_cover(*graph).steps() == expected


def test_a_graph_on_which_no_rule_applies_comes_through_sorted():
    graph = dimacs_graph("C250.9")
    backwards = graph.edges[::-1, ::-1]

    reduction = reduce_cover(graph.num_vertices, backwards, graph.weights)

    assert reduction.steps() == []
    assert reduction.edges.tolist() == sorted(map(sorted, graph.edges.tolist()))


def test_a_reduction_that_is_stopped_is_exact_where_it_is():
    graph = unit_graph(6, random_edges(6, 7, np.random.default_rng(2)))

    reduction = reduce_cover(*graph, stop=lambda: True)

    assert reduction.steps() == []
    assert heaviest_independent_set(*kernel_of(reduction)) == heaviest_independent_set(*graph)


def test_large_weights_do_not_overflow():
    graph = WeightedVertices(5, np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]]), np.array([2**57, 2**57 - 1, 2**56, 2**57, 1]))

    reduction = reduce_cover(*graph)

    assert len(reduction.kernel_vertices) == 0
    assert reduction.constant == heaviest_independent_set(*graph)


@pytest.mark.parametrize("num_vertices", [0, 1, 4])
def test_vertices_without_edges_are_all_taken(num_vertices):
    reduction = reduce_cover(*unit_graph(num_vertices, []))

    assert reduction.constant == num_vertices
    assert reduction.lift(np.zeros(0, bool)).all()
