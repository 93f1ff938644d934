"""CP-SAT proves largest cuts of small graphs, and what it says after less time is still true."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.graphs.cp_sat import Limits
from solvers.graphs.cp_sat_cut import cp_sat_max_cut
from solvers.graphs.elimination import elimination_optimum
from tests.solvers.graphs.signed_graphs import SignedGraph, grid, largest_cut, random_graph, signed_graphs, value_of


@settings(max_examples=40)
@given(signed_graphs(max_vertices=8), st.integers(0, 255))
def test_the_largest_cut_is_found_and_proved(graph, code):
    hint = np.array([code >> v & 1 for v in range(graph.num_vertices)], np.int8)

    answer = cp_sat_max_cut(*graph, hint)

    assert answer.value == answer.bound == largest_cut(*graph) == value_of(graph, answer.solution)
    assert answer.is_optimal


def test_a_graph_too_large_to_enumerate_is_solved():
    graph = SignedGraph(40, *random_graph(40, 100, np.random.default_rng(1)))

    answer = cp_sat_max_cut(*graph, np.zeros(40, np.int8))

    assert answer.value == answer.bound == elimination_optimum(*graph).value


def test_the_same_seed_and_deterministic_limit_give_the_same_answer():
    graph = SignedGraph(50, *random_graph(50, 300, np.random.default_rng(2)))
    hint = np.zeros(50, np.int8)

    first, again = (cp_sat_max_cut(*graph, hint, seed=5, limits=Limits(work=0.1)) for _ in range(2))

    assert first.nodes > 0
    assert (first.value, first.bound, first.nodes) == (again.value, again.bound, again.nodes)
    assert first.solution.tolist() == again.solution.tolist()


@pytest.mark.parametrize("limit", [1e-6, 0.01, 0.1])
def test_a_search_cut_short_gives_a_bound_above_the_optimum_and_no_worse_cut_than_the_hint(limit):
    edges = grid(8, 8)
    graph = SignedGraph(64, edges, np.random.default_rng(3).integers(-9, 10, len(edges)))
    optimum = elimination_optimum(*graph)
    hint = optimum.sides.copy()
    hint[:3] ^= 1

    answer = cp_sat_max_cut(*graph, hint, limits=Limits(work=limit))

    assert value_of(graph, hint) <= answer.value <= optimum.value <= answer.bound
    assert answer.value == value_of(graph, answer.solution)


def test_a_search_without_a_limit_ends_when_it_is_told_to_stop():
    graph = SignedGraph(150, *random_graph(150, 4000, np.random.default_rng(4)))
    told = threading.Event()
    threading.Timer(0.5, told.set).start()

    answer = cp_sat_max_cut(*graph, np.zeros(150, np.int8), limits=Limits(stop=told.is_set))

    assert told.is_set()
    assert answer is None or not answer.is_optimal


def test_nothing_is_searched_when_time_is_up_or_told_to_stop_before_the_start():
    graph = SignedGraph(30, *random_graph(30, 60, np.random.default_rng(5)))
    hint = np.zeros(30, np.int8)

    assert cp_sat_max_cut(*graph, hint, limits=Limits(time_limit=0)) is None
    assert cp_sat_max_cut(*graph, hint, limits=Limits(stop=lambda: True)) is None


def test_weights_that_floats_cannot_add_exactly_are_declined():
    assert cp_sat_max_cut(2, [[0, 1]], [2**53], np.zeros(2, np.int8)) is None


def test_large_weights_are_counted_exactly():
    weights = np.array([2**50 + 1, 2**50 + 3, 2**50 + 5])

    answer = cp_sat_max_cut(3, [[0, 1], [1, 2], [2, 0]], weights, np.zeros(3, np.int8))

    assert answer.value == answer.bound == 2**51 + 8


def test_bounds_are_multiples_of_the_common_factor_of_the_weights():
    graph = SignedGraph(60, *random_graph(60, 400, np.random.default_rng(6)))

    answer = cp_sat_max_cut(graph.num_vertices, graph.edges, 6 * graph.weights, np.zeros(60, np.int8), limits=Limits(work=0.05))

    assert answer.value < answer.bound
    assert answer.bound % 6 == 0


def test_the_certificate_says_what_was_run_and_falls_back_on_another():
    answer = cp_sat_max_cut(3, [[0, 1], [1, 2], [2, 0]], [1, 1, 1], np.zeros(3, np.int8))

    certificate = answer.certificate({"kind": "trivial"})

    assert certificate.pop("version").startswith("9.")
    assert certificate == {"kind": "search", "solver": "cp-sat", "nodes": answer.nodes, "fallback": {"kind": "trivial"}}
