"""Independent sets that follow the advice on vertices of high degree, and by labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs.advice import tally
from solvers.graphs.csr import build_csr
from solvers.graphs.learned_independent_set import learned_independent_set, ordered_set, set_by_labels, trusted_set
from solvers.graphs.min_degree_greedy import extended_greedily, min_degree_greedy
from solvers.graphs.predictions import VertexPredictions
from tests.solvers.graphs.decided_vectors import decided, vertices
from tests.solvers.graphs.prediction_vectors import SET_VECTORS
from tests.solvers.graphs.test_learned_cover import decided_graphs
from tests.solvers.graphs.weighted_vertices import is_independent, random_edges, weighted_vertices


@pytest.mark.parametrize("name", SET_VECTORS)
def test_votes_are_the_reference_program_s(name):
    _, advice, is_decided, expected = decided(SET_VECTORS[name])

    assert (advice.votes.tolist(), advice.votes_in.tolist()) == (expected["num_votes"], expected["votes_in"])
    assert vertices(is_decided & (advice.log_odds > 0)) == expected["P"]
    assert "log_odds" not in expected or advice.log_odds == pytest.approx(expected["log_odds"], abs=1e-8)


@pytest.mark.parametrize("name", SET_VECTORS)
def test_the_trusted_set_is_the_reference_program_s(name):
    graph, advice, is_decided, expected = decided(SET_VECTORS[name])

    trusted = trusted_set(graph.csr, graph.weights, is_decided & (advice.log_odds > 0))

    assert vertices(trusted) == expected["S_high"]
    assert sorted(set(expected["P"]) - set(vertices(trusted))) == expected["matching_cover"]
    assert vertices(extended_greedily(graph.csr, graph.weights, trusted)) == expected["S_high_extended"]


@pytest.mark.parametrize("name", SET_VECTORS)
def test_the_set_of_low_degrees_is_the_reference_program_s(name):
    graph, _, is_decided, expected = decided(SET_VECTORS[name])

    assert vertices(min_degree_greedy(graph.csr, graph.weights, ~is_decided)) == expected["S_low"]


@pytest.mark.parametrize("name", [name for name in SET_VECTORS if name.endswith("eps0.5")])
def test_perfect_bits_give_the_set_that_they_are_about(name):
    graph, advice, is_decided, expected = decided(SET_VECTORS[name])

    members = learned_independent_set(graph.csr, graph.weights, is_decided, advice.log_odds > 0)

    assert members.tolist() == list(map(bool, expected["reference"]))


@given(decided_graphs())
def test_every_result_is_a_maximal_independent_set_whatever_is_decided(case):
    graph, is_decided, is_favoured = case

    members = learned_independent_set(graph.csr, graph.weights, is_decided, is_favoured)

    assert is_independent(graph.edges, members)
    assert np.array_equal(extended_greedily(graph.csr, graph.weights, members), members)


@given(decided_graphs())
def test_the_better_of_both_parts_is_returned(case):
    graph, is_decided, is_favoured = case
    trusted = trusted_set(graph.csr, graph.weights, is_decided & is_favoured)
    undecided = min_degree_greedy(graph.csr, graph.weights, ~is_decided)

    members = learned_independent_set(graph.csr, graph.weights, is_decided, is_favoured)

    extended = [extended_greedily(graph.csr, graph.weights, part) for part in (trusted, undecided)]
    assert graph.weights[members].sum() == max(graph.weights[one].sum() for one in extended)


@given(weighted_vertices(), st.randoms(use_true_random=False))
def test_a_set_in_any_order_is_maximal_and_holds_the_first(graph, random):
    priority = np.array([random.random() for _ in range(graph.num_vertices)])

    members = ordered_set(graph.csr, priority)

    assert is_independent(graph.edges, members)
    assert not graph.num_vertices or members[np.argmax(priority)]
    assert np.array_equal(extended_greedily(graph.csr, graph.weights, members), members)


def test_equal_priorities_go_to_the_lower_number():
    assert ordered_set(build_csr(2, [[0, 1]], [1]), np.zeros(2)).tolist() == [True, False]


@given(weighted_vertices(), st.floats(0.01, 0.5), st.randoms(use_true_random=False))
def test_labels_give_an_independent_set_whatever_they_say(graph, epsilon, random):
    labels = [random.choice((-1, 0, 1)) for _ in range(graph.num_vertices)]
    advice = tally([VertexPredictions(labels, epsilon=epsilon)], graph.num_vertices, graph.edges, symmetric=False)

    assert is_independent(graph.edges, set_by_labels(graph.csr, graph.weights, advice.log_odds, epsilon))


def test_labels_keep_a_vertex_out_whose_neighbours_are_in():
    # The greedy rule prefers the centre of the star, which weighs more than its leaves together.
    edges = np.column_stack((np.zeros(5000, np.int32), np.arange(1, 5001)))
    csr, weights = build_csr(5001, edges, np.ones(5000)), np.where(np.arange(5001) == 0, 6000, 1)
    labels = (np.arange(5001) > 0).astype(np.int8)
    log_odds = tally([VertexPredictions(labels, epsilon=0.5)], 5001, edges, symmetric=False).log_odds

    assert min_degree_greedy(csr, weights)[0]
    assert set_by_labels(csr, weights, log_odds, 0.5).tolist() == [False] + [True] * 5000


def test_a_stopped_rule_still_gives_an_independent_set():
    edges = random_edges(60, 300, np.random.default_rng(0))
    csr, ones = build_csr(60, edges, np.ones(300)), np.ones(60, np.int64)

    members = learned_independent_set(csr, ones, np.arange(60) < 30, np.ones(60, bool), stop=lambda: True)

    assert is_independent(edges, members)
