"""CP-SAT proves independent sets, and what it says after less time is still true."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings

from solvers.graphs.cover_reductions import reduce_cover
from solvers.graphs.cp_sat import Limits
from solvers.graphs.cp_sat_independent_set import cp_sat_independent_set
from tests.solvers.graphs.weighted_vertices import (
    dimacs_graph,
    heaviest_independent_set,
    is_independent,
    sparse_graph,
    weighed,
    weighted_vertices,
)


def nobody(graph):
    return np.zeros(graph.num_vertices, bool)


@settings(max_examples=40)
@given(weighted_vertices())
def test_the_heaviest_set_is_found_and_proved(graph):
    answer = cp_sat_independent_set(*graph, nobody(graph))

    assert answer.value == answer.bound == heaviest_independent_set(*graph) == graph.weights[answer.solution].sum()
    assert is_independent(graph.edges, answer.solution)


def test_a_weighted_collaboration_graph_is_solved_without_reductions():
    graph = weighed(dimacs_graph("CA-GrQc"), seed=1)

    answer = cp_sat_independent_set(*graph, nobody(graph))

    assert answer.value == answer.bound == reduce_cover(*graph).constant


def test_the_same_seed_and_deterministic_limit_give_the_same_answer():
    graph = dimacs_graph("C250.9")

    first, again = (cp_sat_independent_set(*graph, nobody(graph), seed=5, limits=Limits(work=0.2)) for _ in range(2))

    assert (first.value, first.bound, first.nodes) == (again.value, again.bound, again.nodes)
    assert first.solution.tolist() == again.solution.tolist()


@pytest.mark.parametrize("limit", [1e-6, 0.01, 0.1])
def test_a_search_cut_short_gives_a_bound_above_the_optimum_and_no_worse_set_than_the_hint(limit):
    graph = dimacs_graph("sanr200_0.9")
    hint = nobody(graph)
    hint[7] = True

    answer = cp_sat_independent_set(*graph, hint, limits=Limits(work=limit))

    assert 1 <= answer.value <= 42 <= answer.bound
    assert answer.solution.sum() == answer.value
    assert is_independent(graph.edges, answer.solution)


def test_a_search_without_a_limit_ends_when_it_is_told_to_stop():
    graph = dimacs_graph("rb40-2")
    told = threading.Event()
    threading.Timer(0.5, told.set).start()

    answer = cp_sat_independent_set(*graph, nobody(graph), limits=Limits(stop=told.is_set))

    assert told.is_set()
    assert answer is None or not answer.is_optimal


def test_nothing_is_searched_when_time_is_up_or_told_to_stop_before_the_start():
    graph = sparse_graph(30, 60, seed=5)

    assert cp_sat_independent_set(*graph, nobody(graph), limits=Limits(time_limit=0)) is None
    assert cp_sat_independent_set(*graph, nobody(graph), limits=Limits(stop=lambda: True)) is None


def test_weights_that_floats_cannot_add_exactly_are_declined():
    assert cp_sat_independent_set(2, [[0, 1]], [2**53, 1], np.zeros(2, bool)) is None


def test_bounds_are_multiples_of_the_common_factor_of_the_weights():
    graph = dimacs_graph("C250.9")

    answer = cp_sat_independent_set(graph.num_vertices, graph.edges, 6 * graph.weights, nobody(graph), limits=Limits(work=0.1))

    assert answer.value < answer.bound
    assert answer.bound % 6 == 0


def test_the_certificate_says_what_was_run_and_falls_back_on_another():
    answer = cp_sat_independent_set(2, [[0, 1]], [1, 1], np.zeros(2, bool))

    certificate = answer.certificate({"kind": "trivial"})

    assert certificate.pop("version").startswith("9.")
    assert certificate == {"kind": "search", "solver": "cp-sat", "nodes": answer.nodes, "fallback": {"kind": "trivial"}}
