"""Single components are solved exactly, each by the way that suits it, with a bound that can be checked where there is one."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given

from solvers.graphs.bound import Bound
from solvers.graphs.cover_kernel import VertexComponent
from solvers.graphs.exact_independent_sets import ATTEMPT, BY_WORK, ends_by_cliques, finished_set, looks_finishable, set_at_once
from solvers.graphs.verify import prove_independent_set
from tests.solvers.graphs.signed_graphs import grid
from tests.solvers.graphs.weighted_vertices import (
    WeightedVertices,
    dimacs_graph,
    heaviest_independent_set,
    is_independent,
    weighed,
    weighted_vertices,
)


def never():
    return False


def component(graph):
    return VertexComponent(np.arange(graph.num_vertices), graph.edges, graph.weights)


def finish(graph, *, narrow=False, effort=BY_WORK, stop=never):
    known = Bound(int(graph.weights.sum()), "trivial", {"kind": "trivial"})
    hint = np.zeros(graph.num_vertices, bool)
    return finished_set(component(graph), hint, known, narrow=narrow, seed=1, seconds=math.inf, effort=effort, stop=stop)


@given(weighted_vertices(max_vertices=11))
def test_tiny_components_are_solved_at_once_with_proof(graph):
    found = set_at_once(component(graph), never)

    assert found.value == found.bound.value == heaviest_independent_set(*graph) == graph.weights[found.sides == 1].sum()
    assert prove_independent_set(*graph, found.bound.certificate).bound == found.value


@pytest.mark.parametrize("solve", [lambda graph: set_at_once(component(graph), never), partial(finish, narrow=True)])
def test_narrow_components_are_solved_by_tables_with_proof(solve):
    graph = weighed(WeightedVertices(96, grid(8, 12), np.ones(96, np.int64)), seed=1)

    found = solve(graph)

    assert found.bound.kind == "elimination"
    assert prove_independent_set(*graph, found.bound.certificate).bound == found.value == graph.weights[found.sides == 1].sum()


def test_wide_components_are_not_solved_at_once():
    assert set_at_once(component(dimacs_graph("C250.9")), never) is None


@pytest.mark.parametrize(("name", "solver"), [("gen200_p0.9_44", "bbmc"), ("CA-GrQc", "cp-sat")])
def test_the_finish_searches_dense_graphs_by_cliques_and_sparse_ones_by_cp_sat(name, solver):
    graph = dimacs_graph(name)

    found = finish(graph)

    assert found.is_optimal
    assert (found.bound.kind, found.bound.certificate["solver"]) == ("search", solver)
    assert is_independent(graph.edges, found.sides == 1)
    assert found.sides.sum() == found.value


def test_a_finish_by_work_is_the_same_every_time():
    graph = dimacs_graph("rb30-1")

    first, again = finish(graph), finish(graph)

    assert (first.value, first.bound) == (again.value, again.bound)
    assert first.sides.tolist() == again.sides.tolist()


def test_a_search_that_proves_less_than_is_known_keeps_what_is_known():
    graph = dimacs_graph("C250.9")
    known = Bound(45, "clique_partition", {"kind": "clique_partition", "cliques": []})

    found = finished_set(
        component(graph), np.zeros(250, bool), known, narrow=False, seed=1, seconds=math.inf, effort=ATTEMPT, stop=never
    )

    assert found.bound == known
    assert found.value <= 44


def test_a_finish_that_is_stopped_returns_the_hint_and_the_known_bound():
    found = finish(dimacs_graph("C250.9"), stop=lambda: True)

    assert (found.value, found.bound.value, found.bound.kind) == (0, 250, "trivial")


def test_a_large_sparse_component_is_not_finished_when_told_to_stop():
    assert finish(dimacs_graph("CA-GrQc"), stop=lambda: True) is None


def test_a_search_after_a_search_falls_back_on_what_can_be_checked():
    graph = dimacs_graph("gen200_p0.9_44")
    searched = Bound(60, "search", {"kind": "search", "fallback": {"kind": "trivial"}})

    found = finished_set(
        component(graph), np.zeros(200, bool), searched, narrow=False, seed=1, seconds=math.inf, effort=BY_WORK, stop=never
    )

    assert found.bound.certificate["fallback"] == {"kind": "trivial"}


def test_an_attempt_leaves_large_graphs_alone():
    ring = np.column_stack([np.arange(30_000), (np.arange(30_000) + 1) % 30_000])
    graph = WeightedVertices(30_000, ring, np.ones(30_000, np.int64))

    assert looks_finishable(component(graph))
    assert finish(graph, effort=ATTEMPT) is None


@pytest.mark.parametrize(
    ("name", "is_likely"), [("sanr200_0.9", True), ("p_hat300-3", True), ("rb40-2", False), ("CA-GrQc", False)]
)
def test_branch_and_bound_is_trusted_with_dense_graphs_of_moderate_size(name, is_likely):
    assert ends_by_cliques(component(dimacs_graph(name))) == is_likely
