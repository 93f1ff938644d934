"""Branch and bound on the complement proves independent sets of dense graphs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.graphs import maximum_clique
from solvers.graphs.maximum_clique import densest_independent_set
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


@settings(max_examples=100)
@given(weighted_vertices(max_vertices=11))
def test_the_heaviest_set_is_found_and_proved(graph):
    answer = densest_independent_set(*graph, nobody(graph))

    assert answer.value == answer.bound == heaviest_independent_set(*graph) == graph.weights[answer.solution].sum()
    assert is_independent(graph.edges, answer.solution)
    assert answer.is_optimal


@pytest.mark.parametrize(
    ("name", "optimum"), [("brock200_2", 12), ("san200_0.9_1", 70), ("gen200_p0.9_44", 44), ("p_hat300-3", 36)]
)
def test_instances_are_proved_without_a_start(name, optimum):
    graph = dimacs_graph(name)

    answer = densest_independent_set(*graph, nobody(graph), max_nodes=3_000_000)

    assert (answer.value, answer.bound) == (optimum, optimum)
    assert is_independent(graph.edges, answer.solution)


@settings(max_examples=60)
@given(st.integers(30, 75), st.sampled_from([0.5, 0.75, 0.9]), st.integers(0, 1000))
def test_several_classes_and_words_are_proved_as_without_recolouring(num_vertices, density, seed):
    ends = np.column_stack(np.triu_indices(num_vertices, 1))
    kept = np.random.default_rng(seed).random(len(ends)) >= density
    edges, ones = ends[kept], np.ones(num_vertices, np.int64)

    # Weights of 2 are searched as weights are, by colours alone.
    plain = densest_independent_set(num_vertices, edges, 2 * ones, np.zeros(num_vertices, bool))
    answer = densest_independent_set(num_vertices, edges, ones, np.zeros(num_vertices, bool))

    assert 2 * answer.value == plain.value
    assert answer.value == answer.bound == answer.solution.sum()
    assert is_independent(edges, answer.solution)


def test_recolouring_leaves_fewer_nodes_than_colours_alone():
    graph = dimacs_graph("p_hat300-3")

    plain = densest_independent_set(graph.num_vertices, graph.edges, 2 * graph.weights, nobody(graph))
    answer = densest_independent_set(*graph, nobody(graph))

    assert 2 * answer.nodes < plain.nodes


def test_more_than_one_word_of_vertices_with_weights_is_proved():
    graph = weighed(dimacs_graph("brock200_2"), seed=1)

    answer = densest_independent_set(*graph, nobody(graph))

    assert answer.is_optimal
    assert graph.weights[answer.solution].sum() == answer.value


def test_a_search_out_of_nodes_keeps_the_start_and_claims_no_optimum():
    graph = dimacs_graph("C250.9")
    start = nobody(graph)
    start[3] = True

    answer = densest_independent_set(*graph, start, max_nodes=50_000)

    assert answer.nodes == 50_000
    assert 1 < answer.value < answer.bound == 250
    assert is_independent(graph.edges, answer.solution)


def test_an_optimal_start_is_proved_as_it_is():
    graph = dimacs_graph("brock200_2")
    best = densest_independent_set(*graph, nobody(graph)).solution

    answer = densest_independent_set(*graph, best)

    assert answer.is_optimal
    assert answer.solution.tolist() == best.tolist()


def test_the_search_does_not_depend_on_how_it_is_divided(monkeypatch):
    graph = dimacs_graph("gen200_p0.9_44")
    whole = densest_independent_set(*graph, nobody(graph))

    monkeypatch.setattr(maximum_clique, "WORK_PER_CALL", 10_000)
    pieces = densest_independent_set(*graph, nobody(graph))

    assert (pieces.value, pieces.nodes) == (whole.value, whole.nodes)
    assert pieces.solution.tolist() == whole.solution.tolist()


def test_nothing_is_searched_when_told_to_stop():
    graph = dimacs_graph("C250.9")

    answer = densest_independent_set(*graph, nobody(graph), stop=lambda: True)

    assert (answer.value, answer.nodes, answer.is_optimal) == (0, 0, False)


def test_too_many_vertices_are_declined():
    graph = sparse_graph(801, 10, seed=1)

    with pytest.raises(ValueError, match="at most 800"):
        densest_independent_set(*graph, nobody(graph))


def test_the_certificate_says_what_was_run_and_falls_back_on_another():
    graph = dimacs_graph("brock200_2")
    answer = densest_independent_set(*graph, nobody(graph))

    certificate = answer.certificate({"kind": "trivial"})

    assert certificate == {
        "kind": "search",
        "solver": "bbmc",
        "version": "2",
        "nodes": answer.nodes,
        "fallback": {"kind": "trivial"},
    }
