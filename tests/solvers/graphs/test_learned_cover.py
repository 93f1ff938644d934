"""Covers that follow the advice on vertices of high degree."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs.advice import cover_prior, tally
from solvers.graphs.csr import build_csr
from solvers.graphs.learned_cover import advised_cover, learned_cover, without_superfluous
from solvers.graphs.predictions import sample_edge_predictions
from tests.solvers.graphs.decided_vectors import decided, vertices
from tests.solvers.graphs.prediction_vectors import COVER_VECTORS
from tests.solvers.graphs.weighted_vertices import (
    WeightedVertices,
    heaviest_independent_set,
    independent_sets,
    is_cover,
    random_edges,
    weighted_vertices,
)


@pytest.mark.parametrize("name", COVER_VECTORS)
def test_votes_are_the_reference_program_s(name):
    _, advice, is_decided, expected = decided(COVER_VECTORS[name])

    assert (advice.votes.tolist(), advice.votes_in.tolist()) == (expected["num_votes"], expected["votes_in"])
    assert vertices(is_decided & (advice.log_odds > 0)) == expected["P"]
    assert vertices(is_decided & (advice.log_odds <= 0)) == expected["Q"]
    assert "log_odds" not in expected or advice.log_odds == pytest.approx(expected["log_odds"], abs=1e-8)


@pytest.mark.parametrize("name", COVER_VECTORS)
def test_decisions_are_the_reference_program_s(name):
    graph, advice, is_decided, expected = decided(COVER_VECTORS[name])

    decisions = advised_cover(graph.csr, graph.weights, is_decided, advice.log_odds > 0)

    assert vertices(decisions.is_idle) == expected["T"]
    assert vertices(decisions.covers_idle) == expected["S_T"]
    assert vertices(decisions.is_forced) == expected["S_1"]
    assert vertices(decisions.members) == expected["partial_cover"]


@pytest.mark.parametrize("name", COVER_VECTORS)
def test_what_is_left_is_the_reference_program_s(name):
    graph, advice, is_decided, expected = decided(COVER_VECTORS[name])
    members = advised_cover(graph.csr, graph.weights, is_decided, advice.log_odds > 0).members

    left = graph.edges[~members[graph.edges].any(axis=1)]
    cover = learned_cover(graph.csr, graph.weights, is_decided, advice.log_odds)

    assert len(left) == expected["residual_edges"]
    assert is_cover(graph.edges, cover)
    assert cover.sum() <= len(expected["partial_cover"]) + 2 * expected["residual_optimum"]


@pytest.mark.parametrize("name", [name for name in COVER_VECTORS if name.endswith("eps0.5")])
def test_perfect_bits_give_the_cover_that_they_are_about(name):
    graph, advice, is_decided, expected = decided(COVER_VECTORS[name])

    assert learned_cover(graph.csr, graph.weights, is_decided, advice.log_odds).tolist() == list(map(bool, expected["reference"]))


@st.composite
def decided_graphs(draw):
    graph = draw(weighted_vertices())
    masks = st.lists(st.booleans(), min_size=graph.num_vertices, max_size=graph.num_vertices)
    return graph, np.array(draw(masks), bool), np.array(draw(masks), bool)


@given(decided_graphs(), st.sampled_from([None, 1.0, 4.0]))
def test_every_result_is_a_cover_whatever_is_decided(case, patience):
    graph, is_decided, is_favoured = case

    cover = learned_cover(graph.csr, graph.weights, is_decided, is_favoured - 0.5, patience=patience)

    assert is_cover(graph.edges, cover)


@given(decided_graphs())
def test_no_vertex_of_a_result_is_superfluous(case):
    graph, is_decided, is_favoured = case

    cover = learned_cover(graph.csr, graph.weights, is_decided, is_favoured - 0.5)

    for vertex in np.flatnonzero(cover):
        smaller = cover.copy()
        smaller[vertex] = False
        assert not is_cover(graph.edges, smaller)


@given(decided_graphs())
def test_edges_that_the_decisions_leave_have_undecided_ends(case):
    graph, is_decided, is_favoured = case

    members = advised_cover(graph.csr, graph.weights, is_decided, is_favoured).members

    left = graph.edges[~members[graph.edges].any(axis=1)]
    assert not is_decided[left].any()


@given(decided_graphs())
def test_equal_weights_of_any_size_decide_as_unit_weights_do(case):
    graph, is_decided, is_favoured = case
    ones = np.ones(graph.num_vertices, np.int64)

    one, seven = (advised_cover(graph.csr, k * ones, is_decided, is_favoured) for k in (1, 7))

    assert all(np.array_equal(a, b) for a, b in zip(one, seven, strict=True))


@given(weighted_vertices(max_vertices=8))
def test_perfect_decisions_with_weights_give_a_cheapest_cover(graph):
    least = graph.weights.sum() - heaviest_independent_set(*graph)
    # A cheapest cover that is minimal: weights are positive.
    chosen = next(members for members, weight in independent_sets(*graph) if weight == graph.weights.sum() - least)
    reference = 1 - np.array(chosen, np.int64)

    everything = np.ones(graph.num_vertices, bool)
    cover = learned_cover(graph.csr, graph.weights, everything, reference - 0.5, patience=4.0)

    assert graph.weights[cover].sum() == least


def test_a_vertex_heavier_than_all_its_neighbours_is_left_out_whatever_the_advice():
    star = WeightedVertices(4, np.array([[0, 1], [0, 2], [0, 3]]), np.array([7, 2, 2, 2]))

    cover = learned_cover(star.csr, star.weights, np.ones(4, bool), np.array([5.0, -5.0, -5.0, -5.0]))

    assert cover.tolist() == [False, True, True, True]


def test_a_vertex_predicted_out_is_taken_where_its_neighbours_cost_too_much():
    star = WeightedVertices(7, np.array([[0, v] for v in range(1, 7)]), np.full(7, 2))
    decided, log_odds = np.arange(7) == 0, np.full(7, -1.0)

    patient, impatient = (learned_cover(star.csr, star.weights, decided, log_odds, patience=k) for k in (6.0, 5.0))

    assert patient.tolist() == [False] + [True] * 6
    assert impatient.tolist() == [True] + [False] * 6


def test_superfluous_vertices_leave_heaviest_first_then_least_likely_then_of_least_degree():
    triangle = build_csr(3, [[0, 1], [1, 2], [2, 0]], [1, 1, 1])
    everything = np.ones(3, bool)
    path = build_csr(4, [[0, 1], [1, 2], [2, 3]], [1, 1, 1])

    heaviest = without_superfluous(triangle, np.array([1, 2, 1]), everything, np.array([-1.0, 5.0, 0.0]))
    least_likely = without_superfluous(triangle, np.array([1, 1, 1]), everything, np.array([3.0, 5.0, 2.0]))
    least_degree = without_superfluous(path, np.ones(4, np.int64), np.ones(4, bool), np.zeros(4))

    assert heaviest.tolist() == [True, False, True]
    assert least_likely.tolist() == [True, True, False]
    assert least_degree.tolist() == [False, True, True, False]


@pytest.mark.parametrize("seed", range(3))
def test_wrong_votes_on_a_large_side_do_not_blow_the_cover_up(seed):
    # 20 vertices joined to 20000: these have 20 votes each, 10 or fewer of which must be wrong for the majority to be right.
    edges = np.array(list(itertools.product(range(20), range(20, 20_020))), dtype=np.int32)
    reference = np.arange(20_020) < 20
    csr = build_csr(20_020, edges, np.ones(len(edges), np.int64))
    advice = tally([sample_edge_predictions(edges, reference, 0.2, seed)], 20_020, edges, symmetric=False)

    cover = learned_cover(csr, np.ones(20_020, np.int64), advice.votes >= 5, advice.log_odds)

    assert ((advice.votes >= 5) & (advice.log_odds > 0)).sum() > 240
    assert np.array_equal(cover, reference)


def test_a_stopped_rule_still_gives_a_cover():
    edges = random_edges(60, 300, np.random.default_rng(0))

    cover = learned_cover(
        build_csr(60, edges, np.ones(300)), np.ones(60, np.int64), np.zeros(60, bool), np.zeros(60), stop=lambda: True
    )

    assert is_cover(edges, cover)


def test_the_prior_only_says_which_superfluous_vertex_goes():
    edges = np.array([[0, 1], [0, 2], [1, 2], [2, 3]])
    csr, ones = build_csr(4, edges, np.ones(4)), np.ones(4, np.int64)
    prior = cover_prior(np.diff(csr.indptr), ones)

    cover = learned_cover(csr, ones, np.zeros(4, bool), np.zeros(4), prior=prior)

    assert (cover.sum(), cover[2]) == (2, True)
