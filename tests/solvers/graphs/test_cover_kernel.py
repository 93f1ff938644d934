"""The kernel of a cover or independent set: what it says of the whole graph, against trying all sets."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs.cover_kernel import CoverKernel, CoverSpace
from solvers.graphs.verify import prove_independent_set
from tests.solvers.graphs.weighted_vertices import (
    heaviest_independent_set,
    independent_sets,
    is_independent,
    weighted_vertices,
)

WEIGHTS = st.integers(0, 5)


@st.composite
def graphs_with_loops(draw):
    graph = draw(weighted_vertices(weights=WEIGHTS))
    vertices = st.integers(0, max(0, graph.num_vertices - 1))
    loops = draw(st.lists(vertices, max_size=3)) if graph.num_vertices else []
    return graph, np.array(loops, np.int64)


def without_loops(graph, loops):
    weights = graph.weights.copy()
    weights[loops] = 0
    return weights


def kernel_of(graph, loops):
    return CoverKernel(graph.num_vertices, graph.edges, graph.weights, loops)


@given(graphs_with_loops())
def test_kernel_and_constant_give_the_heaviest_set_of_the_graph(case):
    graph, loops = case
    kernel = kernel_of(graph, loops)

    of_kernel = heaviest_independent_set(kernel.num_vertices, kernel.edges, kernel.weights)

    expected = heaviest_independent_set(graph.num_vertices, graph.edges, without_loops(graph, loops))
    assert kernel.in_callers_unit(int(of_kernel)) == expected


@given(graphs_with_loops())
def test_steps_prove_the_optimum_of_the_caller_s_graph(case):
    graph, loops = case
    certificate = {"kind": "reduced", "steps": kernel_of(graph, loops).steps(), "kernel": {"kind": "enumeration"}}

    proof = prove_independent_set(graph.num_vertices, graph.edges, graph.weights, certificate, loops=loops)

    assert proof.faults == ()
    assert proof.bound == heaviest_independent_set(graph.num_vertices, graph.edges, without_loops(graph, loops))


@given(graphs_with_loops())
def test_lifted_sets_are_independent_and_weigh_what_the_kernel_says(case):
    graph, loops = case
    kernel = kernel_of(graph, loops)

    for members, weight in list(independent_sets(kernel.num_vertices, kernel.edges, kernel.weights))[:20]:
        lifted = kernel.lift(np.array(members, np.int8)) == 1
        assert is_independent(graph.edges, lifted)
        assert not lifted[loops].any()
        assert graph.weights[lifted].sum() >= kernel.in_callers_unit(int(weight))


@given(graphs_with_loops())
def test_restricted_sets_are_independent(case):
    graph, loops = case
    kernel = kernel_of(graph, loops)
    sources = np.repeat(np.arange(kernel.base.num_vertices), np.diff(kernel.base.indptr))
    edges = np.column_stack([sources, kernel.base.indices])

    for members, _ in list(independent_sets(kernel.base.num_vertices, edges, kernel.base_weights))[:20]:
        restricted = kernel.restrict(np.array(members, bool)) == 1
        assert is_independent(kernel.edges, restricted)


@given(graphs_with_loops())
def test_free_vertices_are_added_as_far_as_the_set_stays_independent(case):
    graph, loops = case
    kernel = kernel_of(graph, loops)
    lifted = kernel.lift(np.zeros(kernel.num_vertices, np.int8))

    extended = kernel.with_free_vertices(lifted)

    assert is_independent(graph.edges, extended)
    assert not extended[loops].any()
    assert graph.weights[extended].sum() == graph.weights[lifted == 1].sum()
    for vertex in set(np.flatnonzero(graph.weights == 0).tolist()) - set(loops.tolist()):
        touching = graph.edges[(graph.edges == vertex).any(axis=1)]
        assert extended[vertex] or extended[touching].any()


def test_edges_of_a_graph_that_nothing_left_stay_in_the_caller_s_order():
    edges = np.array([[v, (v + step) % 31] for step in (12, 1, 8, 3) for v in range(31)])

    kernel = CoverKernel(31, edges, np.ones(31, np.int64))

    assert not kernel.is_reduced
    assert kernel.edges.tolist() == edges.tolist()


def test_components_have_the_weights_of_their_vertices():
    ring = np.array([[v, (v + step) % 31] for step in (1, 3, 8, 12) for v in range(31)])
    edges = np.concatenate([ring, ring + 31])
    weights = np.concatenate([np.full(31, 2), np.full(31, 3)])

    kernel = CoverKernel(62, edges, weights)
    space = CoverSpace(kernel, {})

    assert [component.weights.tolist() for component in kernel.components] == [[2] * 31, [3] * 31]
    assert space.part_values(np.ones(62, np.int8)).tolist() == [62, 93]
