"""The cuts that advice suggests."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs.advice import tally
from solvers.graphs.candidates import advice_candidates
from solvers.graphs.csr import build_csr, cut_value
from solvers.graphs.predictions import EdgePredictions, VertexPredictions, sample_edge_predictions
from tests.solvers.graphs.prediction_vectors import VECTORS, gset


def _graph(seed, num_vertices=40, num_edges=120, negative=False):
    rng = np.random.default_rng(seed)
    pairs = np.array([(u, v) for u in range(num_vertices) for v in range(u + 1, num_vertices)], dtype=np.int32)
    edges = pairs[np.sort(rng.choice(len(pairs), num_edges, replace=False))]
    weights = rng.integers(-3 if negative else 1, 4, num_edges)
    return num_vertices, edges, build_csr(num_vertices, edges, weights)


def _advice(num_vertices, edges, epsilon=0.2, seed=0):
    reference = np.random.default_rng(seed).integers(0, 2, num_vertices)
    return tally([sample_edge_predictions(edges, reference, epsilon, seed)], num_vertices, edges)


@given(st.integers(0, 10**6), st.booleans(), st.sampled_from(["auto", "paper", 1, 3, 10**6]))
def test_every_candidate_is_a_cut(seed, negative, threshold):
    num_vertices, edges, csr = _graph(seed, negative=negative)

    for candidate in advice_candidates(_advice(num_vertices, edges, seed=seed), csr, threshold=threshold):
        assert candidate.sides.shape == (num_vertices,)
        assert set(candidate.sides.tolist()) <= {0, 1}


@given(st.integers(0, 10**6))
def test_the_advice_decides_the_vertices_with_that_many_votes(seed):
    num_vertices, edges, csr = _graph(seed)
    advice = _advice(num_vertices, edges, seed=seed)

    for candidate in advice_candidates(advice, csr):
        if candidate.source == "threshold_scan":
            decided = advice.votes >= candidate.threshold
            assert np.array_equal(candidate.sides[decided], advice.log_odds[decided] > 0)


@pytest.mark.parametrize("name", [name for name in VECTORS if name.endswith("eps0.5")])
def test_perfect_bits_lead_straight_to_the_cut_they_are_about(name):
    vector = VECTORS[name]
    csr = build_csr(vector.num_vertices, vector.edges, np.ones(len(vector.edges)))
    advice = tally([EdgePredictions(vector.bits, epsilon=0.5)], vector.num_vertices, vector.edges)

    candidates = {c.source: c.sides.tolist() for c in advice_candidates(advice, csr, threshold=1)}

    assert candidates["majority"] == candidates["threshold_scan"] == vector.expected["reference"]


def test_all_sources_are_tried_where_the_advice_is_trusted():
    num_vertices, edges, csr = _graph(1)

    sources = {candidate.source for candidate in advice_candidates(_advice(num_vertices, edges), csr)}

    assert sources == {"majority", "vote_rounding", "threshold_scan", "confidence_scan", "wide_lp"}


def test_flipped_advice_suggests_cuts_of_the_same_value_where_votes_are_odd():
    edges = np.array([(u, v) for u in range(8) for v in range(u)], dtype=np.int32)
    bits = np.random.default_rng(3).integers(0, 2, edges.shape)
    csr = build_csr(8, edges, np.ones(len(edges)))

    values = []
    for given_bits in (bits, 1 - bits):
        majority = next(advice_candidates(tally([EdgePredictions(given_bits, epsilon=0.2)], 8, edges), csr))
        values.append(cut_value(edges, np.ones(len(edges)), majority.sides))

    assert values[0] == values[1]


def test_no_two_thresholds_that_decide_the_same_vertices_are_both_tried():
    edges = np.array([[0, 1], [1, 2], [2, 3], [3, 0]], dtype=np.int32)

    candidates = advice_candidates(_advice(4, edges), build_csr(4, edges, np.ones(4)))

    assert sum(candidate.source == "threshold_scan" for candidate in candidates) == 1


def test_negative_weights_have_no_linear_program():
    num_vertices, edges, csr = _graph(2, negative=True)

    assert "wide_lp" not in {candidate.source for candidate in advice_candidates(_advice(num_vertices, edges), csr)}


def test_a_linear_program_that_is_too_large_is_not_tried():
    num_vertices, edges = gset("G1")
    csr = build_csr(num_vertices, edges, np.ones(len(edges)))

    assert "wide_lp" not in {candidate.source for candidate in advice_candidates(_advice(num_vertices, edges), csr)}


def test_advice_that_is_not_trusted_is_only_a_starting_point():
    num_vertices, edges, csr = _graph(3)
    advice = tally([VertexPredictions(labels=np.zeros(num_vertices))], num_vertices, edges)

    assert [candidate.source for candidate in advice_candidates(advice, csr)] == ["majority"]


def test_no_predictions_suggest_nothing():
    num_vertices, edges, csr = _graph(4)

    assert list(advice_candidates(tally([], num_vertices, edges), csr)) == []


def test_the_paper_s_method_solves_its_linear_program():
    num_vertices, edges, csr = _graph(5)

    candidates = advice_candidates(_advice(num_vertices, edges), csr, method="paper")

    assert [candidate.source for candidate in candidates] == ["wide_lp"]


def test_the_paper_s_method_rounds_pooled_votes_where_the_program_is_too_large():
    num_vertices, edges = gset("G1")
    csr = build_csr(num_vertices, edges, np.ones(len(edges)))

    candidates = advice_candidates(_advice(num_vertices, edges), csr, method="paper")

    assert [candidate.source for candidate in candidates] == ["vote_rounding"]


def test_a_threshold_above_all_degrees_leaves_the_paper_s_method_without_advice():
    num_vertices, edges, csr = _graph(5)

    assert list(advice_candidates(_advice(num_vertices, edges), csr, method="paper", threshold=num_vertices)) == []


def test_the_paper_s_method_decides_vertices_of_its_threshold():
    # At epsilon 1/2 the threshold is 278; the centre of the star has 300 votes.
    edges = np.array([[0, v] for v in range(1, 301)], dtype=np.int32)
    advice = _advice(301, edges, epsilon=0.5)

    candidates = list(advice_candidates(advice, build_csr(301, edges, np.ones(300)), method="paper"))

    assert (candidates[0].source, candidates[0].threshold) == ("paper", 278)
    assert len(set(candidates[0].sides[1:].tolist())) == 1


def test_a_given_threshold_is_the_only_one():
    num_vertices, edges, csr = _graph(6)

    candidates = advice_candidates(_advice(num_vertices, edges), csr, threshold=5)

    assert {candidate.threshold for candidate in candidates} == {None, 5}


def test_a_stop_ends_the_candidates():
    num_vertices, edges, csr = _graph(7)

    candidates = advice_candidates(_advice(num_vertices, edges), csr, stop=lambda: True)

    assert {candidate.source for candidate in candidates} == {"majority", "vote_rounding"}


def test_the_same_advice_suggests_the_same_cuts_where_iterations_are_counted():
    num_vertices, edges, csr = _graph(8)
    advice = _advice(num_vertices, edges)

    first, second = ([c.sides.tolist() for c in advice_candidates(advice, csr, max_iterations=1)] for _ in range(2))

    assert first == second
