"""Predictions about covers and independent sets help, never harm, and carry promises."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.graphs import EdgePredictions, Graph, VertexPredictions, independent_set, vertex_cover
from tests.solvers.graphs.vertex_problem_cases import SOLVERS, both, circulant, is_solution, mis, reference_bits


@both
@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.2, 0.5])
def test_answer_is_never_worse_than_the_one_without_predictions(problem, epsilon):
    graph = mis("C250.9")
    bits = reference_bits(graph, problem, epsilon, seed=1)
    options = {"method": "local_search", "max_iterations": 500, "time_limit": 60}

    result, alone = SOLVERS[problem](graph, bits, **options), SOLVERS[problem](graph, **options)

    assert alone.value == result.value_without_predictions
    assert result.value <= alone.value if problem == "vertex-cover" else result.value >= alone.value


@both
def test_perfect_bits_give_the_reference_at_once(problem):
    graph = mis("C250.9")
    best = 44 if problem == "independent-set" else 206
    bits = reference_bits(graph, problem, 0.5)

    result = SOLVERS[problem](graph, bits, method="paper", threshold=1, max_iterations=1)

    assert (result.value, result.winner, result.threshold_used) == (best, "paper", 1)
    assert result.prediction_agreement == 1.0


@both
def test_good_predictions_are_worth_something(problem):
    graph = mis("C250.9")

    result = SOLVERS[problem](graph, reference_bits(graph, problem, 0.3), method="paper", threshold=1, max_iterations=1)

    better = result.value < result.value_without_predictions
    assert better if problem == "vertex-cover" else result.value > result.value_without_predictions
    assert result.epsilon_used == 0.3


@both
def test_a_threshold_above_all_votes_leaves_the_greedy_answer(problem):
    graph = mis("brock200_2")
    bits = reference_bits(graph, problem, 0.5)

    result = SOLVERS[problem](graph, bits, method="paper", threshold=10**6, max_iterations=1)

    assert result.value == SOLVERS[problem](graph, method="paper", max_iterations=1).value == result.value_without_predictions


@both
def test_flipped_bits_are_survived(problem):
    graph = circulant()
    bits = EdgePredictions(1 - reference_bits(graph, problem, 0.5).bits, epsilon=0.4)

    result = SOLVERS[problem](graph, bits, max_iterations=200)

    alone = result.value_without_predictions
    assert is_solution(graph, problem, result.solution)
    assert result.value <= alone if problem == "vertex-cover" else result.value >= alone


@both
def test_labels_and_probabilities_are_taken_together(problem):
    graph = circulant()
    labels = np.arange(61) % 4 == (0 if problem == "independent-set" else 1)
    predictions = [
        VertexPredictions(labels=np.where(np.arange(61) % 3, labels, -1), epsilon=0.4),
        VertexPredictions(probabilities=np.where(labels, 0.9, 0.1)),
    ]
    result = SOLVERS[problem](graph, predictions, max_iterations=100)
    assert is_solution(graph, problem, result.solution)
    assert result.epsilon_used == 0.4


@both
def test_predictions_about_weightless_vertices_and_loops_do_no_harm(problem):
    edges = np.concatenate([circulant().edges, [[5, 5]]])
    weights = np.where(np.arange(61) % 7 == 0, 0, 2)
    bits = EdgePredictions(np.ones((len(edges) - 1, 2), np.int8), epsilon=0.3)

    result = SOLVERS[problem](Graph(61, edges, vertex_weights=weights), bits, max_iterations=100)

    assert is_solution(circulant(), problem, result.solution)
    assert (5 in result.solution) == (problem == "vertex-cover")


def test_cover_is_promised_within_the_ratio_of_its_colouring():
    graph = circulant()

    guarantee = vertex_cover(graph, method="greedy", max_iterations=1).guarantee

    assert guarantee.name == "hochbaum_ratio"
    assert not guarantee.assumes_independent_predictions
    assert 1 <= guarantee.value <= 2 - 2 / 9


def test_a_cover_that_reductions_find_is_promised_to_be_a_best_one():
    guarantee = vertex_cover([[v, v + 1] for v in range(50)]).guarantee

    assert (guarantee.name, guarantee.value) == ("hochbaum_ratio", 1.0)


@pytest.mark.parametrize("weights", [None, 1 + np.arange(61) % 7])
def test_a_cover_that_stops_at_its_target_is_promised_twice_the_least_weight(weights):
    graph = circulant(weights=weights)

    result = vertex_cover(graph, target=10**9, max_iterations=1)

    assert result.stopped_by == "target"
    assert (result.guarantee.name, result.guarantee.value) == ("local_ratio", 2.0)
    assert result.value <= 2 * vertex_cover(graph, max_iterations=10_000).value


def test_independent_set_is_promised_a_ratio_where_bits_are_independent_and_degrees_suffice():
    graph = mis("brock200_2")
    bits = reference_bits(graph, "independent-set", 0.45)

    guarantee = independent_set(graph, bits, method="paper", max_iterations=1).guarantee

    assert guarantee.name == "independent_set_expected_ratio"
    assert guarantee.assumes_independent_predictions
    assert 0 < guarantee.value < 1


def test_nothing_is_promised_of_an_independent_set_without_predictions():
    assert independent_set(mis("brock200_2"), method="greedy", max_iterations=1).guarantee is None
